/* SPDX-License-Identifier: MIT */
/* The view of one run: its facts, charts of its metrics, and its events. */
#include "model/crossing.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/view.h"

struct view_run_state {
	bool single; /* one large chart instead of a grid */
	struct step_changes changes;
};

/* Request the selected run and, unless the x axis is wall time, the reference. */
static void request_run(struct plot_request *request, const struct ui_shared *shared)
{
	request->reference = shared->reference;
	request->runs[request->n_runs++] = shared->selected;
	if (shared->reference != NULL && shared->reference != shared->selected)
		request->runs[request->n_runs++] = shared->reference;
	plot_request_settle(request, shared);
	if (request->axis == AXIS_WALL)
		request->n_runs = 1;
}

/* Add a line such as "1.4120 val BPB at step 1,000: this run 1.3980, 0.0140 ±0.0030 ahead". */
static void add_reference(const struct ui_shared *shared, struct facts *facts)
{
	struct plot_request request = { .metric = shared->chart.metric };
	char where[FMT_LABEL];

	request_run(&request, shared);
	const struct plot_info *info = &plot_infos[request.metric.id];
	struct gap gap =
		plot_gap(&request, shared->model, shared->selected, shared->reference, where);
	double good = info->better * gap.at;
	if (run_has(gap.at))
		facts_text(facts, "reference", plot_gap_style(&gap, request.metric),
			   "%s %s: this run %s, %s ±%s %s",
			   fmt_number(gap.value - gap.at, info->decimals + 1).s, where,
			   fmt_number(gap.value, info->decimals + 1).s,
			   fmt_number(fabs(gap.at), info->decimals + 1).s,
			   fmt_number(gap.error, info->decimals + 1).s,
			   good > 0   ? "ahead"
			   : good < 0 ? "behind"
				      : "apart");
}

static void add_facts(const struct ui_shared *shared, struct facts *facts)
{
	const struct model_run *mr = shared->selected;
	const struct run *run = &mr->run;
	/* Does the score belong to a stage? The evaluation may continue with another one. */
	bool is_stage = run_has(model_run_stage_bpb(mr));
	bool is_mean = model_run_ms_per_step(mr) != run->step_ms_median;
	const struct {
		const char *label;
		double value;
		int decimals; /* -1: integer with digits in groups of three */
		const char *unit;
	} numbers[] = {
		{ "seed", run->seed, 0, "" },
		{ "GPUs", run->n_gpus, 0, "" },
		{ "step", run->steps, -1, "" },
		{ "of", run->planned_steps, -1, "" },
		{ "train", model_run_train_ms(mr) / 1000, 1, "s" },
		{ "mean", is_mean ? model_run_ms_per_step(mr) : RUN_ABSENT, 2, "ms/step" },
		{ "median", is_mean ? RUN_ABSENT : run->step_ms_median, 2, "ms/step" },
		{ "rate", model_run_tok_s(mr) / 1e6, 3, "Mtok/s" },
		{ "rate", run->tok_s_per_device_last / 1e3, 2, "ktok/s per device" },
		{ "batch", run->train_batch_tokens, -1, "tokens" },
		{ "train loss", run->last_train_loss, 4, "nats" },
		{ "val loss", run->last_val_loss, 4, "nats" },
		{ "val BPB", run->last_val_bpb, 4, "" },
		{ "pre-quant", run->prequant_bpb, 6, "BPB" },
		{ "quantised", run->quant_bpb, 6, "BPB" },
		{ "sliding", run->sliding_bpb, 6, "BPB" },
		{ "TTT", run->ttt_bpb, 6, "BPB" },
		{ "FINAL", model_run_final_bpb(mr), 6, "BPB" },
		{ "eval", is_stage ? RUN_ABSENT : run->eval_s, 1, "s" },
		{ "artifact", run->artifact_bytes, -1, "B" },
		{ "peak memory", run->peak_mem_mib, -1, "MiB" },
	};

	if (shared->reference != NULL && shared->reference != mr)
		add_reference(shared, facts);
	if (mr->pod < shared->model->n_pods)
		facts_text(facts, "pod", FACT_PLAIN, "%s", shared->model->pods[mr->pod].name);
	if (mr->log != NULL && mr->log->gone_wall_ms != 0)
		facts_text(facts, "log", FACT_PLAIN, "file deleted %s",
			   fmt_when(mr->log->gone_wall_ms, shared->now_wall_ms).s);
	for (size_t i = 0; i < LENGTH(numbers); i++) {
		enum metric metric = strcmp(numbers[i].label, "val BPB") == 0	 ? METRIC_VAL_BPB
				     : strcmp(numbers[i].label, "val loss") == 0 ? METRIC_VAL_LOSS
										 : METRIC_COUNT;
		double old = model_run_old_step(mr, metric);

		if (run_has(old) && run_has(numbers[i].value))
			facts_text(facts, numbers[i].label, FACT_DIM, "%s %s at step %s",
				   fmt_number(numbers[i].value, numbers[i].decimals).s,
				   numbers[i].unit, fmt_grouped(old).s);
		else if (run_has(numbers[i].value))
			facts_number(facts, numbers[i].label,
				     numbers[i].decimals < 0 ? FMT_GROUPED : FMT_NUMBER,
				     numbers[i].value, numbers[i].decimals, numbers[i].unit);
	}
	const struct track *track = ui_caps(shared, mr);
	struct crossing crossing = crossing_of_run(track, shared->model, mr);
	if (run_has(crossing.step))
		facts_text(facts, "forecast", FACT_HINT, "crosses %g at step %s ± %.0f",
			   track->target, fmt_grouped(crossing.step).s, ceil(crossing.error));
	if (is_stage && run_has(run->eval_s))
		facts_text(facts, "eval", FACT_HINT, "~%.1f s", run->eval_s);
	if (run->source_sha256 != NULL)
		facts_text(facts, "source", FACT_PLAIN, "%.12s", run->source_sha256);
	if (run->formats != NULL)
		facts_text(facts, "formats", FACT_PLAIN, "%s", run->formats);
}

static void draw_run_events(const struct model_run *mr, struct canvas *canvas, struct rect r)
{
	const struct run *run = &mr->run;

	for (size_t i = run->n_events; i-- > 0 && r.h > 0;) {
		const struct run_event *event = &run->events[i];
		struct rect line = rect_take_top(&r, 1);

		canvas_print(canvas, rect_take_left(&line, 14), STYLE_DIM, "line %-8llu",
			     (unsigned long long)event->line);
		canvas_print(canvas, rect_take_left(&line, 14),
			     event->kind == RUN_EVENT_EARLY_STOP ? STYLE_NORMAL : STYLE_WARN, "%s",
			     run_event_names[event->kind]);
		canvas_print(canvas, line, STYLE_NORMAL, "%s", event->text);
	}
	if (run->n_events == 0)
		canvas_print_top(
			canvas, &r, STYLE_DIM,
			mr->blank && run->lines > 0
				? "no figures found: choose a row in Logs and learn its format"
				: "no events in this log");
}

static void draw_chart(struct view_run_state *view, struct ui_shared *shared, struct canvas *canvas,
		       struct rect rect, struct chart_metric metric)
{
	struct plot_request request = {
		.metric = metric, .rect = rect, .plain = rect.w < 50, .marks = true
	};

	request_run(&request, shared);
	request.legend = request.reference != NULL && !request.plain;
	if (metric.id == PLOT_MS_STEP) {
		step_changes_update(&view->changes, shared->selected);
		request.changes = &view->changes;
	}
	plot_draw(&request, shared, canvas);
}

/* Draw the run's metrics, the chosen one first, in a grid of charts; without metrics, its log. */
static void draw_grid(struct view_run_state *view, struct ui_shared *shared, struct canvas *canvas,
		      struct rect r, int columns, int rows)
{
	const struct model_run *mr = shared->selected;
	const struct chart_metric now = plot_metric_of(mr, shared->chart.metric);
	struct chart_metric choices[PLOT_CHOICES];
	size_t n = plot_choices(shared->model, &mr, 1, choices);
	int left = int_min((int)n, columns * rows);

	if (n == 0) {
		panel_log(shared, canvas, canvas_box(canvas, r, "Log"));
		return;
	}
	size_t at = index_of(i, n, plot_is_metric(&choices[i], &now));
	/* Draw the chosen metric even if this run does not have it. */
	if (at == n)
		choices[at = 0] = now;
	for (rows = int_min(rows, (left + columns - 1) / columns); rows > 0; rows--) {
		struct rect row = rect_take_top(&r, r.h / rows);

		for (int i = (left + rows - 1) / rows; i > 0; i--, left--)
			draw_chart(view, shared, canvas, rect_take_left(&row, row.w / i),
				   choices[at++ % n]);
	}
}

static void run_draw(void *state, struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	struct view_run_state *view = state;
	int n_events, lines = r.w >= 160 ? 3 : 4, rows = r.h < 22 ? 1 : 2;
	int columns = r.w >= 160 && rows == 2 ? 3 : 2;
	struct rect head = { r.x + 1, r.y, r.w - 2, 1 + lines }, events, line, name;
	struct plot_label label = plot_run_label(shared->selected);
	AUTO_FACTS facts = { .n = 0 };

	if (shared->selected == NULL) {
		panel_empty(canvas, r, "No run is selected.\n1 opens the fleet");
		return;
	}
	/* Show up to four events if the screen is high enough. */
	n_events = (int)shared->selected->run.n_events;
	events = rect_take_bottom(&r, r.h >= 30 ? 2 + int_max(1, int_min(n_events, 4)) : 0);
	(void)rect_take_top(&r, head.h);
	struct run_state now = run_state_of(shared, shared->selected);
	line = rect_take_top(&head, 1);
	name = rect_take_left(&line, int_max(line.w - 2 - text_width(now.text), line.w / 2));
	canvas_line_elided(canvas, name, STYLE_TITLE, str_from(label.s));
	canvas_line_right(canvas, line, theme_fact(now.style), str_from(now.text));
	add_facts(shared, &facts);
	panel_facts_flow(canvas, head, &facts);
	draw_grid(view, shared, canvas, r, view->single ? 1 : columns, view->single ? 1 : rows);
	if (events.h > 0)
		draw_run_events(shared->selected, canvas,
				canvas_box(canvas, events, "Events of %s", label.s));
}

static bool run_act(void *state, struct ui_shared *shared, enum action action,
		    UNUSED struct command *out)
{
	struct view_run_state *view = state;
	enum action step = action == ACTION_DOWN ? ACTION_NEXT_RUN
			   : action == ACTION_UP ? ACTION_PREV_RUN
						 : ACTION_NONE;

	if (step != ACTION_NONE)
		shared->go = step;
	else if (action == ACTION_OPEN)
		shared->go = ACTION_VIEW_LOGS;
	else if (action == ACTION_LARGE)
		view->single = !view->single;
	else
		return ui_chart_act(shared, action);
	return true;
}

const struct view_ops view_run = {
	.name = "Run",
	.open = ACTION_VIEW_RUN,
	.state_size = sizeof(struct view_run_state),
	.places = IN_RUNS | IN_CHARTS,
	.curves = 1,
	.watches = MODEL_RUNS | MODEL_SAMPLES | MODEL_PODS,
	.hints = (const enum action[]){ ACTION_OPEN, ACTION_LARGE, ACTION_METRIC_NEXT,
					ACTION_X_AXIS, ACTION_ZOOM_IN, ACTION_SMOOTH_MORE,
					ACTION_LOG_AXIS, ACTION_NONE },
	.draw = run_draw,
	.act = run_act,
};
