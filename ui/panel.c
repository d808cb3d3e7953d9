/* SPDX-License-Identifier: MIT */
/* Draws the parts of the screen that several views use. */
#include "ui/panel.h"

#include "model/advice.h"
#include "model/crossing.h"
#include "model/forecast.h"
#include "model/logfile.h"
#include "model/logtext.h"
#include "ui/theme.h"

#define LINE_BYTES 4096U /* maximum bytes read of one line of a log */
#define STARTING_S 600	 /* a run without data that is silent for longer is not "starting" */
#define MAX_LINES  20000 /* maximum lines read to skip printed source code */

#define SYMBOL_LIVE    "▶"
#define SYMBOL_DONE    "✓"
#define SYMBOL_SILENT  "‖"
#define SYMBOL_FAILED  "✗"
#define SYMBOL_IDLE    "·"
#define SYMBOL_UNKNOWN "-"

void panel_empty(struct canvas *canvas, struct rect r, const char *text)
{
	struct str rest = str_from(text), line;
	int n = 0, widest = 0;

	/* Center the first line, and the others as one block, so that their columns align. */
	for (; str_next(&rest, '\n', &line); n++)
		if (n > 0)
			widest = int_max(widest, (int)utf8_width(line));
	(void)rect_take_top(&r, (r.h - n) / 2);
	rest = str_from(text);
	for (int i = 0; r.h > 0 && str_next(&rest, '\n', &line); i++) {
		int width = i > 0 ? widest : (int)utf8_width(line);
		struct rect place = rect_take_top(&r, 1);

		(void)rect_take_left(&place, (r.w - width) / 2);
		canvas_line(canvas, place, i == 0 ? STYLE_STRONG : STYLE_HINT, line);
	}
}

/* Draw a row of a table (cells NULL: header). The first column gets the room that numbers leave. */
static void facts_draw_row(struct canvas *canvas, struct rect line,
			   const struct facts_section *section, const struct fact *cells)
{
	int numbers = int_min(line.w / 5, 12), n = (int)section->n_columns - 1;
	struct rect first = rect_take_left(&line, line.w - n * (numbers + 1));
	char value[FACT_SIZE];

	for (size_t i = 0; i < section->n_columns; i++) {
		const char *text =
			cells != NULL ? fact_value(&cells[i], value) : section->columns[i].label;
		unsigned int style = cells != NULL ? theme_fact(cells[i].style) : STYLE_HEADER;
		struct rect cell = first;

		if (i > 0) {
			(void)rect_take_left(&line, 1);
			cell = rect_take_left(&line, numbers);
		}
		(i == 0 || section->columns[i].kind == FMT_TEXT ? canvas_line : canvas_line_right)(
			canvas, cell, style, str_from(text));
	}
}

static void fact_draw(struct canvas *canvas, struct rect *rest, const struct fact *fact,
		      const struct panel_facts *how)
{
	struct rect value = *rest, label = rect_take_left(&value, how->columns);
	char number[FACT_SIZE];
	struct str text = str_from(fact_value(fact, number));
	int lines = 1;

	label.h = 1;
	if (how->fold)
		lines = canvas_wrap(canvas, value, theme_fact(fact->style), text, 0);
	else
		canvas_line(canvas, rect_take_top(&value, 1), theme_fact(fact->style), text);
	canvas_print(canvas, label, how->label, "%s", fact->label);
	(void)rect_take_top(rest, lines);
}

void panel_facts(struct canvas *canvas, struct rect *rest, const struct facts *facts,
		 const struct panel_facts *how)
{
	array_each (section, facts->sections, facts->n_sections) {
		const struct fact *cells = facts->v + section->first;
		size_t step = section->columns != NULL ? section->n_columns : 1;

		if (section->columns != NULL && rest->h > 0)
			facts_draw_row(canvas, rect_take_top(rest, 1), section, NULL);
		for (size_t k = 0; k + step <= section->n && rest->h > 0; k += step)
			if (section->columns != NULL)
				facts_draw_row(canvas, rect_take_top(rest, 1), section, &cells[k]);
			else
				fact_draw(canvas, rest, &cells[k], how);
	}
}

void panel_facts_flow(struct canvas *canvas, struct rect r, const struct facts *facts)
{
	int x = r.x;

	for (size_t i = 0; i < facts->n; i++) {
		const char *label = facts->v[i].label;
		char number[FACT_SIZE];
		const char *value = fact_value(&facts->v[i], number);

		if (x > r.x && x + text_width(label) + 1 + text_width(value) > r.x + r.w) {
			(void)rect_take_top(&r, 1);
			x = r.x;
		}
		if (r.h == 0)
			return;
		x += canvas_text(canvas, x, r.y, STYLE_DIM, label) + 1;
		x += canvas_text(canvas, x, r.y, theme_fact(facts->v[i].style), value) + 3;
	}
}

LIKE_PRINTF(3, 4)
static struct run_state new_state(const char *symbol, enum fact_style style, const char *fmt, ...)
{
	struct run_state state = { symbol, "", style };

	print_args(state.text, fmt);
	return state;
}

/* Describe a run that did not finish: the exception (or else `word`), step and message. */
static struct run_state failed_state(const struct model_run *mr, const char *word)
{
	enum run_status status = mr->run.status;
	const struct run_event *cause =
		status == RUN_CRASHED || status == RUN_KILLED ? model_run_cause(mr) : NULL;
	bool is_mild = status == RUN_TRUNCATED;
	struct str what = str_from(word), said = STR_LIT(""), class;
	double step = model_run_failed_step(mr);
	const char *due = NULL;

	if (cause != NULL) {
		said = str_from(cause->text);
		due = strstr(cause->text, "DUE TO ");
	}
	if (due != NULL)
		said = str_from(due);
	/* For "torch.cuda.AcceleratorError: what", show "AcceleratorError" and "what". */
	if (cause != NULL && cause->kind == RUN_EVENT_TRACEBACK) {
		struct str rest = said, name;

		(void)str_next(&rest, ':', &class);
		if (memchr(class.p, ' ', class.len) == NULL) {
			said = str_trim(rest);
			while (str_next(&class, '.', &name))
				what = name;
		}
	}
	/* If it is unknown how the run ended, do not show a failure. */
	bool is_unknown = status == RUN_UNKNOWN;
	return new_state(is_unknown ? SYMBOL_UNKNOWN : SYMBOL_FAILED,
			 is_unknown ? FACT_DIM
			 : is_mild  ? FACT_WARN
				    : FACT_ALARM,
			 "%.*s%s%s%s%.*s", (int)what.len, what.p, run_has(step) ? " at " : "",
			 run_has(step) ? fmt_steps(step).s : "", said.len > 0 ? ": " : "",
			 (int)said.len, said.p);
}

static struct run_state ended_state(const struct model_run *mr)
{
	static const char *const words[] = {
		[RUN_RUNNING] = "running",     [RUN_FINISHED] = "done",
		[RUN_TRUNCATED] = "truncated", [RUN_CRASHED] = "crashed",
		[RUN_OOM] = "out of memory",   [RUN_DIVERGED] = "NaN",
		[RUN_KILLED] = "killed",       [RUN_UNKNOWN] = "ended",
	};
	static const char *const caps[] = { "over size cap", "over train cap", "over eval cap",
					    "targets left out", "over a cap" };
	const struct alert *alert = mr->alert;
	enum run_status status = mr->run.status;
	double seconds = model_run_train_ms(mr) / 1000;

	if (status != RUN_FINISHED)
		return failed_state(mr, words[status]);
	if (alert != NULL && alert->kind >= ALERT_CAP_BYTES && alert->kind <= ALERT_CAP_METRIC)
		return new_state(SYMBOL_FAILED, FACT_ALARM, "%s",
				 caps[alert->kind - ALERT_CAP_BYTES]);
	return new_state(SYMBOL_DONE, FACT_DONE, run_has(seconds) ? "done %s s" : "done",
			 fmt_number(seconds, 1).s);
}

/* Describe a run without data: `word`, and the number of lines of its log. */
static struct run_state lines_state(const char *symbol, enum fact_style style, const char *word,
				    const struct run *run)
{
	return new_state(symbol, style, "%s, %llu line%s", word, (unsigned long long)run->lines,
			 run->lines == 1 ? "" : "s");
}

static struct run_state running_state(const struct ui_shared *shared, const struct model_run *mr)
{
	const struct run *run = &mr->run;
	double cap = ui_caps(shared, mr)->cap_train_s;
	double seconds = model_run_train_ms(mr) / 1000;

	if (run_has(run->eval_done) && run->eval_total > 0)
		return new_state(SYMBOL_LIVE, FACT_LIVE, "eval %.0f/%.0f", run->eval_done,
				 run->eval_total);
	if (!run_has(seconds) && !run_has(run->steps) && run->n_series == 0)
		return lines_state(SYMBOL_LIVE, FACT_LIVE, "starting", run);
	if (!run_has(seconds) && !run_has(run->steps))
		return new_state(SYMBOL_LIVE, FACT_LIVE, "running");
	if (!run_has(seconds))
		return new_state(SYMBOL_LIVE, FACT_LIVE,
				 run_has(run->planned_steps) ? "step %s/%s" : "step %s",
				 fmt_steps(run->steps).s, fmt_steps(run->planned_steps).s);
	if (forecast_training_is_over(run))
		return new_state(SYMBOL_LIVE, FACT_LIVE, "trained %.0f s", seconds);
	return new_state(SYMBOL_LIVE, FACT_LIVE, run_has(cap) ? "%.0f/%.0f s" : "%.0f s", seconds,
			 cap);
}

struct run_state run_state_of(const struct ui_shared *shared, const struct model_run *mr)
{
	const struct model *model = shared->model;
	enum pod_state link = mr->pod < model->n_pods ? model->pods[mr->pod].state : POD_UNKNOWN;
	double silent_s = (double)(shared->now_wall_ms - mr->last_byte_wall_ms) / 1000;

	if (mr->log != NULL && mr->log->trouble != NULL)
		return new_state(SYMBOL_FAILED, FACT_ALARM, "%s", mr->log->trouble);
	if (mr->log != NULL && model_log_cut_run(model, mr->log) == mr)
		return new_state(SYMBOL_FAILED, FACT_WARN, "log deleted");
	if (mr->run.status != RUN_RUNNING)
		return ended_state(mr);
	if (link >= POD_RECONNECTING && link < POD_GONE)
		return new_state(SYMBOL_FAILED, FACT_ALARM, "link %s", pod_state_name(link));
	if (mr->blank && (!mr->live || silent_s > STARTING_S))
		return lines_state(SYMBOL_IDLE, FACT_DIM,
				   mr->run.lines > 0 ? "no figures" : "no data", &mr->run);
	if (!mr->live)
		return new_state(SYMBOL_IDLE, FACT_DIM, "not followed");
	if (mr->log != NULL && mr->log->behind_bytes > 0) {
		double behind = (double)mr->log->behind_bytes, read = (double)mr->log->read_bytes;

		return new_state(SYMBOL_LIVE, FACT_HINT, "catching up %.0f %%",
				 floor(100 * read / (read + behind)));
	}
	if (mr->alert != NULL && mr->alert->kind == ALERT_STALL)
		return new_state(SYMBOL_SILENT, FACT_SILENT, "silent %s", fmt_age(silent_s).s);
	return running_state(shared, mr);
}

/* A line of the budget, which shows how much of a cap is used, and a note. */
struct gauge {
	const char *name, *unit;
	double value, cap;  /* absent: unknown */
	enum fmt_kind kind; /* format of value and cap; a cap has no decimals */
	bool brief;	    /* there is little room for the note */
	unsigned int style; /* of the note */
	struct buf note;
};

/* Draw a line such as "train ####.... 374.0 / 600 s  steps → 13,780". */
static void gauge_draw(struct canvas *canvas, struct rect line, const struct gauge *gauge)
{
	double part = gauge->value / gauge->cap;
	bool over = part > 1;
	bool has_cap = run_has(gauge->cap);
	int w = has_cap ? line.w / 4 : 0, x = line.x;
	int full = run_has(part) ? (int)lround(fmin(fmax(part, 0), 1) * w) : 0;

	x += canvas_textf(canvas, x, line.y, STYLE_NORMAL, "%-6s", gauge->name);
	for (int i = 0; i < w; i++)
		canvas_put(canvas, x + i, line.y,
			   i >= full ? STYLE_GAUGE_REST
			   : over    ? STYLE_GAUGE_OVER
				     : STYLE_GAUGE,
			   i < full ? 0x2588 : 0x2591);
	x += has_cap ? w + 1 : 0;
	x += canvas_textf(canvas, x, line.y, over ? STYLE_GAUGE_OVER : STYLE_NORMAL, "%s%s%s %s",
			  fmt_value(gauge->kind, gauge->value, 1).s, has_cap ? " / " : "",
			  has_cap ? fmt_value(gauge->kind, gauge->cap, 0).s : "", gauge->unit);
	(void)rect_take_left(&line, x + 2 - line.x);
	canvas_print(canvas, line, gauge->style, "%s", gauge->note.data);
}

/* Append when the training ends, from the newest row: the end of a silent run does not move. */
static void add_end(const struct ui_shared *shared, double left_s, struct buf *note)
{
	const struct model_run *mr = shared->selected;
	int64_t now_ms = shared->now_wall_ms;
	int64_t end_ms = (mr->last_byte_wall_ms > 0 ? mr->last_byte_wall_ms : now_ms) +
			 (int64_t)(left_s * 1000);

	buf_appendf(note, "%s%s %s", note->len > 0 ? " · " : "",
		    end_ms < now_ms ? "was due" : "ends", fmt_moment(end_ms, now_ms).s);
}

static void train_gauge(const struct ui_shared *shared, const struct forecast *f,
			struct gauge *gauge)
{
	const char *source = f->source == FORECAST_REFERENCE ? " (ref curve)" : " (recent pace)";
	const struct run *run = &shared->selected->run;

	gauge->value = model_run_train_ms(shared->selected) / 1000;
	gauge->cap = ui_caps(shared, shared->selected)->cap_train_s;
	if (!run_has(gauge->value) && run_has(run->steps)) {
		gauge->name = "steps";
		gauge->unit = "";
		gauge->kind = FMT_GROUPED;
		gauge->value = run->steps;
		gauge->cap = run->planned_steps;
		if (!run_has(f->train_left_s))
			return;
		buf_appendf(&gauge->note, "about %s left", fmt_age(f->train_left_s).s);
		add_end(shared, f->train_left_s, &gauge->note);
		return;
	}
	if (f->source == FORECAST_NONE || !run_has(f->end_steps))
		return;
	buf_appendf(&gauge->note, "steps → %s", fmt_grouped(f->end_steps).s);
	if (f->end_steps_error > 0)
		buf_appendf(&gauge->note, " ±%s%s", fmt_grouped(f->end_steps_error).s,
			    gauge->brief ? "" : source);
	add_end(shared, f->train_left_s, &gauge->note);
}

static void eval_gauge(const struct ui_shared *shared, const struct forecast *f,
		       struct gauge *gauge)
{
	const struct run *run = &shared->selected->run;
	const struct model_run *ref = f->reference;

	gauge->value = model_eval_s(run);
	gauge->cap = ui_caps(shared, shared->selected)->cap_eval_s;
	if (run_has(run->eval_done)) {
		/* Show the time of this stage, without the seconds of earlier stages. */
		gauge->value = model_eval_elapsed_s(run);
		buf_appendf(&gauge->note, "%s of %s done", fmt_grouped(run->eval_done).s,
			    fmt_grouped(run->eval_total).s);
		if (run_has(f->eval_left_s))
			buf_appendf(&gauge->note, ", about %s left", fmt_age(f->eval_left_s).s);
		if (run_has(run->eval_s))
			buf_appendf(&gauge->note, " · %s took %.1f s",
				    run->final_class != NULL ? run->final_class : "earlier",
				    run->eval_s);
	} else if (run_has(gauge->value) && run_has(model_run_stage_bpb(shared->selected))) {
		buf_append_str(&gauge->note, "so far");
	} else if (ref != NULL && run_has(ref->run.eval_s)) {
		gauge->style = STYLE_DIM;
		buf_appendf(&gauge->note, "a finished run took %.1f s", ref->run.eval_s);
	}
}

static void size_gauge(const struct ui_shared *shared, const struct forecast *f,
		       struct gauge *gauge)
{
	const struct model_run *ref = f->reference;

	gauge->value = shared->selected->run.artifact_bytes;
	gauge->cap = ui_caps(shared, shared->selected)->cap_artifact_bytes;
	if (run_has(gauge->value) && run_has(gauge->cap)) {
		bool over = gauge->value > gauge->cap;

		if (over)
			gauge->style = STYLE_GAUGE_OVER;
		buf_appendf(&gauge->note, "%s B %s", fmt_grouped(fabs(gauge->cap - gauge->value)).s,
			    over ? "over" : "left");
	} else if (ref != NULL && run_has(ref->run.artifact_bytes)) {
		gauge->style = STYLE_DIM;
		buf_appendf(&gauge->note, "a finished run: %s B",
			    fmt_grouped(ref->run.artifact_bytes).s);
	}
}

/* Draw the last BPB and the final or forecast one; if there is none, the loss or own series. */
static void draw_score(const struct ui_shared *shared, struct canvas *canvas, struct rect line,
		       const struct forecast *f)
{
	const struct run *run = &shared->selected->run;
	double final = model_run_final_bpb(shared->selected);
	double stage = model_run_stage_bpb(shared->selected);
	const char *class = run->final_class != NULL ? run->final_class : "?";
	const char *note = line.w < 90 ? " (1σ)" : " (1σ, from a finished run)";
	const struct run_series *own = plot_own_loss(run);

	if (!run_has(run->last_val_bpb) && !run_has(run->final_bpb) &&
	    (run_has(run->last_train_loss) || run_has(run->last_val_loss))) {
		const struct track *track = ui_caps(shared, shared->selected);
		struct crossing c = crossing_of_run(track, shared->model, shared->selected);

		(void)rect_take_left(&line, canvas_textf(canvas, line.x, line.y, STYLE_NORMAL,
							 "loss  train %s · validation %s nats",
							 fmt_number(run->last_train_loss, 4).s,
							 fmt_number(run->last_val_loss, 4).s));
		if (run_has(c.step))
			canvas_print(canvas, line, STYLE_HINT,
				     " · crosses %g at step %s ± %.0f (from %zu runs)",
				     track->target, fmt_grouped(c.step).s, ceil(c.error), c.n);
		return;
	}
	if (!run_has(run->last_val_bpb) && !run_has(run->final_bpb) && own != NULL) {
		canvas_print(canvas, line, STYLE_NORMAL, "%s %.6g %s", own->name, own->last,
			     own->unit);
		return;
	}
	double old = run_has(run->last_val_bpb)
			     ? model_run_old_step(shared->selected, METRIC_VAL_BPB)
			     : RUN_ABSENT;
	(void)rect_take_left(&line, canvas_textf(canvas, line.x, line.y,
						 run_has(old) ? STYLE_DIM : STYLE_NORMAL,
						 "BPB   last validation %s%s%s",
						 fmt_number(run->last_val_bpb, 4).s,
						 run_has(old) ? " at step " : "",
						 run_has(old) ? fmt_grouped(old).s : ""));
	if (run_has(stage))
		(void)rect_take_left(&line, canvas_textf(canvas, line.x, line.y, STYLE_HINT,
							 " · so far ~%s (%s)",
							 fmt_number(stage, 6).s, class));
	if (run_has(final))
		canvas_print(canvas, line, STYLE_STRONG, " · final %s (%s)", fmt_number(final, 6).s,
			     class);
	else if (run_has(f->final_bpb))
		canvas_print(canvas, line, STYLE_HINT, " · final → %s ±%.4f%s",
			     fmt_number(f->final_bpb, 4).s, f->final_bpb_sigma, note);
	else if (run_has(run->last_val_loss) && !run_has(stage))
		canvas_print(canvas, line, STYLE_HINT, " · val loss %s nats",
			     fmt_number(run->last_val_loss, 4).s);
}

/* Draw the run's cost and, if behind the reference, how many such runs still finished ahead. */
static void draw_cost(const struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model_run *mr = shared->selected;
	double usd = model_run_cost(shared->model, mr);
	double usd_per_hour = run_has(usd) ? shared->model->pods[mr->pod].usd_per_hour : RUN_ABSENT;
	double cap_ms = 1000 * ui_caps(shared, shared->selected)->cap_train_s, part;
	struct advice a;
	AUTO_BUF text = buf_new(400);

	if (run_has(usd))
		buf_appendf(&text, "cost  $%.2f %s · $%.2f/h", usd,
			    mr->live ? "so far"
			    : usd > model_paid_hours(&mr->run) * usd_per_hour ||
					    !run_has(model_paid_hours(&mr->run))
				    ? "while followed"
				    : "for training and evaluation",
			    usd_per_hour);
	else
		buf_append_str(&text, "cost  — (no usd_per_hour for this pod)");
	if (find_advice(shared->model, mr, shared->reference, &a)) {
		part = run_has(cap_ms) ? model_run_train_ms(mr) / cap_ms
				       : mr->run.steps / mr->run.planned_steps;
		if (run_has(part))
			buf_appendf(&text, " · at %.0f %% of the budget", 100 * part);
		buf_appendf(&text,
			    " %.4f %s behind the reference at step %.0f; %zu of %zu earlier runs "
			    "this far behind still finished ahead (error <= %.0f %%)",
			    a.gap, a.unit, a.step, a.n_ahead, a.n_behind, ceil(100 * a.error));
	}
	(void)canvas_wrap(canvas, r, run_has(usd) ? STYLE_NORMAL : STYLE_DIM, buf_str(&text), 0);
}

void panel_budget(const struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	static const struct {
		struct gauge gauge;
		void (*fill)(const struct ui_shared *shared, const struct forecast *f,
			     struct gauge *gauge);
	} gauges[] = {
		{ { "train", "s", .kind = FMT_NUMBER }, train_gauge },
		{ { "eval", "s", .kind = FMT_NUMBER }, eval_gauge },
		{ { "size", "B", .kind = FMT_GROUPED }, size_gauge },
	};
	struct forecast f;

	if (shared->selected == NULL)
		return;
	const struct run *run = &shared->selected->run;
	forecast_run(shared->model, shared->selected,
		     ui_caps(shared, shared->selected)->cap_train_s, &f);
	for (size_t i = 0; i < 3 && r.h > 0; i++) {
		struct gauge gauge = gauges[i].gauge;

		gauge.style = STYLE_HINT;
		buf_init(&gauge.note, 200);
		gauge.brief = r.w < 90;
		gauges[i].fill(shared, &f, &gauge);
		/* If the trainer reports steps but no time, hide caps without a value. */
		if (run_has(gauge.value) ||
		    (run_has(gauge.cap) && (run_has(model_run_train_ms(shared->selected)) ||
					    run_has(run->last_val_bpb) || !run_has(run->steps))))
			gauge_draw(canvas, rect_take_top(&r, 1), &gauge);
		buf_release(&gauge.note);
	}
	if (r.h > 0)
		draw_score(shared, canvas, rect_take_top(&r, 1), &f);
	if (r.h > 0)
		draw_cost(shared, canvas, r);
}

unsigned int panel_line_style(enum line_class class)
{
	static const unsigned int styles[] = {
		[LINE_PLAIN] = STYLE_LOG_PLAIN,	    [LINE_METRIC] = STYLE_LOG_METRIC,
		[LINE_SOURCE] = STYLE_LOG_SOURCE,   [LINE_ERROR] = STYLE_LOG_ERROR,
		[LINE_WARNING] = STYLE_LOG_WARNING,
	};

	return styles[class];
}

void panel_log(const struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model_log *log = shared->selected != NULL ? shared->selected->log : NULL;
	struct logfile *file = log != NULL ? model_log_open(log) : NULL;
	uint64_t at = file != NULL ? logfile_size(file) : 0, number;
	AUTO_BUF raw = buf_new(LINE_BYTES);
	AUTO_BUF text = buf_new(LINE_BYTES);

	if (file == NULL)
		return;
	/* Lines from log->read_bytes on have no class yet. The last parsed line has the number
	 * classes.last. */
	number = log->is_preview ? 0 : log->classes.last;
	for (int i = 0; i < MAX_LINES && at > 0 && r.h > 0; i++) {
		enum line_class class = LINE_PLAIN;

		at = logfile_prev(file, at);
		logfile_read(file, at, &raw);
		if (at < log->read_bytes && number > 0)
			class = logclass_of(&log->classes, number--);
		/* Skip printed source code. */
		if (class == LINE_SOURCE)
			continue;
		buf_clear(&text);
		logtext_show(&text, buf_str(&raw), (size_t)r.w + 1, NULL);
		canvas_line(canvas, rect_take_bottom(&r, 1), panel_line_style(class),
			    buf_str(&text));
	}
	logfile_close(file);
}

const enum fact_style panel_severities[] = {
	[MODEL_INFO] = FACT_PLAIN,
	[MODEL_WARNING] = FACT_WARN,
	[MODEL_ALARM] = FACT_ALARM,
};

void panel_events(const struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	const struct model *model = shared->model;

	for (size_t i = model->n_events; i-- > 0 && r.h > 0;) {
		const struct model_event *event = model_event_at(model, i);
		struct rect line = rect_take_top(&r, 1);

		canvas_print(canvas, rect_take_left(&line, 9), STYLE_DIM, "%s",
			     fmt_clock(event->wall_ms).s);
		canvas_print(canvas, line, theme_fact(panel_severities[event->severity]), "%s",
			     event->text);
	}
	if (model->n_events == 0)
		canvas_print_top(canvas, &r, STYLE_DIM, "No events yet.");
}

const char *panel_pod_symbol(const struct model_pod *pod, enum fact_style *style)
{
	static const struct {
		const char *symbol;
		enum fact_style style;
	} looks[] = {
		[POD_UNKNOWN] = { SYMBOL_IDLE, FACT_DIM },
		[POD_CONNECTING] = { SYMBOL_IDLE, FACT_HINT },
		[POD_LIVE] = { SYMBOL_LIVE, FACT_LIVE },
		[POD_SILENT] = { SYMBOL_SILENT, FACT_SILENT },
		[POD_RECONNECTING] = { SYMBOL_FAILED, FACT_WARN },
		[POD_UNREACHED] = { SYMBOL_FAILED, FACT_WARN },
		[POD_REFUSED] = { SYMBOL_FAILED, FACT_ALARM },
		[POD_GONE] = { SYMBOL_IDLE, FACT_DIM },
	};

	*style = looks[pod->state].style;
	return looks[pod->state].symbol;
}
