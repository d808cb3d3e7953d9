/* SPDX-License-Identifier: MIT */
/* Run: one run's metrics as charts, its facts and events. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/view.h"

struct view_run_state {
	bool single; /* one large chart rather than a grid */
};

/* All that its log says of the run. */
static void
add_facts(const struct ui_shared *shared, struct facts *facts)
{
	const struct model_run *mr = shared->selected;
	const struct run *run = &mr->run;
	const struct {
		const char *label;
		double value;
		int decimals; /* -1: in groups */
		const char *unit;
	} numbers[] = {
		{ "seed", run->seed, 0, "" },
		{ "GPUs", run->n_gpus, 0, "" },
		{ "step", run->steps, -1, "" },
		{ "of", run->planned_steps, -1, "" },
		{ "train", model_run_train_ms(mr) / 1000, 1, "s" },
		{ "mean", model_run_ms_per_step(mr), 2, "ms/step" },
		{ "rate", model_run_tok_s(mr) / 1e6, 3, "Mtok/s" },
		{ "batch", run->train_batch_tokens, -1, "tokens" },
		{ "train loss", run->last_train_loss, 4, "nats" },
		{ "val loss", run->last_val_loss, 4, "nats" },
		{ "val BPB", run->last_val_bpb, 4, "" },
		{ "pre-quant", run->prequant_bpb, 6, "BPB" },
		{ "quantised", run->quant_bpb, 6, "BPB" },
		{ "sliding", run->sliding_bpb, 6, "BPB" },
		{ "TTT", run->ttt_bpb, 6, "BPB" },
		{ "FINAL", model_run_final_bpb(mr), 6, "BPB" },
		{ "eval", run->eval_s, 1, "s" },
		{ "artifact", run->artifact_bytes, -1, "B" },
		{ "peak memory", run->peak_mem_mib, -1, "MiB" },
	};
	char when[FMT_SIZE];

	if (mr->pod < shared->model->n_pods)
		facts_text(facts, "pod", FACT_PLAIN, "%s",
			   shared->model->pods[mr->pod].name);
	if (mr->log != NULL && mr->log->gone_wall_ms != 0)
		facts_text(facts, "log", FACT_PLAIN, "gone since %s",
			   fmt_when(mr->log->gone_wall_ms, shared->now_wall_ms,
				    when));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (run_has(numbers[i].value))
			facts_number(facts, numbers[i].label,
				     numbers[i].decimals < 0 ? FMT_GROUPED
							     : FMT_NUMBER,
				     numbers[i].value, numbers[i].decimals,
				     numbers[i].unit);
	if (run->source_sha256 != NULL)
		facts_text(facts, "source", FACT_PLAIN, "%.12s",
			   run->source_sha256);
	if (run->formats != NULL)
		facts_text(facts, "formats", FACT_PLAIN, "%s", run->formats);
}

static void
draw_run_events(const struct run *run, struct canvas *canvas, struct rect r)
{
	for (size_t i = run->n_events; i-- > 0 && r.h > 0;) {
		const struct run_event *event = &run->events[i];
		struct rect line = rect_take_top(&r, 1);

		canvas_print(canvas, rect_take_left(&line, 14), STYLE_DIM,
			     "line %-8llu", (unsigned long long)event->line);
		canvas_print(canvas, rect_take_left(&line, 14),
			     event->kind == RUN_EVENT_EARLY_STOP ? STYLE_NORMAL
								 : STYLE_WARN,
			     "%s", run_event_name(event->kind));
		canvas_print(canvas, line, STYLE_NORMAL, "%s", event->text);
	}
	if (run->n_events == 0)
		canvas_say(canvas, &r, STYLE_DIM, "no events in this log");
}

static void
draw_chart(struct ui_shared *shared, struct canvas *canvas, struct rect rect,
	   enum plot_metric metric)
{
	struct plot_request request = { .metric = metric,
					.rect = rect,
					.plain = rect.w < 50,
					.marks = true };

	request.runs[request.n_runs++] = shared->selected;
	plot_draw(&request, shared, canvas);
}

/* A grid of so many columns and rows, beginning with the chosen metric. */
static void
draw_grid(struct ui_shared *shared, struct canvas *canvas, struct rect r,
	  int columns, int rows)
{
	static const enum plot_metric metrics[] = {
		PLOT_BPB,      PLOT_MS_STEP,  PLOT_LOSS,      PLOT_TOK_S,
		PLOT_VAL_LOSS, PLOT_GPU_UTIL, PLOT_GPU_POWER, PLOT_GPU_TEMP
	};
	size_t at = 0;

	while (at < 7 && metrics[at] != shared->chart.metric)
		at++;
	for (; rows > 0; rows--) {
		struct rect row = rect_take_top(&r, r.h / rows);

		for (int i = columns; i > 0; i--)
			draw_chart(shared, canvas,
				   rect_take_left(&row, row.w / i),
				   metrics[at++ % 8]);
	}
}

static void
run_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	 struct rect r)
{
	const struct view_run_state *view = state;
	int n_events, lines = r.w >= 160 ? 3 : 4, rows = r.h < 22 ? 1 : 2;
	int columns = r.w >= 160 && rows == 2 ? 3 : 2;
	struct rect head = { r.x + 1, r.y, r.w - 2, 1 + lines }, events;
	char label[FMT_LABEL];
	struct run_state now;
	struct facts facts;

	if (shared->selected == NULL) {
		panel_empty(canvas, r,
			    "No run is selected.\n"
			    "1 goes to the fleet");
		return;
	}
	/* As high as there are events, within what a view can spare. */
	n_events = (int)shared->selected->run.n_events;
	events = rect_take_bottom(
		&r, r.h >= 30 ? 2 + int_max(1, int_min(n_events, 4)) : 0);
	(void)rect_take_top(&r, head.h);
	now = run_state_of(shared, shared->selected);
	(void)canvas_text(canvas, head.x, head.y, STYLE_TITLE,
			  plot_run_label(shared->selected, label));
	canvas_right(canvas, rect_take_top(&head, 1), theme_fact(now.style),
		     str_from(now.text));
	facts_init(&facts);
	add_facts(shared, &facts);
	panel_facts_flow(canvas, head, &facts);
	facts_release(&facts);
	draw_grid(shared, canvas, r, view->single ? 1 : columns,
		  view->single ? 1 : rows);
	if (events.h > 0)
		draw_run_events(
			&shared->selected->run, canvas,
			canvas_box(canvas, events, "Events of %s", label));
}

static bool
run_act(void *state, struct ui_shared *shared, enum action action,
	struct command *out)
{
	struct view_run_state *view = state;
	enum action step = action == ACTION_DOWN ? ACTION_NEXT_RUN
			   : action == ACTION_UP ? ACTION_PREV_RUN
						 : ACTION_NONE;

	(void)out;
	if (step != ACTION_NONE)
		shared->go = step;
	else if (action == ACTION_OPEN)
		shared->go = ACTION_VIEW_LOGS;
	else if (action == ACTION_LARGE)
		view->single = !view->single;
	else
		return ui_chart_act(&shared->chart, action);
	return true;
}

/* The points of the chosen chart, of the metric that is drawn there. */
static const char *
run_export(void *state, struct ui_shared *shared, struct buf *out)
{
	const struct model_run *mr = shared->selected;
	struct plot_points points;
	enum plot_metric metric;
	enum chart_axis axis;
	char why[160];

	(void)state;
	if (mr == NULL) {
		ui_say(shared, "there is no run to export");
		return NULL;
	}
	metric = plot_metric_of(mr, shared->chart.metric);
	axis = plot_axis_of(metric, shared->chart.axis);
	plot_points_init(&points, shared->model, mr, metric, axis);
	if (points.n > 0 && mr->history != MODEL_ASKED) {
		plot_points_csv(&points, axis, out);
	} else {
		plot_why_none(mr, metric, axis, why, sizeof(why));
		ui_say(shared, "nothing was written: %s", why);
	}
	plot_points_release(&points);
	return out->len > 0 ? "csv" : NULL;
}

const struct view_ops view_run = {
	.name = "Run",
	.open = ACTION_VIEW_RUN,
	.state_size = sizeof(struct view_run_state),
	.places = IN_RUNS | IN_CHARTS,
	.watches = MODEL_RUNS | MODEL_SAMPLES | MODEL_PODS,
	.hints = (const enum action[]){ ACTION_OPEN, ACTION_LARGE,
					ACTION_METRIC_NEXT, ACTION_X_AXIS,
					ACTION_ZOOM_IN, ACTION_SMOOTH_MORE,
					ACTION_LOG_AXIS, ACTION_NONE },
	.draw = run_draw,
	.act = run_act,
	.export = run_export,
};
