/* SPDX-License-Identifier: MIT */
/* The drawing of a bench and the form of a new one: cells and texts. */
#include "ui/bench_panel.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "ui/form.h"
#include "ui/theme.h"

#include "tests/support/tap.h"

#define WIDTH  78
#define HEIGHT 30

static void fill_contrast(struct bench_live_contrast *c, size_t i, size_t done)
{
	double by = i == 0 ? 5 : 0.1;

	c->arm = i + 1;
	c->d = xcalloc(2 * done + 1, sizeof(*c->d));
	for (size_t k = 0; k < 2 * done; k++)
		c->d[k] = by;
	c->all = done > 0 ? (struct bench_live_span){ 2 * done, by, by - 0.3, by + 0.3 }
			  : (struct bench_live_span){ 0, (double)NAN, (double)NAN, (double)NAN };
	c->pods = xcalloc(2, sizeof(*c->pods));
	c->n_pods = done > 0 ? 2 : 0;
	c->pods[0] = (struct bench_live_pod_span){
		0,
		{ done, by + 1, by + 0.5, by + 1.5 },
	};
	c->pods[1] = (struct bench_live_pod_span){
		1,
		{ done, by - 1, (double)NAN, (double)NAN },
	};
	c->sd = 0.3;
	c->stops_at = 0.9;
	c->shows = 0.4;
	c->next_p = 0.0123;
	c->blocks_to_margin = 5;
	(void)snprintf(c->word, sizeof(c->word), "FASTER");
	(void)snprintf(c->text, sizeof(c->text), "FASTER by %.2f%% [4.70, 5.30]", by);
}

/* A bench on two pods with two arms and the A/A arm; `done` of four blocks are complete on each
 * pod. */
static struct bench_live *make_live(size_t done, bool running)
{
	struct bench_live *live = bench_live_new(3, 2, 24, 2);
	static const char *const tags[] = { "old", "new", "old~aa" };
	size_t n = 0;

	(void)snprintf(live->metric, sizeof(live->metric), "step_ms");
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(live->arms[i].tag, sizeof(live->arms[i].tag), "%s", tags[i]);
		live->arms[i].aa = i == 2;
		live->arms[i].n_good = 2 * done;
		live->arms[i].median = i == 1 ? 95 : 100;
	}
	(void)snprintf(live->pods[0], sizeof(live->pods[0]), "left");
	(void)snprintf(live->pods[1], sizeof(live->pods[1]), "right");
	for (size_t pod = 0; pod < 2; pod++)
		for (size_t block = 0; block < 4; block++)
			for (size_t arm = 0; arm < 3; arm++)
				live->runs[n++] = (struct bench_live_run){
					arm,
					pod,
					block,
					true,
					block < done ? BENCH_LIVE_OVER : BENCH_LIVE_WAITING,
					block < done
						? (arm == 1 ? 95.0 : 100.0) + (double)block / 10
						: (double)NAN,
				};
	live->n_over = 6 * done;
	live->blocks = 4;
	live->margin = 0.5;
	live->alpha = 0.05;
	live->n_planned = n;
	live->early = true;
	live->min_blocks = 3;
	live->running = live->driven = running;
	live->elapsed_s = 100;
	live->limit_s = 600;
	live->cost_usd = 0.5;
	live->limit_usd = 8;
	live->left_s = running ? 50 : (double)NAN;
	live->noise_sd = (double)NAN;
	for (size_t i = 0; i < 2; i++)
		fill_contrast(&live->contrasts[i], i, done);
	return live;
}

static char *draw(const struct bench_live *live, int width, int height)
{
	struct canvas canvas;
	struct buf text;
	char *result;

	canvas_init(&canvas);
	canvas_resize(&canvas, width, height);
	(void)bench_panel_draw(live, &canvas, (struct rect){ 0, 0, width, height });
	buf_init(&text, 1 << 20);
	canvas_dump(&canvas, false, &text);
	result = buf_detach(&text);
	buf_release(&text);
	canvas_release(&canvas);
	return result;
}

static bool shows(const struct bench_live *live, const char *words)
{
	char *text = draw(live, WIDTH, HEIGHT);
	bool found = strstr(text, words) != NULL;

	free(text);
	return found;
}

/* The style of the first row that starts with this text. */
static unsigned int style_of(const struct bench_live *live, const char *words)
{
	struct canvas canvas;
	unsigned int style = 0;

	canvas_init(&canvas);
	canvas_resize(&canvas, WIDTH, HEIGHT);
	(void)bench_panel_draw(live, &canvas, (struct rect){ 0, 0, WIDTH, HEIGHT });
	for (int y = HEIGHT - 1; y >= 0; y--) {
		bool equal = true;

		for (int x = 0; words[x] != '\0'; x++)
			equal &= canvas_at(&canvas, x, y)->cp == (uint32_t)words[x];
		if (equal)
			style = canvas_at(&canvas, 0, y)->style;
	}
	canvas_release(&canvas);
	return style;
}

static void test_running(void)
{
	struct bench_live *live = make_live(0, true);
	char words[200];

	ok(shows(live, "no block is complete yet"), "no plot before the first block");
	ok(shows(live, "run 1 of 24"), "progress in runs");
	ok(shows(live, "1 min of 10 min") || shows(live, "100 s of 10 min"), "progress in time");
	ok(shows(live, "$0.50 of $8.00"), "progress in money");
	ok(shows(live, "first analysis after block 3"), "the first analysis is announced");
	bench_live_free(live);
	live = make_live(2, true);
	ok(!shows(live, "FASTER"), "no verdict while it runs");
	ok(shows(live, "no verdict yet"), "the missing verdict is explained");
	ok(shows(live, "+5.00% [4.70, 5.30]"), "the interim interval");
	ok(shows(live, "stops after block 5 of 8 if p < 0.012"),
	   "what the next interim analysis needs");
	ok(shows(live, "5 blocks to detect 0.5%"), "the number of blocks that the margin needs");
	ok(shows(live, "check all passed"), "passed validity checks are reported");
	ok(shows(live, "  left") && shows(live, "  right"), "one row per pod");
	bench_panel_words(live, words, sizeof(words));
	is_str(words, "no verdict yet: run 13 of 24", "the list shows the progress too");
	(void)snprintf(live->waits[1], sizeof(live->waits[1]),
		       "pod right: cannot be reached for 2 min, tries again "
		       "in 8 s: refused");
	ok(shows(live, "pod right: cannot be reached for 2 min, tries again "
		       "in 8 s: refused"),
	   "a waiting pod is shown with the reason");
	bench_panel_words(live, words, sizeof(words));
	is_str(words,
	       "run 13 of 24; pod right: cannot be reached for 2 min, tries again in 8 s: refused",
	       "the list shows the waiting pod with the reason");
	live->waits[1][0] = '\0';
	live->driven = false;
	ok(shows(live, "no process is driving this bench"), "a bench without a driving process");
	live->contrasts[0].invalid = true;
	(void)snprintf(live->contrasts[0].text, 40, "INVALID (nan)");
	(void)snprintf(live->contrasts[0].guards, 40, "nan: NaN in the log");
	ok(shows(live, "new: INVALID (nan)"), "INVALID is shown while the bench runs");
	ok(shows(live, "check new: nan: NaN"), "the failed check is shown");
	bench_live_free(live);
}

static void test_over(void)
{
	struct bench_live *live = make_live(4, false);
	char words[200];

	(void)snprintf(live->stopped, sizeof(live->stopped), "n_max");
	ok(shows(live, "new: FASTER by 5.00%"), "the verdict of a finished bench");
	ok(shows(live, "completed all blocks"), "the reason of the end");
	is_int(style_of(live, "new: FASTER"), STYLE_BETTER | STYLE_BOLD,
	       "the verdict has the style of FASTER");
	(void)snprintf(live->contrasts[0].word, 24, "FASTER but WORSE");
	is_int(style_of(live, "new: FASTER"), STYLE_WORSE | STYLE_BOLD,
	       "the style depends on the verdict word, not on the sentence");
	(void)snprintf(live->contrasts[0].word, 24, "FASTER");
	ok(!shows(live, "old~aa: FASTER"), "an A/A arm is never FASTER");
	bench_panel_words(live, words, sizeof(words));
	is_str(words, "new: FASTER by 5.00% [4.70, 5.30]", "the list shows the verdict");
	live->n_contrasts = 1;
	live->contrasts[0].arm = 2;
	bench_panel_words(live, words, sizeof(words));
	is_str(words,
	       "A/A: the same code differs by +5.00% in 8 blocks; smallest detectable "
	       "difference 0.40%",
	       "an audit has no winner");
	live->n_contrasts = 2;
	bench_live_free(live);
}

/* Draw in all sizes, with absurd numbers: the drawing must not crash. */
static void test_sizes(void)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY, 0, -1, 1e300 };
	bool same = true;

	for (size_t i = 0; i < 7; i++) {
		struct bench_live *live = make_live(i % 4, i % 2 == 0);

		for (size_t k = 0; i > 0 && k < live->n_runs; k++)
			live->runs[k].y = odd[(i - 1 + k) % 6];
		for (size_t k = 0; i > 0 && k < 2; k++) {
			live->contrasts[k].all.mean = odd[i - 1];
			live->contrasts[k].all.lo = odd[i % 6];
			live->contrasts[k].all.hi = odd[(i + 1) % 6];
			live->contrasts[k].stops_at = odd[i - 1];
		}
		for (int width = 1; width < 220; width += 7)
			for (int height = 1; height < 40; height += 3)
				free(draw(live, width, height));
		bench_live_free(live);
	}
	ok(same, "every size is drawn");
}

static void test_labels(void)
{
	struct bench_live *live = make_live(4, false);
	char *narrow = draw(live, WIDTH, HEIGHT), *wide = draw(live, 160, HEIGHT);

	ok(strstr(wide, "\xE2\x94\x80-0.5\xE2\x94\x80") != NULL &&
		   strstr(wide, "\xE2\x94\x80"
				"0.5\xE2\x94\x80") != NULL,
	   "a wide axis has labels at the margins");
	ok(strstr(narrow, "-0.5") == NULL && strstr(narrow, "\xE2\x94\x80"
							    "0\xE2\x94\x80") != NULL,
	   "a narrow one has only zero's, which they would overlap");
	free(narrow);
	free(wide);
	bench_live_free(live);
}

static void test_form(void)
{
	struct form form = { 0 };
	struct buf text;

	form_open(&form, "a,b");
	buf_init(&text, 4096);
	form_json(&form, &text);
	ok(strstr(text.data, "\"pods\":\"a,b\"") != NULL &&
		   strstr(text.data, "\"blocks\":\"6\"") != NULL,
	   "a form starts with defaults");
	(void)form_key(&form, '\t');
	(void)form_key(&form, KEYCODE_BACK_TAB);
	(void)form_key(&form, KEYCODE_BACK_TAB);
	is_int((long long)form.at, FORM_COUNT - 1, "Tab wraps around the fields");
	(void)form_key(&form, '\t');
	for (const char *p = "x\"\\"; *p != '\0'; p++)
		(void)form_key(&form, (uint32_t)*p);
	buf_clear(&text);
	form_json(&form, &text);
	ok(strstr(text.data, "\"name\":\"abx\\\"\\\\\"") != NULL, "typed text is quoted");
	is_int(form_key(&form, '\r'), PROMPT_DONE, "Enter accepts the form");
	form_open(&form, "");
	ok(strcmp(form.fields[FORM_pods].text, "a,b") == 0, "the form is unchanged");
	(void)form_key(&form, '\t');
	form_fill(&form, "{\"name\":\"old\",\"control\":\"A=a.py\",\"blocks\":4}");
	is_int((long long)form.at, FORM_name, "a form that is filled in starts at its first field");
	ok(strcmp(form.fields[FORM_name].text, "old") == 0 &&
		   strcmp(form.fields[FORM_control].text, "A=a.py") == 0 &&
		   form.fields[FORM_blocks].len == 0,
	   "the form is filled in from texts");
	form_set_error(&form, "--variant B/b: expected TAG=COMMAND");
	is_int((long long)form.at, FORM_variant, "an error moves the cursor to its field");
	ok(form.why[0] != '\0', "an error is shown next to its field");
	(void)form_key(&form, 'x');
	ok(form.why[0] == '\0', "an edit of the field removes the error");
	form_set_error(&form, "the disk is full");
	is_int((long long)form.at, FORM_variant, "an error that names no field leaves the cursor");
	is_int(form_key(&form, 27), PROMPT_CANCEL, "Esc cancels the form");
	buf_release(&text);
	form_release(&form);
}

static void test_fold(void)
{
	struct str text = STR_LIT(" one two three four\nabcdefghijklmnop");
	struct canvas canvas;
	struct buf shown;

	canvas_init(&canvas);
	canvas_resize(&canvas, 12, 4);
	is_int(canvas_wrap(&canvas, (struct rect){ 0, 0, 12, 4 }, STYLE_NORMAL, text, 0), 5,
	       "number of wrapped lines");
	buf_init(&shown, 4096);
	canvas_dump(&canvas, false, &shown);
	is_str(shown.data, " one two\n   three\n   four\nabcdefghijkl\n",
	       "text is wrapped between words and continued with an indent");
	buf_clear(&shown);
	canvas_clear(&canvas);
	(void)canvas_wrap(&canvas, (struct rect){ 0, 1, 12, 2 }, STYLE_NORMAL, text, 2);
	canvas_dump(&canvas, false, &shown);
	is_str(shown.data, "\n   four\nabcdefghijkl\n\n",
	       "the text starts at the given line and stays inside the rectangle");
	buf_clear(&shown);
	canvas_clear(&canvas);
	is_int(canvas_wrap(&canvas, (struct rect){ 0, 0, 7, 4 }, STYLE_NORMAL,
			   STR_LIT("one two three"), 0),
	       2, "a word that just fits stays on its line");
	canvas_dump(&canvas, false, &shown);
	is_str(shown.data, "one two\nthree\n\n\n", "the blank at the break is dropped");
	buf_release(&shown);
	canvas_release(&canvas);
}

int main(void)
{
	test_running();
	test_over();
	test_sizes();
	test_labels();
	test_form();
	test_fold();
	return tap_done();
}
