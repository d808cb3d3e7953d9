/* SPDX-License-Identifier: MIT */
/* A bench under way or over, drawn; for the Bench view. */
#include "config.h"

#include "ui/bench_panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/bench_plot.h"
#include "ui/fmt.h"
#include "ui/theme.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static unsigned int
verdict_style(const struct bench_live_contrast *c)
{
	static const struct {
		const char *word;
		unsigned int style;
	} styles[] = {
		{ "FASTER", STYLE_BETTER | STYLE_BOLD },
		{ "SLOWER", STYLE_WORSE | STYLE_BOLD },
		{ "INVALID", STYLE_ALARM },
		{ "SAME", STYLE_DONE },
	};

	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (strncmp(c->text, styles[i].word, strlen(styles[i].word)) ==
		    0)
			return styles[i].style;
	return STYLE_STRONG;
}

/* What an arm may be called: an A/A arm has no winner, whatever was shown. */
static void
words_of(const struct bench_live *live, const struct bench_live_contrast *c,
	 char *out, size_t size)
{
	char mean[FMT_SIZE], shows[FMT_SIZE];

	if (!live->arms[c->arm].aa || c->invalid || c->all.n == 0)
		(void)snprintf(out, size, "%s: %s", live->arms[c->arm].tag,
			       c->text);
	else
		(void)snprintf(
			out, size,
			"A/A: the same code differs by %s%%; %zu block%s "
			"would show %s%%",
			fmt_signed(c->all.mean, 2, mean), c->all.n,
			c->all.n == 1 ? "" : "s",
			fmt_number(c->shows, 2, shows));
}

/* The words of the judge; none before the bench is over. */
static void
draw_words(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;
	char words[400];

	for (size_t i = 0; i < live->n_contrasts; i++) {
		const struct bench_live_contrast *c = &live->contrasts[i];
		const char *tag = live->arms[c->arm].tag;

		words_of(live, c, words, sizeof(words));
		if (live->arms[c->arm].aa && live->n_contrasts > 1)
			continue;
		if (c->invalid || !live->running)
			bench_say(pen,
				  live->arms[c->arm].aa ? STYLE_STRONG
							: verdict_style(c),
				  "%s", words);
		else if (c->all.n == 0)
			bench_say(pen, STYLE_HINT, "%s: no verdict yet", tag);
		else
			bench_say(pen, STYLE_HINT,
				  "%s: no verdict yet; what is shown is so far",
				  tag);
	}
}

/* What the next look asks of an arm, and what the margin would take. */
static void
draw_look(struct bench_pen *pen, const struct bench_live_contrast *c)
{
	const struct bench_live *live = pen->live;
	size_t planned = live->blocks * live->n_pods, next = c->all.n + 1;
	const char *tag = live->arms[c->arm].tag;
	char at[FMT_SIZE];

	if (next < live->min_blocks)
		bench_say(pen, STYLE_NORMAL,
			  "look  %s: judged from block %zu on; block %zu of "
			  "%zu is next",
			  tag, live->min_blocks, next, planned);
	else if (next >= planned || !live->early)
		bench_say(pen, STYLE_NORMAL,
			  "look  %s: at block %zu, the last, p < %g decides",
			  tag, planned, live->alpha);
	else
		bench_say(
			pen, STYLE_NORMAL,
			"look  %s: block %zu of %zu ends it early at p < 0.001 "
			"(a mean beyond ±%s%%), or within ±%g%%",
			tag, next, planned, fmt_number(c->stops_at, 2, at),
			live->margin / 2);
}

static void
draw_needs(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;

	for (size_t i = 0; i < live->n_contrasts; i++) {
		const struct bench_live_contrast *c = &live->contrasts[i];

		if (live->arms[c->arm].aa || c->invalid)
			continue;
		if (live->running)
			draw_look(pen, c);
		if (!(c->sd > 0.0))
			continue;
		if (c->blocks_to_margin > 0)
			bench_say(pen, STYLE_NORMAL,
				  "needs %s: %zu blocks to show %g%% at its "
				  "spread of %.2f%% a block",
				  live->arms[c->arm].tag, c->blocks_to_margin,
				  live->margin, c->sd);
		else
			bench_say(pen, STYLE_WARN,
				  "needs %s: over 1000 blocks to show %g%% at "
				  "its spread of %.1f%% a block",
				  live->arms[c->arm].tag, live->margin, c->sd);
	}
	if (live->noise_sd > 0.0)
		bench_say(pen, STYLE_DIM,
			  "noise of these pods: sd %.2f%% from run to run (%zu "
			  "A/A runs)",
			  live->noise_sd, live->noise_runs);
}

static void
draw_guards(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;
	bool any = live->n_dropped > 0;

	for (size_t i = 0; i < live->n_contrasts; i++) {
		const struct bench_live_contrast *c = &live->contrasts[i];

		if (c->guards[0] == '\0')
			continue;
		any = true;
		bench_say(pen, c->invalid ? STYLE_ALARM : STYLE_WARN,
			  "guard %s: %s", live->arms[c->arm].tag, c->guards);
	}
	if (live->n_dropped > 0)
		bench_say(pen, STYLE_WARN,
			  "guard %zu block%s dropped for all arms",
			  live->n_dropped, live->n_dropped == 1 ? "" : "s");
	if (!any && live->n_over > 0)
		bench_say(pen, STYLE_DIM, "guard none fired");
}

/* The schedule of a pod: a sign for each run, a gap between rounds. */
static void
draw_schedule(struct bench_pen *pen, size_t pod)
{
	static const uint32_t signs[] = { 0x00B7, 0x25B6, 0x2713, 0x00D7, '-' };
	static const unsigned int styles[] = { STYLE_DIM, STYLE_LIVE,
					       STYLE_DONE, STYLE_ALARM,
					       STYLE_DIM };
	const struct bench_live *live = pen->live;
	int x = pen->rect.x + BENCH_LABEL_WIDTH,
	    end = pen->rect.x + pen->rect.w;
	size_t place = 0;

	if (!bench_has_room(pen))
		return;
	bench_label(pen, STYLE_NORMAL, live->pods[pod]);
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
			style = run->counted ? bench_arm_style(live, run->arm)
					     : STYLE_DIM;
		canvas_put(pen->canvas, x++, pen->y, style, signs[run->state]);
	}
	pen->y++;
}

static void
add(char *out, size_t size, const char *text)
{
	size_t len = strlen(out);

	(void)snprintf(out + len, size - len, "%s%s", len > 0 ? " · " : "",
		       text);
}

/* "12 min of 20 min", of seconds. */
static void
add_time(const struct bench_live *live, char *out, size_t size)
{
	char a[FMT_SIZE], b[FMT_SIZE], text[160];

	if (isnan(live->elapsed_s))
		return;
	if (isnan(live->limit_s))
		(void)snprintf(text, sizeof(text), "%s",
			       fmt_age(live->elapsed_s, a));
	else
		(void)snprintf(text, sizeof(text), "%s of %s",
			       fmt_age(live->elapsed_s, a),
			       fmt_age(live->limit_s, b));
	add(out, size, text);
	if (!isnan(live->left_s)) {
		(void)snprintf(text, sizeof(text), "about %s left",
			       fmt_age(live->left_s, a));
		add(out, size, text);
	}
}

static void
add_money(const struct bench_live *live, char *out, size_t size)
{
	char text[96];

	if (isnan(live->cost_usd))
		return;
	if (isnan(live->limit_usd))
		(void)snprintf(text, sizeof(text), "$%.2f", live->cost_usd);
	else
		(void)snprintf(text, sizeof(text), "$%.2f of $%.2f",
			       live->cost_usd, live->limit_usd);
	add(out, size, text);
	if (live->n_unpriced > 0)
		add(out, size, "not all pods have a price");
}

/* How far it is, in runs, time and money. */
static void
draw_head(struct bench_pen *pen)
{
	static const char *const ends[][2] = {
		{ "n_max", "ended with its last block" },
		{ "early", "ended early: a look showed enough" },
		{ "budget", "ended by its budget" },
		{ "guard", "ended by a guard" },
		{ "aborted", "aborted" },
	};
	const struct bench_live *live = pen->live;
	char text[400] = "", part[96];

	if (live->running)
		(void)snprintf(part, sizeof(part), "run %zu of %zu",
			       live->n_over + (live->n_over < live->n_runs),
			       live->n_runs);
	else
		(void)snprintf(part, sizeof(part), "%zu of %zu runs",
			       live->n_over, live->n_runs);
	add(text, sizeof(text), part);
	add_time(live, text, sizeof(text));
	add_money(live, text, sizeof(text));
	for (size_t i = 0; !live->running && i < COUNT(ends); i++)
		if (strcmp(live->stopped, ends[i][0]) == 0)
			add(text, sizeof(text), ends[i][1]);
	bench_say(pen, STYLE_STRONG, "%s", text);
	if (live->still_up != NULL)
		bench_say(pen, STYLE_WARN,
			  "still up: %.200s: bench-stop runs their stop_cmd",
			  live->still_up);
	for (size_t i = 0; i < live->n_pods; i++)
		if (live->waits[i][0] != '\0')
			bench_say(pen,
				  live->preflight ? STYLE_NORMAL : STYLE_WARN,
				  "%s", live->waits[i]);
	if (live->running && !live->driven)
		bench_say(
			pen, STYLE_WARN,
			"nobody drives it: hgym-tui bench attach takes it up");
}

int
bench_panel_draw(const struct bench_live *live, struct canvas *canvas,
		 struct rect rect)
{
	struct bench_pen pen = { live, canvas, rect, rect.y, { 0 } };
	struct rect before = canvas_clip(canvas, rect);
	bool roomy = rect.h >= 20;

	draw_head(&pen);
	draw_words(&pen);
	if (roomy)
		pen.y++;
	if (live->running || roomy)
		for (size_t i = 0; i < live->n_pods; i++)
			draw_schedule(&pen, i);
	if (roomy)
		pen.y++;
	bench_plot_runs(&pen);
	if (roomy)
		pen.y++;
	if (live->n_contrasts > 0 && live->contrasts[0].all.n > 0)
		bench_plot_differences(&pen);
	if (roomy)
		pen.y++;
	draw_guards(&pen);
	draw_needs(&pen);
	canvas_unclip(canvas, before);
	return pen.y;
}

static bool
waits(const struct bench_live *live)
{
	for (size_t i = 0; i < live->n_pods; i++)
		if (live->waits[i][0] != '\0')
			return true;
	return false;
}

/* What keeps it waiting, behind the words there are. */
static void
add_waits(const struct bench_live *live, char *out, size_t size)
{
	for (size_t i = 0; i < live->n_pods; i++) {
		size_t len = strlen(out);

		if (live->waits[i][0] != '\0')
			(void)snprintf(out + len, size - len, "; %s",
				       live->waits[i]);
	}
}

void
bench_panel_words(const struct bench_live *live, char *out, size_t size)
{
	size_t len = 0;
	char words[400];

	out[0] = '\0';
	if (live->running) {
		(void)snprintf(out, size, "%srun %zu of %zu",
			       waits(live) ? "" : "no verdict yet: ",
			       live->n_over + (live->n_over < live->n_runs),
			       live->n_runs);
		add_waits(live, out, size);
		return;
	}
	for (size_t i = 0; i < live->n_contrasts && len < size - 1; i++) {
		const struct bench_live_contrast *c = &live->contrasts[i];

		if (live->arms[c->arm].aa && live->n_contrasts > 1)
			continue;
		words_of(live, c, words, sizeof(words));
		(void)snprintf(out + len, size - len, "%s%s",
			       len > 0 ? "; " : "", words);
		len = strlen(out);
	}
	add_waits(live, out, size);
}
