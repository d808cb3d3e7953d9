/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_UI_PRIV_H
#define HGYM_UI_UI_PRIV_H

#include "ui/form.h"
#include "ui/ui.h"

/* What ui.c and overlay.c share; nobody else includes it. */
#define UI_VIEW_COUNT 8

enum ui_overlay {
	OVERLAY_NONE,
	OVERLAY_HELP,
	OVERLAY_PALETTE,
	OVERLAY_EVENTS,
	OVERLAY_SEARCH,
	OVERLAY_FILTER,
	OVERLAY_ASK,	  /* before something acts on a pod */
	OVERLAY_QUESTION, /* of a pod */
	OVERLAY_BENCH,	  /* which bench file, or the form */
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
struct ui_event {
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
	size_t view, before;	     /* q and Esc go back to before */
	bool has_before;
	enum ui_overlay overlay;
	struct ui_drag drag;
	struct list list; /* of choices or events */
	int *choices;	  /* owned; ids of what the palette has */
	size_t n_choices, cap_choices;
	struct ui_event *events; /* owned; as drawn last */
	struct prompt choice, search, filter, answer;
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

/* overlay.c: what lies over a view. */
/* Open the overlay of that action; false when it has none. */
bool overlay_open(struct ui *ui, enum action action);
/* Pick a bench file or fill the form, for those pods. */
void overlay_open_bench(struct ui *ui, const char *pods);
/* Ask before a command (taken over) is executed. */
void overlay_ask(struct ui *ui, struct command *command);
/* Show a pod's question when nothing else is open. */
void overlay_next_question(struct ui *ui);
void overlay_key(struct ui *ui, const struct key *key);
void overlay_draw(struct ui *ui, struct canvas *canvas, int *cursor_x,
		  int *cursor_y);
void overlay_release(struct ui *ui);

const struct view_ops *ui_view(const struct ui *ui);
/* The list that has the keys, up to date; NULL: none. */
struct list *ui_list(struct ui *ui);
/* Its selection moved. */
void ui_list_moved(struct ui *ui);
/* Show a view; q leaves the program there, Esc goes to the fleet. */
void ui_go_to(struct ui *ui, size_t view);
/* Execute and release. */
void ui_execute(struct ui *ui, struct command *command);

#endif
