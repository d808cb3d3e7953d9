/* SPDX-License-Identifier: MIT */
/* run_reader: from lines to runs, their scores and their status. */
#include "parsers/run_reader.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/xalloc.h"
#include "parsers/json.h"
#include "tests/support/run_case.h"
#include "tests/support/tap.h"
#include "tests/tools/loggen.h"

static struct format_set *formats;

/* Write the other callbacks' calls as text. */
static void note_sample(void *user, const struct run *run, const struct sample *s)
{
	buf_appendf(user, "%u %d %g %.17g %g %d\n", run->run_index, (int)s->metric, s->step,
		    s->value, s->train_ms, (int)s->line);
}

static void note_event(void *user, const struct run *run, const struct run_event *event)
{
	buf_appendf(user, "%u event %s %d %s\n", run->run_index, run_event_names[event->kind],
		    (int)event->line, event->text);
}

static void note_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	buf_appendf(user, "%d %d %zu\n", (int)line, (int)class, text.len);
}

static const struct run_reader_cb note_all = { note_sample, note_event, run_case_note,
					       .on_line = note_line };

static struct buf read_in_pieces(struct str text, const size_t *ends, size_t n_ends)
{
	struct buf out;
	struct run_reader *reader;
	size_t at = 0;

	buf_init(&out, 1 << 24);
	reader = run_reader_new(formats, &note_all, &out);
	for (size_t i = 0; i < n_ends; i++) {
		run_reader_feed(reader, text.p + at, ends[i] - at);
		at = ends[i];
	}
	run_reader_feed(reader, text.p + at, text.len - at);
	run_reader_finish(reader);
	run_reader_free(reader);
	return out;
}

static struct buf generate(enum loggen_dialect dialect, enum loggen_fate fate)
{
	struct loggen_recipe recipe;
	struct loggen_line line;
	struct loggen *gen;
	struct buf text;

	buf_init(&text, 1 << 24);
	loggen_recipe_init(&recipe, dialect, 7);
	recipe.fate = fate;
	gen = loggen_new(&recipe);
	while (loggen_next(gen, &line))
		buf_append(&text, line.text, line.len);
	loggen_free(gen);
	return text;
}

/* Divide the log at every position of its first and last bytes. */
static void check_every_cut(struct str text, const char *name)
{
	struct buf whole = read_in_pieces(text, NULL, 0);
	size_t same = 0;

	for (size_t cut = 0; cut <= text.len; cut++) {
		struct buf got = read_in_pieces(text, &cut, 1);

		same += strcmp(got.data, whole.data) == 0;
		buf_release(&got);
	}
	ok(same == text.len + 1, "%s: each of %zu divisions gives the same", name, text.len + 1);
	buf_release(&whole);
}

/* Feed the whole log in small pieces of changing size. */
static void check_small_pieces(struct str text, const char *name)
{
	struct buf whole = read_in_pieces(text, NULL, 0), got;
	size_t *ends = xreallocarray(NULL, text.len, sizeof(*ends));
	size_t n = 0, at = 0;

	while (at < text.len) {
		at += 1 + (n * 7919) % 23;
		ends[n++] = at < text.len ? at : text.len;
	}
	got = read_in_pieces(text, ends, n);
	ok(strcmp(got.data, whole.data) == 0, "%s: %zu pieces give the same", name, n);
	free(ends);
	buf_release(&got);
	buf_release(&whole);
}

static void test_cuts(void)
{
	for (int d = 0; d < LOGGEN_N_DIALECTS; d++) {
		struct buf text = generate((enum loggen_dialect)d, LOGGEN_OOM);
		struct str s = { text.data, text.len };

		check_small_pieces(s, "a log");
		if (s.len > 3000) {
			s.p += s.len - 3000;
			s.len = 3000;
		}
		check_every_cut(s, "its end");
		buf_release(&text);
	}
	check_every_cut(STR_LIT("import os\nprint(1)\n"
				"========================================"
				"============================================"
				"================\nseed:1\n\x1b[1mstep:1/9 "
				"train_loss:2 train_time:10ms step_avg:10ms\x1b[0m\r\n"
				"10%\r20%\r\nTraceback (most recent call last):\n"),
			"escape sequences, CR, a script");
	check_every_cut(STR_LIT("{\"log\":\"it 1 loss 3.5\\nit 2 lo\",\"stream\":"
				"\"stdout\",\"time\":\"2026-01-01T00:00:00Z\"}\r\n"
				"{\"log\":\"ss 3.25\\nit 3 loss 3.125\",\"stream\":"
				"\"stdout\",\"time\":\"2026-01-01T00:00:01Z\"}\n"
				"{\"log\":\"\\nit 4 loss 2.5\",\"stream\":\"stdout\","
				"\"time\":\"2026-01-01T00:00:02Z\"}\n"),
			"lines inside Docker's JSON");
}

static const struct run_case cases[] = {
	{ "a finished run",
	  "seed:42\nworld_size:8 grad_accum_steps:1\n"
	  "train_batch_tokens:1000 train_seq_len:10 iterations:20\n"
	  "step:0/20 val_loss:6.9 val_bpb:4.1 train_time:0ms step_avg:0.0ms\n"
	  "step:20/20 train_loss:2.5 train_time:400ms step_avg:20.00ms\n"
	  "step:20/20 val_loss:2.4 val_bpb:1.4 train_time:402ms "
	  "step_avg:20.10ms\n"
	  "Total submission size: 67283363 bytes\n"
	  "Total submission size int8+zlib: 15872848 bytes\n"
	  "final_int8_zlib_roundtrip val_loss:2.0741 val_bpb:1.2284 "
	  "eval_time:5599ms\n"
	  "final_int8_zlib_roundtrip_exact val_loss:2.07407512 "
	  "val_bpb:1.22837129\n",
	  1,
	  { { "status", "\"finished\"" },
	    { "final_bpb", "1.22837129" },
	    { "final_stage", "\"final_int8_zlib_roundtrip_exact\"" },
	    { "eval_s", "5.599" },
	    { "artifact_bytes", "15872848" },
	    { "train_ms", "402" },
	    { "prequant_bpb", "1.4" },
	    { "tok_s_last", "null" } } },
	{ "a roundtrip label that repeats the sliding figure",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "final_int6_sliding_window val_loss:2.0 val_bpb:1.1217 stride:64 "
	  "eval_time:70000ms\n"
	  "final_int6_sliding_window_exact val_loss:2.0 val_bpb:1.12165091\n"
	  "final_int8_zlib_roundtrip_exact val_loss:2.0 val_bpb:1.12165091\n",
	  1,
	  { { "quant_bpb", "1.14518023" },
	    { "sliding_bpb", "1.12165091" },
	    { "final_class", "\"sliding\"" },
	    { "final_line", "4" },
	    { "eval_s", "70" } } },
	{ "test-time training that makes the figure worse is not the score",
	  "9/9 val_loss: 2.5 val_bpb: 1.2\n"
	  "stopping_early: wallclock_cap train_time: 90ms step: 9/20\n"
	  "quantized_sliding_window val_loss:2.0 val_bpb:1.08938974 "
	  "eval_time:76195ms\n"
	  "final_int6_ttt val_loss:3.07 val_bpb:1.33603200 "
	  "eval_time:405410ms\n",
	  1,
	  { { "final_bpb", "1.08938974" },
	    { "ttt_bpb", "1.336032" },
	    { "eval_s", "76.195" },
	    { "ms_per_step", "10" } } },
	{ "an unknown evaluation with a better figure: no score",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "ngram_cache val_loss:1.9 val_bpb:0.98000000 eval_time:1000ms\n",
	  1,
	  { { "final_bpb", "null" },
	    { "final_stage", "null" },
	    { "eval_s", "null" },
	    { "quant_bpb", "1.14518023" },
	    { "status", "\"finished\"" } } },
	{ "an unknown evaluation with a worse figure changes nothing",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "some_probe val_loss:2.9 val_bpb:1.5 eval_time:1000ms\n",
	  1,
	  { { "final_bpb", "1.14518023" } } },
	{ "in sliding mode a roundtrip label is a sliding figure",
	  "final_eval_mode:sliding_window stride:64 batch_seqs:1024\n"
	  "final_int8_zlib_roundtrip_exact val_loss:2 val_bpb:1.19250007\n",
	  1,
	  { { "quant_bpb", "null" },
	    { "sliding_bpb", "1.19250007" },
	    { "final_class", "\"sliding\"" } } },
	{ "a run starts again at its first step",
	  "step:0/20 val_loss:9 train_time:0ms step_avg:nanms\n"
	  "step:20/20 val_loss:3.3 train_time:200ms step_avg:10ms\n"
	  "step:0/20 val_loss:9 train_time:0ms step_avg:nanms\n"
	  "step:20/20 val_loss:3.2 train_time:190ms step_avg:9.5ms\n",
	  2,
	  { { "final_val_loss", "3.2" },
	    { "train_ms", "190" },
	    { "run_index", "1" },
	    { "first_line", "3" } } },
	{ "a driver that repeats old rows does not start a run",
	  "step:0/30 val_loss:9 train_time:0ms step_avg:nanms\n"
	  "step:20/30 val_loss:3.3 train_time:200ms step_avg:10ms\n"
	  "step:30/30 val_loss:3.2 train_time:300ms step_avg:10ms\n"
	  "step:20/30 val_loss:3.3 train_time:200ms step_avg:10ms\n"
	  "step:30/30 val_loss:3.2 train_time:300ms step_avg:10ms\n",
	  1,
	  { { "final_val_loss", "3.2" }, { "steps", "30" } } },
	{ "a second seed after a warm-up step starts a run",
	  "seed:1\nwarmup_step:1/20\nseed:2\n"
	  "step:9/9 train_loss:2 train_time:90ms step_avg:10ms\n",
	  2,
	  { { "seed", "2" }, { "steps", "9" } } },
	{ "a printed script is not parsed",
	  "import os\nseed:7\n"
	  "\"\"\"\nstep:6/9 train_loss:1 train_time:6ms step_avg:1ms\n\"\"\"\n"
	  "====================================================================="
	  "===============================\n"
	  "seed:8\nstep:9/9 train_loss:2 train_time:90ms step_avg:10ms\n",
	  1,
	  { { "seed", "8" }, { "steps", "9" }, { "source_lines", "5" } } },
	{ "rows of other ranks are ignored, their failures are not",
	  "[rank1]: step:9/9 train_loss:7 train_time:1ms step_avg:1ms\n"
	  "[rank0]: step:9/9 train_loss:2 train_time:90ms step_avg:10ms\n"
	  "[rank3]: Traceback (most recent call last):\n",
	  1,
	  { { "last_train_loss", "2" }, { "status", "\"crashed\"" } } },
	{ "a loss that is not a number is a divergence",
	  "step:8/20 train_loss:2.0 train_time:80ms step_avg:10ms\n"
	  "step:9/20 train_loss:nan train_time:90ms step_avg:10ms\n",
	  1,
	  { { "status", "\"diverged\"" }, { "last_train_loss", "null" } } },
	{ "a failure that the run survives is an event, not a crash",
	  "step:8/9 train_loss:2.0 train_time:80ms step_avg:10ms\n"
	  "Traceback (most recent call last):\n"
	  "step:9/9 train_loss:1.9 train_time:90ms step_avg:10ms\n",
	  1,
	  { { "status", "\"finished\"" } } },
	{ "the exception is found after a traceback with other lines in it",
	  "step:8/9 train_loss:2.0 train_time:80ms step_avg:10ms\n"
	  "[rank0]: Traceback (most recent call last):\n"
	  "[rank0]:   File \"train.py\", line 3, in <module>\n"
	  "[rank0]:     raise dist.NoError\n"
	  "INFO:root:Epoch: 3\n"
	  "Error while loading\n"
	  "[rank0]: torch.distributed.DistBackendError: NCCL: gone\n"
	  "ValueError: of another\n",
	  1,
	  { { "events", "[{\"line\":2,\"kind\":\"traceback\",\"step\":8,"
			"\"text\":\"torch.distributed.DistBackendError: "
			"NCCL: gone\"}]" } } },
	{ "minutes with one decimal are not an exact time",
	  "train_batch_tokens:786432 train_seq_len:1 x\n"
	  "20/100 train_loss: 4.8 train_time: 0.2m tok/s: 1385269\n"
	  "100/100 train_loss: 3.3 train_time: 1.0m tok/s: 1375385\n",
	  1,
	  { { "train_ms", "null" },
	    { "ms_per_step", "null" },
	    { "tok_s_last", "1375385" },
	    { "tok_s_derived", "null" } } },
	{ "an evaluation that was cut off gives no score",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "quantized_sliding_window val_loss:2.0 val_bpb:1.08938974 "
	  "eval_time:76195ms\n"
	  "  ttt_chunk [1/1893] bpb=1.159980 time=0.5s\n",
	  1,
	  { { "final_bpb", "null" },
	    { "sliding_bpb", "1.08938974" },
	    { "status", "\"truncated\"" } } },
	{ "an unknown BPB that is better: no score",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n"
	  "[ngram] mixed BPB: 0.98765432 alpha=0.3\n",
	  1,
	  { { "final_bpb", "null" }, { "quant_bpb", "1.14518023" } } },
	{ "an unknown BPB during training is ignored",
	  "step:8/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "probe bpb=0.9123\n"
	  "step:9/9 val_loss:2 val_bpb:1.2 train_time:90ms step_avg:10ms\n"
	  "final_int6_roundtrip_exact val_loss:2.1 val_bpb:1.14518023\n",
	  1,
	  { { "final_bpb", "1.14518023" } } },
	{ "progress is not a result",
	  "step:9/9 val_loss:2 val_bpb:1.3 train_time:90ms step_avg:10ms\n"
	  "  ttt_chunk [1/1893] bpb=1.159980 time=0.5s\n"
	  "ttp: b778/782 bl:2.7 bb:1.1 rl:2.7 rb:1.0702 dl:1-2 gd:0\n",
	  1,
	  { { "final_bpb", "null" }, { "ttt_bpb", "null" }, { "status", "\"truncated\"" } } },
};

/* A run in progress has its current values. */
static void test_live(void)
{
	static const char text[] = "step:1/20 train_loss:2 train_time:10ms step_avg:10ms\n"
				   "step:2/20 train_loss:2 train_time:30ms step_avg:15ms\nstep:3";
	struct run_reader *reader = run_reader_new(formats, NULL, NULL);
	const struct run *run;

	ok(run_reader_current(reader) == NULL, "no run before the first row");
	run_reader_feed(reader, text, sizeof(text) - 1);
	run = run_reader_current(reader);
	is_int(run->status, RUN_RUNNING, "the run is running");
	is_near(run->ms_per_step, 15, 1e-12, "the run has its current step time");
	run_reader_reset(reader, NULL);
	ok(run_reader_current(reader) == NULL, "a reset removes the run");
	run_reader_free(reader);
}

/* A repeated script has the same hash as a new one. */
/* The status comes from the last line of a live log, although that line starts like one after a
 * launcher's prefix. */
static void test_last_line(void)
{
	static const struct {
		const char *name, *prefix, *line;
		enum run_status status;
	} ends[] = {
		{ "out of memory", "", "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB",
		  RUN_OOM },
		{ "out of memory, torch", "", "torch.OutOfMemoryError: CUDA out of memory",
		  RUN_OOM },
		{ "cancelled by Slurm", "",
		  "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-28T08:00:00 ***",
		  RUN_KILLED },
		{ "a traceback", "",
		  "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no",
		  RUN_CRASHED },
		{ "an error after a prefix", "node17: ", "RuntimeError: CUDA out of memory",
		  RUN_OOM },
		{ "a note", "", "note: nothing has ended", RUN_RUNNING },
	};

	array_each (c, ends, LENGTH(ends)) {
		struct run_reader *reader = run_reader_new(formats, NULL, NULL);
		struct buf text;

		buf_init(&text, 1 << 16);
		for (int step = 1; step <= 20; step++)
			buf_appendf(&text, "%sstep:%d/100 train_loss:%.3f step_avg:50.0ms\n",
				    c->prefix, step, 5 - step / 10.0);
		buf_appendf(&text, "%s%s\n", c->prefix, c->line);
		run_reader_feed(reader, text.data, text.len);
		const struct run *run = run_reader_current(reader);
		is_str(run == NULL ? "no run" : run_status_names[run->status],
		       run_status_names[c->status], c->name);
		buf_release(&text);
		run_reader_free(reader);
	}
}

static void test_source_hash(void)
{
	static const char *const script = "import os\nimport sys\nx = 1\n";
	static const char *const end =
		"====================================================================="
		"===============================\nseed:1\n";
	static const struct run_reader_cb cb = { .on_run = run_case_note };
	struct buf first, again, other;
	struct run_reader *reader;

	buf_init(&first, 1 << 16);
	buf_init(&again, 1 << 16);
	buf_init(&other, 1 << 16);
	reader = run_reader_new(formats, &cb, &first);
	run_reader_remember_scripts(reader, 2);
	run_reader_feed(reader, script, strlen(script));
	run_reader_feed(reader, end, strlen(end));
	run_reader_finish(reader);
	run_reader_reset(reader, &again);
	run_reader_feed(reader, script, strlen(script));
	run_reader_feed(reader, end, strlen(end));
	run_reader_finish(reader);
	run_reader_reset(reader, &other);
	run_reader_feed(reader, script, strlen(script) - 4);
	run_reader_feed(reader, "2\n", 2);
	run_reader_feed(reader, end, strlen(end));
	run_reader_finish(reader);
	run_reader_free(reader);
	is_str(again.data, first.data, "equal scripts have equal hashes");
	ok(strstr(first.data, "\"source_lines\":3") != NULL, "the lines of the script are counted");
	ok(strcmp(other.data, first.data) != 0, "a different script has a different hash");
	buf_release(&first);
	buf_release(&again);
	buf_release(&other);
}

/* A row inside a docstring is text, also after another log. */
static void test_docstring(void)
{
	static const char text[] = "import os\nx = 1\n\"\"\"As it prints:\n"
				   "step:1/9 train_loss:9 train_time:9ms step_avg:9ms\n\"\"\"\n"
				   "step:1/2 train_loss:3 train_time:10ms step_avg:10ms\n";
	static const struct run_reader_cb cb = { .on_run = run_case_note };
	struct run_reader *reader = run_reader_new(formats, &cb, NULL);
	struct buf logs[3];

	run_reader_remember_scripts(reader, 2);
	for (size_t i = 0; i < 3; i++) {
		/* The second log continues with another script. */
		size_t n = i == 1 ? 20 : sizeof(text) - 1;

		buf_init(&logs[i], 1 << 16);
		run_reader_reset(reader, &logs[i]);
		run_reader_feed(reader, text, n);
		run_reader_finish(reader);
	}
	ok(strstr(logs[0].data, "\"planned_steps\":2,") != NULL &&
		   strstr(logs[0].data, "\"source_lines\":5") != NULL,
	   "the row after the docstring ends the script");
	is_str(logs[2].data, logs[0].data, "a script that was seen before ends at the same line");
	for (size_t i = 0; i < 3; i++)
		buf_release(&logs[i]);
	run_reader_free(reader);
}

int main(void)
{
	formats = format_set_new_builtin();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		run_case_check(formats, &cases[i]);
	test_live();
	test_last_line();
	test_source_hash();
	test_docstring();
	test_cuts();
	format_set_free(formats);
	return tap_done();
}
