/* SPDX-License-Identifier: MIT */
/* Parts of the screen that several views show. */
#include "config.h"

#include "ui/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/forecast.h"
#include "ui/fold.h"
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
	int n = 0, widest = 0;

	/* What is said below the first line is one block, in columns. */
	for (; lines[n] != NULL; n++)
		if (n > 0)
			widest = int_max(widest, text_width(lines[n]));
	(void)rect_take_top(&r, (r.h - n) / 2);
	for (int i = 0; i < n && r.h > 0; i++) {
		int width = i > 0 ? widest : text_width(lines[i]);
		struct rect line = rect_take_top(&r, 1);

		(void)rect_take_left(&line, (r.w - width) / 2);
		canvas_print(canvas, line, i == 0 ? STYLE_STRONG : STYLE_HINT,
			     "%s", lines[i]);
	}
}

/* The columns of a table: the first one takes what the numbers leave. */
static void
facts_draw_row(struct canvas *canvas, struct rect line,
	       const struct facts_section *section, const struct fact *cells)
{
	int numbers = int_min(line.w / 5, 12), n = (int)section->n_columns - 1;
	struct rect first = rect_take_left(&line, line.w - n * (numbers + 1));
	char value[FACT_SIZE];

	for (size_t i = 0; i < section->n_columns; i++) {
		const char *text = cells != NULL ? fact_value(&cells[i], value)
						 : section->columns[i].label;
		unsigned int style =
			cells != NULL ? theme_fact(cells[i].style) : STYLE_HEAD;
		struct rect cell = first;

		if (i > 0) {
			(void)rect_take_left(&line, 1);
			cell = rect_take_left(&line, numbers);
		}
		if (i == 0 || section->columns[i].kind == FMT_TEXT)
			canvas_print(canvas, cell, style, "%s", text);
		else
			canvas_right(canvas, cell, style, str_from(text));
	}
}

static void
facts_draw_table(struct canvas *canvas, struct rect *rest,
		 const struct facts_section *section, const struct fact *cells)
{
	if (rest->h > 0)
		facts_draw_row(canvas, rect_take_top(rest, 1), section, NULL);
	for (size_t i = 0; i + section->n_columns <= section->n && rest->h > 0;
	     i += section->n_columns)
		facts_draw_row(canvas, rect_take_top(rest, 1), section,
			       &cells[i]);
}

static void
fact_draw(struct canvas *canvas, struct rect *rest, const struct fact *fact,
	  const struct panel_facts *how)
{
	struct rect value = *rest, label = rect_take_left(&value, how->columns);
	char number[FACT_SIZE];
	struct str text = str_from(fact_value(fact, number));
	int lines = 1;

	label.h = 1;
	if (how->fold)
		lines = fold_draw(canvas, value, theme_fact(fact->style), text,
				  0);
	else
		canvas_line(canvas, rect_take_top(&value, 1),
			    theme_fact(fact->style), text);
	canvas_print(canvas, label, how->label, "%s", fact->label);
	(void)rect_take_top(rest, lines);
}

void
panel_facts(struct canvas *canvas, struct rect *rest, const struct facts *facts,
	    const struct panel_facts *how)
{
	for (size_t i = 0; i < facts->n_sections; i++) {
		const struct facts_section *section = &facts->sections[i];

		if (section->columns != NULL)
			facts_draw_table(canvas, rest, section,
					 facts->v + section->first);
		for (size_t k = 0;
		     section->columns == NULL && k < section->n && rest->h > 0;
		     k++)
			fact_draw(canvas, rest, &facts->v[section->first + k],
				  how);
	}
}

void
panel_facts_flow(struct canvas *canvas, struct rect r,
		 const struct facts *facts)
{
	int x = r.x;

	for (size_t i = 0; i < facts->n; i++) {
		const char *label = facts->v[i].label;
		char number[FACT_SIZE];
		const char *value = fact_value(&facts->v[i], number);

		if (x > r.x &&
		    x + text_width(label) + 1 + text_width(value) > r.x + r.w) {
			(void)rect_take_top(&r, 1);
			x = r.x;
		}
		if (r.h == 0)
			return;
		x += canvas_text(canvas, x, r.y, STYLE_DIM, label) + 1;
		x += canvas_text(canvas, x, r.y, theme_fact(facts->v[i].style),
				 value) +
		     3;
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
	state->style = FACT_ALARM;
	if (run->status != RUN_FINISHED) {
		(void)snprintf(state->text, sizeof(state->text),
			       run_has(model_run_failed_step(mr)) ? "%s at %s"
								  : "%s",
			       words[run->status],
			       fmt_steps(model_run_failed_step(mr), text));
		if (run->status == RUN_TRUNCATED || run->status == RUN_UNKNOWN)
			state->style = FACT_WARN;
		return;
	}
	state->symbol = SYMBOL_DONE;
	state->style = FACT_DONE;
	if (alert != NULL && alert->kind >= ALERT_CAP_TRAIN &&
	    alert->kind <= ALERT_CAP_BYTES) {
		static const char *const caps[] = { "train", "eval", "size" };

		state->symbol = SYMBOL_FAILED;
		state->style = FACT_ALARM;
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
	state->style = FACT_LIVE;
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
		state->style = FACT_ALARM;
		(void)snprintf(state->text, sizeof(state->text), "link %s",
			       pod_state_name(pod->state));
		return true;
	}
	if (!mr->live) {
		state->symbol = SYMBOL_IDLE;
		state->style = FACT_DIM;
		(void)snprintf(state->text, sizeof(state->text),
			       "not followed");
		return true;
	}
	if (alert == NULL || alert->kind != ALERT_STALL)
		return false;
	state->symbol = SYMBOL_SILENT;
	state->style = FACT_SILENT;
	(void)snprintf(state->text, sizeof(state->text), "silent %s",
		       fmt_age(silent_s, age));
	return true;
}

struct run_state
run_state_of(const struct ui_shared *shared, const struct model_run *mr)
{
	struct run_state state = { SYMBOL_FAILED, "log gone", FACT_WARN };

	if (mr->log != NULL && model_log_cut_run(shared->model, mr->log) == mr)
		return state;
	if (mr->run.status != RUN_RUNNING)
		ended_state(shared, mr, &state);
	else if (!silent_state(shared, mr, &state))
		running_state(shared, mr, &state);
	return state;
}

/* A cap as a bar: "train ####.... 374.0 / 600 s". */
struct gauge {
	const char *name, *unit;
	double value, cap;  /* absent: unknown */
	enum fmt_kind kind; /* of both; a cap has no decimals */
};

/* Draws it, and cuts what it took off *line. */
static void
gauge_draw(struct canvas *canvas, struct rect *line, const struct gauge *gauge)
{
	double part = gauge->value / gauge->cap;
	bool known = run_has(part);
	int w = line->w / 4, x = line->x;
	int full = known ? (int)lround(fmin(fmax(part, 0), 1) * w) : 0;
	char value[FMT_SIZE], cap[FMT_SIZE];

	x += canvas_textf(canvas, x, line->y, STYLE_NORMAL, "%-6s",
			  gauge->name);
	for (int i = 0; i < w; i++)
		canvas_put(canvas, x + i, line->y,
			   i >= full  ? STYLE_GAUGE_REST
			   : part > 1 ? STYLE_GAUGE_OVER
				      : STYLE_GAUGE,
			   i < full ? 0x2588 : 0x2591);
	x += w + 1;
	x += canvas_textf(
		canvas, x, line->y,
		known && part > 1 ? STYLE_GAUGE_OVER : STYLE_NORMAL,
		"%s / %s %s", fmt_value(gauge->kind, gauge->value, 1, value),
		fmt_value(gauge->kind, gauge->cap, 0, cap), gauge->unit);
	(void)rect_take_left(line, x + 2 - line->x);
}

/* Steps and time of the end of training. */
static void
draw_train_line(const struct ui_shared *shared, struct canvas *canvas,
		struct rect line, const struct forecast *f)
{
	const struct gauge gauge = { "train", "s",
				     model_run_train_ms(shared->selected) /
					     1000,
				     ui_caps(shared)->cap_train_s, FMT_NUMBER };
	const char *source = line.w < 90 ? ""
			     : f->source == FORECAST_REFERENCE
				     ? " (ref curve)"
				     : " (recent pace)";
	int64_t end_ms = shared->now_wall_ms;
	char steps[FMT_SIZE], error[FMT_SIZE], clock[FMT_SIZE];

	gauge_draw(canvas, &line, &gauge);
	if (f->source == FORECAST_NONE || !run_has(f->end_steps))
		return;
	end_ms += (int64_t)(f->train_left_s * 1000);
	canvas_print(canvas, line, STYLE_HINT, "steps → %s ±%s%s · ends %s",
		     fmt_grouped(f->end_steps, steps),
		     fmt_grouped(f->end_steps_error, error), source,
		     fmt_clock(end_ms, clock));
}

static void
draw_eval_line(const struct ui_shared *shared, struct canvas *canvas,
	       struct rect line, const struct forecast *f)
{
	const struct run *run = &shared->selected->run;
	const struct gauge gauge = { "eval", "s", model_eval_s(run),
				     ui_caps(shared)->cap_eval_s, FMT_NUMBER };
	char left[FMT_SIZE], done[FMT_SIZE], all[FMT_SIZE];

	gauge_draw(canvas, &line, &gauge);
	(void)fmt_grouped(run->eval_done, done);
	(void)fmt_grouped(run->eval_total, all);
	if (run_has(run->eval_done) && run_has(f->eval_left_s))
		canvas_print(canvas, line, STYLE_HINT,
			     "%s of %s done, about %s left", done, all,
			     fmt_age(f->eval_left_s, left));
	else if (run_has(run->eval_done))
		canvas_print(canvas, line, STYLE_HINT, "%s of %s done", done,
			     all);
	else if (f->reference != NULL && run_has(f->reference->run.eval_s))
		canvas_print(canvas, line, STYLE_DIM,
			     "a finished run took %.1f s",
			     f->reference->run.eval_s);
}

static void
draw_size_line(const struct ui_shared *shared, struct canvas *canvas,
	       struct rect line, const struct forecast *f)
{
	double bytes = shared->selected->run.artifact_bytes;
	double cap = ui_caps(shared)->cap_artifact_bytes;
	const struct gauge gauge = { "size", "B", bytes, cap, FMT_GROUPED };
	char text[FMT_SIZE];

	gauge_draw(canvas, &line, &gauge);
	if (run_has(bytes) && run_has(cap))
		canvas_print(canvas, line,
			     bytes > cap ? STYLE_GAUGE_OVER : STYLE_HINT,
			     "%s B %s", fmt_grouped(fabs(cap - bytes), text),
			     bytes > cap ? "over" : "left");
	else if (f->reference != NULL &&
		 run_has(f->reference->run.artifact_bytes))
		canvas_print(
			canvas, line, STYLE_DIM, "a finished run: %s B",
			fmt_grouped(f->reference->run.artifact_bytes, text));
}

/* Now and at the end, in bits per byte. */
static void
draw_score_line(const struct ui_shared *shared, struct canvas *canvas,
		struct rect line, const struct forecast *f)
{
	const struct run *run = &shared->selected->run;
	const char *note = line.w < 90 ? " (1σ)" : " (1σ, from a finished run)";
	char text[FMT_SIZE];

	(void)rect_take_left(
		&line, canvas_textf(canvas, line.x, line.y, STYLE_NORMAL,
				    "BPB   last validation %s",
				    fmt_number(run->last_val_bpb, 4, text)));
	if (run_has(run->final_bpb))
		canvas_print(canvas, line, STYLE_STRONG, " · final %s (%s)",
			     fmt_number(run->final_bpb, 6, text),
			     run->final_class != NULL ? run->final_class : "?");
	else if (run_has(f->final_bpb))
		canvas_print(canvas, line, STYLE_HINT, " · final → %s ±%.4f%s",
			     fmt_number(f->final_bpb, 4, text),
			     f->final_bpb_sigma, note);
	else if (run_has(run->last_val_loss))
		canvas_print(canvas, line, STYLE_HINT, " · val loss %s nats",
			     fmt_number(run->last_val_loss, 4, text));
}

static void
draw_cost_line(const struct ui_shared *shared, struct canvas *canvas,
	       struct rect line, const struct forecast *f)
{
	const struct model_run *mr = shared->selected;
	double usd, hours;

	(void)f;
	if (mr->pod >= shared->model->n_pods)
		return;
	usd = shared->model->pods[mr->pod].usd_per_hour;
	hours = (double)(mr->last_byte_wall_ms - mr->first_byte_wall_ms) /
		3600000;
	if (run_has(usd))
		canvas_print(canvas, line, STYLE_NORMAL,
			     "cost  $%.2f while followed · $%.2f/h",
			     usd * hours, usd);
	else
		canvas_print(canvas, line, STYLE_DIM,
			     "cost  — (no usd_per_hour for this pod)");
}

void
panel_budget(const struct ui_shared *shared, struct canvas *canvas,
	     struct rect r)
{
	static void (*const lines[])(const struct ui_shared *, struct canvas *,
				     struct rect, const struct forecast *) = {
		draw_train_line, draw_eval_line, draw_size_line,
		draw_score_line, draw_cost_line
	};
	struct rect before = canvas_clip(canvas, r);
	struct forecast f;

	if (shared->selected != NULL && r.h > 0) {
		forecast_run(shared->model, shared->selected,
			     ui_caps(shared)->cap_train_s, shared->now_wall_ms,
			     &f);
		for (size_t i = 0; i < 5 && r.h > 0; i++)
			lines[i](shared, canvas, rect_take_top(&r, 1), &f);
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
panel_log(const struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model_log *log =
		shared->selected != NULL ? shared->selected->log : NULL;
	size_t n = log != NULL ? logtail_count(log->tail) : 0;

	/* From the end up; printed source code says nothing here. */
	for (size_t i = n; i-- > 0 && r.h > 0;) {
		const struct logtail_line *line = logtail_at(log->tail, i);

		if (line->class != LINE_SOURCE)
			canvas_line(canvas, rect_take_bottom(&r, 1),
				    panel_line_style(line->class),
				    (struct str){ line->text, line->len });
	}
}

void
panel_events(const struct ui_shared *shared, struct canvas *canvas,
	     struct rect r)
{
	static const unsigned int styles[] = { STYLE_NORMAL, STYLE_WARN,
					       STYLE_ALARM };
	const struct model *model = shared->model;
	char clock[FMT_SIZE];

	for (size_t i = model->n_events; i-- > 0 && r.h > 0;) {
		const struct model_event *event = model_event_at(model, i);
		struct rect line = rect_take_top(&r, 1);

		canvas_print(canvas, rect_take_left(&line, 9), STYLE_DIM, "%s",
			     fmt_clock(event->wall_ms, clock));
		canvas_print(canvas, line, styles[event->severity], "%s",
			     event->text);
	}
	if (model->n_events == 0)
		canvas_say(canvas, &r, STYLE_DIM, "Nothing happened yet.");
}

uint32_t
panel_pod_symbol(const struct model_pod *pod, enum fact_style *style)
{
	static const struct {
		uint32_t symbol;
		enum fact_style style;
	} looks[] = {
		[POD_UNKNOWN] = { SYMBOL_IDLE, FACT_DIM },
		[POD_CONNECTING] = { SYMBOL_IDLE, FACT_HINT },
		[POD_LIVE] = { SYMBOL_LIVE, FACT_LIVE },
		[POD_SILENT] = { SYMBOL_SILENT, FACT_SILENT },
		[POD_RECONNECTING] = { SYMBOL_FAILED, FACT_WARN },
		[POD_REFUSED] = { SYMBOL_FAILED, FACT_ALARM },
		[POD_GONE] = { SYMBOL_IDLE, FACT_DIM },
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
panel_pods(const struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model *model = shared->model;
	char util[FMT_SIZE], temp[FMT_SIZE], disk[FMT_SIZE];

	for (size_t i = 0; i < model->n_pods && r.h > 0; i++) {
		const struct model_pod *pod = &model->pods[i];
		struct rect line = rect_take_top(&r, 1), part;
		enum fact_style style;
		uint32_t symbol = panel_pod_symbol(pod, &style);

		part = rect_take_left(&line, 2);
		canvas_put(canvas, part.x, part.y, theme_fact(style), symbol);
		part = rect_take_left(&line, 13);
		part.w--;
		canvas_print(canvas, part, STYLE_NORMAL, "%s", pod->name);
		canvas_print(canvas, rect_take_left(&line, 13),
			     theme_fact(style), "%s",
			     pod_state_name(pod->state));
		canvas_print(canvas, line, STYLE_NORMAL,
			     "GPU %3s %% %3s °C  disk %s free",
			     fmt_number(panel_pod_last(pod, METRIC_GPU_UTIL), 0,
					util),
			     fmt_number(panel_pod_last(pod, METRIC_GPU_TEMP_C),
					0, temp),
			     fmt_bytes(pod->disk_free_bytes, disk));
	}
}
