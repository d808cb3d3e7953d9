/* SPDX-License-Identifier: MIT */
/* The frame around the views; driven by the application and by tests. */
#include "config.h"

#include "ui/ui.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/plot.h"
#include "ui/ui_priv.h"

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
	plot_run_label(ui->shared.selected, label);
	ui_say(&ui->shared, "%s %s", label, what);
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
	const char *suffix;
	struct buf text;

	(void)action;
	if (view->export == NULL) {
		ui_say(&ui->shared, "%s has nothing to export", view->name);
		return;
	}
	buf_init(&text, EXPORT_BYTES);
	suffix = view->export(ui->states[ui->view], &ui->shared, &text);
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

/* What the owner does. */
static void
act_want(struct ui *ui, enum action action)
{
	static const struct {
		enum action action;
		unsigned int want;
	} wants[] = {
		{ ACTION_QUIT_NOW, UI_WANT_QUIT },
		{ ACTION_SUSPEND, UI_WANT_SUSPEND },
		{ ACTION_REPAINT, UI_WANT_REPAINT },
		{ ACTION_MOUSE, UI_WANT_MOUSE },
		{ ACTION_THEME, UI_WANT_THEME },
		{ ACTION_RELOAD, UI_WANT_RELOAD },
	};

	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
		if (wants[i].action == action)
			ui->wants |= wants[i].want;
}

static void
act_open_view(struct ui *ui, enum action action)
{
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if (ui_views[i]->open == action)
			ui_go_to(ui, i);
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
	static void (*const acts[ACTION_COUNT])(struct ui *, enum action) = {
		[ACTION_VIEW_FLEET] = act_open_view,
		[ACTION_VIEW_RUN] = act_open_view,
		[ACTION_VIEW_BOARD] = act_open_view,
		[ACTION_VIEW_COMPARE] = act_open_view,
		[ACTION_VIEW_LOGS] = act_open_view,
		[ACTION_VIEW_BENCH] = act_open_view,
		[ACTION_VIEW_PODS] = act_open_view,
		[ACTION_VIEW_HARNESS] = act_open_view,
		[ACTION_NEXT_VIEW] = act_step_view,
		[ACTION_PREV_VIEW] = act_step_view,
		[ACTION_BACK] = act_back,
		[ACTION_QUIT] = act_back,
		[ACTION_QUIT_NOW] = act_want,
		[ACTION_SUSPEND] = act_want,
		[ACTION_REPAINT] = act_want,
		[ACTION_MOUSE] = act_want,
		[ACTION_THEME] = act_want,
		[ACTION_RELOAD] = act_want,
		[ACTION_MARK] = act_mark,
		[ACTION_REFERENCE] = act_reference,
		[ACTION_NEXT_RUN] = act_step_run,
		[ACTION_PREV_RUN] = act_step_run,
		[ACTION_CHARSET] = act_charset,
		[ACTION_ACKNOWLEDGE] = act_acknowledge,
		[ACTION_MUTE] = act_mute,
		[ACTION_PAUSE] = act_pause,
		[ACTION_EXPORT] = act_export,
	};

	(acts[action] != NULL ? acts[action] : act_no_use)(ui, action);
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
	const struct view_ops *view = ui_view(ui);
	void *state = ui->states[ui->view];
	struct list *list =
		view->list != NULL ? view->list(state, &ui->shared) : NULL;

	if (view->act(state, &ui->shared, action, out))
		return true;
	if (list == NULL || !list_act(list, action))
		return false;
	if (view->moved != NULL)
		view->moved(state, &ui->shared);
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
