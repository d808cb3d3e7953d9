/* SPDX-License-Identifier: MIT */
/* The frame around the views: what a key and the mouse do, the lines about. */
#include "config.h"

#include "ui/ui.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "report/fmt.h"
#include "ui/plot.h"
#include "ui/theme.h"
#include "ui/ui_priv.h"

#define SAID_MS	    8000
#define WHEEL_LINES 3
/* A hand that only clicks may slip by a column. */
#define SLIP_COLUMNS	2
#define EXPORT_BYTES	(16U << 20)
#define FRAME_LOCAL_MS	33
#define FRAME_REMOTE_MS 250

const struct view_ops *const ui_views[UI_VIEW_COUNT] = {
	&view_fleet, &view_run,	  &view_board, &view_compare,
	&view_logs,  &view_bench, &view_pods,  &view_harness,
};

struct ui *
ui_new(const struct ui_setup *setup)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));
	struct ui_shared *shared = &ui->shared;

	ui->setup.charset = CHART_BRAILLE;
	ui_configure(ui, setup);
	shared->model = setup->model;
	shared->track = setup->track;
	shared->alerts = setup->alerts;
	shared->read_only = setup->read_only;
	shared->chart.zoom = 1;
	shared->chart.center = 0.5;
	shared->chart.cursor = -1;
	shared->chart.smoothing = 2;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		ui->states[i] = xcalloc(1, ui_views[i]->state_size + 1);
	ui->stale = true;
	return ui;
}

void
ui_configure(struct ui *ui, const struct ui_setup *setup)
{
	struct ui_shared *shared = &ui->shared;

	/* What a key chose stays until the configuration says otherwise. */
	if (setup->charset != ui->setup.charset)
		shared->chart.charset = setup->charset;
	ui->setup = *setup;
	ui->keymap = *setup->keymap;
	shared->baseline = setup->baseline;
	shared->group_of = setup->group_of;
	shared->group_user = setup->group_user;
	shared->log_colors = setup->log_colors;
	shared->configured++;
	ui->stale = ui->asked = true;
}

const struct track *
ui_caps(const struct ui_shared *shared)
{
	static const struct track none = { .cap_train_s = (double)NAN,
					   .cap_eval_s = (double)NAN,
					   .cap_artifact_bytes = (double)NAN };

	return shared->track != NULL ? shared->track : &none;
}

char *
ui_group_of(const struct ui_shared *shared, const struct model_run *mr)
{
	if (shared->group_of != NULL)
		return shared->group_of(shared->group_user, mr);
	return xstrdup(mr->group != NULL ? mr->group : mr->path);
}

void
ui_free(struct ui *ui)
{
	if (ui == NULL)
		return;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (ui_views[i]->release != NULL)
			ui_views[i]->release(ui->states[i]);
		if (ui_views[i]->list != NULL)
			list_release(ui->states[i]);
		free(ui->states[i]);
	}
	overlay_release(ui);
	free(ui);
}

struct ui_shared *
ui_shared(struct ui *ui)
{
	return &ui->shared;
}

void
ui_say(struct ui_shared *shared, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(shared->said, sizeof(shared->said), fmt, ap);
	va_end(ap);
	shared->said_at_ms = shared->now_mono_ms;
}

bool
ui_is_marked(const struct ui_marks *marks, const void *what)
{
	for (size_t i = 0; i < marks->n; i++)
		if (marks->v[i] == what)
			return true;
	return false;
}

void
ui_toggle_mark(struct ui_shared *shared, struct ui_marks *marks,
	       const void *what, size_t most)
{
	for (size_t i = 0; i < marks->n; i++) {
		if (marks->v[i] != what)
			continue;
		memmove(marks->v + i, marks->v + i + 1,
			(--marks->n - i) * sizeof(*marks->v));
		return;
	}
	if (marks->n == most)
		ui_say(shared, "at most %zu %s can be marked", most,
		       marks == &shared->marks ? "runs" : "pods");
	else
		marks->v[marks->n++] = what;
}

char *
ui_pod_names(const struct ui_shared *shared, size_t pod)
{
	const struct ui_marks *marks = &shared->pod_marks;
	struct buf names;

	buf_init(&names, 65536);
	for (size_t i = 0; i < marks->n; i++)
		buf_appendf(&names, "%s%s", i > 0 ? "," : "",
			    (const char *)marks->v[i]);
	if (marks->n == 0 && pod < shared->model->n_pods)
		buf_append_str(&names, shared->model->pods[pod].name);
	return buf_detach(&names);
}

void
ui_set_now(struct ui *ui, int64_t wall_ms, int64_t mono_ms)
{
	ui->shared.now_wall_ms = wall_ms;
	ui->shared.now_mono_ms = mono_ms;
}

/* The run to begin with: one that lives and spoke last, else the newest. */
static void
ui_select_first(struct ui_shared *shared)
{
	const struct model *model = shared->model;
	const struct model_run *best = NULL;

	if (shared->selected != NULL || model->n_runs == 0)
		return;
	for (size_t i = 0; i < model->n_runs; i++) {
		const struct model_run *mr = model->runs[i];

		if (mr->live && mr->run.status == RUN_RUNNING &&
		    (best == NULL ||
		     mr->last_byte_wall_ms > best->last_byte_wall_ms))
			best = mr;
	}
	shared->selected = best != NULL ? best : model->runs[model->n_runs - 1];
}

void
ui_changed(struct ui *ui, unsigned int parts)
{
	ui_select_first(&ui->shared);
	if ((parts & (ui_view(ui)->watches | MODEL_EVENTS)) != 0 ||
	    ui->overlay == OVERLAY_EVENTS)
		ui->stale = true;
}

void
ui_tick(struct ui *ui)
{
	ui->stale = true;
}

int64_t
ui_frame_in_ms(const struct ui *ui)
{
	int64_t every = ui->setup.remote ? FRAME_REMOTE_MS : FRAME_LOCAL_MS;
	int64_t due = ui->drawn_at_ms + every - ui->shared.now_mono_ms;

	if (ui->asked)
		return 0;
	if (!ui->stale || ui->paused)
		return -1;
	return due > 0 ? due : 0;
}

bool
ui_work(struct ui *ui)
{
	const struct view_ops *view = ui_view(ui);
	bool more;

	if (view->work == NULL)
		return false;
	more = view->work(ui->states[ui->view], &ui->shared);
	if (more || ui->working)
		ui->stale = true;
	/* What was waited for is shown at once. */
	if (ui->working && !more)
		ui->asked = true;
	ui->working = more;
	return more;
}

unsigned int
ui_take_wants(struct ui *ui)
{
	unsigned int wants = ui->wants;

	ui->wants = 0;
	return wants;
}

bool
ui_is_working(const struct ui *ui)
{
	return ui->working;
}

/* Execute a command of a view; asks first where it acts on a pod. */
void
ui_execute(struct ui *ui, struct command *command)
{
	struct err err = { ERR_NONE, "" };
	char said[200] = "";

	if (ui->setup.sink.execute == NULL) {
		ui_say(&ui->shared, "nothing here can do that");
	} else if (ui->setup.sink.execute(ui->setup.sink.user, command, said,
					  &err)) {
		ui_say(&ui->shared, "%s", err.text);
	} else if (said[0] != '\0') {
		ui_say(&ui->shared, "%s", said);
	}
	command_release(command);
}

void
command_release(struct command *command)
{
	free(command->text);
	free(command->name);
	memset(command, 0, sizeof(*command));
}

const struct view_ops *
ui_view(const struct ui *ui)
{
	return ui_views[ui->view];
}

struct list *
ui_list(struct ui *ui)
{
	const struct view_ops *view = ui_view(ui);

	return view->list != NULL
		       ? view->list(ui->states[ui->view], &ui->shared)
		       : NULL;
}

void
ui_list_moved(struct ui *ui)
{
	if (ui_view(ui)->moved != NULL)
		ui_view(ui)->moved(ui->states[ui->view], &ui->shared);
}

void
ui_go_to(struct ui *ui, size_t view)
{
	ui->view = view;
	ui->has_before = false;
}

/* What a view does not show of a run is said. */
static void
ui_say_run(struct ui *ui, const char *what)
{
	char label[FMT_LABEL];

	if (ui->shared.selected == NULL) {
		ui_say(&ui->shared, "there is no run yet");
		return;
	}
	if (ui->view == 0)
		return;
	ui_say(&ui->shared, "%s %s", plot_run_label(ui->shared.selected, label),
	       what);
}

/* The run next to the selected one, in order of appearance. */
static void
act_step_run(struct ui *ui, enum action action)
{
	const unsigned int shows = IN_RUNS | IN_CHARTS; /* who is selected */
	struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t i = 0;

	while (i < model->n_runs && model->runs[i] != shared->selected)
		i++;
	if (action == ACTION_NEXT_RUN && i + 1 < model->n_runs)
		shared->selected = model->runs[i + 1];
	else if (action == ACTION_PREV_RUN && i > 0 && i < model->n_runs)
		shared->selected = model->runs[i - 1];
	if ((ui_view(ui)->places & shows) != shows)
		ui_say_run(ui, "is selected");
}

/* Write what the view shows to a file, by the application. */
static void
act_export(struct ui *ui, enum action action)
{
	const struct view_ops *view = ui_view(ui);
	struct command command = { .id = COMMAND_EXPORT };
	const struct list *list = ui_list(ui);
	const char *suffix = "md";
	struct buf text;

	(void)action;
	if (view->export == NULL && list == NULL) {
		ui_say(&ui->shared, "%s has nothing to export", view->name);
		return;
	}
	buf_init(&text, EXPORT_BYTES);
	if (view->export != NULL)
		suffix = view->export(ui->states[ui->view], &ui->shared, &text);
	else
		list_export_md(list, &text);
	if (suffix == NULL) {
		buf_release(&text);
		return;
	}
	command.name =
		xasprintf("hgym-%s.%s", action_info(view->open)->name, suffix);
	command.is_cut = text.truncated;
	command.text = buf_detach(&text);
	ui_execute(ui, &command);
}

static void
act_mark(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;
	size_t before = shared->marks.n;

	(void)action;
	if (shared->selected != NULL)
		ui_toggle_mark(shared, &shared->marks, shared->selected,
			       UI_MAX_MARKS);
	if (shared->marks.n != before || shared->selected == NULL)
		ui_say_run(ui, shared->marks.n > before
				       ? "is marked"
				       : "is not marked any more");
}

static void
act_reference(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;

	(void)action;
	shared->reference =
		shared->reference == shared->selected ? NULL : shared->selected;
	ui_say_run(ui, shared->reference != NULL
			       ? "is what all others are compared to"
			       : "is no reference any more");
}

static void
act_charset(struct ui *ui, enum action action)
{
	static const char *const names[] = { "braille", "blocks", "ASCII" };
	struct chart_settings *chart = &ui->shared.chart;

	(void)action;
	chart->charset = (chart->charset + 1) % 3;
	ui_say(&ui->shared, "charts are drawn in %s", names[chart->charset]);
}

static void
act_acknowledge(struct ui *ui, enum action action)
{
	(void)action;
	alerts_acknowledge(ui->setup.alerts);
	ui_say(&ui->shared, "all alerts acknowledged");
}

static void
act_mute(struct ui *ui, enum action action)
{
	struct alerts *alerts = ui->setup.alerts;

	(void)action;
	alerts->muted = !alerts->muted;
	ui_say(&ui->shared, "bell and notices are %s",
	       alerts->muted ? "muted" : "on");
}

static void
act_pause(struct ui *ui, enum action action)
{
	(void)action;
	ui->paused = !ui->paused;
	ui_say(&ui->shared, ui->paused ? "paused; P goes on" : "going on");
}

static void
act_step_view(struct ui *ui, enum action action)
{
	size_t by = action == ACTION_NEXT_VIEW ? 1 : UI_VIEW_COUNT - 1;

	ui_go_to(ui, (ui->view + by) % UI_VIEW_COUNT);
}

static void
act_back(struct ui *ui, enum action action)
{
	if (ui->has_before)
		ui_go_to(ui, ui->before);
	else if (action == ACTION_QUIT)
		ui->wants |= UI_WANT_QUIT;
	else
		ui->view = 0;
}

/* A key is never without an answer, but where a list just ends. */
static void
act_no_use(struct ui *ui, enum action action)
{
	if (action < ACTION_UP || action > ACTION_PAGE_DOWN)
		ui_say(&ui->shared, "%s does nothing in %s",
		       action_info(action)->name, ui_view(ui)->name);
}

/* What an action does where the view leaves it. */
static void
ui_act(struct ui *ui, enum action action)
{
	static const struct {
		enum action action;
		void (*act)(struct ui *ui, enum action action);
		unsigned int want; /* what the owner does */
	} acts[] = {
		{ ACTION_MARK, act_mark, 0 },
		{ ACTION_REFERENCE, act_reference, 0 },
		{ ACTION_CHARSET, act_charset, 0 },
		{ ACTION_ACKNOWLEDGE, act_acknowledge, 0 },
		{ ACTION_MUTE, act_mute, 0 },
		{ ACTION_PAUSE, act_pause, 0 },
		{ ACTION_EXPORT, act_export, 0 },
		{ ACTION_NEXT_VIEW, act_step_view, 0 },
		{ ACTION_PREV_VIEW, act_step_view, 0 },
		{ ACTION_NEXT_RUN, act_step_run, 0 },
		{ ACTION_PREV_RUN, act_step_run, 0 },
		{ ACTION_BACK, act_back, 0 },
		{ ACTION_QUIT, act_back, 0 },
		{ ACTION_QUIT_NOW, NULL, UI_WANT_QUIT },
		{ ACTION_SUSPEND, NULL, UI_WANT_SUSPEND },
		{ ACTION_REPAINT, NULL, UI_WANT_REPAINT },
		{ ACTION_MOUSE, NULL, UI_WANT_MOUSE },
		{ ACTION_THEME, NULL, UI_WANT_THEME },
		{ ACTION_RELOAD, NULL, UI_WANT_RELOAD },
	};

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (acts[i].action != action)
			continue;
		ui->wants |= acts[i].want;
		if (acts[i].act != NULL)
			acts[i].act(ui, action);
		return;
	}
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (ui_views[i]->open == action) {
			ui_go_to(ui, i);
			return;
		}
	}
	act_no_use(ui, action);
}

/* Show a view on top of this one; q and Esc come back here. */
static void
ui_go_into(struct ui *ui, enum action open)
{
	size_t from = ui->view;

	ui->shared.go = ACTION_NONE;
	ui_act(ui, open);
	if (ui->view == from)
		return;
	ui->before = from;
	ui->has_before = true;
}

/* The view's own use of an action, or its list's. */
static bool
ui_act_view(struct ui *ui, enum action action, struct command *out)
{
	struct list *list = ui_list(ui);

	if (ui_view(ui)->act(ui->states[ui->view], &ui->shared, action, out))
		return true;
	if (list == NULL || !list_act(list, action))
		return false;
	ui_list_moved(ui);
	return true;
}

void
ui_action(struct ui *ui, enum action action)
{
	struct command command = { .id = COMMAND_NONE };
	bool used;

	ui->stale = ui->asked = true;
	if (action == ACTION_NONE || overlay_open(ui, action))
		return;
	used = ui_act_view(ui, action, &command);
	/* It shows only where a part of x is shown. */
	if (action == ACTION_HOLD_Y && used)
		ui_say(&ui->shared, "y is by %s",
		       ui->shared.chart.hold_y ? "all of x"
					       : "the part that is shown");
	if (command.id == COMMAND_BENCH_PICK) {
		overlay_open_bench(ui, command.text);
		command_release(&command);
	} else if (command.id == COMMAND_COPY) {
		ui_execute(ui, &command);
	} else if (command.id != COMMAND_NONE) {
		overlay_ask(ui, &command);
	}
	if (ui->shared.go != ACTION_NONE)
		ui_go_into(ui, ui->shared.go);
	else if (!used)
		ui_act(ui, action);
}

/* Tabs with their digits; which columns each takes is kept for the mouse. */
static int
frame_draw_tabs(struct ui *ui, struct canvas *canvas)
{
	bool wide = canvas->width >= 110;
	int x = wide ? 1 : 0;

	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		unsigned int style = i == ui->view ? STYLE_TAB_ON : STYLE_TAB;

		ui->tabs[i][0] = x;
		x += canvas_textf(canvas, x, 0, style,
				  wide ? " %zu %s " : "%zu%s", i + 1,
				  ui_views[i]->name);
		ui->tabs[i][1] = x;
		x += wide ? 0 : 1;
	}
	return x;
}

/* What the reference of all differences is called; "" when there is none. */
static void
frame_reference(const struct ui_shared *shared, char out[FMT_LABEL])
{
	out[0] = '\0';
	if (shared->reference != NULL)
		(void)plot_run_label(shared->reference, out);
	else if (shared->baseline != NULL)
		(void)snprintf(out, FMT_LABEL, "%.80s", shared->baseline->name);
}

/* Right of the tabs: reference, pods that live, alerts, time. */
static void
frame_draw_state(struct ui *ui, struct canvas *canvas, int left)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t live = 0, all = 0, open = alerts_open(shared->alerts);
	int room = canvas->width - left - 1, x, taken;
	char pods[200], alerts[40], time[100], ref[FMT_LABEL] = "";
	char clock[FMT_SIZE], zone[FMT_SIZE];

	for (size_t i = 0; i < model->n_pods; i++) {
		all += model->pods[i].state != POD_GONE;
		live += model->pods[i].state == POD_LIVE ||
			model->pods[i].state == POD_SILENT;
	}
	if (room > 60)
		frame_reference(shared, ref);
	(void)fmt_clock(shared->now_wall_ms, clock);
	(void)snprintf(pods, sizeof(pods), "%s%s%s%s%zu/%zu pods · ",
		       ref[0] != '\0' ? "ref " : "", ref,
		       ref[0] != '\0' ? " · " : "",
		       model->is_shared ? "reads · " : "", live, all);
	(void)snprintf(time, sizeof(time), " · %s %s", clock,
		       fmt_zone(shared->now_wall_ms, zone));
	(void)snprintf(alerts, sizeof(alerts), "%zu alert%s", open,
		       open == 1 ? "" : "s");
	if (text_width(pods) + text_width(time) + text_width(alerts) > room) {
		(void)snprintf(alerts, sizeof(alerts), "%zu!", open);
		(void)snprintf(pods, sizeof(pods), "%zu/%zu pods ", live, all);
		(void)snprintf(time, sizeof(time), " %.5s", clock);
	}
	/* The alerts are what is left out last. */
	taken = text_width(pods) + text_width(alerts);
	if (taken + text_width(time) > room)
		time[0] = '\0';
	if (taken > room)
		pods[0] = '\0';
	x = canvas->width - 1 -
	    (text_width(pods) + text_width(alerts) + text_width(time));
	x = int_max(x, left);
	x += canvas_text(canvas, x, 0, STYLE_HINT, pods);
	x += canvas_text(canvas, x, 0, open > 0 ? STYLE_WARN : STYLE_HINT,
			 alerts);
	(void)canvas_text(canvas, x, 0, STYLE_HINT, time);
}

/* The newest word: what was just said, else the newest event. */
static void
frame_draw_status(struct ui *ui, struct canvas *canvas, struct rect line)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	const struct model_event *event;
	char clock[FMT_SIZE];

	if (shared->said[0] != '\0' &&
	    shared->now_mono_ms - shared->said_at_ms < SAID_MS) {
		canvas_print(canvas, line, STYLE_STRONG, "%s", shared->said);
	} else if (model->n_events > 0) {
		event = model_event_at(model, model->n_events - 1);
		canvas_print(
			canvas, line,
			event->severity == MODEL_INFO ? STYLE_HINT : STYLE_WARN,
			"%s %s", fmt_clock(event->wall_ms, clock), event->text);
	}
}

/* Columns of "key name"; 0 when it has no key, or no use in the view. */
static int
frame_hint_width(const struct ui *ui, enum action action)
{
	const struct view_ops *view = ui_view(ui);
	char key[KEY_NAME_SIZE];

	keymap_key_name(&ui->keymap, action, key);
	if (key[0] == '\0' || (action == ACTION_COPY && !view->copies) ||
	    (action == ACTION_EXPORT && view->export == NULL &&
	     view->list == NULL) ||
	    (ui->shared.read_only && action_is_acting(action)))
		return 0;
	return text_width(key) + 1 + text_width(action_info(action)->name);
}

/* "key name" at *x, which goes on; false: it does not fit before `end`. */
static bool
frame_draw_hint(const struct ui *ui, struct canvas *canvas, int *x, int end,
		enum action action)
{
	int width = frame_hint_width(ui, action), y = canvas->height - 1;
	char key[KEY_NAME_SIZE];

	if (width == 0)
		return true;
	if (*x + width > end)
		return false;
	keymap_key_name(&ui->keymap, action, key);
	*x += canvas_text(canvas, *x, y, STYLE_KEY, key) + 1;
	*x += canvas_text(canvas, *x, y, STYLE_HINT, action_info(action)->name);
	*x += 2;
	return true;
}

/*
 * Help is first and so never the one that is left out; the way out stands at
 * the right, where it does not move.
 */
static void
frame_draw_hints(const struct ui *ui, struct canvas *canvas)
{
	static const enum action last[] = { ACTION_PALETTE, ACTION_EVENTS,
					    ACTION_COPY, ACTION_EXPORT,
					    ACTION_NONE };
	const enum action *const lists[] = { ui_view(ui)->hints, last };
	int x = 1, end = canvas->width - 1 - frame_hint_width(ui, ACTION_QUIT);
	int at = end;

	(void)frame_draw_hint(ui, canvas, &x, end, ACTION_HELP);
	(void)frame_draw_hint(ui, canvas, &at, canvas->width - 1, ACTION_QUIT);
	for (size_t i = 0; i < 2; i++)
		for (const enum action *a = lists[i]; *a != ACTION_NONE; a++)
			if (!frame_draw_hint(ui, canvas, &x, end - 2, *a))
				break;
}

/* Where nothing fits: the fleet's rows alone; what is asked is not lost. */
static void
frame_draw_tiny(struct ui *ui, struct canvas *canvas)
{
	struct rect rest = { 0, 0, canvas->width, canvas->height };

	if (ui->overlay == OVERLAY_NONE)
		canvas_say(canvas, &rest, STYLE_TITLE,
			   "? help  enlarge to 60x15");
	else
		canvas_say(canvas, &rest, STYLE_WARN,
			   "Esc back  enlarge to 60x15 to see it");
	ui_views[0]->draw(ui->states[0], &ui->shared, canvas, rest);
}

static void
mouse_draw(const struct ui *ui, struct canvas *canvas)
{
	const struct ui_drag *d = &ui->drag;
	struct rect r = d->area;

	if (d->kind != DRAG_CHART || abs(d->to - d->from) < SLIP_COLUMNS)
		return;
	r.x = d->from < d->to ? d->from : d->to;
	r.w = abs(d->to - d->from) + 1;
	canvas_fill(canvas, r, STYLE_NORMAL | STYLE_REVERSE, 0);
}

static void
frame_draw(struct ui *ui, struct canvas *canvas)
{
	struct rect body = { 0, 1, canvas->width, canvas->height - 3 };

	frame_draw_state(ui, canvas, frame_draw_tabs(ui, canvas));
	ui_view(ui)->draw(ui->states[ui->view], &ui->shared, canvas, body);
	canvas->clip = (struct rect){ 0, 0, canvas->width, canvas->height };
	mouse_draw(ui, canvas);
	frame_draw_status(
		ui, canvas,
		(struct rect){ 1, canvas->height - 2, canvas->width - 2, 1 });
	frame_draw_hints(ui, canvas);
}

/* The chart at a place; NULL: none. */
static const struct rect *
mouse_area(const struct ui *ui, int x, int y)
{
	for (size_t i = 0; i < ui->shared.n_areas; i++)
		if (rect_has(&ui->shared.areas[i], x, y))
			return &ui->shared.areas[i];
	return NULL;
}

/* A column as a part of what the chart shows. */
static double
mouse_part(const struct rect *area, int x)
{
	double part = area->w > 1 ? (double)(x - area->x) / (area->w - 1) : 0;

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

static size_t
mouse_tab(const struct ui *ui, int x, int y)
{
	if (y != 0)
		return UI_VIEW_COUNT;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if (x >= ui->tabs[i][0] && x < ui->tabs[i][1])
			return i;
	return UI_VIEW_COUNT;
}

static bool
mouse_click(struct ui *ui, const struct key *key)
{
	const struct view_ops *view = ui_view(ui);
	struct list *list = ui_list(ui);

	if (list != NULL && list_click(list, key->x, key->y)) {
		ui_list_moved(ui);
		return true;
	}
	return view->click != NULL &&
	       view->click(ui->states[ui->view], &ui->shared, key->x, key->y);
}

static void
mouse_wheel(struct ui *ui, const struct key *key)
{
	const struct rect *area = mouse_area(ui, key->x, key->y);
	bool up = key->code == KEYCODE_WHEEL_UP;

	if (area != NULL) {
		ui->shared.chart.cursor = mouse_part(area, key->x);
		(void)ui_chart_act(&ui->shared.chart,
				   up ? ACTION_ZOOM_IN : ACTION_ZOOM_OUT);
		return;
	}
	for (int i = 0; i < WHEEL_LINES; i++)
		ui_action(ui, up ? ACTION_UP : ACTION_DOWN);
}

static void
mouse_press(struct ui *ui, const struct key *key)
{
	const struct rect *area = mouse_area(ui, key->x, key->y);
	size_t tab = mouse_tab(ui, key->x, key->y);

	ui->drag = (struct ui_drag){ .kind = DRAG_NONE, .y = key->y };
	if (tab < UI_VIEW_COUNT) {
		ui_go_to(ui, tab);
	} else if (area != NULL) {
		ui->drag.kind = DRAG_CHART;
		ui->drag.area = *area;
		ui->drag.from = ui->drag.to = key->x;
		ui->shared.chart.cursor = mouse_part(area, key->x);
	} else if (mouse_click(ui, key)) {
		ui->drag.kind = DRAG_LIST;
	}
}

static void
mouse_drag(struct ui *ui, const struct key *key)
{
	const struct rect *area = &ui->drag.area;
	int by = key->y - ui->drag.y;

	if (ui->drag.kind == DRAG_CHART) {
		ui->drag.to = int_max(area->x,
				      int_min(key->x, area->x + area->w - 1));
		ui->shared.chart.cursor = mouse_part(area, ui->drag.to);
	} else if (ui->drag.kind == DRAG_LIST && by != 0 &&
		   !mouse_click(ui, key)) {
		/* Beyond the list's edge it goes on. */
		ui_action(ui, by > 0 ? ACTION_DOWN : ACTION_UP);
	}
	ui->drag.y = key->y;
}

static void
mouse_release(struct ui *ui)
{
	const struct ui_drag *d = &ui->drag;

	if (d->kind == DRAG_CHART && abs(d->to - d->from) >= SLIP_COLUMNS) {
		ui_chart_zoom_to(&ui->shared.chart,
				 mouse_part(&d->area, d->from),
				 mouse_part(&d->area, d->to));
		ui_say(&ui->shared, "%.3gx; 0 shows all of x again",
		       ui->shared.chart.zoom);
	}
	ui->drag.kind = DRAG_NONE;
}

/*
 * A click goes to a tab, selects a row, or sets a chart's cursor; a drag takes
 * a part of x to be shown, or the selection along a list; the wheel zooms a
 * chart and moves in a list.
 */
static void
frame_mouse(struct ui *ui, const struct key *key)
{
	if (key->code == KEYCODE_WHEEL_UP || key->code == KEYCODE_WHEEL_DOWN)
		mouse_wheel(ui, key);
	else if (key->code == KEYCODE_MOUSE_PRESS)
		mouse_press(ui, key);
	else if (key->code == KEYCODE_MOUSE_DRAG)
		mouse_drag(ui, key);
	else
		mouse_release(ui);
}

void
ui_key(struct ui *ui, const struct key *key)
{
	enum action action;

	ui->stale = ui->asked = true;
	if (ui->overlay != OVERLAY_NONE) {
		ui->drag.kind = DRAG_NONE;
		overlay_key(ui, key);
		return;
	}
	if (key->code >= KEYCODE_MOUSE_PRESS) {
		frame_mouse(ui, key);
		return;
	}
	action = keymap_find(&ui->keymap, key->code, ui_view(ui)->places);
	if (action != ACTION_NONE) {
		ui_action(ui, action);
		return;
	}
	action = keymap_find(&ui->keymap, key->code, UINT_MAX);
	if (action != ACTION_NONE)
		act_no_use(ui, action);
}

void
ui_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y)
{
	*cursor_x = *cursor_y = -1;
	overlay_next_question(ui);
	canvas_clear(canvas);
	ui->shared.n_areas = 0;
	ui->stale = ui->asked = false;
	ui->drawn_at_ms = ui->shared.now_mono_ms;
	ui_select_first(&ui->shared);
	if (canvas->width < 60 || canvas->height < 15) {
		frame_draw_tiny(ui, canvas);
		return;
	}
	frame_draw(ui, canvas);
	overlay_draw(ui, canvas, cursor_x, cursor_y);
}
