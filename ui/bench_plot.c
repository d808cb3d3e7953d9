/* SPDX-License-Identifier: MIT */
/* The plots of a bench: runs, blocks, intervals; for its panel. */
#include "config.h"

#include "ui/bench_plot.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ui/fmt.h"
#include "ui/theme.h"

#define RIGHT_WIDTH 27
#define MIN_PLOT    16
#define DOT	    0x2022 /* a bullet */

bool
bench_has_room(const struct bench_pen *pen)
{
	return pen->y < pen->rect.y + pen->rect.h;
}

void
bench_say(struct bench_pen *pen, unsigned int style, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	if (!bench_has_room(pen))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	canvas_line(pen->canvas,
		    (struct rect){ pen->rect.x, pen->y, pen->rect.w, 1 }, style,
		    str_from(text));
	pen->y++;
}

unsigned int
bench_arm_style(const struct bench_live *live, size_t arm)
{
	return live->arms[arm].aa ? STYLE_DIM : theme_series((unsigned int)arm);
}

void
bench_label(struct bench_pen *pen, unsigned int style, const char *text)
{
	canvas_line(
		pen->canvas,
		(struct rect){ pen->rect.x, pen->y, BENCH_LABEL_WIDTH - 1, 1 },
		style, str_from(text));
}

/* The column of a value; those beyond the axis are at its ends. */
static int
column_of(const struct bench_axis *axis, double value)
{
	double share = (value - axis->lo) / (axis->hi - axis->lo);

	if (!(share > 0.0))
		return axis->x;
	if (share >= 1.0)
		return axis->x + axis->w - 1;
	return axis->x + (int)(share * (double)(axis->w - 1) + 0.5);
}

static void
widen(struct bench_axis *axis, double value)
{
	if (!isfinite(value))
		return;
	if (isnan(axis->lo) || value < axis->lo)
		axis->lo = value;
	if (isnan(axis->hi) || value > axis->hi)
		axis->hi = value;
}

/* The plot between the labels and the words at the right. */
static struct bench_axis
new_axis(const struct bench_pen *pen)
{
	struct bench_axis axis = { pen->rect.x + BENCH_LABEL_WIDTH,
				   pen->rect.w - BENCH_LABEL_WIDTH -
					   RIGHT_WIDTH,
				   (double)NAN, (double)NAN };

	if (axis.w < MIN_PLOT)
		axis.w = MIN_PLOT;
	return axis;
}

/* A little room at both ends, and some where all values are one. */
static void
pad(struct bench_axis *axis)
{
	double room = 0.04 * (axis->hi - axis->lo);

	if (!(room > 0.0))
		room = fabs(axis->hi) > 0.0 ? 0.01 * fabs(axis->hi) : 1.0;
	axis->lo -= room;
	axis->hi += room;
}

/* A dot; where there is one already, their number up to 9. */
static void
put_dot(struct bench_pen *pen, int x, unsigned int style)
{
	uint32_t now, cp = DOT;

	if (x >= pen->canvas->width || pen->y >= pen->canvas->height)
		return;
	now = canvas_at(pen->canvas, x, pen->y)->cp;
	if (now == DOT)
		cp = '2';
	else if (now >= '2' && now <= '9')
		cp = now < '9' ? now + 1 : now;
	canvas_put(pen->canvas, x, pen->y, style, cp);
}

static void __attribute__((format(printf, 3, 4)))
right(struct bench_pen *pen, unsigned int style, const char *fmt, ...)
{
	int x = pen->axis.x + pen->axis.w + 1;
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	canvas_line(
		pen->canvas,
		(struct rect){ x, pen->y, pen->rect.x + pen->rect.w - x, 1 },
		style, str_from(text));
}

/* A title in the label's column and a rule under the plot. */
static void
rule(struct bench_pen *pen, const char *text)
{
	bench_label(pen, STYLE_HEAD, text);
	for (int i = 0; i < pen->axis.w; i++)
		canvas_put(pen->canvas, pen->axis.x + i, pen->y, STYLE_AXIS,
			   0x2500);
}

/* A number under its column, where it does not run into another. */
static void
tick(struct bench_pen *pen, double value, int decimals)
{
	int x = column_of(&pen->axis, value), width;
	char text[FMT_SIZE];

	(void)fmt_number(value, decimals, text);
	width = (int)strlen(text);
	x -= width / 2;
	if (x + width > pen->axis.x + pen->axis.w)
		x = pen->axis.x + pen->axis.w - width;
	if (x < pen->axis.x)
		x = pen->axis.x;
	(void)canvas_text(pen->canvas, x, pen->y, STYLE_AXIS, text);
}

static int
decimals_of(const struct bench_axis *axis)
{
	double range = axis->hi - axis->lo;

	return range >= 100 ? 0 : range >= 10 ? 1 : range >= 1 ? 2 : 3;
}

/* The runs of an arm as dots, and its median. */
static void
draw_arm(struct bench_pen *pen, size_t arm)
{
	const struct bench_live *live = pen->live;
	const struct bench_live_arm *a = &live->arms[arm];
	char text[FMT_SIZE];

	bench_label(pen, bench_arm_style(live, arm), a->tag);
	for (size_t i = 0; i < live->n_runs; i++) {
		const struct bench_live_run *run = &live->runs[i];

		if (run->arm != arm || !run->counted || isnan(run->y))
			continue;
		if (run->state == BENCH_LIVE_BAD)
			canvas_put(pen->canvas, column_of(&pen->axis, run->y),
				   pen->y, STYLE_ALARM, 0x00D7);
		else
			put_dot(pen, column_of(&pen->axis, run->y),
				bench_arm_style(live, arm));
	}
	if (a->n_bad > 0)
		right(pen, STYLE_NORMAL, "n %zu, %zu bad, median %s", a->n_good,
		      a->n_bad,
		      fmt_number(a->median, decimals_of(&pen->axis), text));
	else
		right(pen, STYLE_NORMAL, "n %zu, median %s", a->n_good,
		      fmt_number(a->median, decimals_of(&pen->axis), text));
	pen->y++;
}

void
bench_plot_runs(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;

	pen->axis = new_axis(pen);
	for (size_t i = 0; i < live->n_runs; i++)
		if (live->runs[i].counted)
			widen(&pen->axis, live->runs[i].y);
	if (isnan(pen->axis.lo)) {
		bench_say(pen, STYLE_DIM, "no block is complete yet");
		return;
	}
	pad(&pen->axis);
	for (size_t arm = 0; arm < live->n_arms && bench_has_room(pen); arm++)
		draw_arm(pen, arm);
	if (!bench_has_room(pen))
		return;
	rule(pen, live->metric);
	tick(pen, pen->axis.lo, decimals_of(&pen->axis));
	tick(pen, pen->axis.hi, decimals_of(&pen->axis));
	pen->y++;
}

/* Zero and the margin behind a line of differences. */
static void
draw_marks(struct bench_pen *pen)
{
	double margin = pen->live->margin;

	canvas_put(pen->canvas, column_of(&pen->axis, -margin), pen->y,
		   STYLE_AXIS, 0x250A);
	canvas_put(pen->canvas, column_of(&pen->axis, margin), pen->y,
		   STYLE_AXIS, 0x250A);
	canvas_put(pen->canvas, column_of(&pen->axis, 0), pen->y, STYLE_AXIS,
		   0x2502);
}

/* lo to hi with the mean in it; what goes on beyond the axis has a < or >. */
static void
draw_interval(struct bench_pen *pen, const struct bench_live_span *span,
	      unsigned int style)
{
	const struct bench_axis *axis = &pen->axis;
	int from, to;

	if (isfinite(span->lo) && isfinite(span->hi)) {
		from = column_of(axis, span->lo);
		to = column_of(axis, span->hi);
		for (int x = from; x <= to; x++)
			canvas_put(pen->canvas, x, pen->y, style, 0x2500);
		canvas_put(pen->canvas, from, pen->y, style,
			   span->lo < axis->lo ? '<' : 0x251C);
		canvas_put(pen->canvas, to, pen->y, style,
			   span->hi > axis->hi ? '>' : 0x2524);
	}
	if (isfinite(span->mean))
		canvas_put(pen->canvas, column_of(axis, span->mean), pen->y,
			   style | STYLE_BOLD, 0x25CF);
}

static void
span_text(struct bench_pen *pen, const struct bench_live_span *span)
{
	char mean[FMT_SIZE], lo[FMT_SIZE], hi[FMT_SIZE];

	if (isnan(span->mean))
		right(pen, STYLE_DIM, "%s", FMT_ABSENT);
	else if (isnan(span->lo))
		right(pen, STYLE_NORMAL, "%s%%  1 block",
		      fmt_signed(span->mean, 2, mean));
	else
		right(pen, STYLE_NORMAL, "%s%% [%s, %s]",
		      fmt_signed(span->mean, 2, mean),
		      fmt_number(span->lo, 2, lo), fmt_number(span->hi, 2, hi));
}

/* The blocks of an arm as dots, its interval below, its pods' where several.
 */
static void
draw_contrast(struct bench_pen *pen, const struct bench_live_contrast *c)
{
	const struct bench_live *live = pen->live;
	unsigned int style = bench_arm_style(live, c->arm);

	draw_marks(pen);
	bench_label(pen, style, live->arms[c->arm].tag);
	for (size_t i = 0; i < c->all.n; i++)
		if (isfinite(c->d[i]))
			put_dot(pen, column_of(&pen->axis, c->d[i]), style);
	right(pen, STYLE_DIM, "%zu block%s", c->all.n,
	      c->all.n == 1 ? "" : "s");
	pen->y++;
	if (!bench_has_room(pen))
		return;
	draw_marks(pen);
	draw_interval(pen, &c->all, style);
	span_text(pen, &c->all);
	pen->y++;
	for (size_t i = 0;
	     c->n_pods > 1 && i < c->n_pods && bench_has_room(pen); i++) {
		char name[BENCH_LIVE_NAME + 4];

		(void)snprintf(name, sizeof(name), "  %s",
			       live->pods[c->pods[i].pod]);
		draw_marks(pen);
		bench_label(pen, c->pods_differ ? STYLE_WARN : STYLE_DIM, name);
		draw_interval(pen, &c->pods[i].span, STYLE_DIM);
		span_text(pen, &c->pods[i].span);
		pen->y++;
	}
}

/* A range that shows the margin and every block; wide intervals are cut. */
static void
fit_differences(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;
	struct bench_axis *axis = &pen->axis;
	double room;

	*axis = new_axis(pen);
	widen(axis, 1.3 * live->margin);
	widen(axis, -1.3 * live->margin);
	for (size_t i = 0; i < live->n_contrasts; i++)
		for (size_t k = 0; k < live->contrasts[i].all.n; k++)
			widen(axis, live->contrasts[i].d[k]);
	room = 0.25 * (axis->hi - axis->lo);
	for (size_t i = 0; i < live->n_contrasts; i++) {
		const struct bench_live_span *all = &live->contrasts[i].all;

		if (all->lo > axis->lo - room)
			widen(axis, all->lo);
		if (all->hi < axis->hi + room)
			widen(axis, all->hi);
	}
	pad(axis);
}

void
bench_plot_differences(struct bench_pen *pen)
{
	const struct bench_live *live = pen->live;
	char text[FMT_SIZE], end[FMT_SIZE];

	fit_differences(pen);
	for (size_t i = 0; i < live->n_contrasts && bench_has_room(pen); i++)
		if (live->contrasts[i].all.n > 0)
			draw_contrast(pen, &live->contrasts[i]);
	if (!bench_has_room(pen))
		return;
	rule(pen, "faster by %");
	tick(pen, -live->margin, 1);
	tick(pen, live->margin, 1);
	tick(pen, 0, 0);
	right(pen, STYLE_AXIS, "%s .. %s",
	      fmt_number(pen->axis.lo, decimals_of(&pen->axis), text),
	      fmt_number(pen->axis.hi, decimals_of(&pen->axis), end));
	pen->y++;
}
