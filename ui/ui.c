/* SPDX-License-Identifier: MIT */
/* The frame around the views; driven by the application and by tests. */
#include "config.h"

#include "ui/ui.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/mouse.h"
#include "ui/overlay.h"
#include "ui/plot.h"
#include "ui/ui_impl.h"

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
	shared->keymap = &ui->keymap;
	shared->read_only = setup->read_only;
	shared->can_bench = setup->can_bench;
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
ui_is_marked(const struct ui_shared *shared, const struct model_run *mr)
{
	for (size_t i = 0; i < shared->n_marks; i++)
		if (shared->marks[i] == mr)
			return true;
	return false;
}

void
ui_toggle_mark(struct ui_shared *shared, const struct model_run *mr)
{
	if (mr == NULL)
		return;
	for (size_t i = 0; i < shared->n_marks; i++) {
		if (shared->marks[i] != mr)
			continue;
		memmove(shared->marks + i, shared->marks + i + 1,
			(shared->n_marks - i - 1) * sizeof(shared->marks[0]));
		shared->n_marks--;
		return;
	}
	if (shared->n_marks == UI_MAX_MARKS) {
		ui_say(shared, "at most %d runs can be marked", UI_MAX_MARKS);
		return;
	}
	shared->marks[shared->n_marks++] = mr;
}

void
ui_set_now(struct ui *ui, int64_t wall_ms, int64_t mono_ms)
{
	ui->shared.now_wall_ms = wall_ms;
	ui->shared.now_mono_ms = mono_ms;
}

/* The run to begin with: one that lives and spoke last, else the newest. */
static void
select_first(struct ui_shared *shared)
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
	select_first(&ui->shared);
	if ((parts & (ui_views[ui->view]->watches | MODEL_EVENTS)) != 0 ||
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
	const struct view_ops *view = ui_views[ui->view];
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

void
ui_go_to(struct ui *ui, size_t view)
{
	ui->view = view;
	ui->n_before = 0;
}

static void
go_back(struct ui *ui, bool may_quit)
{
	if (ui->n_before > 0)
		ui->view = ui->before[--ui->n_before];
	else if (may_quit)
		ui->wants |= UI_WANT_QUIT;
	else if (ui->view != 0)
		ui->view = 0;
}

/* Actions of the frame itself; UI_IGNORED for the others. */
static unsigned int
frame_act(struct ui *ui, enum action action)
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

	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (ui_views[i]->open == action) {
			ui_go_to(ui, i);
			return UI_HANDLED;
		}
	}
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		if (wants[i].action == action) {
			ui->wants |= wants[i].want;
			return UI_HANDLED;
		}
	}
	if (action == ACTION_NEXT_VIEW)
		ui_go_to(ui, (ui->view + 1) % UI_VIEW_COUNT);
	else if (action == ACTION_PREV_VIEW)
		ui_go_to(ui, (ui->view + UI_VIEW_COUNT - 1) % UI_VIEW_COUNT);
	else if (action == ACTION_BACK || action == ACTION_QUIT)
		go_back(ui, action == ACTION_QUIT);
	else
		return UI_IGNORED;
	return UI_HANDLED;
}

/* Show a view on top of this one; q and Esc come back here. */
static void
go_into(struct ui *ui, enum action open)
{
	size_t from = ui->view;

	if (frame_act(ui, open) == UI_IGNORED) {
		ui_shared_act(ui, open);
		return;
	}
	if (ui->view == from)
		return;
	ui->before[0] = from;
	ui->n_before = 1;
}

void
ui_action(struct ui *ui, enum action action)
{
	const struct view_ops *view = ui_views[ui->view];
	struct command command = { .id = COMMAND_NONE };
	unsigned int reaction;

	ui->stale = ui->asked = true;
	if (action == ACTION_NONE)
		return;
	if (overlay_open(ui, action))
		return;
	reaction =
		view->act(ui->states[ui->view], &ui->shared, action, &command);
	/* It shows only where a part of x is shown. */
	if (action == ACTION_HOLD_Y && reaction != UI_IGNORED)
		ui_say(&ui->shared, "y is by %s",
		       ui->shared.chart.hold_y ? "all of x"
					       : "the part that is shown");
	if (reaction & UI_COMMAND) {
		if (command.id == COMMAND_BENCH_PICK) {
			overlay_bench_open(ui, command.text);
			command_release(&command);
		} else if (command.id == COMMAND_COPY) {
			ui_execute(ui, &command);
		} else {
			overlay_ask(ui, &command);
		}
	}
	if (ui->shared.go != ACTION_NONE) {
		enum action go = ui->shared.go;

		ui->shared.go = ACTION_NONE;
		go_into(ui, go);
		return;
	}
	if (reaction != UI_IGNORED || frame_act(ui, action) != UI_IGNORED)
		return;
	ui_shared_act(ui, action);
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
		mouse_key(ui, key);
		return;
	}
	action =
		keymap_find(&ui->keymap, key->code, ui_views[ui->view]->places);
	if (action == ACTION_NONE) {
		action = keymap_find(&ui->keymap, key->code, UINT_MAX);
		if (action != ACTION_NONE)
			ui_say_no_use(ui, action);
		return;
	}
	ui_action(ui, action);
}

const struct view_ops *
ui_view(const struct ui *ui)
{
	return ui_views[ui->view];
}

void
ui_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y)
{
	const struct view_ops *view = ui_views[ui->view];
	struct rect body = { 0, 1, canvas->width, canvas->height - 3 };

	*cursor_x = *cursor_y = -1;
	overlay_next_question(ui);
	canvas_clear(canvas);
	ui->shared.n_areas = 0;
	ui->stale = ui->asked = false;
	ui->drawn_at_ms = ui->shared.now_mono_ms;
	select_first(&ui->shared);
	if (canvas->width < 60 || canvas->height < 15) {
		frame_draw_tiny(ui, canvas);
		return;
	}
	frame_draw_state(ui, canvas, frame_draw_tabs(ui, canvas));
	view->draw(ui->states[ui->view], &ui->shared, canvas, body);
	canvas->clip = (struct rect){ 0, 0, canvas->width, canvas->height };
	mouse_draw(ui, canvas);
	frame_draw_status(ui, canvas, canvas->height - 2);
	frame_draw_hints(ui, canvas, canvas->height - 1);
	overlay_draw(ui, canvas, cursor_x, cursor_y);
}
