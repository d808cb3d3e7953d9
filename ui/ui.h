/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "parsers/json.h"
#include "ui/view.h"

/* The frame around the views: tabs, status, footer, dialogs, and the actions of keys. It takes keys
 * and draws cells without a terminal, so that tests can run it like the program. */
struct ui;

struct ui_setup {
	const struct model *model;
	const struct track *track;	/* NULL: no caps */
	const struct track_set *tracks; /* the user can choose from these; NULL: none */
	struct alerts *alerts;
	const struct ui_baseline *baseline; /* NULL: none */
	const char *conf_path;		    /* path of the configuration; borrowed */
	const struct keymap *keymap;	    /* copied */
	/* Returns the key of a run's group, which the caller frees; NULL: the log's folder. */
	char *(*group_of)(void *user, const struct model_run *mr);
	void *group_user;
	struct command_sink sink;
	enum chart_charset charset;
	bool read_only;
	bool log_colors; /* show the colors that a log asks for */
	bool remote;	 /* the terminal is reached over SSH: draw 4 frames per second, not 30 */
};

/* Requests of the frame to its owner, as bits; see ui_take_wants. */
enum ui_want {
	UI_WANT_QUIT = 1 << 0,
	UI_WANT_SUSPEND = 1 << 1,
	UI_WANT_REPAINT = 1 << 2,
	UI_WANT_MOUSE = 1 << 3, /* switch the mouse on or off */
	UI_WANT_THEME = 1 << 4, /* use the next theme */
	UI_WANT_RELOAD = 1 << 5,
	UI_WANT_TRACK = 1 << 6, /* use shared->track_choice */
};

struct ui *ui_new(const struct ui_setup *setup);
void ui_free(struct ui *ui);
/* Use the keys, baseline, groups and charset of a changed configuration. */
void ui_configure(struct ui *ui, const struct ui_setup *setup);

/* Set the time; call it before keys and frames. */
void ui_set_now(struct ui *ui, int64_t wall_ms, int64_t mono_ms);
void ui_key(struct ui *ui, const struct key *key);
void ui_action(struct ui *ui, enum action action);
/* Return the requests (enum ui_want bits) since the last call. */
unsigned int ui_take_wants(struct ui *ui);

#define UI_MAX_QUESTIONS 64
/* Ask the user a question about a pod; the answer arrives as COMMAND_ANSWER and, if it is secret,
 * is not shown. Later questions wait; beyond UI_MAX_QUESTIONS they are dropped. */
void ui_ask(struct ui *ui, size_t pod, const char *question, bool secret);

/* Save and restore the user's choices: marks, reference, baseline, x axis, and the order of each
 * view's list. The model may not have all runs yet: each is marked as soon as it appears. */
void ui_save_choices(const struct ui *ui, cJSON *out);
void ui_load_choices(struct ui *ui, const cJSON *chosen);

#define UI_ALL UINT_MAX /* everything, including the clocks and ages on the screen */
/* Report which parts of the model changed (enum model_part bits). */
void ui_changed(struct ui *ui, unsigned int parts);
/* Return the milliseconds until the next frame is due: 0 is now; -1 if nothing changed. */
int64_t ui_frame_in_ms(const struct ui *ui);
/* Draw a frame. Without a cursor, its position is -1, -1. */
void ui_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y);
/* Do some background work, such as a search; true if more is left. */
bool ui_work(struct ui *ui);

struct ui_shared *ui_shared(struct ui *ui);
