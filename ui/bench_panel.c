/* SPDX-License-Identifier: MIT */
/* Draws the runs, blocks, intervals and verdicts of a bench. */
#include "ui/bench_panel.h"

#include "ui/panel.h"
#include "ui/theme.h"

#define LABEL_WIDTH 13
#define RIGHT_WIDTH 27
#define MIN_PLOT    16
#define LEAST_APART 6 /* columns between two labels of the axis */

struct bench_pen {
	const struct bench_live *live;
	struct strip strip;
};

#define bench_print(pen, style, ...) \
	canvas_print_top((pen)->strip.canvas, &(pen)->strip.rest, (style), __VA_ARGS__)

static unsigned int bench_arm_style(const struct bench_live *live, size_t arm)
{
	return live->arms[arm].aa ? STYLE_DIM : theme_series((unsigned int)arm);
}

/* Print in the columns right of the plot. */
#define bench_print_right(pen, style, ...) \
	canvas_print((pen)->strip.canvas, strip_right(&(pen)->strip), (style), __VA_ARGS__)

static void bench_new_axis(struct bench_pen *pen)
{
	strip_axis(&pen->strip, int_max(pen->strip.rest.w - LABEL_WIDTH - RIGHT_WIDTH, MIN_PLOT));
}

static int bench_decimals(const struct bench_pen *pen)
{
	double range = pen->strip.axis.hi - pen->strip.axis.lo;

	return range >= 100 ? 0 : range >= 10 ? 1 : range >= 1 ? 2 : 3;
}

static void bench_draw_arm(struct bench_pen *pen, size_t arm)
{
	const struct bench_live *live = pen->live;
	const struct bench_live_arm *a = &live->arms[arm];
	unsigned int style = bench_arm_style(live, arm);
	char bad[40] = "";

	if (!strip_begin(&pen->strip, style, a->tag))
		return;
	array_each (run, live->runs, live->n_runs) {
		if (run->arm != arm || !run->counted || isnan(run->y))
			continue;
		if (run->state == BENCH_LIVE_BAD)
			strip_put(&pen->strip, run->y, STYLE_ALARM, 0x00D7);
		else
			strip_dot(&pen->strip, run->y, style);
	}
	if (a->n_bad > 0)
		print_into(bad, " %zu bad,", a->n_bad);
	bench_print_right(pen, STYLE_NORMAL, "n %zu,%s median %s", a->n_good, bad,
			  fmt_number(a->median, bench_decimals(pen)).s);
}

static void bench_plot_runs(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;

	bench_new_axis(pen);
	for (size_t i = 0; i < live->n_runs; i++)
		if (live->runs[i].counted)
			scale_widen(&pen->strip.axis, live->runs[i].y);
	if (isnan(pen->strip.axis.lo)) {
		bench_print(pen, STYLE_DIM, "no block is complete yet");
		return;
	}
	strip_pad(&pen->strip);
	for (size_t arm = 0; arm < live->n_arms; arm++)
		bench_draw_arm(pen, arm);
	if (strip_rule(&pen->strip, live->metric)) {
		strip_tick(&pen->strip, pen->strip.axis.lo, bench_decimals(pen));
		strip_tick(&pen->strip, pen->strip.axis.hi, bench_decimals(pen));
	}
}

/* Start a line of differences, with marks at 0 and at the margin. */
static bool bench_begin_difference(struct bench_pen *pen, unsigned int style, const char *label)
{
	double margin = pen->live->margin;

	if (!strip_begin(&pen->strip, style, label))
		return false;
	strip_put(&pen->strip, -margin, STYLE_AXIS, 0x250A);
	strip_put(&pen->strip, margin, STYLE_AXIS, 0x250A);
	strip_put(&pen->strip, 0, STYLE_AXIS, 0x2502);
	return true;
}

/* Draw an interval with its mean and numbers. If it extends beyond the axis, that end is < or >. */
static void bench_draw_interval(struct bench_pen *pen, const struct bench_live_span *span,
				unsigned int style)
{
	const struct scale *axis = &pen->strip.axis;

	if (isfinite(span->lo) && isfinite(span->hi)) {
		for (int x = scale_cell(axis, span->lo); x <= scale_cell(axis, span->hi); x++)
			canvas_put(pen->strip.canvas, x, pen->strip.line.y, style, 0x2500);
		strip_put(&pen->strip, span->lo, style, span->lo < axis->lo ? '<' : 0x251C);
		strip_put(&pen->strip, span->hi, style, span->hi > axis->hi ? '>' : 0x2524);
	}
	if (isfinite(span->mean))
		strip_put(&pen->strip, span->mean, style | STYLE_BOLD, 0x25CF);
	if (isnan(span->mean))
		bench_print_right(pen, STYLE_DIM, "%s", FMT_ABSENT);
	else if (isnan(span->lo))
		bench_print_right(pen, STYLE_NORMAL, "%s%%  1 block", fmt_signed(span->mean, 2).s);
	else
		bench_print_right(pen, STYLE_NORMAL, "%s%% [%s, %s]", fmt_signed(span->mean, 2).s,
				  fmt_number(span->lo, 2).s, fmt_number(span->hi, 2).s);
}

/* Draw an arm's blocks as dots, below them its interval, and one per pod if there are several. */
static void bench_draw_contrast(struct bench_pen *pen, const struct bench_live_contrast *c)
{
	const struct bench_live *live = pen->live;
	unsigned int style = bench_arm_style(live, c->arm);

	if (!bench_begin_difference(pen, style, live->arms[c->arm].tag))
		return;
	for (size_t i = 0; i < c->all.n; i++)
		if (isfinite(c->d[i]))
			strip_dot(&pen->strip, c->d[i], style);
	bench_print_right(pen, STYLE_DIM, "%zu block%s", c->all.n, c->all.n == 1 ? "" : "s");
	if (bench_begin_difference(pen, style, ""))
		bench_draw_interval(pen, &c->all, style);
	for (size_t i = 0; c->n_pods > 1 && i < c->n_pods; i++) {
		char name[BENCH_LIVE_NAME + 4];

		print_into(name, "  %s", live->pods[c->pods[i].pod]);
		if (bench_begin_difference(pen, c->pods_differ ? STYLE_WARN : STYLE_DIM, name))
			bench_draw_interval(pen, &c->pods[i].span, STYLE_DIM);
	}
}

/* Choose a range that contains the margin and all blocks. An interval that is much wider is cut. */
static void bench_fit_differences(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;
	struct scale *axis = &pen->strip.axis;

	bench_new_axis(pen);
	scale_widen(axis, 1.3 * live->margin);
	scale_widen(axis, -1.3 * live->margin);
	for (size_t i = 0; i < live->n_contrasts; i++)
		for (size_t k = 0; k < live->contrasts[i].all.n; k++)
			scale_widen(axis, live->contrasts[i].d[k]);
	double room = 0.25 * (axis->hi - axis->lo);
	for (size_t i = 0; i < live->n_contrasts; i++) {
		const struct bench_live_span *all = &live->contrasts[i].all;

		if (all->lo > axis->lo - room)
			scale_widen(axis, all->lo);
		if (all->hi < axis->hi + room)
			scale_widen(axis, all->hi);
	}
	strip_pad(&pen->strip);
}

static void bench_plot_differences(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;

	bench_fit_differences(pen);
	for (size_t i = 0; i < live->n_contrasts; i++)
		if (live->contrasts[i].all.n > 0)
			bench_draw_contrast(pen, &live->contrasts[i]);
	if (!strip_rule(&pen->strip, "faster by %"))
		return;
	/* If the margins are close to zero, there is room only for the label of zero. */
	const struct scale *axis = &pen->strip.axis;
	if (scale_cell(axis, live->margin) - scale_cell(axis, 0) >= LEAST_APART) {
		strip_tick(&pen->strip, -live->margin, 1);
		strip_tick(&pen->strip, live->margin, 1);
	}
	strip_tick(&pen->strip, 0, 0);
	bench_print_right(pen, STYLE_DIM, "%s .. %s", fmt_number(axis->lo, bench_decimals(pen)).s,
			  fmt_number(axis->hi, bench_decimals(pen)).s);
}

static unsigned int bench_verdict_style(const struct bench_live_contrast *c)
{
	static const struct {
		const char *word;
		unsigned int style;
	} styles[] = {
		{ "FASTER but WORSE", STYLE_WORSE | STYLE_BOLD },
		{ "FASTER", STYLE_BETTER | STYLE_BOLD },
		{ "SLOWER", STYLE_WORSE | STYLE_BOLD },
		{ "INVALID", STYLE_ALARM },
		{ "SAME", STYLE_DONE },
	};

	for (size_t i = 0; i < LENGTH(styles); i++)
		if (strcmp(c->word, styles[i].word) == 0)
			return styles[i].style;
	return STYLE_STRONG;
}

/* Write an arm's verdict. For an A/A arm, write its noise: it runs the same code as the control. */
static void bench_write_verdict(const struct bench_live *live, const struct bench_live_contrast *c,
				char *out, size_t size)
{
	if (!live->arms[c->arm].aa || c->invalid || c->all.n == 0)
		(void)snprintf(out, size, "%s: %s", live->arms[c->arm].tag, c->text);
	else
		(void)snprintf(out, size,
			       "A/A: the same code differs by %s%% in %zu block%s; smallest "
			       "detectable difference %s%%",
			       fmt_signed(c->all.mean, 2).s, c->all.n, c->all.n == 1 ? "" : "s",
			       fmt_number(c->shows, 2).s);
}

/* Print the verdict of each arm. While the bench runs, only INVALID is a verdict. */
static void bench_print_verdicts(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;
	char words[400];

	array_each (c, live->contrasts, live->n_contrasts) {
		bench_write_verdict(live, c, words, sizeof(words));
		if (live->arms[c->arm].aa && live->n_contrasts > 1)
			continue;
		if (c->invalid || !live->running)
			bench_print(pen,
				    live->arms[c->arm].aa ? STYLE_STRONG : bench_verdict_style(c),
				    "%s", words);
		else
			bench_print(pen, STYLE_HINT, "%s: no verdict yet%s", live->arms[c->arm].tag,
				    c->all.n > 0 ? "; partial results below" : "");
	}
}

/* Add the condition under which the next interim analysis stops the bench. */
static void bench_add_next(const struct bench_live *live, const struct bench_live_contrast *c,
			   struct facts *facts)
{
	size_t planned = live->blocks * live->n_pods, next = c->all.n + 1;
	const char *tag = live->arms[c->arm].tag;

	if (next < live->min_blocks)
		facts_text(facts, "next", FACT_PLAIN,
			   "%s: first analysis after block %zu; block %zu of %zu is next", tag,
			   live->min_blocks, next, planned);
	else if (next >= planned || !live->early)
		facts_text(facts, "next", FACT_PLAIN,
			   "%s: after the last block (%zu), a difference needs p < %.2g", tag,
			   planned, c->next_p);
	else
		facts_text(
			facts, "next", FACT_PLAIN,
			"%s: stops after block %zu of %zu if p < %.2g (mean beyond ±%s%%), or if "
			"the interval is ±%g%% or narrower",
			tag, next, planned, c->next_p, fmt_number(c->stops_at, 2).s,
			live->margin / 2);
}

static void bench_add_needs(const struct bench_live *live, struct facts *facts)
{
	array_each (c, live->contrasts, live->n_contrasts) {
		const char *tag = live->arms[c->arm].tag;

		if (live->arms[c->arm].aa || c->invalid)
			continue;
		if (live->running)
			bench_add_next(live, c, facts);
		if (c->sd > 0.0 && c->blocks_to_margin > 0)
			facts_text(
				facts, "needs", FACT_PLAIN,
				"%s: %zu blocks to detect %g%% (block standard deviation %.2f%%)",
				tag, c->blocks_to_margin, live->margin, c->sd);
		else if (c->sd > 0.0)
			facts_text(facts, "needs", FACT_WARN,
				   "%s: over 1000 blocks to detect %g%% (block standard deviation "
				   "%.1f%%)",
				   tag, live->margin, c->sd);
	}
	if (live->noise_sd > 0.0)
		facts_text(facts, "noise", FACT_DIM,
			   "on these pods: run standard deviation %.2f%% (%zu A/A runs)",
			   live->noise_sd, live->noise_runs);
}

/* Draw the runs of a pod in their order, one sign per run, with a gap between rounds. */
static void bench_draw_schedule(struct bench_pen *pen, size_t pod)
{
	static const uint32_t signs[] = { 0x00B7, 0x25B6, 0x2713, 0x00D7, '-' };
	static const unsigned int styles[] = { STYLE_DIM, STYLE_LIVE, STYLE_DONE, STYLE_ALARM,
					       STYLE_DIM };
	const struct bench_live *live = pen->live;
	int x = pen->strip.rest.x + LABEL_WIDTH, end = pen->strip.rest.x + pen->strip.rest.w;
	size_t place = 0;

	if (!strip_begin(&pen->strip, STYLE_NORMAL, live->pods[pod]))
		return;
	for (size_t i = 0; i < live->n_runs && x < end; i++) {
		const struct bench_live_run *run = &live->runs[i];
		unsigned int style = styles[run->state];

		if (run->pod != pod)
			continue;
		if (place > 0 && place % live->n_arms == 0)
			x++;
		place++;
		if (run->state == BENCH_LIVE_NOW && live->waits[pod][0] != '\0')
			style = STYLE_WARN;
		if (run->state == BENCH_LIVE_OVER)
			style = run->counted ? bench_arm_style(live, run->arm) : STYLE_DIM;
		canvas_put(pen->strip.canvas, x++, pen->strip.line.y, style, signs[run->state]);
	}
}

static void bench_draw_head(struct bench_pen *pen)
{
	static const char *const ends[][2] = {
		{ "n_max", "completed all blocks" },
		{ "early", "stopped early: an interim analysis gave the result" },
		{ "budget", "stopped by its budget" },
		{ "guard", "stopped by a validity check" },
		{ "aborted", "aborted" },
	};
	const struct bench_live *live = pen->live;
	AUTO_BUF text = buf_new(600);

	buf_appendf(&text, live->running ? "run %zu of %zu" : "%zu of %zu runs",
		    live->n_over + (live->running && live->n_over < live->n_planned),
		    live->n_planned);
	if (!isnan(live->elapsed_s)) {
		buf_appendf(&text, " · %s", fmt_age(live->elapsed_s).s);
		if (!isnan(live->limit_s))
			buf_appendf(&text, " of %s", fmt_age(live->limit_s).s);
		if (!isnan(live->left_s))
			buf_appendf(&text, " · about %s left", fmt_age(live->left_s).s);
	}
	if (!isnan(live->cost_usd)) {
		buf_appendf(&text, " · $%.2f", live->cost_usd);
		if (!isnan(live->limit_usd))
			buf_appendf(&text, " of $%.2f", live->limit_usd);
		if (live->n_unpriced > 0)
			buf_append_str(&text, " · not all pods have a price");
	}
	for (size_t i = 0; !live->running && i < LENGTH(ends); i++)
		if (strcmp(live->stopped, ends[i][0]) == 0)
			buf_appendf(&text, " · %s", ends[i][1]);
	bench_print(pen, STYLE_STRONG, "%s", text.data);
	if (live->still_up != NULL)
		bench_print(pen, STYLE_WARN,
			    "pods still running: %.200s; press B to run their stop_cmd",
			    live->still_up);
	for (size_t i = 0; i < live->n_pods; i++)
		if (live->waits[i][0] != '\0')
			bench_print(pen, live->preflight ? STYLE_NORMAL : STYLE_WARN, "%s",
				    live->waits[i]);
	if (live->running && !live->driven)
		bench_print(pen, STYLE_WARN,
			    "no process is driving this bench; hgym-tui bench "
			    "attach resumes it");
}

int bench_panel_draw(const struct bench_live *live, struct canvas *canvas, struct rect rect)
{
	struct bench_pen pen = {
		.live = live, .strip = { .canvas = canvas, .rest = rect, .label = LABEL_WIDTH }
	};
	struct rect before = canvas_clip(canvas, rect);
	bool roomy = rect.h >= 20;
	AUTO_FACTS facts = { .n = 0 };

	bench_draw_head(&pen);
	bench_print_verdicts(&pen);
	(void)rect_take_top(&pen.strip.rest, roomy);
	for (size_t i = 0; (live->running || roomy) && i < live->n_pods; i++)
		bench_draw_schedule(&pen, i);
	(void)rect_take_top(&pen.strip.rest, roomy);
	bench_plot_runs(&pen);
	(void)rect_take_top(&pen.strip.rest, roomy);
	if (live->n_contrasts > 0 && live->contrasts[0].all.n > 0)
		bench_plot_differences(&pen);
	(void)rect_take_top(&pen.strip.rest, roomy);
	array_each (c, live->contrasts, live->n_contrasts)
		if (c->guards[0] != '\0')
			facts_text(&facts, "check", c->invalid ? FACT_ALARM : FACT_WARN, "%s: %s",
				   live->arms[c->arm].tag, c->guards);
	if (live->n_dropped > 0)
		facts_text(&facts, "check", FACT_WARN, "%zu block%s dropped for all arms",
			   live->n_dropped, live->n_dropped == 1 ? "" : "s");
	if (facts.n == 0 && live->n_over > 0)
		facts_text(&facts, "check", FACT_DIM, "all passed");
	bench_add_needs(live, &facts);
	panel_facts(canvas, &pen.strip.rest, &facts,
		    &(const struct panel_facts){ 6, STYLE_DIM, true });
	canvas->clip = before;
	return pen.strip.rest.y;
}

void bench_panel_words(const struct bench_live *live, char *out, size_t size)
{
	AUTO_BUF text = buf_new(size - 1);
	AUTO_BUF waits = buf_new(size - 1);
	char words[400];

	for (size_t i = 0; i < live->n_pods; i++)
		if (live->waits[i][0] != '\0')
			buf_appendf(&waits, "; %s", live->waits[i]);
	if (live->running)
		buf_appendf(&text, "%srun %zu of %zu", waits.len > 0 ? "" : "no verdict yet: ",
			    live->n_over + (live->n_over < live->n_planned), live->n_planned);
	for (size_t i = 0; !live->running && i < live->n_contrasts; i++) {
		const struct bench_live_contrast *c = &live->contrasts[i];

		if (live->arms[c->arm].aa && live->n_contrasts > 1)
			continue;
		bench_write_verdict(live, c, words, sizeof(words));
		buf_appendf(&text, "%s%s", text.len > 0 ? "; " : "", words);
	}
	buf_append_str(&text, waits.data);
	(void)snprintf(out, size, "%s", text.data);
}
