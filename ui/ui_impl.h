/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_UI_IMPL_H
#define HGYM_UI_UI_IMPL_H

#include "ui/form.h"
#include "ui/pick.h"
#include "ui/ui.h"

/* What ui.c, ui_shared.c and overlay.c share; nobody else includes it. */
#define UI_VIEW_COUNT 8
#define UI_BACK_MAX   16

enum ui_overlay {
	OVERLAY_NONE,
	OVERLAY_HELP,
	OVERLAY_PALETTE,
	OVERLAY_EVENTS,
	OVERLAY_SEARCH,
	OVERLAY_FILTER,
	OVERLAY_ASK,
	OVERLAY_QUESTION,
	OVERLAY_BENCH, /* which bench file, or the form */
	OVERLAY_FORM,
};

/* What the button that is held down does. */
enum ui_drag_kind {
	DRAG_NONE,
	DRAG_CHART, /* takes a part of x */
	DRAG_LIST   /* takes the selection along */
};

struct ui_drag {
	enum ui_drag_kind kind;
	struct rect area; /* of the chart */
	int from, to;	  /* columns of the chart */
	int y;		  /* where it was last */
};

/* A line of the events: an alert that holds, or an event that is none. */
struct ui_happening {
	const struct alert *alert; /* while it is drawn; NULL: event is it */
	const struct model_event *event;
	const struct model_run *mr; /* NULL: of no run */
};

struct ui_question {
	size_t pod;
	char *text; /* owned */
	bool secret;
};

struct ui {
	struct ui_setup setup;
	struct ui_shared shared;
	struct keymap keymap;
	void *states[UI_VIEW_COUNT]; /* owned */
	size_t view;
	size_t before[UI_BACK_MAX], n_before;
	enum ui_overlay overlay;
	struct ui_drag drag;
	struct pick pick;
	struct prompt search, filter, answer;
	struct table events;
	struct ui_happening *happenings; /* owned; its rows, as drawn last */
	size_t n_happenings;
	struct form form;
	char *bench_pods;	/* owned; what OVERLAY_BENCH is for */
	struct command pending; /* what is asked for */
	char *question;		/* owned */
	int question_top;	/* its first line that is shown */
	struct ui_question questions[UI_MAX_QUESTIONS]; /* of pods */
	size_t n_questions;
	int tabs[UI_VIEW_COUNT][2];
	bool working;		   /* a view has more to do in the background */
	bool stale, asked, paused; /* asked: a key wants its frame at once */
	unsigned int wants;
	int64_t drawn_at_ms;
};

extern const struct view_ops *const ui_views[UI_VIEW_COUNT];

/* The lines around a view (frame.c).  Tabs: the column behind them. */
int frame_draw_tabs(struct ui *ui, struct canvas *canvas);
void frame_draw_state(struct ui *ui, struct canvas *canvas, int left);
void frame_draw_status(struct ui *ui, struct canvas *canvas, int y);
void frame_draw_hints(const struct ui *ui, struct canvas *canvas, int y);
/* Below 60x15: a line a run. */
void frame_draw_tiny(struct ui *ui, struct canvas *canvas);

const struct view_ops *ui_view(const struct ui *ui);
/* Show a view; q leaves the program there, Esc goes to the fleet. */
void ui_go_to(struct ui *ui, size_t view);
/* An action on what all views share (ui_shared.c); it always says something. */
void ui_shared_act(struct ui *ui, enum action action);
/* The key does nothing here; where a list just ends that is no news. */
void ui_say_no_use(struct ui *ui, enum action action);
/* Execute and release. */
void ui_execute(struct ui *ui, struct command *command);

#endif
