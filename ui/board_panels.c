/* SPDX-License-Identifier: MIT */
/* Below the table of the board: the verdict's words, the spread of seeds. */
#include "config.h"

#include "ui/board_panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "ui/fmt.h"
#include "ui/fold.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define NAME_COLUMNS  18
#define VERDICT_BYTES (64U << 10)
/* Of the column of that name, in the order of its marks. */
static const char caps_legend[] =
	"CAPS bytes, train, eval, targets: ✓ kept ~ just over ✗ broken · "
	"unknown";
/* Groups that are more than this part behind the best are not on the axis. */
#define FAR_BEHIND 0.02

static const char *
unit_of(const struct board_group *group)
{
	return strcmp(board_unit(group), "bpb") == 0 ? "BPB"
						     : board_unit(group);
}

/* What the group's runs say, as lines that fold where there is no room. */
static void
describe_verdict(const struct board *board, const struct board_group *group,
		 struct buf *out)
{
	const struct board_verdict *v = &group->verdict;
	char a[FMT_SIZE], b[FMT_SIZE];

	buf_appendf(out,
		    "%s · runs that count: %zu · seeds: %zu · mean %s %s · "
		    "sample sd %s\n",
		    group->title != NULL ? group->title : group->key,
		    group->n_counted, group->n_seeds,
		    fmt_number(group->stats.mean, 5, a), unit_of(group),
		    fmt_number(group->stats.sd_sample, 5, b));
	if (run_has(v->bar))
		buf_appendf(out, "bar %s %s: what a mean must be below\n",
			    fmt_number(v->bar, 5, a), unit_of(group));
	else if (board->baseline == 0)
		buf_append_str(out, "no baseline: R makes this group the one "
				    "to beat, and the others are judged\n");
	if (run_has(v->delta))
		buf_appendf(out, "gap %s %s (%s nats)\n",
			    fmt_signed(v->delta, 5, a), unit_of(group),
			    fmt_signed(v->delta_nats, 5, b));
	if (v->seeds_needed > 0)
		buf_appendf(out,
			    "would pass with %u seeds, or with a mean of %s\n",
			    v->seeds_needed, fmt_number(v->mean_needed, 5, a));
	for (size_t i = 0; i < group->n_notes; i++)
		buf_appendf(out, "%s\n", group->notes[i]);
}

/* The words of the selected group's verdict, and its notes. */
void
board_panel_verdict(const struct board *board, size_t selected,
		    struct canvas *canvas, struct rect r)
{
	const struct board_group *group = &board->groups[selected];
	struct rect last = { r.x, r.y + r.h - 1, r.w, 1 };
	struct buf text;
	int lines;

	buf_init(&text, VERDICT_BYTES);
	if (group->verdict.text[0] != '\0') {
		canvas_line(canvas, (struct rect){ r.x, r.y++, r.w, 1 },
			    STYLE_STRONG, str_from(group->verdict.text));
		r.h--;
	}
	describe_verdict(board, group, &text);
	lines = fold_draw(canvas, r, text.data, 0);
	buf_release(&text);
	if (lines > r.h && r.h > 0)
		canvas_right(canvas, last, STYLE_HINT, str_from(" … more"));
	else if (lines < r.h)
		canvas_line(canvas, last, STYLE_DIM, str_from(caps_legend));
}

static bool
has_scores(const struct board_group *group)
{
	return run_has(group->stats.mean) &&
	       (group->n_counted > 0 || group->is_values);
}

static size_t
count_groups(const struct board *board)
{
	size_t n = 0;

	for (size_t i = 0; i < board->n_groups; i++)
		n += has_scores(&board->groups[i]);
	return n;
}

int
board_panel_spread_height(const struct board *board)
{
	size_t n = count_groups(board);

	return n > 0 ? (int)n + 3 : 0;
}

/* What is on the axis: each score of the groups near the best. */
struct spread {
	double lo, hi; /* in the score's unit */
	double far;    /* means above are not on the axis */
	int x, columns;
};

static bool
row_counts(const struct board_group *group, const struct board_row *row)
{
	return run_has(row->score) &&
	       (group->is_values || row->use == BOARD_COUNTED);
}

static void
find_range(const struct board *board, struct spread *s)
{
	double best = INFINITY;

	s->lo = INFINITY;
	s->hi = -INFINITY;
	for (size_t i = 0; i < board->n_groups; i++)
		if (has_scores(&board->groups[i]))
			best = fmin(best, board->groups[i].stats.mean);
	s->far = best + fabs(best) * FAR_BEHIND;
	for (size_t i = 0; i < board->n_groups; i++) {
		const struct board_group *group = &board->groups[i];

		if (!has_scores(group) || group->stats.mean > s->far)
			continue;
		s->lo = fmin(s->lo, group->stats.mean);
		s->hi = fmax(s->hi, group->stats.mean);
		for (size_t k = 0; k < group->n_rows; k++) {
			const struct board_row *row =
				board->rows[group->rows[k]];

			if (!row_counts(group, row))
				continue;
			s->lo = fmin(s->lo, row->score);
			s->hi = fmax(s->hi, row->score);
		}
	}
	if (!(s->hi > s->lo)) {
		s->lo -= fmax(fabs(s->lo) * 1e-4, 1e-6);
		s->hi += fmax(fabs(s->hi) * 1e-4, 1e-6);
	}
}

static int
column_of(const struct spread *s, double score)
{
	double part = (score - s->lo) / (s->hi - s->lo);

	return s->x + (int)lround(part * (s->columns - 1));
}

/* Such a score is none, however good. */
static bool
broke_a_cap(const struct board_group *group)
{
	for (size_t i = 0; i < BOARD_CAP_COUNT; i++)
		if (group->caps[i] == CAP_BROKEN)
			return true;
	return false;
}

static void
draw_group(const struct board *board, const struct board_group *group,
	   const struct spread *s, struct canvas *canvas, int y)
{
	bool broken = broke_a_cap(group);
	unsigned int style = broken		  ? STYLE_ALARM
			     : group->is_baseline ? STYLE_REFERENCE
						  : STYLE_SERIES_1;
	char mean[FMT_SIZE], text[FMT_SIZE + 8];

	if (group->stats.mean > s->far) {
		(void)snprintf(text, sizeof(text), "%s →",
			       fmt_number(group->stats.mean, 5, mean));
		canvas_right(canvas, (struct rect){ s->x, y, s->columns, 1 },
			     STYLE_DIM, str_from(text));
		return;
	}
	canvas_put(canvas, column_of(s, group->stats.mean), y, style, 0x2502);
	for (size_t k = 0; k < group->n_rows; k++) {
		const struct board_row *row = board->rows[group->rows[k]];

		if (row_counts(group, row))
			canvas_put(canvas, column_of(s, row->score), y, style,
				   broken ? 0x2717 : 0x25CF);
	}
}

static void
draw_axis(const struct spread *s, struct canvas *canvas, int y)
{
	struct rect line = { s->x, y, s->columns, 1 };
	char text[FMT_SIZE];

	canvas_fill(canvas, line, STYLE_AXIS, 0x2500);
	(void)canvas_text(canvas, s->x, y, STYLE_DIM,
			  fmt_number(s->lo, 5, text));
	canvas_right(canvas, line, STYLE_DIM,
		     str_from(fmt_number(s->hi, 5, text)));
}

void
board_panel_spread(const struct board *board, size_t selected,
		   struct canvas *canvas, struct rect r)
{
	struct spread s = { .x = 0 };
	struct rect in;
	char title[120];
	int y;

	(void)snprintf(
		title, sizeof(title),
		"Scores (%s) · ● a seed  ✗ of a broken cap  │ the mean · "
		"left is better",
		unit_of(&board->groups[selected]));
	in = panel_box(canvas, r, title);
	s.x = in.x + NAME_COLUMNS;
	s.columns = in.w - NAME_COLUMNS;
	if (s.columns < 10)
		return;
	find_range(board, &s);
	y = in.y;
	for (size_t i = 0; i < board->n_groups && y < in.y + in.h - 1; i++) {
		size_t g = board->rank != NULL ? board->rank[i] : i;
		const struct board_group *group = &board->groups[g];

		if (!has_scores(group))
			continue;
		canvas_line(canvas,
			    (struct rect){ in.x, y, NAME_COLUMNS - 1, 1 },
			    g == selected ? STYLE_STRONG : STYLE_HINT,
			    str_from(group->title != NULL ? group->title
							  : group->key));
		draw_group(board, group, &s, canvas, y++);
	}
	draw_axis(&s, canvas, y);
}
