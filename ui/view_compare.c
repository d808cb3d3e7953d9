/* SPDX-License-Identifier: MIT */
/* View that compares the marked runs: their curves, their gap to the reference, and the diff of
 * settings and source code. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/forecast.h"
#include "model/run_diff.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define CHART_BEGIN 0.1 /* share of x at the start that is ignored when scaling the gaps */

#define DIFF_MAX (32U << 20) /* in bytes */

struct compare {
	struct list list;	       /* of runs, or of lines of the diff */
	const struct model_run *of[2]; /* the two runs of the diff; NULL: none yet */
	uint64_t generation;	       /* of the model when the diff was made */
	bool is_diff;		       /* the diff is shown instead of the runs */
	struct buf diff;	       /* text from run_diff_print() */
	struct str *lines;	       /* owned; lines of the diff; NULL: not available */
	size_t n_lines;
	struct plot_request request; /* the runs of the last fill */
	/* Value of each run at the charts' cursor, and its difference from the base; absent if the
	 * run has no point there. */
	double at[UI_MAX_MARKS + 2], apart[UI_MAX_MARKS + 2];
	bool is_between[UI_MAX_MARKS + 2]; /* between printed rows: interpolated */
	struct ui_shared *shared;	   /* of the last fill; borrowed */
};

/* The run that all others are compared with: the reference, else the selected run. */
static const struct model_run *base_run(const struct ui_shared *shared)
{
	return shared->reference != NULL ? shared->reference : shared->selected;
}

/* Write the gap as "−0.0031 ±0.0026"; colored only if it exceeds twice its error. */
static void gap_cell(const struct compare *compare, const struct model_run *mr,
		     struct list_cell *cell)
{
	const struct model_run *base = base_run(compare->shared);
	char where[FMT_LABEL];
	struct gap gap = plot_gap(&compare->request, compare->shared->model, mr, base, where);

	if (mr == base || !run_has(gap.at)) {
		list_cellf(cell, STYLE_DIM, FMT_ABSENT);
		return;
	}
	cell->number = gap.at;
	list_cellf(cell, theme_fact(plot_gap_style(&gap, compare->request.metric)), "%s ±%s",
		   fmt_signed(gap.at, 4).s,
		   /* Rounded up, so that a small error is not shown as 0. */
		   fmt_number(ceil(gap.error * 1e4) / 1e4, 4).s);
}

enum compare_column {
	COMPARE_SYMBOL,
	COMPARE_RUN,
	COMPARE_STEP,
	COMPARE_MS,
	COMPARE_GAP,
	COMPARE_CURSOR,
	COMPARE_FINAL,
	COMPARE_DELTA,
	COMPARE_RATIO,
	COMPARE_STATE,
	COMPARE_COLUMNS
};

static const struct list_column compare_columns[COMPARE_COLUMNS] = {
	[COMPARE_SYMBOL] = { "", 1, .drop = 0 },
	[COMPARE_RUN] = { "RUN", 18, .grow = true, .name = true },
	[COMPARE_STEP] = { "STEP", 7, 3, FMT_GROUPED, .decimals = 0 },
	[COMPARE_MS] = { "ms/step", 8, 0, FMT_NUMBER, .decimals = 2 },
	[COMPARE_GAP] = { "gap now ±se", 16, 0, FMT_NUMBER, .decimals = 0 },
	[COMPARE_CURSOR] = { "at cursor, Δ", 16, 0, FMT_NUMBER, .decimals = 0 },
	[COMPARE_FINAL] = { "FINAL BPB", 10, 1, FMT_NUMBER, .decimals = 6 },
	[COMPARE_DELTA] = { "Δ final", 10, 0, FMT_SIGNED, .decimals = 6 },
	[COMPARE_RATIO] = { "BPB/nat", 7, 4, FMT_NUMBER, .decimals = 4 },
	[COMPARE_STATE] = { "STATE", 13, .drop = 2 },
};

static void compare_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct compare *compare = user;
	const struct ui_shared *shared = compare->shared;
	const struct model_run *mr = compare->request.runs[row];
	const struct model_run *base = base_run(shared);
	bool is_base = mr == base;
	const double numbers[COMPARE_COLUMNS] = {
		[COMPARE_STEP] = mr->run.steps,
		[COMPARE_MS] = model_run_ms_per_step(mr),
		[COMPARE_FINAL] = model_run_final_bpb(mr),
		[COMPARE_DELTA] =
			is_base ? RUN_ABSENT : model_run_final_bpb(mr) - model_run_final_bpb(base),
		[COMPARE_RATIO] = forecast_bpb_per_nat(mr),
	};
	double stage = model_run_stage_bpb(mr);
	struct run_state state;

	if (column == COMPARE_SYMBOL) {
		list_cellf(cell, is_base ? STYLE_REFERENCE : theme_series((unsigned int)row), "%s",
			   is_base ? "◆" : "━");
	} else if (column == COMPARE_RUN) {
		list_cellf(cell, STYLE_NORMAL, "%s", plot_run_label(mr).s);
		cell->spare = mr->name_date;
	} else if (column == COMPARE_GAP) {
		gap_cell(compare, mr, cell);
	} else if (column == COMPARE_CURSOR) {
		cell->number = compare->at[row];
		if (run_has(cell->number))
			list_cellf(cell, STYLE_NORMAL, "%s%.6g %s",
				   compare->is_between[row] ? "~" : "", cell->number,
				   is_base ? "" : fmt_signed(compare->apart[row], 4).s);
	} else if (column == COMPARE_STATE) {
		state = run_state_of(shared, mr);
		list_cellf(cell, theme_fact(state.style), "%s", state.text);
	} else if (column == COMPARE_FINAL && run_has(stage)) {
		list_cellf(cell, STYLE_HINT, "~%.6f", stage);
	} else {
		cell->number = numbers[column];
	}
}

/* Explain whether the runs' losses can be compared: tokenizers differ, are the same, or are
 * unknown. */
static void describe_losses(const struct compare *compare, char *out, size_t size)
{
	double lo = INFINITY, hi = -INFINITY;
	size_t unknown = 0;

	for (size_t i = 0; i < compare->request.n_runs; i++) {
		double ratio = forecast_bpb_per_nat(compare->request.runs[i]);

		if (!run_has(ratio)) {
			unknown++;
			continue;
		}
		lo = fmin(lo, ratio);
		hi = fmax(hi, ratio);
	}
	if (unknown > 0)
		(void)snprintf(out, size,
			       "%zu of %zu logs have no val_bpb next to val_loss: their loss is in "
			       "nats of an unknown tokenizer and is not drawn as BPB",
			       unknown, compare->request.n_runs);
	else if (hi - lo > 1e-4)
		(void)snprintf(out, size,
			       "Tokenizers differ (%.4f to %.4f bits/byte per nat): compare BPB, "
			       "not loss",
			       lo, hi);
	else
		(void)snprintf(
			out, size,
			"One tokenizer (%.4f bits/byte per nat): loss and BPB are equivalent", lo);
}

/* Scale y to include 0 (the reference) and 98 % of the gaps. The start of the curves is ignored:
 * they are so steep there that the rest would become a flat line. */
static void fit_gaps(struct chart *chart, const struct chart_settings *settings)
{
	double from = chart->x_lo;

	if (settings->zoom <= 1)
		from += (chart->x_hi - chart->x_lo) * CHART_BEGIN;
	struct plot_spread y = plot_spread_of(chart, from, chart->x_hi, 0.01);
	double lo = fmin(y.low, 0), hi = fmax(y.high, 0);
	double air = (hi - lo) * 0.05;
	if (air > 0 && !settings->hold_y) {
		chart->y_lo = lo - air;
		chart->y_hi = hi + air;
	}
}

/* Store what each run printed at the cursor, and its difference from the base. */
static void read_cursor(struct compare *compare, const struct plot_request *request, double x)
{
	const struct model *model = compare->shared->model;
	struct plot_points base, points;

	plot_points_init(&base, request, model, base_run(compare->shared));
	for (size_t i = 0; i < request->n_runs; i++) {
		bool is_base_between;

		plot_points_init(&points, request, model, request->runs[i]);
		compare->at[i] = plot_value_at(&points.curve, x, &compare->is_between[i]);
		compare->apart[i] =
			compare->at[i] - plot_value_at(&base.curve, x, &is_base_between);
		compare->is_between[i] |= is_base_between;
		plot_points_release(&points);
	}
	plot_points_release(&base);
}

/* Replace the points of each run by their difference from the base curve. Returns whether any
 * difference exists. */
static bool subtract_base(const struct compare *compare, struct plot_points *points,
			  const struct curve *base)
{
	bool any = false;

	for (size_t i = 0; i < compare->request.n_runs; i++) {
		struct plot_points *p = &points[i];

		for (size_t k = 0; k < p->n; k++)
			p->y[k] -= curve_at(base, p->x[k]);
		any = any || (compare->request.runs[i] != base_run(compare->shared) &&
			      any_of(k, p->n, isfinite(p->y[k])));
	}
	return any;
}

static void draw_gaps(struct compare *compare, struct canvas *canvas, struct rect r)
{
	struct plot_request request = compare->request;
	struct ui_shared *shared = compare->shared;
	struct plot_points base, points[UI_MAX_MARKS + 2];
	struct chart_series series[UI_MAX_MARKS + 3];
	double smooth = plot_smoothing[shared->chart.smoothing], x[2];
	int better = plot_infos[request.metric.id].better;
	struct chart chart;
	size_t n = 0;
	bool any;

	request.rect = r;
	plot_points_init(&base, &request, shared->model, base_run(shared));
	(void)plot_points_smooth(&base, &base, smooth);
	for (size_t i = 0; i < request.n_runs; i++) {
		struct plot_points *p = &points[i];

		plot_points_init(p, &request, shared->model, request.runs[i]);
		(void)plot_points_smooth(p, &base, smooth);
		series[n] = (struct chart_series){
			.x = p->x, .y = p->y, .n = p->n, .style = theme_series((unsigned int)i)
		};
		n += request.runs[i] != base_run(shared);
	}
	(void)canvas_box(canvas, r, "Gap to reference%s%s%s%s", base.unit[0] != '\0' ? " (" : "",
			 base.unit, base.unit[0] != '\0' ? ")" : "",
			 better < 0   ? ", − is better"
			 : better > 0 ? ", + is better"
				      : "");
	plot_chart_init(&chart, &request, shared);
	chart.series = series;
	chart.n_series = n;
	chart.sign = true;
	plot_window(&chart, shared);
	if (request.n_runs > 0)
		plot_place_cursor(&chart, &points[0].curve, shared);
	read_cursor(compare, &request, chart.cursor);
	any = subtract_base(compare, points, &base.curve);
	fit_gaps(&chart, &shared->chart);
	/* The reference is a horizontal line at 0. */
	x[0] = chart.x_lo;
	x[1] = chart.x_hi;
	series[chart.n_series++] = (struct chart_series){ .x = x,
							  .y = (const double[]){ 0, 0 },
							  .n = 2,
							  .style = STYLE_REFERENCE,
							  .line = CHART_DASHED };
	if (any)
		chart_draw(&chart, canvas);
	else if (n > 0)
		canvas_print(canvas, (struct rect){ r.x + 2, r.y + r.h / 2, r.w - 4, 1 }, STYLE_DIM,
			     "no point to compare with the reference");
	plot_points_release(&base);
	for (size_t i = 0; i < request.n_runs; i++)
		plot_points_release(&points[i]);
}

static void compare_release(void *state)
{
	struct compare *compare = state;

	buf_release(&compare->diff);
	free(compare->lines);
	compare->lines = NULL;
	compare->n_lines = 0;
}

/* Diff the base run with the selected run, or with the first other one if the base is selected.
 * Read the logs again on model changes until both contain their settings and source. */
static void update_diff(struct compare *compare)
{
	const struct model_run *base = base_run(compare->shared), *other;
	uint64_t generation = compare->shared->model->generation;
	struct run_text texts[2];
	size_t row = list_row(&compare->list);
	bool is_whole = true;

	other = row < compare->request.n_runs ? compare->request.runs[row] : base;
	if (other == base)
		other = compare->request.runs[compare->request.runs[0] == base];
	if (compare->of[0] == base && compare->of[1] == other &&
	    (compare->n_lines > 0 || compare->generation == generation))
		return;
	compare_release(compare);
	compare->of[0] = base;
	compare->of[1] = other;
	compare->generation = generation;
	for (size_t i = 0; i < 2; i++) {
		run_text_init(&texts[i]);
		is_whole &= run_text_read(&texts[i], compare->of[i]) &&
			    (texts[i].is_over || compare->of[i]->run.status != RUN_RUNNING);
	}
	if (is_whole) {
		struct str rest, line;
		size_t cap = 0;

		buf_init(&compare->diff, DIFF_MAX);
		run_diff_print(&texts[0], &texts[1], &compare->diff);
		rest = buf_str(&compare->diff);
		while (rest.len > 0 && str_next(&rest, '\n', &line))
			xpush(compare->lines, compare->n_lines, cap, line);
	}
	run_text_release(&texts[0]);
	run_text_release(&texts[1]);
}

static void diff_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct compare *compare = user;
	struct str line = compare->lines[row];
	char sign = line.len > 0 ? line.p[0] : ' ';

	(void)column;
	list_cellf(cell,
		   sign == '+'	 ? STYLE_BETTER
		   : sign == '-' ? STYLE_WORSE
		   : sign == '@' ? STYLE_HEADER
				 : STYLE_NORMAL,
		   "%.*s", (int)line.len, line.p);
}

static struct list *compare_list(void *state, struct ui_shared *shared)
{
	static const struct list_ops ops = { .columns = compare_columns,
					     .n_columns = COMPARE_COLUMNS,
					     .cell = compare_cell,
					     .swatch = true };
	static const struct list_column diff_columns[] = {
		{ "differences", 30, .grow = true },
	};
	static const struct list_ops diff_ops = { .columns = diff_columns,
						  .n_columns = 1,
						  .cell = diff_cell };
	struct compare *compare = state;

	compare->shared = shared;
	compare->request = (struct plot_request){ .legend = true };
	plot_request_runs(&compare->request, shared);
	compare->request.reference = base_run(shared);
	compare->request.metric = shared->chart.metric;
	if (base_run(shared) != NULL)
		compare->request.metric = plot_metric_of(base_run(shared), shared->chart.metric);
	plot_request_settle(&compare->request, shared);
	compare->is_diff &= base_run(shared) == compare->of[0];
	if (compare->is_diff)
		list_fill(&compare->list, &diff_ops, compare, compare->n_lines);
	else
		list_fill(&compare->list, &ops, compare, compare->request.n_runs);
	return &compare->list;
}

static void compare_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
			 struct rect r)
{
	struct compare *compare = state;
	struct list *list = compare_list(state, shared);
	char why[200];

	if (compare->is_diff) {
		list_draw(list, canvas,
			  canvas_box(canvas, r, "%s → %s · Esc back",
				     plot_run_label(compare->of[0]).s,
				     plot_run_label(compare->of[1]).s));
		return;
	}
	if (list->all < 2) {
		panel_empty(canvas, r,
			    "Nothing to compare yet.\n"
			    "In the fleet, mark runs with Space or set a reference with R.");
		return;
	}
	struct rect table = rect_take_top(&r, int_min((int)list->all + 1, r.h / 3));
	struct rect line = rect_take_top(&r, 1);
	table.x = ++line.x;
	table.w = line.w -= 2;
	update_diff(compare);
	describe_losses(compare, why, sizeof(why));
	/* What the gaps of the list are about, for the first run that is not the base. */
	const struct model_run *base = base_run(shared), *first = compare->request.runs[0];
	char where[FMT_LABEL];
	if (first == base)
		first = compare->request.runs[1];
	if (run_has(plot_gap(&compare->request, shared->model, first, base, where).at)) {
		(void)rect_take_left(&line, canvas_textf(canvas, line.x, line.y, STYLE_HINT,
							 "gap now: %s · ", where));
	}
	/* The first line of the diff is its summary. */
	if (compare->n_lines > 0)
		canvas_print(canvas, line, STYLE_HINT, "%.*s · %s", (int)compare->lines[0].len,
			     compare->lines[0].p, why);
	else
		canvas_print(canvas, line, STYLE_HINT, "%s", why);
	compare->request.rect =
		r.w >= 100 ? rect_take_left(&r, r.w * 6 / 10) : rect_take_top(&r, r.h * 6 / 10);
	/* The first chart places the cursor, the second reads it, and the list shows it. */
	plot_draw(&compare->request, shared, canvas);
	draw_gaps(compare, canvas, r);
	list_draw(list, canvas, table);
}

static bool compare_act(void *state, struct ui_shared *shared, enum action action,
			struct command *out)
{
	struct compare *compare = state;
	size_t row = list_row(state);
	bool closes = action == ACTION_BACK || action == ACTION_QUIT;

	(void)out;
	if (action == ACTION_DIFF ||
	    (compare->is_diff && closes && compare->list.filter[0] == '\0')) {
		if (compare->n_lines == 0) {
			ui_show_message(shared, "no diff: a log has no local copy or no training "
						"row yet");
			return true;
		}
		list_release(&compare->list);
		compare->is_diff = !compare->is_diff;
		return true;
	}
	if (compare->is_diff)
		return action == ACTION_OPEN;
	/* One page is a tenth of the chart's width. */
	if (action == ACTION_PAGE_UP || action == ACTION_PAGE_DOWN) {
		double from = shared->chart.cursor < 0 ? 1 : shared->chart.cursor;

		from += action == ACTION_PAGE_UP ? -0.1 : 0.1;
		shared->chart.cursor = fmin(fmax(from, 0), 1);
		return true;
	}
	if (action == ACTION_OPEN && row != SIZE_MAX) {
		shared->selected = compare->request.runs[row];
		shared->go = ACTION_VIEW_RUN;
		return true;
	}
	return ui_chart_act(shared, action);
}

const struct view_ops view_compare = {
	.name = "Compare",
	.open = ACTION_VIEW_COMPARE,
	.state_size = sizeof(struct compare),
	.places = IN_RUNS | IN_CHARTS | IN_COMPARE,
	.curves = UI_MAX_MARKS + 2,
	.watches = MODEL_RUNS | MODEL_SAMPLES,
	.hints = (const enum action[]){ ACTION_DIFF, ACTION_MARK, ACTION_REFERENCE,
					ACTION_METRIC_NEXT, ACTION_X_AXIS, ACTION_ZOOM_IN,
					ACTION_NONE },
	.draw = compare_draw,
	.act = compare_act,
	.list = compare_list,
	.release = compare_release,
};
