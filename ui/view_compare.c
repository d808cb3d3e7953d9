/* SPDX-License-Identifier: MIT */
/* Compare: marked runs over each other, and their gap to a reference. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "model/forecast.h"
#include "ui/panel.h"
#include "ui/theme.h"

struct compare {
	struct list list;
	struct plot_request request; /* of the runs at the last fill */
	struct ui_shared *shared;    /* of the last fill; borrowed */
};

/* y between the points around x; absent outside of them. */
static double
y_between(const struct plot_points *p, double x)
{
	size_t i;

	if (p->n < 2 || x < p->x[0] || x > p->x[p->n - 1])
		return RUN_ABSENT;
	i = bisect(p->n - 1, k, p->x[k] <= x);
	if (p->x[i] <= p->x[i - 1])
		return p->y[i - 1];
	return p->y[i - 1] + (p->y[i] - p->y[i - 1]) * (x - p->x[i - 1]) /
				     (p->x[i] - p->x[i - 1]);
}

/* What all others are held against: the reference, else the selected run. */
static const struct model_run *
base_run(const struct ui_shared *shared)
{
	return shared->reference != NULL ? shared->reference : shared->selected;
}

static void
smooth_points(struct plot_points *points, const struct ui_shared *shared,
	      const struct model_run *mr)
{
	plot_points_init(points, shared->model, mr, shared->chart.metric,
			 shared->chart.axis);
	plot_points_smooth(points, plot_smoothing[shared->chart.smoothing]);
}

/* The gap to the reference over the last raw rows, as far as both have been. */
static struct forecast_gap
gap_now(const struct ui_shared *shared, const struct model_run *mr)
{
	struct forecast_gap gap = { 0 };
	struct plot_points own, base;

	plot_points_init(&own, shared->model, mr, shared->chart.metric,
			 shared->chart.axis);
	plot_points_init(&base, shared->model, base_run(shared),
			 shared->chart.metric, shared->chart.axis);
	for (size_t i = own.n; i-- > 0 && gap.n < FORECAST_GAP_ROWS;)
		forecast_gap_add(&gap, own.y[i] - y_between(&base, own.x[i]));
	plot_points_release(&own);
	plot_points_release(&base);
	return gap;
}

/* "−0.0031 ±0.0026"; coloured only when it stands out of the noise. */
static void
gap_cell(const struct ui_shared *shared, const struct model_run *mr,
	 struct list_cell *cell)
{
	struct forecast_gap gap = gap_now(shared, mr);
	double error = forecast_gap_error(&gap);
	char mean[FMT_SIZE], text[FMT_SIZE];

	if (mr == base_run(shared) || gap.n < 2) {
		list_cellf(cell, STYLE_DIM, FMT_ABSENT);
		return;
	}
	cell->number = gap.mean;
	list_cellf(cell,
		   fabs(gap.mean) > 2 * error ? theme_delta(gap.mean)
					      : STYLE_NORMAL,
		   "%s ±%s", fmt_signed(gap.mean, 4, mean),
		   fmt_number(error, 4, text));
}

enum compare_column {
	COMPARE_SYMBOL,
	COMPARE_RUN,
	COMPARE_STEP,
	COMPARE_MS,
	COMPARE_GAP,
	COMPARE_FINAL,
	COMPARE_DELTA,
	COMPARE_RATIO,
	COMPARE_STATE,
	COMPARE_COLUMNS
};

static const struct list_column compare_columns[COMPARE_COLUMNS] = {
	[COMPARE_SYMBOL] = { "", 1, .drop = 0 },
	[COMPARE_RUN] = { "RUN", 18, .grow = true },
	[COMPARE_STEP] = { "STEP", 7, 3, FMT_GROUPED, .decimals = 0 },
	[COMPARE_MS] = { "ms/step", 8, 0, FMT_NUMBER, .decimals = 2 },
	[COMPARE_GAP] = { "gap now ±se", 16, 0, FMT_NUMBER, .decimals = 0 },
	[COMPARE_FINAL] = { "FINAL BPB", 10, 0, FMT_NUMBER, .decimals = 6 },
	[COMPARE_DELTA] = { "Δ final", 10, 0, FMT_SIGNED, .decimals = 6 },
	[COMPARE_RATIO] = { "BPB/nat", 7, 4, FMT_NUMBER, .decimals = 4 },
	[COMPARE_STATE] = { "STATE", 13, .drop = 2 },
};

static void
compare_cell(void *user, size_t row, size_t column, struct list_cell *cell)
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
		[COMPARE_DELTA] = is_base ? RUN_ABSENT
					  : model_run_final_bpb(mr) -
						    model_run_final_bpb(base),
		[COMPARE_RATIO] = forecast_bpb_per_nat(mr),
	};
	double stage = model_run_stage_bpb(mr);
	char label[FMT_LABEL];
	struct run_state state;

	if (column == COMPARE_SYMBOL) {
		list_cellf(cell,
			   is_base ? STYLE_REFERENCE
				   : theme_series((unsigned int)row),
			   "%s", is_base ? "◆" : "━");
	} else if (column == COMPARE_RUN) {
		list_cellf(cell, STYLE_NORMAL, "%s", plot_run_label(mr, label));
	} else if (column == COMPARE_GAP) {
		gap_cell(shared, mr, cell);
	} else if (column == COMPARE_STATE) {
		state = run_state_of(shared, mr);
		list_cellf(cell, theme_fact(state.style), "%s", state.text);
	} else if (column == COMPARE_FINAL && run_has(stage)) {
		list_cellf(cell, STYLE_HINT, "~%.6f", stage);
	} else {
		cell->number = numbers[column];
	}
}

/* Why BPB and not loss; or why the loss may be compared. */
static void
reason(const struct compare *compare, char *out, size_t size)
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
			       "%zu of %zu logs have no val_bpb beside "
			       "val_loss: their loss is in nats of an unknown "
			       "tokenizer and is not drawn as BPB",
			       unknown, compare->request.n_runs);
	else if (hi - lo > 1e-4)
		(void)snprintf(out, size,
			       "Tokenizers differ (%.4f to %.4f bits/byte a "
			       "nat): compare BPB, not loss",
			       lo, hi);
	else
		(void)snprintf(out, size,
			       "One tokenizer (%.4f bits/byte a nat): loss and "
			       "BPB say the same",
			       lo);
}

/* The gap of each run to the reference, over x. */
static void
draw_gaps(const struct compare *compare, struct canvas *canvas, struct rect r)
{
	struct plot_request request = compare->request;
	struct ui_shared *shared = compare->shared;
	struct plot_points base, points[UI_MAX_MARKS + 2];
	struct chart_series series[UI_MAX_MARKS + 3];
	struct chart chart;
	double x[2];
	size_t n = 0;

	request.rect = r;
	smooth_points(&base, shared, base_run(shared));
	for (size_t i = 0; i < request.n_runs; i++) {
		struct plot_points *p = &points[i];

		smooth_points(p, shared, request.runs[i]);
		for (size_t k = 0; k < p->n; k++)
			p->y[k] -= y_between(&base, p->x[k]);
		if (request.runs[i] != base_run(shared))
			series[n++] = (struct chart_series){
				p->x,	     p->y,
				p->n,	     theme_series((unsigned int)i),
				CHART_SOLID, NULL
			};
	}
	(void)canvas_box(canvas, r, "Gap to reference (%s), − is better",
			 plot_infos[request.metric].unit);
	plot_chart_init(&chart, &request, shared);
	chart.series = series;
	chart.n_series = n;
	chart.sign = true;
	plot_window(&chart, shared);
	/* Through the window the reference. */
	x[0] = chart.x_lo;
	x[1] = chart.x_hi;
	series[chart.n_series++] = (struct chart_series){
		x,   (const double[]){ 0, 0 }, 2, STYLE_REFERENCE, CHART_DASHED,
		NULL
	};
	if (n > 0)
		chart_draw(&chart, canvas);
	plot_points_release(&base);
	for (size_t i = 0; i < request.n_runs; i++)
		plot_points_release(&points[i]);
}

static struct list *
compare_list(void *state, struct ui_shared *shared)
{
	static const struct list_ops ops = { .columns = compare_columns,
					     .n_columns = COMPARE_COLUMNS,
					     .cell = compare_cell,
					     .filtered = COMPARE_RUN };
	struct compare *compare = state;

	compare->shared = shared;
	compare->request = (struct plot_request){ .legend = true };
	plot_request_runs(&compare->request, shared);
	compare->request.reference = base_run(shared);
	compare->request.metric = shared->chart.metric;
	list_fill(&compare->list, &ops, compare, compare->request.n_runs);
	return &compare->list;
}

static void
compare_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	     struct rect r)
{
	struct compare *compare = state;
	struct list *list = compare_list(state, shared);
	struct rect table, line;
	char why[200];

	if (list->n < 2) {
		panel_empty(canvas, r,
			    "Nothing to compare yet.\n"
			    "Mark runs with Space in the fleet, set a "
			    "reference with R.");
		return;
	}
	table = rect_take_top(&r, int_min((int)list->n + 1, r.h / 3));
	line = rect_take_top(&r, 1);
	table.x = ++line.x;
	table.w = line.w -= 2;
	list_draw(list, canvas, table);
	reason(compare, why, sizeof(why));
	canvas_print(canvas, line, STYLE_HINT, "%s", why);
	compare->request.rect = r.w >= 100 ? rect_take_left(&r, r.w * 6 / 10)
					   : rect_take_top(&r, r.h * 6 / 10);
	draw_gaps(compare, canvas, r);
	plot_draw(&compare->request, shared, canvas);
}

static bool
compare_act(void *state, struct ui_shared *shared, enum action action,
	    struct command *out)
{
	(void)state;
	(void)out;
	return ui_chart_act(&shared->chart, action);
}

const struct view_ops view_compare = {
	.name = "Compare",
	.open = ACTION_VIEW_COMPARE,
	.state_size = sizeof(struct compare),
	.places = IN_RUNS | IN_CHARTS,
	.watches = MODEL_RUNS | MODEL_SAMPLES,
	.hints = (const enum action[]){ ACTION_MARK, ACTION_REFERENCE,
					ACTION_METRIC_NEXT, ACTION_X_AXIS,
					ACTION_ZOOM_IN, ACTION_NONE },
	.draw = compare_draw,
	.act = compare_act,
	.list = compare_list,
};
