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

/* Name and value, one after another, as many as the line takes. */
struct facts {
	struct canvas *canvas;
	struct rect rect;
	int x, y;
};

static void
put_fact(struct facts *facts, const char *name, const char *value)
{
	int width = (int)strlen(name) + 1 + (int)strlen(value);
	struct rect *r = &facts->rect;

	if (strcmp(value, FMT_ABSENT) == 0)
		return;
	if (facts->x > r->x && facts->x + width > r->x + r->w) {
		facts->x = r->x;
		facts->y++;
	}
	if (facts->y >= r->y + r->h)
		return;
	facts->x += canvas_text(facts->canvas, facts->x, facts->y, STYLE_DIM,
				name) +
		    1;
	facts->x += canvas_text(facts->canvas, facts->x, facts->y, STYLE_NORMAL,
				value) +
		    3;
}

static void
put_number(struct facts *facts, const char *name, double value, int decimals,
	   const char *unit)
{
	char number[FMT_SIZE], text[2 * FMT_SIZE];

	if (!run_has(value))
		return;
	(void)snprintf(text, sizeof(text), "%s%s%s",
		       decimals < 0 ? fmt_grouped(value, number)
				    : fmt_number(value, decimals, number),
		       unit[0] != '\0' ? " " : "", unit);
	put_fact(facts, name, text);
}

static void
draw_facts(const struct ui_shared *shared, struct canvas *canvas,
	   struct rect rect)
{
	const struct model_run *mr = shared->selected;
	const struct run *run = &mr->run;
	struct facts facts = { canvas, rect, rect.x, rect.y };
	char sha[16] = "";

	put_fact(&facts, "pod",
		 mr->pod < shared->model->n_pods
			 ? shared->model->pods[mr->pod].name
			 : FMT_ABSENT);
	if (mr->log != NULL && mr->log->gone_wall_ms != 0) {
		char text[FMT_SIZE + 16], when[FMT_SIZE];

		(void)snprintf(text, sizeof(text), "gone since %s",
			       fmt_when(mr->log->gone_wall_ms,
					shared->now_wall_ms, when));
		put_fact(&facts, "log", text);
	}
	put_number(&facts, "seed", run->seed, 0, "");
	put_number(&facts, "GPUs", run->n_gpus, 0, "");
	put_number(&facts, "step", run->steps, -1, "");
	put_number(&facts, "of", run->planned_steps, -1, "");
	put_number(&facts, "train", model_run_train_ms(mr) / 1000, 1, "s");
	put_number(&facts, "mean", model_run_ms_per_step(mr), 2, "ms/step");
	put_number(&facts, "rate", model_run_tok_s(mr) / 1e6, 3, "Mtok/s");
	put_number(&facts, "batch", run->train_batch_tokens, -1, "tokens");
	put_number(&facts, "train loss", run->last_train_loss, 4, "nats");
	put_number(&facts, "val loss", run->last_val_loss, 4, "nats");
	put_number(&facts, "val BPB", run->last_val_bpb, 4, "");
	put_number(&facts, "pre-quant", run->prequant_bpb, 6, "BPB");
	put_number(&facts, "quantised", run->quant_bpb, 6, "BPB");
	put_number(&facts, "sliding", run->sliding_bpb, 6, "BPB");
	put_number(&facts, "TTT", run->ttt_bpb, 6, "BPB");
	put_number(&facts, "FINAL", run->final_bpb, 6, "BPB");
	put_number(&facts, "eval", run->eval_s, 1, "s");
	put_number(&facts, "artifact", run->artifact_bytes, -1, "B");
	put_number(&facts, "peak memory", run->peak_mem_mib, -1, "MiB");
	if (run->source_sha256 != NULL) {
		(void)snprintf(sha, sizeof(sha), "%.12s", run->source_sha256);
		put_fact(&facts, "source", sha);
	}
	if (run->formats != NULL)
		put_fact(&facts, "formats", run->formats);
}

static void
draw_run_events(const struct ui_shared *shared, struct canvas *canvas,
		struct rect r)
{
	const struct run *run = &shared->selected->run;
	int y = r.y;

	for (size_t i = run->n_events; i-- > 0 && y < r.y + r.h; y++) {
		const struct run_event *event = &run->events[i];

		(void)canvas_textf(canvas, r.x, y, STYLE_DIM, "line %-8llu",
				   (unsigned long long)event->line);
		(void)canvas_textf(canvas, r.x + 14, y,
				   event->kind == RUN_EVENT_EARLY_STOP
					   ? STYLE_NORMAL
					   : STYLE_WARN,
				   "%s", run_event_name(event->kind));
		canvas_line(canvas, (struct rect){ r.x + 28, y, r.w - 28, 1 },
			    STYLE_NORMAL, str_from(event->text));
	}
	if (run->n_events == 0)
		(void)canvas_text(canvas, r.x, r.y, STYLE_DIM,
				  "no events in this log");
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
	  const int size[2])
{
	static const enum plot_metric metrics[] = {
		PLOT_BPB,      PLOT_MS_STEP,  PLOT_LOSS,      PLOT_TOK_S,
		PLOT_VAL_LOSS, PLOT_GPU_UTIL, PLOT_GPU_POWER, PLOT_GPU_TEMP
	};
	int n = size[0] * size[1];
	size_t first = 0;

	while (first < 7 && metrics[first] != shared->chart.metric)
		first++;
	for (int i = 0; i < n; i++) {
		int col = i % size[0], row = i / size[0];
		int x0 = r.w * col / size[0], x1 = r.w * (col + 1) / size[0];
		int y0 = r.h * row / size[1], y1 = r.h * (row + 1) / size[1];

		draw_chart(
			shared, canvas,
			(struct rect){ r.x + x0, r.y + y0, x1 - x0, y1 - y0 },
			metrics[(first + (size_t)i) % 8]);
	}
}

static void
run_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	 struct rect r)
{
	static const char *const empty[] = { "No run is selected.",
					     "1 goes to the fleet", NULL };
	const struct view_run_state *view = state;
	int facts = r.w >= 160 ? 3 : 4, events = 0;
	int size[2] = { r.w >= 160 ? 3 : 2, 2 };
	char title[FMT_LABEL + 32], label[FMT_LABEL];
	struct run_state now;
	struct rect grid;

	if (shared->selected == NULL) {
		panel_empty(canvas, r, empty);
		return;
	}
	/* As high as there are events, within what a view can spare. */
	if (r.h >= 30)
		events = 3 + (int)(shared->selected->run.n_events > 4 ? 3
				   : shared->selected->run.n_events > 0
					   ? shared->selected->run.n_events - 1
					   : 0);
	run_state_of(shared, shared->selected, &now);
	plot_run_label(shared->selected, label);
	(void)canvas_textf(canvas, r.x + 1, r.y, STYLE_TITLE, "%s", label);
	canvas_right(canvas, (struct rect){ r.x + 1, r.y, r.w - 2, 1 },
		     now.style, str_from(now.text));
	draw_facts(shared, canvas,
		   (struct rect){ r.x + 1, r.y + 1, r.w - 2, facts });
	grid = (struct rect){ r.x, r.y + 1 + facts, r.w,
			      r.h - 1 - facts - events };
	if (view->single)
		draw_grid(shared, canvas, grid, (int[2]){ 1, 1 });
	else if (r.h < 22)
		draw_grid(shared, canvas, grid, (int[2]){ 2, 1 });
	else
		draw_grid(shared, canvas, grid, size);
	if (events > 0) {
		(void)snprintf(title, sizeof(title), "Events of %s", label);
		draw_run_events(
			shared, canvas,
			panel_box(canvas,
				  (struct rect){ r.x, r.y + r.h - events, r.w,
						 events },
				  title));
	}
}

static unsigned int
run_act(void *state, struct ui_shared *shared, enum action action,
	struct command *out)
{
	struct view_run_state *view = state;
	enum action step = action == ACTION_DOWN ? ACTION_NEXT_RUN
			   : action == ACTION_UP ? ACTION_PREV_RUN
						 : ACTION_NONE;

	(void)out;
	if (step != ACTION_NONE) {
		shared->go = step;
		return UI_HANDLED;
	}
	if (action == ACTION_OPEN) {
		view->single = !view->single;
		return UI_HANDLED;
	}
	return ui_chart_act(&shared->chart, action);
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

static const enum action hints[] = { ACTION_OPEN,	 ACTION_METRIC_NEXT,
				     ACTION_X_AXIS,	 ACTION_ZOOM_IN,
				     ACTION_SMOOTH_MORE, ACTION_LOG_AXIS,
				     ACTION_NONE };

const struct view_ops view_run = {
	.name = "Run",
	.open = ACTION_VIEW_RUN,
	.state_size = sizeof(struct view_run_state),
	.places = IN_RUNS | IN_CHARTS,
	.watches = MODEL_RUNS | MODEL_SAMPLES | MODEL_PODS,
	.hints = hints,
	.draw = run_draw,
	.act = run_act,
	.export = run_export,
};
