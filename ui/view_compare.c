/* SPDX-License-Identifier: MIT */
/* Compare: marked runs over each other, and their gap to a reference. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/forecast.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/view.h"

#define GAP_ROWS 20

struct compare {
	struct table table;
	struct plot_request request;
	struct ui_shared *shared; /* while it draws */
};

/* y between the points around x; absent outside of them. */
static double
y_between(const struct plot_points *p, double x)
{
	size_t lo = 0, hi = p->n;

	if (p->n < 2 || x < p->x[0] || x > p->x[p->n - 1])
		return RUN_ABSENT;
	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (p->x[mid] <= x)
			lo = mid;
		else
			hi = mid;
	}
	if (hi >= p->n || p->x[hi] <= p->x[lo])
		return p->y[lo];
	return p->y[lo] +
	       (p->y[hi] - p->y[lo]) * (x - p->x[lo]) / (p->x[hi] - p->x[lo]);
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

/* The gap to the reference over the last rows, and its standard error. */
struct gap {
	double mean, error; /* absent: no rows in common */
};

/*
 * One row is noise: the mean of GAP_ROWS raw rows, as far as both runs have
 * been, and an error that says what it is worth.
 */
static struct gap
gap_now(const struct ui_shared *shared, const struct model_run *mr)
{
	struct gap gap = { RUN_ABSENT, RUN_ABSENT };
	double mean = 0, squares = 0;
	struct plot_points own, base;
	size_t n = 0;

	plot_points_init(&own, shared->model, mr, shared->chart.metric,
			 shared->chart.axis);
	plot_points_init(&base, shared->model, base_run(shared),
			 shared->chart.metric, shared->chart.axis);
	for (size_t i = own.n; i-- > 0 && n < GAP_ROWS;) {
		double there = y_between(&base, own.x[i]);
		double delta = own.y[i] - there - mean;

		if (!isfinite(delta))
			continue;
		n++;
		mean += delta / (double)n;
		squares += delta * (own.y[i] - there - mean);
	}
	if (n > 1) {
		gap.mean = mean;
		gap.error = sqrt(squares / (double)(n - 1) / (double)n);
	}
	plot_points_release(&own);
	plot_points_release(&base);
	return gap;
}

/* "−0.0031 ±0.0026"; coloured only when it stands out of the noise. */
static void
gap_cell(const struct ui_shared *shared, const struct model_run *mr,
	 struct table_cell *cell)
{
	struct gap gap = gap_now(shared, mr);
	char mean[FMT_SIZE], error[FMT_SIZE];

	if (mr == base_run(shared) || !run_has(gap.mean)) {
		table_cellf(cell, STYLE_DIM, FMT_ABSENT);
		return;
	}
	table_cellf(cell,
		    fabs(gap.mean) > 2 * gap.error ? fmt_delta_style(gap.mean)
						   : STYLE_NORMAL,
		    "%s ±%s", fmt_signed(gap.mean, 4, mean),
		    fmt_number(gap.error, 4, error));
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

static const struct table_column columns[COMPARE_COLUMNS] = {
	[COMPARE_SYMBOL] = { "", 1, false, 0, false },
	[COMPARE_RUN] = { "RUN", 18, false, 0, true },
	[COMPARE_STEP] = { "STEP", 7, true, 3, false },
	[COMPARE_MS] = { "ms/step", 8, true, 0, false },
	[COMPARE_GAP] = { "gap now ±se", 16, true, 0, false },
	[COMPARE_FINAL] = { "FINAL BPB", 10, true, 0, false },
	[COMPARE_DELTA] = { "Δ final", 10, true, 0, false },
	[COMPARE_RATIO] = { "BPB/nat", 7, true, 4, false },
	[COMPARE_STATE] = { "STATE", 13, false, 2, false },
};

static void
compare_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct compare *compare = user;
	const struct ui_shared *shared = compare->shared;
	const struct model_run *mr = compare->request.runs[row];
	const struct run *run = &mr->run;
	double base = base_run(shared)->run.final_bpb, gap;
	char text[FMT_SIZE], label[FMT_LABEL];
	struct run_state state;

	switch (column) {
	case COMPARE_SYMBOL:
		table_cellf(cell,
			    mr == base_run(shared)
				    ? STYLE_REFERENCE
				    : theme_series((unsigned int)row),
			    "%s", mr == base_run(shared) ? "◆" : "━");
		break;
	case COMPARE_RUN:
		plot_run_label(mr, label);
		table_cellf(cell, STYLE_NORMAL, "%s", label);
		break;
	case COMPARE_STEP:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_grouped(run->steps, text));
		break;
	case COMPARE_MS:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_number(model_run_ms_per_step(mr), 1, text));
		break;
	case COMPARE_GAP:
		gap_cell(shared, mr, cell);
		break;
	case COMPARE_FINAL:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_number(run->final_bpb, 6, text));
		break;
	case COMPARE_DELTA:
		gap = mr == base_run(shared) ? RUN_ABSENT
					     : run->final_bpb - base;
		table_cellf(cell, fmt_delta_style(gap), "%s",
			    fmt_signed(gap, 6, text));
		break;
	case COMPARE_RATIO:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_number(forecast_bpb_per_nat(mr), 4, text));
		break;
	default:
		run_state_of(shared, mr, &state);
		table_cellf(cell, state.style, "%s", state.text);
		break;
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

/* The chart, and through its window the reference; series has room for it. */
static void
draw_over_zero(struct chart *chart, struct chart_series *series,
	       struct canvas *canvas)
{
	const double x[2] = { chart->x_lo, chart->x_hi }, y[2] = { 0, 0 };

	series[chart->n_series++] =
		(struct chart_series){ x,   y, 2, STYLE_REFERENCE, CHART_DASHED,
				       NULL };
	chart_draw(chart, canvas);
}

/* The gap of each run to the reference, over x. */
static void
draw_gaps(const struct compare *compare, struct canvas *canvas, struct rect r)
{
	const struct plot_request *request = &compare->request;
	struct ui_shared *shared = compare->shared;
	struct plot_points base, points[UI_MAX_MARKS + 2];
	struct chart_series series[UI_MAX_MARKS + 3];
	enum chart_axis axis = request->metric >= PLOT_GPU_UTIL
				       ? AXIS_WALL
				       : shared->chart.axis;
	struct chart chart;
	char title[80];
	size_t n = 0;

	smooth_points(&base, shared, base_run(shared));
	for (size_t i = 0; i < request->n_runs; i++) {
		struct plot_points *p = &points[i];

		smooth_points(p, shared, request->runs[i]);
		for (size_t k = 0; k < p->n; k++)
			p->y[k] -= y_between(&base, p->x[k]);
		if (request->runs[i] == base_run(shared))
			continue;
		series[n++] = (struct chart_series){
			p->x,	     p->y, p->n, theme_series((unsigned int)i),
			CHART_SOLID, NULL
		};
	}
	chart_init(&chart, (struct rect){ r.x + 1, r.y + 1, r.w - 2, r.h - 2 });
	chart.charset = shared->chart.charset;
	chart.series = series;
	chart.n_series = n;
	chart.x_is_time = axis == AXIS_WALL;
	chart.sign = true;
	(void)snprintf(title, sizeof(title),
		       "Gap to reference (%s), − is better",
		       plot_info(request->metric)->unit);
	canvas_box(canvas, r, title);
	if (n > 0) {
		chart.x_text = plot_x_text_of(axis);
		plot_window(&chart, shared, axis);
		ui_area_add(shared, &chart);
		draw_over_zero(&chart, series, canvas);
	}
	plot_points_release(&base);
	for (size_t i = 0; i < request->n_runs; i++)
		plot_points_release(&points[i]);
}

static void
draw_table(struct compare *compare, struct canvas *canvas, struct rect r)
{
	const struct table_spec spec = { columns, COMPARE_COLUMNS, compare_cell,
					 compare, SIZE_MAX,	   false };

	table_set_rows(&compare->table, compare->request.n_runs);
	table_draw(&compare->table, canvas, r, &spec);
}

static void
compare_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	     struct rect r)
{
	static const char *const empty[] = {
		"Nothing to compare yet.",
		"Mark runs with Space in the fleet, set a reference with R.",
		NULL
	};
	struct compare *compare = state;
	int rows, chart;
	char why[200];

	compare->shared = shared;
	memset(&compare->request, 0, sizeof(compare->request));
	plot_request_runs(&compare->request, shared);
	compare->request.reference = base_run(shared);
	if (compare->request.n_runs < 2) {
		panel_empty(canvas, r, empty);
		return;
	}
	rows = (int)compare->request.n_runs + 1;
	if (rows > r.h / 3)
		rows = r.h / 3;
	draw_table(compare, canvas,
		   (struct rect){ r.x + 1, r.y, r.w - 2, rows });
	reason(compare, why, sizeof(why));
	canvas_line(canvas, (struct rect){ r.x + 1, r.y + rows, r.w - 2, 1 },
		    STYLE_HINT, str_from(why));
	chart = r.h - rows - 1;
	compare->request.metric = shared->chart.metric;
	compare->request.legend = true;
	if (r.w >= 100) {
		compare->request.rect = (struct rect){ r.x, r.y + rows + 1,
						       r.w * 6 / 10, chart };
		draw_gaps(compare, canvas,
			  (struct rect){ r.x + r.w * 6 / 10, r.y + rows + 1,
					 r.w - r.w * 6 / 10, chart });
	} else {
		compare->request.rect = (struct rect){ r.x, r.y + rows + 1, r.w,
						       chart * 6 / 10 };
		draw_gaps(compare, canvas,
			  (struct rect){ r.x, r.y + rows + 1 + chart * 6 / 10,
					 r.w, chart - chart * 6 / 10 });
	}
	plot_draw(&compare->request, shared, canvas);
}

static unsigned int
compare_act(void *state, struct ui_shared *shared, enum action action,
	    struct command *out)
{
	struct compare *compare = state;

	(void)out;
	if (table_act(&compare->table, action)) {
		return UI_HANDLED;
	}
	return ui_chart_act(&shared->chart, action);
}

static const char *
compare_export(void *state, struct ui_shared *shared, struct buf *out)
{
	struct compare *compare = state;
	char label[FMT_LABEL], a[FMT_SIZE], b[FMT_SIZE], c[FMT_SIZE];

	compare->shared = shared;
	buf_append_str(out, "| run | ms/step | final BPB | gap now |\n"
			    "| --- | --: | --: | --: |\n");
	for (size_t i = 0; i < compare->request.n_runs; i++) {
		const struct model_run *mr = compare->request.runs[i];

		plot_run_label(mr, label);
		buf_appendf(out, "| %s | %s | %s | %s |\n", label,
			    fmt_number(model_run_ms_per_step(mr), 2, a),
			    fmt_number(mr->run.final_bpb, 6, b),
			    fmt_signed(gap_now(shared, mr).mean, 4, c));
	}
	return "md";
}

static const enum action hints[] = { ACTION_MARK,	 ACTION_REFERENCE,
				     ACTION_METRIC_NEXT, ACTION_X_AXIS,
				     ACTION_ZOOM_IN,	 ACTION_NONE };

const struct view_ops view_compare = {
	.name = "Compare",
	.open = ACTION_VIEW_COMPARE,
	.state_size = sizeof(struct compare),
	.places = IN_RUNS | IN_CHARTS,
	.watches = MODEL_RUNS | MODEL_SAMPLES,
	.hints = hints,
	.draw = compare_draw,
	.act = compare_act,
	.export = compare_export,
};
