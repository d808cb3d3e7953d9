/* SPDX-License-Identifier: MIT */
/* What keys do in every view; called by ui.c where a view leaves a key. */
#include "config.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "ui/plot.h"
#include "ui/ui_impl.h"

#define EXPORT_BYTES (16U << 20)

/* What a view does not show of a run is said. */
static void
say_run(struct ui *ui, const char *what)
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
step_run(struct ui *ui, enum action action)
{
	const unsigned int shows = IN_RUNS | IN_CHARTS; /* who is selected */
	struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	int by = action == ACTION_NEXT_RUN ? 1 : -1;

	for (size_t i = 0; i < model->n_runs; i++) {
		if (model->runs[i] != shared->selected)
			continue;
		if (by > 0 && i + 1 < model->n_runs)
			shared->selected = model->runs[i + 1];
		else if (by < 0 && i > 0)
			shared->selected = model->runs[i - 1];
		break;
	}
	if ((ui_view(ui)->places & shows) != shows)
		say_run(ui, "is selected");
}

/* Write what the view shows to a file, by the application. */
static void
export_view(struct ui *ui, enum action action)
{
	const struct view_ops *view = ui_views[ui->view];
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
mark_run(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;
	size_t before = shared->n_marks;

	(void)action;
	ui_toggle_mark(shared, shared->selected);
	if (shared->n_marks != before || shared->selected == NULL)
		say_run(ui, shared->n_marks > before
				    ? "is marked"
				    : "is not marked any more");
}

static void
set_reference(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;

	(void)action;
	shared->reference =
		shared->reference == shared->selected ? NULL : shared->selected;
	say_run(ui, shared->reference != NULL
			    ? "is what all others are compared to"
			    : "is no reference any more");
}

static void
next_charset(struct ui *ui, enum action action)
{
	static const char *const names[] = { "braille", "blocks", "ASCII" };
	struct ui_shared *shared = &ui->shared;

	(void)action;
	shared->chart.charset = (shared->chart.charset + 1) % 3;
	ui_say(shared, "charts are drawn in %s", names[shared->chart.charset]);
}

static void
acknowledge(struct ui *ui, enum action action)
{
	(void)action;
	alerts_acknowledge(ui->setup.alerts);
	ui_say(&ui->shared, "all alerts acknowledged");
}

static void
mute(struct ui *ui, enum action action)
{
	struct alerts *alerts = ui->setup.alerts;

	(void)action;
	alerts->muted = !alerts->muted;
	ui_say(&ui->shared, "bell and notices are %s",
	       alerts->muted ? "muted" : "on");
}

static void
pause_screen(struct ui *ui, enum action action)
{
	(void)action;
	ui->paused = !ui->paused;
	ui_say(&ui->shared, ui->paused ? "paused; P goes on" : "going on");
}

/* A key is never without an answer, but where a list just ends. */
void
ui_say_no_use(struct ui *ui, enum action action)
{
	if (action < ACTION_UP || action > ACTION_PAGE_DOWN)
		ui_say(&ui->shared, "%s does nothing in %s",
		       action_info(action)->name, ui_view(ui)->name);
}

void
ui_shared_act(struct ui *ui, enum action action)
{
	static const struct {
		enum action action;
		void (*act)(struct ui *ui, enum action action);
	} acts[] = {
		{ ACTION_MARK, mark_run },
		{ ACTION_REFERENCE, set_reference },
		{ ACTION_NEXT_RUN, step_run },
		{ ACTION_PREV_RUN, step_run },
		{ ACTION_CHARSET, next_charset },
		{ ACTION_ACKNOWLEDGE, acknowledge },
		{ ACTION_MUTE, mute },
		{ ACTION_PAUSE, pause_screen },
		{ ACTION_EXPORT, export_view },
	};

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (acts[i].action == action) {
			acts[i].act(ui, action);
			return;
		}
	}
	ui_say_no_use(ui, action);
}
