/* SPDX-License-Identifier: MIT */
/* The view that compares the marked runs: curves, gaps, and a diff of settings and source. */
#include "model/forecast.h"
#include "model/run_diff.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define DIFF_MAX (32U << 20) /* in bytes */
#define START	 0.1 /* do not draw this share of x at the start, where the loss falls too fast */

/* The value of one run at the x of the comparison, and its difference from the base run. */
struct figure {
	double value, gap; /* absent: the run (or the base run) has no value there */
	double noise;	   /* of the gap, from neighboring rows; absent: unknown */
	bool is_between;   /* interpolated, because one of the two runs has no row there */
};

enum figure_kind { FIGURE_CHART, FIGURE_VALIDATION, FIGURE_KINDS };

#define COMPARE_LIST(X)                                                                   \
	X(COMPARE_SYMBOL, "", 1, .drop = 0)                                               \
	X(COMPARE_RUN, "RUN", 18, .grow = true, .name = true)                             \
	X(COMPARE_VALUE, "value", 11, 0, FMT_NUMBER, .decimals = 4, .fit = true)          \
	X(COMPARE_GAP, "gap", 8, 0, FMT_NUMBER, .decimals = 4, .fit = true)               \
	X(COMPARE_VALIDATION, "validation", 9, 1, FMT_NUMBER, .decimals = 4, .fit = true) \
	X(COMPARE_VALIDATION_GAP, "gap", 8, 1, FMT_NUMBER, .decimals = 4, .fit = true)    \
	X(COMPARE_FINAL, "FINAL BPB", 9, 2, FMT_NUMBER, .decimals = 6)                    \
	X(COMPARE_DELTA, "Δ final", 9, 2, FMT_SIGNED, .decimals = 6)                      \
	X(COMPARE_STEP, "STEP", 7, 6, FMT_GROUPED, .decimals = 0)                         \
	X(COMPARE_MS, "ms/step", 8, 4, FMT_NUMBER, .decimals = 2)                         \
	X(COMPARE_MS_DELTA, "Δ ms", 7, 5, FMT_NUMBER, .decimals = 1, .fit = true)         \
	X(COMPARE_STATE, "STATE", 13, .drop = 3, .grow = true)

enum compare_column { COMPARE_LIST(LIST_ID) COMPARE_COLUMNS };

struct compare {
	struct list list;			     /* of runs, or of lines of the diff */
	const struct model_run *of[2];		     /* the two runs of the diff; NULL: none yet */
	uint64_t generation;			     /* of the model when the diff was made */
	bool is_diff;				     /* show the diff instead of the runs */
	bool is_whole;				     /* draw the start of the runs, too */
	struct list_column columns[COMPARE_COLUMNS]; /* with titles of the last drawing */
	struct list_ops ops;
	struct buf diff;   /* text from run_diff_print() */
	struct str *lines; /* owned; lines of the diff; NULL: not available */
	size_t n_lines;
	struct plot_request request; /* the runs; set by compare_list() */
	/* As drawn last: the figures, their names, and the x (as text) where they were read. */
	struct figure figures[UI_MAX_MARKS + 2][FIGURE_KINDS];
	char titles[FIGURE_KINDS][SERIES_LABEL_BYTES], at[FIGURE_KINDS][FMT_LABEL];
	struct ui_shared *shared; /* borrowed; set by compare_list() */
};

/* Return the run that all others are compared with: the reference, else the selected run. */
static const struct model_run *base_run(const struct ui_shared *shared)
{
	return shared->reference != NULL ? shared->reference : shared->selected;
}

/* With too few runs to compare, the view lists all runs, so that the user can mark some. */
static bool is_choosing(const struct compare *compare)
{
	return compare->request.n_runs < 2;
}

static const struct model_run *run_of_row(const struct compare *compare, size_t row)
{
	return is_choosing(compare) ? compare->shared->model->runs[row]
				    : compare->request.runs[row];
}

static const struct list_column compare_columns[] = { COMPARE_LIST(LIST_COLUMN) };

/* Show a figure or gap: within twice its noise without color, interpolated with a ~. */
static void figure_cell(const struct figure *figure, bool is_gap, struct chart_metric metric,
			struct list_cell *cell)
{
	const struct gap gap = { .at = figure->gap, .error = figure->noise };
	const char *mark = figure->is_between ? "~" : "";

	cell->number = is_gap ? figure->gap : figure->value;
	if (run_has(cell->number) && is_gap)
		list_cellf(cell, theme_fact(plot_gap_style(&gap, metric)), "%s%s", mark,
			   fmt_signed(cell->number, 4).s);
	else if (run_has(cell->number) && figure->is_between)
		list_cellf(cell, STYLE_HINT, "~%s", fmt_number(cell->number, 4).s);
}

static void compare_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct compare *compare = user;
	const struct ui_shared *shared = compare->shared;
	const struct model_run *mr = run_of_row(compare, row);
	const struct model_run *base = base_run(shared);
	bool is_base = mr == base;
	double stage = model_run_stage_bpb(mr);
	struct run_state state;

	if (column == COMPARE_SYMBOL) {
		list_cellf(cell, is_base ? STYLE_REFERENCE : theme_series((unsigned int)row), "%s",
			   is_choosing(compare) ? (ui_is_marked(&shared->marks, mr) ? "+" : "")
			   : is_base		? "◆"
						: "━");
	} else if (column == COMPARE_RUN) {
		list_cellf(cell, STYLE_NORMAL, "%s", plot_run_label(mr).s);
	} else if (column >= COMPARE_VALUE && column <= COMPARE_VALIDATION_GAP) {
		size_t kind = (column - COMPARE_VALUE) / 2;

		if (!is_choosing(compare))
			figure_cell(&compare->figures[row][kind],
				    column == COMPARE_GAP || column == COMPARE_VALIDATION_GAP,
				    kind == FIGURE_CHART ? compare->request.metric
							 : (struct chart_metric){ PLOT_BPB, "" },
				    cell);
	} else if (column == COMPARE_STATE) {
		state = run_state_of(shared, mr);
		list_cellf(cell, theme_fact(state.style), "%s", state.text);
	} else if (column == COMPARE_FINAL && run_has(stage)) {
		list_cellf(cell, STYLE_HINT, "~%.6f", stage);
	} else {
		bool is_alone = is_base || is_choosing(compare);
		double ms = model_run_ms_per_step(mr), final = model_run_final_bpb(mr);
		const double numbers[COMPARE_COLUMNS] = {
			[COMPARE_STEP] = mr->run.steps,
			[COMPARE_MS] = ms,
			[COMPARE_FINAL] = final,
			[COMPARE_DELTA] = is_alone ? RUN_ABSENT : final - model_run_final_bpb(base),
			[COMPARE_MS_DELTA] = is_alone
						     ? RUN_ABSENT
						     : 100 * (ms / model_run_ms_per_step(base) - 1),
		};

		cell->number = numbers[column];
		if (column == COMPARE_MS_DELTA && run_has(cell->number))
			list_cellf(cell, theme_delta(cell->number), "%s %%",
				   fmt_signed(cell->number, 1).s);
	}
}

/* Append a warning if the runs' losses cannot be compared: tokenizers differ or are unknown. */
static void describe_losses(const struct compare *compare, struct buf *out)
{
	double lo = INFINITY, hi = -INFINITY;
	size_t unknown = 0;

	for (size_t i = 0; i < compare->request.n_runs; i++) {
		double ratio = forecast_bpb_per_nat(compare->request.runs[i]);

		unknown += !run_has(ratio);
		lo = fmin(lo, ratio);
		hi = fmax(hi, ratio);
	}
	if (unknown > 0)
		buf_appendf(out,
			    " · tokenizer unknown in %zu of %zu logs (no val_bpb): loss in nats",
			    unknown, compare->request.n_runs);
	else if (hi - lo > 1e-4)
		buf_appendf(out,
			    " · tokenizers differ (%.4f to %.4f bits/byte per nat): compare BPB, "
			    "not loss",
			    lo, hi);
}

/* Return the x of the first run's last row that all runs with points have reached. */
static double find_common_end(const struct plot_points *points, size_t n)
{
	double end = INFINITY;
	const struct plot_points *own = &points[0];

	for (size_t i = 0; i < n; i++)
		if (points[i].n > 0)
			end = fmin(end, points[i].x[points[i].n - 1]);
	size_t rows = bisect(own->n, k, own->x[k] <= end);
	return rows > 0 ? own->x[rows - 1] : RUN_ABSENT;
}

static void read_figure(const struct plot_points *own, const struct plot_points *base, double x,
			struct figure *figure)
{
	bool is_base_between;

	figure->value = plot_value_at(&own->curve, x, &figure->is_between);
	figure->gap = RUN_ABSENT;
	if (own == base)
		return;
	figure->gap = figure->value - plot_value_at(&base->curve, x, &is_base_between);
	figure->is_between |= is_base_between;
	figure->noise = find_gap_noise(&own->curve, &base->curve, x);
}

/* Read the value of each run at x, and at the base run's last validation at or before x. */
static void read_figures(struct compare *compare, const struct plot_points *points, size_t base,
			 double x)
{
	const struct plot_request *request = &compare->request;
	const struct model_run *mr = request->runs[base];
	enum metric metric = mr->series[METRIC_VAL_BPB] != NULL ? METRIC_VAL_BPB : METRIC_VAL_LOSS;
	const struct series *series = mr->series[metric];
	struct plot_request steps = *request;
	struct plot_points vals[UI_MAX_MARKS + 2];
	double step = RUN_ABSENT;

	print_into(compare->titles[FIGURE_CHART], "%s", points[base].what);
	print_into(compare->titles[FIGURE_VALIDATION],
		   metric == METRIC_VAL_BPB ? "val BPB" : "val loss");
	compare->at[FIGURE_CHART][0] = compare->at[FIGURE_VALIDATION][0] = '\0';
	if (run_has(x))
		plot_x_name(request->axis, x, compare->at[FIGURE_CHART]);
	for (size_t i = series != NULL ? series_count(series) : 0; i > 0 && !run_has(step); i--)
		if (plot_point_x(mr, series_at(series, i - 1), request->axis) <= x)
			step = series_at(series, i - 1)->step;
	if (strcmp(compare->titles[FIGURE_CHART], compare->titles[FIGURE_VALIDATION]) == 0)
		step = RUN_ABSENT;
	if (run_has(step))
		plot_x_name(AXIS_STEP, step, compare->at[FIGURE_VALIDATION]);
	steps.axis = AXIS_STEP;
	for (size_t i = 0; i < request->n_runs; i++)
		plot_series_init(&vals[i], &steps, request->runs[i],
				 request->runs[i]->series[metric]);
	for (size_t i = 0; i < request->n_runs; i++) {
		read_figure(&points[i], &points[base], x, &compare->figures[i][FIGURE_CHART]);
		read_figure(&vals[i], &vals[base], step, &compare->figures[i][FIGURE_VALIDATION]);
	}
	for (size_t i = 0; i < request->n_runs; i++)
		plot_points_release(&vals[i]);
}

/* Replace the points of each run by their difference from the base curve; true if there are any. */
static bool subtract_base(const struct compare *compare, struct plot_points *points,
			  const struct curve *base)
{
	bool any = false;

	array_each (p, points, compare->request.n_runs) {
		if (p->x == base->x)
			continue;
		for (size_t k = 0; k < p->n; k++)
			p->y[k] -= curve_at(base, p->x[k]);
		any = any || any_of(k, p->n, isfinite(p->y[k]));
	}
	return any;
}

static void draw_gaps(struct compare *compare, struct canvas *canvas, struct rect r)
{
	struct plot_request request = compare->request;
	struct ui_shared *shared = compare->shared;
	struct plot_points points[UI_MAX_MARKS + 2], base;
	struct chart_series series[UI_MAX_MARKS + 3];
	double smooth = plot_smoothing[shared->chart.smoothing], x[2];
	int better = plot_infos[request.metric.id].better;
	struct chart chart;
	size_t n = 0, of_base = 0;

	request.rect = r;
	for (size_t i = 0; i < request.n_runs; i++) {
		struct plot_points *p = &points[i];

		plot_points_init(p, &request, shared->model, request.runs[i]);
		if (request.runs[i] == base_run(shared)) {
			of_base = i;
			continue;
		}
		series[n] = (struct chart_series){
			.x = p->x, .y = p->y, .n = p->n, .style = theme_series((unsigned int)i)
		};
		n++;
	}
	plot_chart_init(&chart, &request, shared);
	chart.series = series;
	chart.n_series = n;
	chart.sign = true;
	plot_window(&chart, shared);
	plot_place_cursor(&chart, &points[0].curve, shared);
	read_figures(compare, points, of_base,
		     isfinite(chart.cursor) ? chart.cursor
					    : find_common_end(points, request.n_runs));
	for (size_t i = 0; i < request.n_runs; i++)
		if (i != of_base)
			(void)plot_points_smooth(&points[i], &points[of_base], smooth);
	base = points[of_base];
	(void)plot_points_smooth(&base, &base, smooth);
	(void)canvas_box(canvas, r, "Gap to reference%s%s%s%s", base.unit[0] != '\0' ? " (" : "",
			 base.unit, base.unit[0] != '\0' ? ")" : "",
			 better < 0   ? ", − is better"
			 : better > 0 ? ", + is better"
				      : "");
	bool any = subtract_base(compare, points, &base.curve);
	/* The y range includes 0 (the reference) and 98 % of the gaps. */
	struct plot_spread y = plot_spread_of(&chart, chart.x_lo, chart.x_hi, 0.01);
	double lo = fmin(y.low, 0), hi = fmax(y.high, 0), air = (hi - lo) * 0.05;
	if (air > 0 && !shared->chart.hold_y) {
		chart.y_lo = lo - air;
		chart.y_hi = hi + air;
	}
	/* Draw the reference as a horizontal line at 0. */
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
			     "no data in common with the reference");
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

/* Compare the base run with the selected run, or with the first other run if the base is selected.
 * Until both logs contain their settings and source, read them again when the model changes. */
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

static void diff_cell(void *user, size_t row, UNUSED size_t column, struct list_cell *cell)
{
	const struct compare *compare = user;
	struct str line = compare->lines[row];
	char sign = line.len > 0 ? line.p[0] : ' ';

	list_cellf(cell,
		   sign == '+'	 ? STYLE_BETTER
		   : sign == '-' ? STYLE_WORSE
		   : sign == '@' ? STYLE_HEADER
				 : STYLE_NORMAL,
		   "%.*s", (int)line.len, line.p);
}

static struct list *compare_list(void *state, struct ui_shared *shared)
{
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
	memcpy(compare->columns, compare_columns, sizeof(compare_columns));
	if (!is_choosing(compare)) {
		compare->columns[COMPARE_VALUE].title = compare->titles[FIGURE_CHART];
		compare->columns[COMPARE_VALIDATION].title = compare->titles[FIGURE_VALIDATION];
	}
	compare->ops = (struct list_ops){ .columns = compare->columns,
					  .n_columns = COMPARE_COLUMNS,
					  .cell = compare_cell,
					  .swatch = true };
	/* The list of all runs may have thousands of rows, so it needs a version. */
	compare->list.version =
		is_choosing(compare) ? ui_runs_version(shared) ^ (uintptr_t)base_run(shared) : 0;
	if (compare->is_diff)
		list_fill(&compare->list, &diff_ops, compare, compare->n_lines);
	else
		list_fill(&compare->list, &compare->ops, compare,
			  is_choosing(compare) ? shared->model->n_runs : compare->request.n_runs);
	return &compare->list;
}

static void compare_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
			 struct rect r)
{
	struct compare *compare = state;
	struct list *list = compare_list(state, shared);
	AUTO_BUF notes = buf_new(DIFF_MAX);

	if (compare->is_diff) {
		list_draw(list, canvas,
			  canvas_box(canvas, r, "%s → %s · Esc back",
				     plot_run_label(compare->of[0]).s,
				     plot_run_label(compare->of[1]).s));
		return;
	}
	if (list->all < 2) {
		panel_empty(canvas, r, "Nothing to compare yet.\nTwo runs are needed.");
		return;
	}
	if (is_choosing(compare)) {
		canvas_print_top(canvas, &r, STYLE_HINT, " Mark the runs to compare with Space");
		list_draw(list, canvas, (struct rect){ r.x + 1, r.y, r.w - 2, r.h });
		return;
	}
	struct rect title = rect_take_top(&r, 1);
	struct rect table = rect_take_top(&r, int_min((int)list->all + 1, r.h / 3));
	struct rect line = rect_take_top(&r, 1);
	table.x = ++line.x;
	table.w = line.w -= 2;
	update_diff(compare);
	/* Show the first line of the diff, which is its summary. */
	if (compare->n_lines > 0)
		buf_appendf(&notes, "%.*s (d)", (int)compare->lines[0].len, compare->lines[0].p);
	else
		buf_append_str(&notes, "settings and source: not known yet");
	describe_losses(compare, &notes);
	canvas_print(canvas, line, STYLE_HINT, "%s", notes.data);
	compare->request.rect = r.w >= 100 ? rect_take_left(&r, r.w * 6 / 10)
					   : rect_take_top(&r, r.h < 13 ? r.h : r.h * 6 / 10);
	/* In this order: the first chart places the cursor, the second reads, the list shows. */
	shared->chart.x_from = compare->is_whole || shared->chart.axis == AXIS_WALL ? 0 : START;
	plot_draw(&compare->request, shared, canvas);
	draw_gaps(compare, canvas, r);
	shared->chart.x_from = 0;
	list_draw(compare_list(state, shared), canvas, table);
	title.x++;
	title.w -= 2;
	if (compare->at[FIGURE_CHART][0] == '\0')
		canvas_print(canvas, title, STYLE_HINT, "no row to compare with ◆ %s",
			     plot_run_label(base_run(shared)).s);
	else
		canvas_print(canvas, title, STYLE_HINT,
			     "at %s%s%s (h l: other rows) · against ◆ %s",
			     compare->at[FIGURE_CHART],
			     compare->at[FIGURE_VALIDATION][0] != '\0' ? ", validation at " : "",
			     compare->at[FIGURE_VALIDATION], plot_run_label(base_run(shared)).s);
}

static bool compare_act(void *state, struct ui_shared *shared, enum action action,
			UNUSED struct command *out)
{
	struct compare *compare = state;
	size_t row = list_row(state);
	bool closes = action == ACTION_BACK || action == ACTION_QUIT;

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
	if (action == ACTION_MARK && row != SIZE_MAX) {
		ui_toggle_mark(shared, &shared->marks, run_of_row(compare, row), UI_MAX_MARKS);
		return true;
	}
	if (action == ACTION_ZOOM_RESET && shared->chart.zoom <= 1 && shared->chart.cursor < 0) {
		compare->is_whole = !compare->is_whole;
		return true;
	}
	/* A page moves the cursor by a tenth of the chart's width. */
	if (action == ACTION_PAGE_UP || action == ACTION_PAGE_DOWN) {
		double from = shared->chart.cursor < 0 ? 1 : shared->chart.cursor;

		from += action == ACTION_PAGE_UP ? -0.1 : 0.1;
		shared->chart.cursor = fmin(fmax(from, 0), 1);
		return true;
	}
	if (action == ACTION_OPEN && row != SIZE_MAX) {
		shared->selected = run_of_row(compare, row);
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
