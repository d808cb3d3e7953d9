/* SPDX-License-Identifier: MIT */
/* Parts of the screen that several views show. */
#include "config.h"

#include "ui/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "model/forecast.h"
#include "ui/theme.h"

#define SYMBOL_LIVE   0x25B6
#define SYMBOL_DONE   0x2713
#define SYMBOL_SILENT 0x2016
#define SYMBOL_FAILED 0x2717
#define SYMBOL_IDLE   0xB7

struct rect
panel_box(struct canvas *canvas, struct rect r, const char *title)
{
	canvas_box(canvas, r, title);
	return (struct rect){ r.x + 2, r.y + 1, r.w - 4, r.h - 2 };
}

void
panel_empty(struct canvas *canvas, struct rect r, const char *const *lines)
{
	int n = 0, y, widest = 0;

	for (; lines[n] != NULL; n++) {
		int width = (int)utf8_width(str_from(lines[n]));

		if (n > 0 && width > widest)
			widest = width;
	}
	y = r.y + (r.h - n) / 2;
	/* What is said below the first line is one block, in columns. */
	for (int i = 0; i < n; i++) {
		int width =
			i > 0 ? widest : (int)utf8_width(str_from(lines[i]));
		int x = r.x + (r.w > width ? (r.w - width) / 2 : 0);

		canvas_line(canvas, (struct rect){ x, y + i, r.x + r.w - x, 1 },
			    i == 0 ? STYLE_STRONG : STYLE_HINT,
			    str_from(lines[i]));
	}
}

/* A run that is over: how it ended. */
static void
ended_state(const struct ui_shared *shared, const struct model_run *mr,
	    struct run_state *state)
{
	static const char *const words[] = {
		[RUN_RUNNING] = "running",     [RUN_FINISHED] = "done",
		[RUN_TRUNCATED] = "cut short", [RUN_CRASHED] = "crashed",
		[RUN_OOM] = "out of memory",   [RUN_DIVERGED] = "NaN",
		[RUN_UNKNOWN] = "ended",
	};
	const struct run *run = &mr->run;
	const struct alert *alert = alerts_of_run(shared->alerts, mr);
	double seconds = model_run_train_ms(mr) / 1000;
	char text[FMT_SIZE];

	state->symbol = SYMBOL_FAILED;
	state->style = STYLE_ALARM;
	if (run->status != RUN_FINISHED) {
		(void)snprintf(state->text, sizeof(state->text),
			       run_has(model_run_failed_step(mr)) ? "%s at %s"
								  : "%s",
			       words[run->status],
			       fmt_steps(model_run_failed_step(mr), text));
		if (run->status == RUN_TRUNCATED || run->status == RUN_UNKNOWN)
			state->style = STYLE_WARN;
		return;
	}
	state->symbol = SYMBOL_DONE;
	state->style = STYLE_DONE;
	if (alert != NULL && alert->kind >= ALERT_CAP_TRAIN &&
	    alert->kind <= ALERT_CAP_BYTES) {
		static const char *const caps[] = { "train", "eval", "size" };

		state->symbol = SYMBOL_FAILED;
		state->style = STYLE_ALARM;
		(void)snprintf(state->text, sizeof(state->text), "over %s cap",
			       caps[alert->kind - ALERT_CAP_TRAIN]);
		return;
	}
	(void)snprintf(state->text, sizeof(state->text), "done %s%s",
		       fmt_number(seconds, 1, text),
		       run_has(seconds) ? " s" : "");
}

/* A run whose log still grows: where it is. */
static void
running_state(const struct ui_shared *shared, const struct model_run *mr,
	      struct run_state *state)
{
	const struct run *run = &mr->run;
	double cap =
		shared->track != NULL ? shared->track->cap_train_s : RUN_ABSENT;
	double seconds = model_run_train_ms(mr) / 1000;

	state->symbol = SYMBOL_LIVE;
	state->style = STYLE_LIVE;
	if (run_has(run->eval_done) && run_has(run->eval_total) &&
	    run->eval_total > 0)
		(void)snprintf(state->text, sizeof(state->text),
			       "eval %.0f/%.0f", run->eval_done,
			       run->eval_total);
	else if (run_has(seconds) && forecast_training_is_over(run))
		(void)snprintf(state->text, sizeof(state->text),
			       "trained %.0f s", seconds);
	else if (run_has(seconds) && run_has(cap))
		(void)snprintf(state->text, sizeof(state->text), "%.0f/%.0f s",
			       seconds, cap);
	else if (run_has(seconds))
		(void)snprintf(state->text, sizeof(state->text), "%.0f s",
			       seconds);
	else
		(void)snprintf(state->text, sizeof(state->text), "starting");
}

/* A running run whose log or pod is silent; false when it is not. */
static bool
silent_state(const struct ui_shared *shared, const struct model_run *mr,
	     struct run_state *state)
{
	const struct alert *alert = alerts_of_run(shared->alerts, mr);
	const struct model_pod *pod = mr->pod < shared->model->n_pods
					      ? &shared->model->pods[mr->pod]
					      : NULL;
	double silent_s =
		(double)(shared->now_wall_ms - mr->last_byte_wall_ms) / 1000;
	char age[FMT_SIZE];

	if (pod != NULL &&
	    (pod->state == POD_RECONNECTING || pod->state == POD_REFUSED)) {
		state->symbol = SYMBOL_FAILED;
		state->style = STYLE_ALARM;
		(void)snprintf(state->text, sizeof(state->text), "link %s",
			       pod_state_name(pod->state));
		return true;
	}
	if (!mr->live) {
		state->symbol = SYMBOL_IDLE;
		state->style = STYLE_DIM;
		(void)snprintf(state->text, sizeof(state->text),
			       "not followed");
		return true;
	}
	if (alert == NULL || alert->kind != ALERT_STALL)
		return false;
	state->symbol = SYMBOL_SILENT;
	state->style = STYLE_SILENT;
	(void)snprintf(state->text, sizeof(state->text), "silent %s",
		       fmt_age(silent_s, age));
	return true;
}

/* A run that its log went away from. */
static void
gone_state(struct run_state *state)
{
	state->symbol = SYMBOL_FAILED;
	state->style = STYLE_WARN;
	(void)snprintf(state->text, sizeof(state->text), "log gone");
}

void
run_state_of(const struct ui_shared *shared, const struct model_run *mr,
	     struct run_state *state)
{
	memset(state, 0, sizeof(*state));
	if (mr->log != NULL && model_log_cut_run(shared->model, mr->log) == mr)
		gone_state(state);
	else if (mr->run.status != RUN_RUNNING)
		ended_state(shared, mr, state);
	else if (!silent_state(shared, mr, state))
		running_state(shared, mr, state);
}

int
panel_gauge(struct canvas *canvas, struct rect r, const struct gauge *gauge)
{
	double part = gauge->value / gauge->cap;
	bool known = run_has(part);
	int full = known ? (int)lround(fmin(fmax(part, 0), 1) * r.w) : 0;
	char value[FMT_SIZE], cap[FMT_SIZE];
	int x = r.x;

	x += canvas_textf(canvas, x, r.y, STYLE_NORMAL, "%-6s", gauge->name);
	for (int i = 0; i < r.w; i++)
		canvas_put(canvas, x + i, r.y,
			   i >= full  ? STYLE_GAUGE_REST
			   : part > 1 ? STYLE_GAUGE_OVER
				      : STYLE_GAUGE,
			   i < full ? 0x2588 : 0x2591);
	x += r.w + 1;
	if (gauge->decimals < 0) {
		(void)fmt_grouped(gauge->value, value);
		(void)fmt_grouped(gauge->cap, cap);
	} else {
		(void)fmt_number(gauge->value, gauge->decimals, value);
		(void)fmt_number(gauge->cap, 0, cap);
	}
	x += canvas_textf(canvas, x, r.y,
			  known && part > 1 ? STYLE_GAUGE_OVER : STYLE_NORMAL,
			  "%s / %s %s", value, cap, gauge->unit);
	return x;
}

/* Steps and time of the end of training, as one piece of text. */
static void
forecast_text(const struct ui_shared *shared, const struct forecast *f,
	      bool brief, char *out, size_t size)
{
	char steps[FMT_SIZE], error[FMT_SIZE], clock[FMT_SIZE];
	const char *source = f->source == FORECAST_REFERENCE ? " (ref curve)"
							     : " (recent pace)";

	out[0] = '\0';
	if (f->source == FORECAST_NONE || !run_has(f->end_steps))
		return;
	(void)snprintf(out, size, "steps → %s ±%s%s · ends %s",
		       fmt_grouped(f->end_steps, steps),
		       fmt_grouped(f->end_steps_error, error),
		       brief ? "" : source,
		       fmt_clock(shared->now_wall_ms +
					 (int64_t)(f->train_left_s * 1000),
				 clock));
}

static void
draw_train_line(const struct ui_shared *shared, struct canvas *canvas,
		struct rect line, const struct forecast *f)
{
	double cap =
		shared->track != NULL ? shared->track->cap_train_s : RUN_ABSENT;
	struct gauge gauge = { "train", "s",
			       model_run_train_ms(shared->selected) / 1000, cap,
			       1 };
	struct rect bar = { line.x, line.y, line.w / 4, 1 };
	char text[160];
	int x = panel_gauge(canvas, bar, &gauge) + 2;

	forecast_text(shared, f, line.w < 90, text, sizeof(text));
	canvas_line(canvas, (struct rect){ x, line.y, line.x + line.w - x, 1 },
		    STYLE_HINT, str_from(text));
}

static void
draw_eval_line(const struct ui_shared *shared, struct canvas *canvas,
	       struct rect line, const struct forecast *f)
{
	const struct run *run = &shared->selected->run;
	struct gauge gauge = {
		"eval", "s",
		run_has(run->eval_total_s) ? run->eval_total_s : run->eval_s,
		shared->track != NULL ? shared->track->cap_eval_s : RUN_ABSENT,
		1
	};
	struct rect bar = { line.x, line.y, line.w / 4, 1 };
	char left[FMT_SIZE], done[FMT_SIZE], all[FMT_SIZE];
	int x = panel_gauge(canvas, bar, &gauge) + 2;

	if (run_has(run->eval_done) && run_has(f->eval_left_s))
		(void)canvas_textf(canvas, x, line.y, STYLE_HINT,
				   "%s of %s done, about %s left",
				   fmt_grouped(run->eval_done, done),
				   fmt_grouped(run->eval_total, all),
				   fmt_age(f->eval_left_s, left));
	else if (run_has(run->eval_done))
		(void)canvas_textf(canvas, x, line.y, STYLE_HINT,
				   "%s of %s done",
				   fmt_grouped(run->eval_done, done),
				   fmt_grouped(run->eval_total, all));
	else if (f->reference != NULL && run_has(f->reference->run.eval_s))
		(void)canvas_textf(canvas, x, line.y, STYLE_DIM,
				   "a finished run took %.1f s",
				   f->reference->run.eval_s);
}

static void
draw_size_line(const struct ui_shared *shared, struct canvas *canvas,
	       struct rect line, const struct forecast *f)
{
	double bytes = shared->selected->run.artifact_bytes;
	double cap = shared->track != NULL ? shared->track->cap_artifact_bytes
					   : RUN_ABSENT;
	struct gauge gauge = { "size", "B", bytes, cap, -1 };
	struct rect bar = { line.x, line.y, line.w / 4, 1 };
	char text[FMT_SIZE];
	int x = panel_gauge(canvas, bar, &gauge) + 2;

	if (run_has(bytes) && run_has(cap))
		(void)canvas_textf(canvas, x, line.y,
				   bytes > cap ? STYLE_GAUGE_OVER : STYLE_HINT,
				   "%s B %s",
				   fmt_grouped(fabs(cap - bytes), text),
				   bytes > cap ? "over" : "left");
	else if (f->reference != NULL &&
		 run_has(f->reference->run.artifact_bytes))
		(void)canvas_textf(
			canvas, x, line.y, STYLE_DIM, "a finished run: %s B",
			fmt_grouped(f->reference->run.artifact_bytes, text));
}

/* Now and at the end, in bits per byte. */
static void
draw_score_line(const struct ui_shared *shared, struct canvas *canvas,
		struct rect line, const struct forecast *f)
{
	const struct run *run = &shared->selected->run;
	char now[FMT_SIZE], end[FMT_SIZE];
	int x = line.x;

	x += canvas_textf(canvas, x, line.y, STYLE_NORMAL,
			  "BPB   last validation %s",
			  fmt_number(run->last_val_bpb, 4, now));
	if (run_has(run->final_bpb))
		(void)canvas_textf(
			canvas, x, line.y, STYLE_STRONG, " · final %s (%s)",
			fmt_number(run->final_bpb, 6, end),
			run->final_class != NULL ? run->final_class : "?");
	else if (run_has(f->final_bpb))
		(void)canvas_textf(
			canvas, x, line.y, STYLE_HINT, " · final → %s ±%.4f%s",
			fmt_number(f->final_bpb, 4, end), f->final_bpb_sigma,
			line.w < 90 ? " (1σ)" : " (1σ, from a finished run)");
	else if (run_has(run->last_val_loss))
		(void)canvas_textf(canvas, x, line.y, STYLE_HINT,
				   " · val loss %s nats",
				   fmt_number(run->last_val_loss, 4, end));
}

static void
draw_cost_line(const struct ui_shared *shared, struct canvas *canvas,
	       struct rect line)
{
	const struct model_run *mr = shared->selected;
	double usd, hours;

	if (mr->pod >= shared->model->n_pods)
		return;
	usd = shared->model->pods[mr->pod].usd_per_hour;
	hours = (double)(mr->last_byte_wall_ms - mr->first_byte_wall_ms) /
		3600000;
	if (run_has(usd))
		(void)canvas_textf(canvas, line.x, line.y, STYLE_NORMAL,
				   "cost  $%.2f while followed · $%.2f/h",
				   usd * hours, usd);
	else
		(void)canvas_text(canvas, line.x, line.y, STYLE_DIM,
				  "cost  — (no usd_per_hour for this pod)");
}

void
panel_budget(struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	static void (*const lines[])(const struct ui_shared *, struct canvas *,
				     struct rect, const struct forecast *) = {
		draw_train_line, draw_eval_line, draw_size_line, draw_score_line
	};
	struct rect before = canvas_clip(canvas, r);
	struct forecast f;

	if (shared->selected != NULL && r.h > 0) {
		forecast_run(shared->model, shared->selected,
			     shared->track != NULL ? shared->track->cap_train_s
						   : RUN_ABSENT,
			     shared->now_wall_ms, &f);
		for (int i = 0; i < 4 && i < r.h; i++)
			lines[i](shared, canvas,
				 (struct rect){ r.x, r.y + i, r.w, 1 }, &f);
		if (r.h > 4)
			draw_cost_line(shared, canvas,
				       (struct rect){ r.x, r.y + 4, r.w, 1 });
	}
	canvas_unclip(canvas, before);
}

unsigned int panel_line_style(enum line_class class)
{
	static const unsigned int styles[] = {
		[LINE_PLAIN] = STYLE_LOG_PLAIN,
		[LINE_METRIC] = STYLE_LOG_METRIC,
		[LINE_SOURCE] = STYLE_LOG_SOURCE,
		[LINE_ERROR] = STYLE_LOG_ERROR,
		[LINE_WARNING] = STYLE_LOG_WARNING,
	};

	return styles[class];
}

void
panel_log(struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model_log *log =
		shared->selected != NULL ? shared->selected->log : NULL;
	size_t n = log != NULL ? logtail_count(log->tail) : 0;
	int y = r.y + r.h - 1;

	/* From the end up; printed source code says nothing here. */
	for (size_t i = n; i-- > 0 && y >= r.y;) {
		const struct logtail_line *line = logtail_at(log->tail, i);

		if (line->class == LINE_SOURCE)
			continue;
		canvas_line(canvas, (struct rect){ r.x, y--, r.w, 1 },
			    panel_line_style(line->class),
			    (struct str){ line->text, line->len });
	}
}

void
panel_events(struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	static const unsigned int styles[] = { STYLE_NORMAL, STYLE_WARN,
					       STYLE_ALARM };
	const struct model *model = shared->model;
	int y = r.y;

	for (size_t i = model->n_events; i-- > 0 && y < r.y + r.h; y++) {
		const struct model_event *event = model_event_at(model, i);
		char clock[FMT_SIZE];

		(void)canvas_text(canvas, r.x, y, STYLE_DIM,
				  fmt_clock(event->wall_ms, clock));
		canvas_line(canvas, (struct rect){ r.x + 9, y, r.w - 9, 1 },
			    styles[event->severity], str_from(event->text));
	}
	if (model->n_events == 0)
		(void)canvas_text(canvas, r.x, r.y, STYLE_DIM,
				  "Nothing happened yet.");
}

uint32_t
panel_pod_symbol(const struct model_pod *pod, unsigned int *style)
{
	static const struct {
		uint32_t symbol;
		unsigned int style;
	} looks[] = {
		[POD_UNKNOWN] = { SYMBOL_IDLE, STYLE_DIM },
		[POD_CONNECTING] = { SYMBOL_IDLE, STYLE_HINT },
		[POD_LIVE] = { SYMBOL_LIVE, STYLE_LIVE },
		[POD_SILENT] = { SYMBOL_SILENT, STYLE_SILENT },
		[POD_RECONNECTING] = { SYMBOL_FAILED, STYLE_WARN },
		[POD_REFUSED] = { SYMBOL_FAILED, STYLE_ALARM },
		[POD_GONE] = { SYMBOL_IDLE, STYLE_DIM },
	};

	*style = looks[pod->state].style;
	return looks[pod->state].symbol;
}

double
panel_pod_last(const struct model_pod *pod, enum metric metric)
{
	const struct series *series = pod->telemetry[metric];
	const struct series_point *last =
		series != NULL ? series_last(series) : NULL;

	return last != NULL ? last->value : RUN_ABSENT;
}

void
panel_pods(struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model *model = shared->model;

	for (size_t i = 0; i < model->n_pods && (int)i < r.h; i++) {
		const struct model_pod *pod = &model->pods[i];
		int y = r.y + (int)i;
		unsigned int style;
		uint32_t symbol = panel_pod_symbol(pod, &style);
		char util[FMT_SIZE], temp[FMT_SIZE], disk[FMT_SIZE];

		canvas_put(canvas, r.x, y, style, symbol);
		canvas_line(canvas, (struct rect){ r.x + 2, y, 12, 1 },
			    STYLE_NORMAL, str_from(pod->name));
		canvas_line(canvas, (struct rect){ r.x + 15, y, 12, 1 }, style,
			    str_from(pod_state_name(pod->state)));
		(void)canvas_textf(
			canvas, r.x + 28, y, STYLE_NORMAL,
			"GPU %3s %% %3s °C  disk %s free",
			fmt_number(panel_pod_last(pod, METRIC_GPU_UTIL), 0,
				   util),
			fmt_number(panel_pod_last(pod, METRIC_GPU_TEMP_C), 0,
				   temp),
			fmt_bytes(pod->disk_free_bytes, disk));
	}
}
