/* SPDX-License-Identifier: MIT */
/* The view of all runs: one row per run, and charts, caps and log of the selected run. */
#include "model/crossing.h"
#include "model/forecast.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define EMPTY_PODS 8 /* maximum number of pods that a view without runs lists */

struct fleet_row {
	const struct model_run *mr;
	bool is_over; /* it was not running when the row was updated last */
	struct forecast forecast;
	struct crossing crossing; /* where it reaches the target of its track */
	double old_bpb, old_loss; /* step of its newest validation if that is old, or absent */
};

struct fleet {
	struct list list;
	struct list pods;	/* its selected row is the pod of the selected run */
	struct fleet_row *rows; /* owned; in the order of the model */
	size_t n_rows, cap_rows;
	uint64_t generation;		/* of the model when rows were updated; 0: never */
	const struct ui_shared *shared; /* borrowed; set by fleet_fill() */
	struct plot_request drawn;	/* the runs in the charts; set by fleet_fill() */
};

#define FLEET_LIST(X)                                                                        \
	X(FLEET_MARK, "", 1, .drop = 0)                                                      \
	X(FLEET_SYMBOL, "", 1, .drop = 0)                                                    \
	X(FLEET_POD, "POD", 8, .drop = 8, .same_goes = true)                                 \
	X(FLEET_RUN, "RUN", 14, .grow = true, .name = true)                                  \
	X(FLEET_SEED, "SEED", 5, 0, FMT_NUMBER, .decimals = 0)                               \
	X(FLEET_STEP, "STEP", 6, 6, FMT_STEPS, .descending = true)                           \
	X(FLEET_MS, "ms/step", 8, 7, FMT_NUMBER, .decimals = 1)                              \
	X(FLEET_TOK, "Mtok/s", 7, 10, FMT_NUMBER, .descending = true)                        \
	X(FLEET_DEVICE, "ktok/s/dev", 10, 10, FMT_NUMBER, .decimals = 2, .descending = true) \
	X(FLEET_BPB, "BPB", 7, 1, FMT_NUMBER, .decimals = 4, .fit = true)                    \
	X(FLEET_TRAIN, "TRAIN nat", 9, 13, FMT_NUMBER, .decimals = 4)                        \
	X(FLEET_VAL, "VAL nat", 7, 12, FMT_NUMBER, .decimals = 4, .fit = true)               \
	X(FLEET_OWN, "METRIC", 18, 5, FMT_DIGITS, .decimals = 6)                             \
	X(FLEET_FINAL, "→FINAL", 7, 3, FMT_NUMBER, .decimals = 4)                            \
	X(FLEET_SIGMA, "±1σ", 6, 11, FMT_NUMBER, .decimals = 4)                              \
	X(FLEET_CROSSING, "→TARGET", 10, 4, FMT_NUMBER, .decimals = 0)                       \
	X(FLEET_DELTA, "Δref", 7, 9, FMT_SIGNED, .decimals = 4)                              \
	X(FLEET_EVAL, "EVAL s", 7, 13, FMT_NUMBER, .decimals = 1)                            \
	X(FLEET_SIZE, "SIZE MB", 8, 14, FMT_NUMBER, .decimals = 3)                           \
	X(FLEET_COST, "COST $", 7, 15, FMT_NUMBER, .decimals = 2, .descending = true)        \
	X(FLEET_STATE, "STATE", 13, .drop = 2, .grow = true)                                 \
	/* Only for exports: no screen is wide enough. */                                    \
	X(FLEET_FILE, "FILE", CANVAS_MAX_SIDE, .drop = 16)

enum fleet_column { FLEET_LIST(LIST_ID) FLEET_COLUMNS };

static const struct list_column fleet_columns[] = { FLEET_LIST(LIST_COLUMN) };

static const unsigned char fleet_sorts[] = { FLEET_FINAL, FLEET_BPB,  FLEET_MS,	 FLEET_TOK,
					     FLEET_STEP,  FLEET_SEED, FLEET_POD, 0 };

static double reference_score(const struct ui_shared *shared)
{
	double sum = 0;

	if (shared->reference != NULL)
		return model_run_final_bpb(shared->reference);
	if (shared->baseline == NULL || shared->baseline->n_bpb == 0)
		return RUN_ABSENT;
	for (size_t i = 0; i < shared->baseline->n_bpb; i++)
		sum += shared->baseline->bpb[i];
	return sum / (double)shared->baseline->n_bpb;
}

/* Show the run's color in the chart, and a sign for a reference, a mark or an alert. */
static void mark_cell(const struct fleet *fleet, const struct model_run *mr, struct list_cell *cell)
{
	const struct ui_shared *shared = fleet->shared;
	size_t line = index_of(i, fleet->drawn.n_runs, fleet->drawn.runs[i] == mr);
	bool is_drawn = line < fleet->drawn.n_runs;

	if (mr == shared->reference)
		list_cellf(cell, STYLE_REFERENCE, "◆");
	else
		list_cell_set(cell, is_drawn ? theme_series((unsigned int)line) : STYLE_WARN,
			      ui_is_marked(&shared->marks, mr)		      ? "+"
			      : mr->alert != NULL && !mr->alert->acknowledged ? "!"
			      : is_drawn				      ? "━"
									      : "");
}

static double final_score(const struct fleet_row *row)
{
	double final = model_run_final_bpb(row->mr);

	return run_has(final) ? final : row->forecast.final_bpb;
}

/* Show the chosen own series of the run, with its printed name. If none is chosen, show the run's
 * own loss, but only if it has no known loss or BPB. */
static void own_cell(const struct ui_shared *shared, const struct run *run, struct list_cell *cell)
{
	const struct chart_metric *chosen = &shared->chart.metric;
	const struct run_series *own = chosen->id == PLOT_OWN ? plot_own_series(run, chosen->own)
				       : run_has(run->last_train_loss) ||
						       run_has(run->last_val_loss) ||
						       run_has(run->last_val_bpb)
					       ? NULL
					       : plot_own_loss(run);

	if (own == NULL)
		return;
	list_cellf(cell, STYLE_NORMAL, "%.12s %.5g", own->name, own->last);
	cell->number = own->last;
}

/* Show a validation from long ago in grey and with its step: "3.4877@0". */
static void validation_cell(double old, struct list_cell *cell)
{
	if (run_has(old) && run_has(cell->number))
		list_cellf(cell, STYLE_DIM, "%s@%s", fmt_number(cell->number, 4).s,
			   fmt_grouped(old).s);
}

static void bpb_cell(const struct fleet_row *row, struct list_cell *cell)
{
	double final = model_run_final_bpb(row->mr), stage = model_run_stage_bpb(row->mr);

	cell->number = run_has(final) ? final : run_has(stage) ? stage : row->mr->run.last_val_bpb;
	/* The ~ marks an evaluation stage that may not be the last one. */
	if (run_has(stage))
		list_cellf(cell, STYLE_NORMAL, "~%s", fmt_number(stage, 4).s);
	else if (!run_has(final))
		validation_cell(row->old_bpb, cell);
}

static void fleet_cell(void *user, size_t i, size_t column, struct list_cell *cell)
{
	const struct fleet *fleet = user;
	const struct ui_shared *shared = fleet->shared;
	const struct model *model = shared->model;
	const struct fleet_row *row = &fleet->rows[i];
	const struct model_run *mr = row->mr;
	const struct run *run = &mr->run;
	struct run_state state;

	if (column == FLEET_MARK) {
		mark_cell(fleet, mr, cell);
	} else if (column == FLEET_SYMBOL) {
		state = run_state_of(shared, mr);
		list_cell_set(cell, theme_fact(state.style), state.symbol);
	} else if (column == FLEET_POD) {
		cell->number = (double)mr->pod;
		list_cell_set(cell, STYLE_NORMAL, model_pod_name(model, mr->pod));
	} else if (column == FLEET_RUN) {
		list_cell_set(cell, STYLE_NORMAL, plot_run_name(mr));
	} else if (column == FLEET_MS) {
		/* The ! marks a run on a pod that is slower than its peers. */
		cell->number = model_run_ms_per_step(mr);
		if (mr->alert != NULL && mr->alert->kind == ALERT_SLOW_POD)
			list_cellf(cell, STYLE_WARN, "%s!", fmt_number(cell->number, 1).s);
	} else if (column == FLEET_TOK) {
		cell->number = model_run_tok_s(mr) / 1e6;
		list_cell_set(cell, STYLE_NORMAL,
			      fmt_number(cell->number, cell->number < 1 ? 3 : 2).s);
	} else if (column == FLEET_OWN) {
		own_cell(shared, run, cell);
	} else if (column == FLEET_BPB) {
		bpb_cell(row, cell);
	} else if (column == FLEET_VAL) {
		cell->number = run->last_val_loss;
		validation_cell(row->old_loss, cell);
	} else if (column == FLEET_EVAL) {
		cell->number = model_eval_s(run);
		if (run_has(model_run_stage_bpb(mr)) && run_has(cell->number))
			list_cellf(cell, STYLE_NORMAL, "~%s", fmt_number(cell->number, 1).s);
	} else if (column == FLEET_FINAL) {
		/* A ~ makes a forecast recognizable without colors. */
		bool is_known = run_has(model_run_final_bpb(mr));

		cell->number = final_score(row);
		cell->style = is_known ? STYLE_NORMAL : STYLE_HINT;
		if (!is_known && run_has(cell->number))
			list_cellf(cell, STYLE_HINT, "~%s", fmt_number(cell->number, 4).s);
	} else if (column == FLEET_CROSSING) {
		cell->number = row->crossing.step;
		if (run_has(cell->number))
			list_cellf(cell, STYLE_HINT, "~%s±%.0f", fmt_grouped(cell->number).s,
				   ceil(row->crossing.error));
	} else if (column == FLEET_DELTA) {
		if (mr != shared->reference)
			cell->number = final_score(row) - reference_score(shared);
	} else if (column == FLEET_COST) {
		cell->number = model_run_cost(model, mr);
	} else if (column == FLEET_FILE) {
		list_cell_set(cell, STYLE_NORMAL, mr->path);
	} else if (column == FLEET_STATE) {
		state = run_state_of(shared, mr);
		list_cell_set(cell, theme_fact(state.style), state.text);
		cell->also = run_status_names[run->status];
	} else {
		const double numbers[FLEET_COLUMNS] = {
			[FLEET_SEED] = run->seed,
			[FLEET_STEP] = run->steps,
			[FLEET_DEVICE] = run->tok_s_per_device_last / 1e3,
			[FLEET_TRAIN] = run->last_train_loss,
			[FLEET_SIGMA] = row->forecast.final_bpb_sigma,
			[FLEET_SIZE] = run->artifact_bytes / 1e6,
		};

		cell->number = numbers[column];
	}
}

/* The default order: running runs, then other runs, newest first, then runs without data. */
static double fleet_rank(void *user, size_t row)
{
	const struct fleet *fleet = user;
	const struct model *model = fleet->shared->model;
	const struct model_run *mr = model->runs[row];

	if (mr->blank && !mr->live)
		return (double)(3 * model->n_runs - row);
	if (mr->run.status == RUN_RUNNING && mr->live)
		return (double)row;
	return (double)(2 * model->n_runs - row);
}

static bool fleet_has(void *user, size_t row)
{
	const struct fleet *fleet = user;

	return ui_shows_run(fleet->shared, fleet->rows[row].mr);
}

/* Update the rows of the runs that changed. If a run that is over changed, update all running ones,
 * because it may be the reference of their forecasts. */
static void update_rows(struct fleet *fleet, const struct model *model)
{
	bool all = false;

	if (fleet->cap_rows < model->n_runs) {
		fleet->cap_rows = model->n_runs + 16;
		fleet->rows = xreallocarray(fleet->rows, fleet->cap_rows, sizeof(*fleet->rows));
	}
	for (size_t i = 0; i < model->n_runs; i++)
		all |= model->runs[i]->changed > fleet->generation &&
		       (model->runs[i]->run.status != RUN_RUNNING ||
			(i < fleet->n_rows && fleet->rows[i].is_over));
	for (size_t i = 0; i < model->n_runs; i++) {
		const struct model_run *mr = model->runs[i];
		struct fleet_row *row = &fleet->rows[i];

		if (mr->changed <= fleet->generation && (!all || row->is_over))
			continue;
		const struct track *track = ui_caps(fleet->shared, mr);
		row->mr = mr;
		row->is_over = mr->run.status != RUN_RUNNING;
		row->old_bpb = model_run_old_step(mr, METRIC_VAL_BPB);
		row->old_loss = model_run_old_step(mr, METRIC_VAL_LOSS);
		row->crossing = crossing_of_run(track, model, mr);
		forecast_run(model, mr, track->cap_train_s, &row->forecast);
	}
	fleet->n_rows = model->n_runs;
	fleet->generation = model->generation;
}

/* Fill the list from the model, and select the selected run again. */
static void fleet_fill(struct fleet *fleet, const struct ui_shared *shared)
{
	static const struct list_ops ops = { .columns = fleet_columns,
					     .n_columns = FLEET_COLUMNS,
					     .cell = fleet_cell,
					     .rank = fleet_rank,
					     .has = fleet_has,
					     .sorts = fleet_sorts,
					     .swatch = true };
	const struct model *model = shared->model;

	fleet->shared = shared;
	fleet->drawn = (struct plot_request){ .n_runs = 0 };
	plot_request_runs(&fleet->drawn, shared);
	if (fleet->generation != model->generation)
		update_rows(fleet, model);
	/* An order by cells or a filter may depend on the marks. */
	fleet->list.version =
		ui_runs_version(shared) ^ (list_is_ordered(&fleet->list) ? shared->marks.n : 0);
	list_fill(&fleet->list, &ops, fleet, model->n_runs);
	list_select(&fleet->list, shared->selected != NULL ? shared->selected->number : SIZE_MAX);
}

static void draw_chart(struct ui_shared *shared, struct canvas *canvas, struct rect rect,
		       const struct chart_metric *metric, bool plain)
{
	struct plot_request request = { .metric = *metric,
					.rect = rect,
					.legend = metric == &shared->chart.metric,
					.plain = plain,
					.marks = true };

	plot_request_runs(&request, shared);
	plot_draw(&request, shared, canvas);
}

/* Draw the chosen metric and, right of it, up to `most` of the metrics that follow it. */
static void draw_charts(struct ui_shared *shared, struct canvas *canvas, struct rect r, size_t most)
{
	const struct chart_metric now = plot_metric_of(shared->selected, shared->chart.metric);
	struct chart_metric choices[PLOT_CHOICES];
	size_t n = plot_choices(shared->model, &shared->selected, 1, choices);
	size_t at = index_of(i, n, plot_is_metric(&choices[i], &now));
	size_t others = n - (at < n);

	others = others < most ? others : most;
	draw_chart(shared, canvas,
		   rect_take_left(&r, others == 0   ? r.w
				      : others == 1 ? r.w * 6 / 10
						    : r.w / 2),
		   &shared->chart.metric, false);
	for (size_t i = 0; i < others; i++)
		draw_chart(shared, canvas, rect_take_left(&r, r.w / (int)(others - i)),
			   &choices[(at + 1 + i) % n], false);
}

static void draw_small(struct fleet *fleet, struct ui_shared *shared, struct canvas *canvas,
		       struct rect r)
{
	struct rect budget = rect_take_bottom(&r, r.h >= 18 ? 4 : r.h >= 14 ? 3 : 0);

	list_draw(&fleet->list, canvas,
		  rect_take_top(&r, int_min((int)fleet->list.all + 1, r.h / 2)));
	draw_chart(shared, canvas, r, &shared->chart.metric, true);
	budget.x++;
	budget.w -= 2;
	panel_budget(shared, canvas, budget);
}

/* Draw the box of runs at the top of *r, at most `most` lines high, and remove it from *r. */
static void draw_runs(struct fleet *fleet, struct canvas *canvas, struct rect *r, int most)
{
	const struct model *model = fleet->shared->model;
	int lines = int_min((int)fleet->list.all + 3, most);
	char price[32] = "";
	double usd = 0;

	for (size_t i = 0; i < model->n_pods; i++)
		if (model->pods[i].state != POD_GONE && run_has(model->pods[i].usd_per_hour))
			usd += model->pods[i].usd_per_hour;
	if (usd > 0)
		print_into(price, " · $%.2f/h", usd);
	list_draw(&fleet->list, canvas,
		  canvas_box(canvas, rect_take_top(r, lines), "Runs (%zu%s)%s", fleet->list.n,
			     fleet->list.n < fleet->list.all ? " shown" : "", price));
}

static struct rect selected_box(const struct ui_shared *shared, struct canvas *canvas,
				struct rect r, const char *what)
{
	return canvas_box(canvas, r, "%s · %s", what, plot_run_label(shared->selected).s);
}

/* Draw the view from 100x30 on: runs, charts, caps and the end of the log in boxes. From 170x50 on,
 * there are also a third chart, pods and events. */
static void draw_boxes(struct fleet *fleet, struct ui_shared *shared, struct canvas *canvas,
		       struct rect r)
{
	bool is_large = r.w >= 170 && r.h >= 50;
	struct rect log = rect_take_bottom(&r, is_large ? 9 : r.h >= 34 ? 5 : 0);
	int most = (r.h + log.h) * (is_large ? 9 : 8) / 20;
	struct rect budget = rect_take_bottom(&r, is_large ? 9 : 7);

	draw_runs(fleet, canvas, &r, most);
	draw_charts(shared, canvas, r, is_large ? 2 : 1);
	if (is_large) {
		struct rect pods = budget, events = log;

		budget = rect_take_left(&pods, budget.w / 2);
		log = rect_take_left(&events, log.w / 2);
		list_fill(&fleet->pods, &panel_pods_ops, shared, shared->model->n_pods);
		list_select(&fleet->pods, shared->selected != NULL ? shared->selected->pod : 0);
		list_draw(&fleet->pods, canvas, canvas_box(canvas, pods, "Pods"));
		panel_events(shared, canvas, canvas_box(canvas, events, "Events · ! all"));
	}
	panel_budget(shared, canvas, selected_box(shared, canvas, budget, "Budget"));
	if (log.h > 0)
		panel_log(shared, canvas, selected_box(shared, canvas, log, "Log"));
}

static const char no_pods[] = "No runs and no pods.\n"
			      "hgym-tui LOG...  opens local logs\n"
			      "hgym-tui demo    plays a recorded fleet\n"
			      "hgym-tui doctor  checks the setup\n"
			      "Enter            adds a pod to %s and tests it";
static const char no_runs[] = "No runs yet.\n"
			      "7  shows the pods, their connections and errors\n"
			      "!  shows all events\n"
			      "The log patterns of the pods are in %s";

static void draw_empty(const struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model *model = shared->model;
	AUTO_BUF text = buf_new(8192);

	buf_appendf(&text, model->n_pods > 0 ? no_runs : no_pods, shared->conf_path);
	for (size_t i = 0; i < model->n_pods && i < EMPTY_PODS; i++)
		buf_appendf(&text, "\n%s: %s%s%s", model->pods[i].name,
			    pod_state_name(model->pods[i].state),
			    model->pods[i].why != NULL && model->pods[i].why[0] != '\0' ? ": " : "",
			    model->pods[i].why != NULL ? model->pods[i].why : "");
	panel_empty(canvas, r, text.data);
}

static void fleet_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
		       struct rect rect)
{
	struct fleet *fleet = state;

	fleet_fill(fleet, shared);
	if (fleet->list.all == 0)
		draw_empty(shared, canvas, rect);
	else if (rect.w >= 100 && rect.h >= 30)
		draw_boxes(fleet, shared, canvas, rect);
	else if (rect.w >= 60 && rect.h >= 12)
		draw_small(fleet, shared, canvas, rect);
	else
		list_draw(&fleet->list, canvas, rect);
}

static struct list *fleet_list(void *state, struct ui_shared *shared)
{
	fleet_fill(state, shared);
	return state;
}

static void fleet_moved(void *state, struct ui_shared *shared)
{
	size_t row = list_row(&((struct fleet *)state)->list);

	if (row < shared->model->n_runs)
		shared->selected = shared->model->runs[row];
}

static bool fleet_act(void *state, struct ui_shared *shared, enum action action,
		      struct command *out)
{
	const struct model_run *mr = list_row(state) != SIZE_MAX ? shared->selected : NULL;

	if (action == ACTION_OPEN && mr != NULL) {
		shared->go = ACTION_VIEW_RUN;
	} else if (action == ACTION_OPEN && shared->model->n_pods == 0) {
		out->id = COMMAND_INIT;
	} else if (action == ACTION_COPY && mr != NULL) {
		double final = model_run_final_bpb(mr);
		double bpb = run_has(final) ? final : mr->run.last_val_bpb;

		out->id = COMMAND_COPY;
		out->text = xasprintf("%s\tBPB %s\t%s ms/step\t%s", plot_run_label(mr).s,
				      fmt_number(bpb, 6).s,
				      fmt_number(model_run_ms_per_step(mr), 2).s, mr->path);
	} else {
		return ui_chart_act(shared, action);
	}
	return true;
}

static void fleet_release(void *state)
{
	struct fleet *fleet = state;

	list_release(&fleet->pods);
	free(fleet->rows);
}

const struct view_ops view_fleet = {
	.name = "Fleet",
	.open = ACTION_VIEW_FLEET,
	.state_size = sizeof(struct fleet),
	.places = IN_RUNS | IN_CHARTS,
	.curves = UI_MAX_MARKS + 2,
	.watches = MODEL_PODS | MODEL_RUNS | MODEL_SAMPLES | MODEL_LOGS,
	.copies = true,
	.hints = (const enum action[]){ ACTION_OPEN, ACTION_MARK, ACTION_REFERENCE,
					ACTION_VIEW_LOGS, ACTION_METRIC_NEXT, ACTION_NONE },
	.draw = fleet_draw,
	.act = fleet_act,
	.list = fleet_list,
	.moved = fleet_moved,
	.release = fleet_release,
};
