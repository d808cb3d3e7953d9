/* SPDX-License-Identifier: MIT */
/* run_reader: metrics files, and files that look like them. */
#include "parsers/format.h"
#include "tests/support/run_case.h"

#define LIGHTNING                                    \
	"epoch,lr-Adam,step,train_loss,val_loss\r\n" \
	"0,0.001,9,2.5,\r\n"                         \
	"0,,9,,2.25\r\n"                             \
	"1,0.0005,19,1.5,\r\n"                       \
	"1,,19,,1.75\r\n"
#define OBJECTS                                                               \
	"{\"step\": 1, \"loss\": 3.5, \"train\": {\"acc\": 0.5},"             \
	" \"total_steps\": 3}\n"                                              \
	"{\"note\": \"no row\"}\n"                                            \
	"{\"step\": 2, \"loss\": NaN, \"time\": \"0:01:02\", \"on\": true}\n" \
	"{\"step\": 3, \"loss\": 2.5, \"eval_loss\": 2.75}\n"                 \
	"{\"step\": 3, \"train_loss\": 2.875, \"train_runtime\": 12.5}\n"

#define METRIC(name, metric, points, first, last, min, max, at)                                   \
	"{\"name\":\"" name "\",\"unit\":null,\"metric\":" metric ",\"points\":" points           \
	",\"first\":" first ",\"last\":" last ",\"min\":" min ",\"max\":" max ",\"min_step\":" at \
	"}"
#define ONCE(name, metric, value, at) METRIC(name, metric, "1", value, value, value, value, at)

#define EPOCH METRIC("epoch", "null", "4", "0", "1", "0", "1", "9")
#define RATE  METRIC("lr-Adam", "null", "2", "0.001", "0.0005", "0.0005", "0.001", "19")
#define TRAIN METRIC("train_loss", "\"train_loss\"", "2", "2.5", "1.5", "1.5", "2.5", "19")
#define VAL   METRIC("val_loss", "\"val_loss\"", "2", "2.25", "1.75", "1.75", "2.25", "19")

#define LIGHTNING_METRICS "[" EPOCH "," RATE "," TRAIN "," VAL "]"

#define LOSS	       METRIC("loss", "\"train_loss\"", "2", "3.5", "2.5", "2.5", "3.5", "3")
#define ACC	       ONCE("train/acc", "null", "0.5", "1")
#define EVAL	       ONCE("eval_loss", "\"val_loss\"", "2.75", "3")
#define MEAN	       ONCE("train_loss", "null", "2.875", "3")
#define TIME	       ONCE("train_runtime", "null", "12.5", "3")
#define OBJECT_METRICS "[" LOSS "," ACC "," EVAL "," MEAN "," TIME "]"

#define QUOTED_METRICS "[" METRIC("a, loss", "null", "2", "2.5", "1.5", "1.5", "2.5", "2") "]"

#define YOLO_EPOCH(epoch, box, map)                                                              \
	"      Epoch    GPU_mem   box_loss       Size\n"                                         \
	"        " epoch "/2      1.23G        9.5        640:  50%|#  | 1/2 [00:01<?, ?it/s]\r" \
	"        " epoch "/2      1.23G        " box                                             \
	"        640: 100%|##| 2/2 [00:01<00:00,  8.14it/s]\n"                                   \
	"      Class     Images      Box(P      mAP50): 100%|##| 1/1 [00:00<00:00, 1.2it/s]\n"   \
	"        all          4      0.125       " map "\n\n"
#define YOLO(name, first, last, min, max)                                                    \
	"{\"name\":\"" name "\",\"unit\":null,\"metric\":null,\"points\":2,\"first\":" first \
	",\"last\":" last ",\"min\":" min ",\"max\":" max ",\"min_step\":null}"

#define EPOCHS	     YOLO("Epoch", "1", "2", "1", "2")
#define BOX	     YOLO("box_loss", "1.5", "1.25", "1.25", "1.5")
#define SIZE	     YOLO("Size", "640", "640", "640", "640")
#define IMAGES	     YOLO("Images", "4", "4", "4", "4")
#define PRECISION    YOLO("Box(P", "0.125", "0.125", "0.125", "0.125")
#define MAP	     YOLO("mAP50", "0.25", "0.5", "0.25", "0.5")
#define YOLO_METRICS "[" EPOCHS "," BOX "," SIZE "," IMAGES "," PRECISION "," MAP "]"

static const struct run_case cases[] = {
	{ "Ultralytics: a header before each row, and the scores after it",
	  YOLO_EPOCH("1", "1.5", "0.25") YOLO_EPOCH(
		  "2", "1.25",
		  "0.5") "2 epochs completed in 0.012 hours.\n\n"
			 "  Class     Images      Box(P      mAP50): 100%|##| 1/1 [00:00<00:00, 1.2it/s]\n"
			 "    all          4        0.9       0.75\n",
	  1,
	  { { "steps", "null" },
	    { "last_train_loss", "null" },
	    { "status", "\"finished\"" },
	    { "metrics", YOLO_METRICS } } },
	{ "schedules have no figures",
	  "step,lr,momentum\n100,0.1,0.9\n200,0.05,0.95\n{\"step\": 100, \"lr\": 0.1}\n"
	  "{\"step\": 200, \"lr\": 0.05}\n",
	  0,
	  { { NULL, NULL } } },
	{ "a table with a ruler and a frame",
	  "| step | loss |\n|---|---|\n| 10 | 2.5 |\n| 20 | 1.5 |\n",
	  1,
	  { { "steps", "20" }, { "last_train_loss", "1.5" } } },
	{ "a table in a frame",
	  "\xe2\x94\x8f\xe2\x94\x81\xe2\x94\x93\n"
	  "\xe2\x94\x83 step \xe2\x94\x83 loss \xe2\x94\x83\n"
	  "\xe2\x94\xa1\xe2\x94\x81\xe2\x95\x87\xe2\x94\xa9\n"
	  "\xe2\x94\x82 10 \xe2\x94\x82 2.5 \xe2\x94\x82\n"
	  "\xe2\x94\x82 20 \xe2\x94\x82 1.5 \xe2\x94\x82\n"
	  "\xe2\x94\x94\xe2\x94\x80\xe2\x94\x98\n",
	  1,
	  { { "steps", "20" }, { "last_train_loss", "1.5" } } },
	{ "spaCy's table: the losses belong to its components",
	  "E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE \n"
	  "---  ------  ------------  --------  ------  ------\n"
	  "  0       0          0.00     17.50    0.00    0.00\n"
	  "  1     200         21.50     14.25   40.50    0.41\n",
	  1,
	  { { "steps", "200" }, { "last_train_loss", "null" }, { "matched", "2" } } },
	{ "the first column of a table numbers its rows",
	  "#    Name      Loss\n---  ------  ------\n"
	  "  0  a         0.50\n  1  b         0.25\n",
	  0,
	  { { NULL, NULL } } },
	{ "columns with a ruler",
	  "  epoch    train_loss    valid_loss\n-------  ------------  ----\n"
	  "      1        2.5         2.75\n      2        1.5         1.75\n",
	  1,
	  { { "last_train_loss", "1.5" }, { "last_val_loss", "1.75" } } },
	{ "semicolons, and blanks before the names",
	  "  step; loss\n10; 2.5\n20; 1.5\n",
	  1,
	  { { "steps", "20" }, { "last_train_loss", "1.5" } } },
	{ "an object called data or metrics is not part of the name",
	  "{\"type\": \"train\", \"data\": {\"step\": 10, \"loss\": 2.5}}\n"
	  "{\"type\": \"train\", \"data\": {\"step\": 20, \"loss\": 1.5}}\n",
	  1,
	  { { "steps", "20" }, { "last_train_loss", "1.5" } } },
	{ "scores between the rows may count epochs",
	  "{\"step\": 50, \"loss\": 2.5}\n{\"step\": 100, \"loss\": 1.5}\n"
	  "{\"step\": 1, \"coco/bbox_mAP\": 0.5}\n"
	  "{\"step\": 150, \"loss\": 1.25}\n",
	  1,
	  { { "steps", "150" }, { "last_train_loss", "1.25" } } },
	{ "Lightning's CSV: empty cells are absent",
	  LIGHTNING,
	  1,
	  { { "steps", "19" },
	    { "last_train_loss", "1.5" },
	    { "last_val_loss", "1.75" },
	    { "matched", "4" },
	    { "formats", "[\"csv\"]" },
	    { "metrics", LIGHTNING_METRICS } } },
	{ "one object per line",
	  OBJECTS,
	  1,
	  { { "steps", "3" },
	    { "planned_steps", "3" },
	    { "last_train_loss", "2.5" },
	    { "last_val_loss", "2.75" },
	    { "status", "\"finished\"" },
	    { "metrics", OBJECT_METRICS } } },
	{ "an epoch orders the rows but is not a step",
	  "{\"train_loss\": 3.5, \"epoch\": 0}\n"
	  "{\"train_loss\": 3.25, \"epoch\": 1}\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "3.25" } } },
	{ "an epoch in CSV orders the rows but is not a step",
	  "epoch,train_loss\n0,3.5\n1,3.25\n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "3.25" } } },
	{ "a table of a notebook has tabs",
	  "Step\tTraining Loss\n10\t3.5\n20\t3.25\n",
	  1,
	  { { "steps", "20" }, { "last_train_loss", "3.25" } } },
	{ "fastai's columns are set with blanks; a time is not a number",
	  "epoch     train_loss  valid loss  time    \n"
	  "0         3.500000    3.750000    00:12     \n"
	  "1         3.250000    3.500000    00:11     \n",
	  1,
	  { { "steps", "null" }, { "last_train_loss", "3.25" }, { "last_val_loss", "3.5" } } },
	{ "columns without a loss are not rows",
	  "step  size  time\n1  3.5  2.5\n2  3.25  2.25\n",
	  0,
	  { { NULL, NULL } } },
	{ "a last row that may be cut is ignored",
	  "step,loss\n1,3.5\n2,3.25\n3,3.1",
	  1,
	  { { "steps", "2" }, { "last_train_loss", "3.25" } } },
	{ "a last object is complete",
	  "{\"step\":1,\"loss\":3.5}\n{\"step\":2,\"loss\":3.25}",
	  1,
	  { { "steps", "2" } } },
	{ "a resumed table repeats its header: two runs",
	  "step,loss\n1,3.5\n2,3.25\nstep,loss\n1,9\n2,8\n",
	  2,
	  { { "steps", "2" }, { "last_train_loss", "8" } } },
	{ "quotes, blanks, an index without a name, a column of text",
	  ",\"step\",\"a, loss\",host\n0,1,2.5,pod-7\n1,2, 1.5 ,pod\n",
	  1,
	  { { "metrics", QUOTED_METRICS } } },
	{ "rows without a step are ignored",
	  "step,loss\n1,3.5\n,9\n2,3.25\n",
	  1,
	  { { "matched", "2" }, { "last_train_loss", "3.25" } } },
	{ "a table between other lines",
	  "hello, step by step\nstep,loss\n1,3.5\n2,3.25\nbye, bye\n3,3\n4,2\n",
	  1,
	  { { "steps", "2" } } },
	{ "columns that differ in case, and a repeated column",
	  "step,Loss,loss,loss\n1,2,3.5,7\n2,1,3.25,8\n",
	  1,
	  { { "last_train_loss", "null" } } },
};

/* None of these files has a row. */
static const char *const silent[] = {
	"First step, then the next epoch, then iterate\n1, 2, 3\n4, 5, 6\n",
	"step,loss\n1,3.5\n",
	"step,loss\n9,3.5\n1,3\n",
	"step,loss\n1,3.5,7\n2,3.25,8\n",
	"step,loss\none,3.5\ntwo,3\n",
	"step,loss\n1.5,3.5\n2.5,3\n",
	"step,loss\n-1,3.5\n-1,3\n",
	"step,loss\n1,\n2,\n",
	"step,name\n1,a\n2,b\n",
	"step,1\n1,2\n2,3\n",
	"run,steps,loss\na,9,1\nb,9,2\n",
	"\t\"step,loss\\n\" \\\n\t\"1,2,3\\n\" \\\n",
	"\"epoch,step,a\n\"0,1,2\n\"0,2,3\n",
	"\t\"epoch,step,a\n\t\"0,1,2\n\t\"0,2,3\n",
	"price,cost\n1,2\n2,3\n3,4\n",
	"for step, x in enumerate(xs):\n    a, b = 1, 2\n1,2\n2,3\n",
	"step,\"loss\n1,2\n2,3\n",
	"{\"step\": 5, \"lr\": 0.1}\n",
	"{\"step\": 5, \"lr\": 0.1}\n{\"step\": 4, \"lr\": 0.1}\n",
	"{\"step\": \"5\", \"lr\": 0.1}\n{\"step\": \"6\", \"lr\": 0.1}\n",
	"{\"steps\": [1, 2]}\n{\"steps\": [1, 2]}\n",
	"{\"iteration\": 1, \"score\": 2}\n{\"iteration\": 2, \"score\": 3}\n",
	"{\"update\": 1, \"bytes\": 2}\n{\"update\": 2, \"bytes\": 3}\n",
	"{\"step\": 1, \"loss\": \n{\"step\": 2, \"loss\": 3}\n",
};

static void count_run(void *user, const struct run *run)
{
	(void)run;
	++*(size_t *)user;
}

static void test_silence(const struct format_set *formats)
{
	static const struct run_reader_cb cb = { .on_run = count_run };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		struct run_reader *reader = run_reader_new(formats, &cb, &n);

		n = 0;
		run_reader_feed(reader, silent[i], strlen(silent[i]));
		run_reader_finish(reader);
		run_reader_free(reader);
		ok(n == 0, "not a row: %.40s", silent[i]);
	}
}

static void note_sample(void *user, const struct run *run, const struct sample *s)
{
	buf_appendf(user, "%u %llu %d%s %g %g\n", run->run_index, (unsigned long long)s->line,
		    (int)s->metric, s->name, s->step, s->value);
}

/* Print the result of reading the text in pieces of n bytes. */
static void read_in_pieces(const struct format_set *formats, struct str text, size_t n,
			   struct buf *out)
{
	static const struct run_reader_cb cb = { .on_sample = note_sample,
						 .on_run = run_case_note };
	struct run_reader *reader = run_reader_new(formats, &cb, out);

	for (; text.len > 0; text.p += n, text.len -= n) {
		n = n < text.len ? n : text.len;
		run_reader_feed(reader, text.p, n);
	}
	run_reader_finish(reader);
	run_reader_free(reader);
}

static void test_cuts(const struct format_set *formats, const char *text)
{
	struct buf whole, pieces;
	size_t n = 1;

	buf_init(&whole, 1 << 20);
	buf_init(&pieces, 1 << 20);
	read_in_pieces(formats, str_from(text), strlen(text), &whole);
	for (; n < strlen(text); n++) {
		buf_clear(&pieces);
		read_in_pieces(formats, str_from(text), n, &pieces);
		if (!str_eq(buf_str(&whole), buf_str(&pieces)))
			break;
	}
	ok(whole.len > 200 && n == strlen(text), "any division gives the same rows: %.20s", text);
	buf_release(&whole);
	buf_release(&pieces);
}

/* Append the row with a step for "@", a number for "$" and letters for "&". */
static void append_row(struct buf *out, const char *row, int step, const char *number, int word)
{
	for (; *row != '\0'; row++)
		if (*row == '@')
			buf_appendf(out, "%4d", step);
		else if (*row == '$')
			buf_append_str(out, number);
		else if (*row == '&')
			buf_appendf(out, "%c%c", 'a' + word / 26, 'a' + word % 26);
		else
			buf_append_char(out, *row);
}

/* Rows read by a cached row are the same as rows read in full: in the second text each row has
 * another word, so no cached row matches. */
static void test_like(const struct format_set *formats, const char *head, const char *row)
{
	static const char *const numbers[] = {
		"2.5",	     "0.1234567890123456",
		"-1e-05",    "1,234",
		".5",	     "+5",
		"1.5e-300",  "1.",
		"nan",	     "\"NaN\"",
		"NaN",	     "12345678901234567890",
		"\"5\"",     "5 ",
		"5\t",	     "0x10",
		"1.2.3",     "1e",
		"",	     "a",
		"\"12:00\"", "3.25",
	};
	static const struct run_reader_cb cb = { .on_sample = note_sample };
	struct buf out[2], text;

	for (size_t k = 0; k < 2; k++) {
		struct run_reader *reader;

		buf_init(&out[k], 1 << 20);
		buf_init(&text, 1 << 20);
		for (int i = 0; i < 400; i++) {
			if (i % 9 == 0) /* another cell may have ended it */
				buf_append_str(&text, head);
			append_row(&text, row, i % 99 == 98 ? 0 : i,
				   i % 3 > 0 ? "0.75"
					     : numbers[(unsigned int)i / 3 % LENGTH(numbers)],
				   k > 0 ? i : 0);
		}
		reader = run_reader_new(formats, &cb, &out[k]);
		run_reader_feed(reader, text.data, text.len);
		run_reader_finish(reader);
		run_reader_free(reader);
		buf_release(&text);
	}
	ok(out[0].len > 2000 && str_eq(buf_str(&out[0]), buf_str(&out[1])),
	   "cached rows give the same: %s", row);
	buf_release(&out[0]);
	buf_release(&out[1]);
}

int main(void)
{
	struct format_set *formats = format_set_new_builtin();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case_check(formats, &cases[i]);
	test_silence(formats);
	test_cuts(formats, LIGHTNING);
	test_cuts(formats, OBJECTS);
	test_like(formats, "step,loss,run\n", "@,$,&\n");
	test_like(formats, "step\tloss\trun\n", "@\t$\t&\n");
	test_like(formats, "|  step |  loss |  run |\n", "| @ | $ | & |\n");
	test_like(formats, "  step    loss    run\n", "@   $   &\n");
	test_like(formats, "",
		  "{\"step\": @, \"loss\": $, \"lr\": 1e-05, "
		  "\"run\": \"&\"}\n");
	format_set_free(formats);
	return tap_done();
}
