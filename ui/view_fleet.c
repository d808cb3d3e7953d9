/* SPDX-License-Identifier: MIT */
/* Fleet: a row a run, the selected run's chart, the caps as gauges. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "model/forecast.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/view.h"

enum fleet_column {
	FLEET_STATE_SYMBOL,
	FLEET_POD,
	FLEET_RUN,
	FLEET_SEED,
	FLEET_STEP,
	FLEET_MS,
	FLEET_TOK,
	FLEET_BPB,
	FLEET_LOSS,
	FLEET_FINAL,
	FLEET_SIGMA,
	FLEET_DELTA,
	FLEET_EVAL,
	FLEET_SIZE,
	FLEET_STATE,
	FLEET_COLUMNS
};

static const struct table_column columns[FLEET_COLUMNS] = {
	[FLEET_STATE_SYMBOL] = { "", 2, false, 0, false },
	[FLEET_POD] = { "POD", 9, false, 0, false },
	[FLEET_RUN] = { "RUN", 14, false, 0, true },
	[FLEET_SEED] = { "SEED", 5, true, 0, false },
	[FLEET_STEP] = { "STEP", 6, true, 0, false },
	[FLEET_MS] = { "ms/step", 8, true, 0, false },
	[FLEET_TOK] = { "Mtok/s", 7, true, 4, false },
	[FLEET_BPB] = { "BPB", 7, true, 0, false },
	[FLEET_LOSS] = { "LOSS nat", 8, true, 6, false },
	[FLEET_FINAL] = { "→FINAL", 7, true, 0, false },
	[FLEET_SIGMA] = { "±1σ", 6, true, 5, false },
	[FLEET_DELTA] = { "Δref", 7, true, 3, false },
	[FLEET_EVAL] = { "EVAL s", 7, true, 7, false },
	[FLEET_SIZE] = { "SIZE MB", 8, true, 8, false },
	[FLEET_STATE] = { "STATE", 13, false, 0, true },
};

struct fleet_row {
	const struct model_run *mr;
	struct forecast forecast;
	double key; /* what it is sorted by */
};

struct fleet {
	struct table table;
	struct fleet_row *rows; /* owned */
	size_t cap;
	int sort; /* a column, or 0: order of appearance */
	bool descending;
	struct ui_shared *shared; /* while it draws */
};

/* The score that a run has or will have. */
static double
row_final(const struct fleet_row *row)
{
	return run_has(row->mr->run.final_bpb) ? row->mr->run.final_bpb
					       : row->forecast.final_bpb;
}

static double
reference_score(const struct ui_shared *shared)
{
	double sum = 0;

	if (shared->reference != NULL)
		return shared->reference->run.final_bpb;
	if (shared->baseline == NULL || shared->baseline->n_bpb == 0)
		return RUN_ABSENT;
	for (size_t i = 0; i < shared->baseline->n_bpb; i++)
		sum += shared->baseline->bpb[i];
	return sum / (double)shared->baseline->n_bpb;
}

static double
row_number(const struct fleet *fleet, const struct fleet_row *row, int column)
{
	const struct run *run = &row->mr->run;

	switch (column) {
	case FLEET_POD:
		return (double)row->mr->pod;
	case FLEET_SEED:
		return run->seed;
	case FLEET_STEP:
		return run->steps;
	case FLEET_MS:
		return model_run_ms_per_step(row->mr);
	case FLEET_TOK:
		return model_run_tok_s(row->mr);
	case FLEET_BPB:
		return run_has(run->final_bpb) ? run->final_bpb
					       : run->last_val_bpb;
	case FLEET_LOSS:
		return run_has(run->last_val_loss) ? run->last_val_loss
						   : run->last_train_loss;
	case FLEET_FINAL:
		return row_final(row);
	case FLEET_SIGMA:
		return run_has(run->final_bpb) ? RUN_ABSENT
					       : row->forecast.final_bpb_sigma;
	case FLEET_DELTA:
		if (row->mr == fleet->shared->reference)
			return RUN_ABSENT;
		return row_final(row) - reference_score(fleet->shared);
	case FLEET_EVAL:
		return run_has(run->eval_total_s) ? run->eval_total_s
						  : run->eval_s;
	case FLEET_SIZE:
		return run->artifact_bytes;
	default:
		return RUN_ABSENT;
	}
}

/* Absent values come last, whichever way the order is. */
static int
compare_rows(const void *a, const void *b, void *user)
{
	const struct fleet_row *x = a, *y = b;
	const struct fleet *fleet = user;
	int order;

	if (isnan(x->key) || isnan(y->key))
		return isnan(x->key) - isnan(y->key);
	order = (x->key > y->key) - (x->key < y->key);
	return fleet->descending ? -order : order;
}

/* What runs comes first, then what ended, the newest first. */
static double
default_key(const struct model_run *mr, size_t i, size_t n)
{
	if (mr->run.status == RUN_RUNNING && mr->live)
		return (double)i;
	return (double)(2 * n - i);
}

static void
fill_rows(struct fleet *fleet, const struct ui_shared *shared)
{
	const struct model *model = shared->model;
	double cap =
		shared->track != NULL ? shared->track->cap_train_s : RUN_ABSENT;

	if (fleet->cap < model->n_runs) {
		fleet->cap = model->n_runs + 16;
		fleet->rows = xreallocarray(fleet->rows, fleet->cap,
					    sizeof(*fleet->rows));
	}
	for (size_t i = 0; i < model->n_runs; i++) {
		struct fleet_row *row = &fleet->rows[i];

		row->mr = model->runs[i];
		forecast_run(model, row->mr, cap, shared->now_wall_ms,
			     &row->forecast);
		row->key = fleet->sort > 0
				   ? row_number(fleet, row, fleet->sort)
				   : default_key(row->mr, i, model->n_runs);
	}
	if (model->n_runs > 0)
		qsort_r(fleet->rows, model->n_runs, sizeof(*fleet->rows),
			compare_rows, fleet);
	table_set_rows(&fleet->table, model->n_runs);
	for (size_t i = 0; i < model->n_runs; i++)
		if (fleet->rows[i].mr == shared->selected)
			fleet->table.selected = i;
}

static void
symbol_cell(const struct fleet *fleet, const struct model_run *mr,
	    struct table_cell *cell)
{
	const struct ui_shared *shared = fleet->shared;
	const struct alert *alert = alerts_of_run(shared->alerts, mr);
	const char *mark = ui_is_marked(shared, mr)		   ? "+"
			   : mr == shared->reference		   ? "◆"
			   : alert != NULL && !alert->acknowledged ? "!"
								   : " ";
	struct run_state state;
	char bytes[5] = "";

	run_state_of(shared, mr, &state);
	bytes[utf8_encode(state.symbol, bytes)] = '\0';
	table_cellf(cell, state.style, "%s%s", mark, bytes);
}

static void
number_cell(const struct fleet *fleet, const struct fleet_row *row, int column,
	    struct table_cell *cell)
{
	static const int decimals[FLEET_COLUMNS] = {
		[FLEET_MS] = 1,	   [FLEET_BPB] = 4,   [FLEET_LOSS] = 4,
		[FLEET_FINAL] = 4, [FLEET_SIGMA] = 4, [FLEET_EVAL] = 1,
	};
	double value = row_number(fleet, row, column);
	const struct alert *alert =
		alerts_of_run(fleet->shared->alerts, row->mr);
	unsigned int style = STYLE_NORMAL;
	char text[FMT_SIZE];

	if (column == FLEET_DELTA) {
		table_cellf(cell, fmt_delta_style(value), "%s",
			    fmt_signed(value, 4, text));
		return;
	}
	if (column == FLEET_TOK) {
		table_cellf(cell, style, "%s", fmt_mtok(value, text));
		return;
	}
	if (column == FLEET_SIZE) {
		table_cellf(cell, style, "%s",
			    fmt_number(value / 1e6, 3, text));
		return;
	}
	/* What is a forecast looks like one. */
	if (column == FLEET_FINAL && !run_has(row->mr->run.final_bpb))
		style = STYLE_HINT;
	if (column == FLEET_MS && alert != NULL &&
	    alert->kind == ALERT_SLOW_POD)
		style = STYLE_WARN;
	table_cellf(cell, style, "%s%s",
		    column == FLEET_STEP
			    ? fmt_grouped(value, text)
			    : fmt_number(value, decimals[column], text),
		    style == STYLE_WARN ? "!" : "");
}

static void
fleet_cell(void *user, size_t i, size_t column, struct table_cell *cell)
{
	const struct fleet *fleet = user;
	const struct fleet_row *row = &fleet->rows[i];
	const struct model *model = fleet->shared->model;
	char name[FMT_LABEL];
	struct run_state state;

	switch (column) {
	case FLEET_STATE_SYMBOL:
		symbol_cell(fleet, row->mr, cell);
		break;
	case FLEET_POD:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    row->mr->pod < model->n_pods
				    ? model->pods[row->mr->pod].name
				    : FMT_ABSENT);
		break;
	case FLEET_RUN:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    plot_run_name(row->mr, name));
		break;
	case FLEET_STATE:
		run_state_of(fleet->shared, row->mr, &state);
		table_cellf(cell, state.style, "%s", state.text);
		break;
	default:
		number_cell(fleet, row, (int)column, cell);
		break;
	}
}

static void
draw_runs(struct fleet *fleet, struct canvas *canvas, struct rect r)
{
	const struct table_spec spec = { columns,
					 FLEET_COLUMNS,
					 fleet_cell,
					 fleet,
					 fleet->sort > 0 ? (size_t)fleet->sort
							 : SIZE_MAX,
					 fleet->descending };

	table_draw(&fleet->table, canvas, r, &spec);
}

static void
draw_chart(struct ui_shared *shared, struct canvas *canvas, struct rect rect,
	   enum plot_metric metric, bool plain)
{
	struct plot_request request = { .metric = metric,
					.rect = rect,
					.legend =
						metric == shared->chart.metric,
					.plain = plain,
					.marks = true };

	plot_request_runs(&request, shared);
	plot_draw(&request, shared, canvas);
}

/* The second and third chart: what the first does not show. */
static enum plot_metric
other_metric(enum plot_metric first, int which)
{
	static const enum plot_metric others[] = { PLOT_MS_STEP, PLOT_TOK_S,
						   PLOT_BPB };
	int n = 0;

	for (size_t i = 0; i < 3; i++)
		if (others[i] != first && n++ == which)
			return others[i];
	return PLOT_LOSS;
}

/* 80x24 and what is not much more: no frames, each line counts. */
static void
draw_small(struct fleet *fleet, struct canvas *canvas, struct rect r)
{
	struct ui_shared *shared = fleet->shared;
	int runs = (int)fleet->table.rows + 1;
	int budget = r.h >= 18 ? 4 : r.h >= 14 ? 3 : 0;

	if (runs > (r.h - budget) / 2)
		runs = (r.h - budget) / 2;
	draw_runs(fleet, canvas, (struct rect){ r.x, r.y, r.w, runs });
	draw_chart(shared, canvas,
		   (struct rect){ r.x, r.y + runs, r.w, r.h - runs - budget },
		   shared->chart.metric, true);
	panel_budget(
		shared, canvas,
		(struct rect){ r.x + 1, r.y + r.h - budget, r.w - 2, budget });
}

static void
title_of_selected(const struct ui_shared *shared, const char *what, char *out,
		  size_t size)
{
	char label[FMT_LABEL];

	plot_run_label(shared->selected, label);
	(void)snprintf(out, size, "%s · %s", what, label);
}

/* 120x40: runs, two charts, the caps, the log's end. */
static void
draw_medium(struct fleet *fleet, struct canvas *canvas, struct rect r)
{
	struct ui_shared *shared = fleet->shared;
	int runs = (int)fleet->table.rows + 3, budget = 7, log, chart, left;
	char title[160];

	if (runs > r.h * 2 / 5)
		runs = r.h * 2 / 5;
	log = r.h >= 34 ? 5 : 0;
	chart = r.h - runs - budget - log;
	left = r.w * 6 / 10;
	(void)snprintf(title, sizeof(title), "Runs (%zu)", fleet->table.rows);
	draw_runs(
		fleet, canvas,
		panel_box(canvas, (struct rect){ r.x, r.y, r.w, runs }, title));
	draw_chart(shared, canvas,
		   (struct rect){ r.x, r.y + runs, left, chart },
		   shared->chart.metric, false);
	draw_chart(shared, canvas,
		   (struct rect){ r.x + left, r.y + runs, r.w - left, chart },
		   other_metric(shared->chart.metric, 0), false);
	title_of_selected(shared, "Budget", title, sizeof(title));
	panel_budget(
		shared, canvas,
		panel_box(canvas,
			  (struct rect){ r.x, r.y + runs + chart, r.w, budget },
			  title));
	if (log > 0) {
		title_of_selected(shared, "Log", title, sizeof(title));
		panel_log(shared, canvas,
			  panel_box(canvas,
				    (struct rect){ r.x, r.y + r.h - log, r.w,
						   log },
				    title));
	}
}

/* 200x60: three charts, pods and events beside the caps. */
static void
draw_large(struct fleet *fleet, struct canvas *canvas, struct rect r)
{
	struct ui_shared *shared = fleet->shared;
	int runs = (int)fleet->table.rows + 3, budget = 9, log = 12, chart, y;
	int half = r.w / 2, third = r.w / 4;
	char title[160];

	if (runs > r.h / 3)
		runs = r.h / 3;
	chart = r.h - runs - budget - log;
	(void)snprintf(title, sizeof(title), "Runs (%zu)", fleet->table.rows);
	draw_runs(
		fleet, canvas,
		panel_box(canvas, (struct rect){ r.x, r.y, r.w, runs }, title));
	y = r.y + runs;
	draw_chart(shared, canvas, (struct rect){ r.x, y, half, chart },
		   shared->chart.metric, false);
	draw_chart(shared, canvas, (struct rect){ r.x + half, y, third, chart },
		   other_metric(shared->chart.metric, 0), false);
	draw_chart(shared, canvas,
		   (struct rect){ r.x + half + third, y, r.w - half - third,
				  chart },
		   other_metric(shared->chart.metric, 1), false);
	y += chart;
	title_of_selected(shared, "Budget", title, sizeof(title));
	panel_budget(shared, canvas,
		     panel_box(canvas, (struct rect){ r.x, y, half, budget },
			       title));
	panel_pods(shared, canvas,
		   panel_box(canvas,
			     (struct rect){ r.x + half, y, r.w - half, budget },
			     "Pods"));
	y += budget;
	title_of_selected(shared, "Log", title, sizeof(title));
	panel_log(shared, canvas,
		  panel_box(canvas, (struct rect){ r.x, y, half, log }, title));
	panel_events(shared, canvas,
		     panel_box(canvas,
			       (struct rect){ r.x + half, y, r.w - half, log },
			       "Events · ! all"));
}

static void
fleet_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	   struct rect rect)
{
	static const char *const empty[] = {
		"No runs yet.", "hgym-tui LOG...  opens logs that lie here",
		"hgym-tui demo    shows a fleet that is made up",
		"hgym-tui doctor  says what is set up and what is not", NULL
	};
	struct fleet *fleet = state;

	fleet->shared = shared;
	fill_rows(fleet, shared);
	if (fleet->table.rows == 0)
		panel_empty(canvas, rect, empty);
	else if (rect.w >= 170 && rect.h >= 50)
		draw_large(fleet, canvas, rect);
	else if (rect.w >= 100 && rect.h >= 30)
		draw_medium(fleet, canvas, rect);
	else
		draw_small(fleet, canvas, rect);
}

/* The columns that can be sorted by, round and round. */
static void
next_sort(struct fleet *fleet)
{
	static const int order[] = { 0,		 FLEET_FINAL, FLEET_BPB,
				     FLEET_MS,	 FLEET_TOK,   FLEET_STEP,
				     FLEET_SEED, FLEET_POD };
	size_t n = sizeof(order) / sizeof(order[0]);

	for (size_t i = 0; i < n; i++) {
		if (order[i] == fleet->sort) {
			fleet->sort = order[(i + 1) % n];
			break;
		}
	}
	fleet->descending =
		fleet->sort == FLEET_TOK || fleet->sort == FLEET_STEP;
}

static char *
row_text(const struct ui_shared *shared)
{
	const struct model_run *mr = shared->selected;
	char label[FMT_LABEL], bpb[FMT_SIZE], ms[FMT_SIZE];

	plot_run_label(mr, label);
	return xasprintf("%s\tBPB %s\t%s ms/step\t%s", label,
			 fmt_number(run_has(mr->run.final_bpb)
					    ? mr->run.final_bpb
					    : mr->run.last_val_bpb,
				    6, bpb),
			 fmt_number(mr->run.ms_per_step, 2, ms), mr->path);
}

static unsigned int
fleet_act(void *state, struct ui_shared *shared, enum action action,
	  struct command *out)
{
	struct fleet *fleet = state;

	if (table_act(&fleet->table, action)) {
		if (fleet->table.selected < fleet->table.rows)
			shared->selected =
				fleet->rows[fleet->table.selected].mr;
		return UI_HANDLED;
	}
	if (action == ACTION_OPEN && shared->selected != NULL) {
		shared->go = ACTION_VIEW_RUN;
		return UI_HANDLED;
	}
	if (action == ACTION_SORT) {
		next_sort(fleet);
		return UI_HANDLED;
	}
	if (action == ACTION_SORT_REVERSE) {
		fleet->descending = !fleet->descending;
		return UI_HANDLED;
	}
	if (action == ACTION_COPY && shared->selected != NULL) {
		out->id = COMMAND_COPY;
		out->text = row_text(shared);
		return UI_HANDLED | UI_COMMAND;
	}
	return ui_chart_act(&shared->chart, action);
}

static bool
fleet_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct fleet *fleet = state;

	if (!table_click(&fleet->table, x, y))
		return false;
	shared->selected = fleet->rows[fleet->table.selected].mr;
	return true;
}

static const char *
fleet_export(void *state, struct ui_shared *shared, struct buf *out)
{
	struct fleet *fleet = state;

	buf_append_str(out, "pod,run,seed,status,steps,ms_per_step,tok_s,"
			    "last_val_bpb,final_bpb,train_s,eval_s,"
			    "artifact_bytes\n");
	for (size_t i = 0; i < fleet->table.rows; i++) {
		const struct model_run *mr = fleet->rows[i].mr;
		const struct run *run = &mr->run;
		const double numbers[] = {
			run->steps,	     model_run_ms_per_step(mr),
			model_run_tok_s(mr), run->last_val_bpb,
			run->final_bpb,	     model_run_train_ms(mr) / 1000,
			run->eval_s,	     run->artifact_bytes
		};
		char name[FMT_LABEL];

		buf_appendf(out, "%s,%s,",
			    mr->pod < shared->model->n_pods
				    ? shared->model->pods[mr->pod].name
				    : "",
			    plot_run_name(mr, name));
		if (run_has(run->seed))
			buf_appendf(out, "%.0f", run->seed);
		buf_appendf(out, ",%s", run_status_name(run->status));
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]);
		     k++) {
			buf_append_char(out, ',');
			if (run_has(numbers[k]))
				buf_appendf(out, "%.10g", numbers[k]);
		}
		buf_append_char(out, '\n');
	}
	return "csv";
}

static void
fleet_release(void *state)
{
	struct fleet *fleet = state;

	free(fleet->rows);
}

static const enum action hints[] = { ACTION_OPEN,      ACTION_MARK,
				     ACTION_REFERENCE, ACTION_SORT,
				     ACTION_VIEW_LOGS, ACTION_METRIC_NEXT,
				     ACTION_NONE };

const struct view_ops view_fleet = {
	.name = "Fleet",
	.open = ACTION_VIEW_FLEET,
	.state_size = sizeof(struct fleet),
	.places = IN_RUNS | IN_CHARTS,
	.watches = MODEL_PODS | MODEL_RUNS | MODEL_SAMPLES | MODEL_LOGS,
	.hints = hints,
	.draw = fleet_draw,
	.act = fleet_act,
	.click = fleet_click,
	.export = fleet_export,
	.release = fleet_release,
};
