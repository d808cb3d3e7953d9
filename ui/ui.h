/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "parsers/json.h"
#include "ui/view.h"

/* The frame around the views: tabs, status, footer, dialogs, and the actions that keys run.  It
 * takes keys and draws cells without a terminal, so tests drive it as the program does. */
struct ui;

struct ui_setup {
	const struct model *model;
	const struct track *track;	/* NULL: no caps */
	const struct track_set *tracks; /* to choose from; NULL: none */
	struct alerts *alerts;
	const struct ui_baseline *baseline; /* NULL: none */
	const char *conf_path;		    /* of the configuration; borrowed */
	const struct keymap *keymap;	    /* copied */
	/* Key of a run's group, owned by the caller; NULL: the folder of its log. */
	char *(*group_of)(void *user, const struct model_run *mr);
	void *group_user;
	struct command_sink sink;
	enum chart_charset charset;
	bool read_only;
	bool log_colors; /* show the colors that a log asks for */
	bool remote;	 /* over SSH: at most 4 frames per second, else 30 */
};

/* Requests to the owner of the frame; cleared by ui_take_wants. */
enum ui_want {
	UI_WANT_QUIT = 1 << 0,
	UI_WANT_SUSPEND = 1 << 1,
	UI_WANT_REPAINT = 1 << 2,
	UI_WANT_MOUSE = 1 << 3, /* switch it on or off */
	UI_WANT_THEME = 1 << 4, /* use the next one */
	UI_WANT_RELOAD = 1 << 5,
	UI_WANT_TRACK = 1 << 6, /* use shared->track_choice */
};

struct ui *ui_new(const struct ui_setup *setup);
void ui_free(struct ui *ui);
/* Apply a changed configuration: keys, baseline, groups, charset. */
void ui_configure(struct ui *ui, const struct ui_setup *setup);

/* Set the time; call it before keys and frames. */
void ui_set_now(struct ui *ui, int64_t wall_ms, int64_t mono_ms);
void ui_key(struct ui *ui, const struct key *key);
void ui_action(struct ui *ui, enum action action);
unsigned int ui_take_wants(struct ui *ui);

#define UI_MAX_QUESTIONS 64
/* Ask the user a question of a pod; the answer comes as COMMAND_ANSWER.  A secret answer is not
 * shown.  Questions are asked one after the other; more than UI_MAX_QUESTIONS are dropped. */
void ui_ask(struct ui *ui, size_t pod, const char *question, bool secret);

/* Save and restore the user's choices: marks, reference, baseline, x axis, and the order of each
 * view's list.  Runs are marked as soon as the model has them. */
void ui_save_choices(const struct ui *ui, cJSON *out);
void ui_load_choices(struct ui *ui, const cJSON *chosen);

#define UI_ALL UINT_MAX /* also clocks and ages, as after a second */
/* Report what changed in the model (enum model_part bits). */
void ui_changed(struct ui *ui, unsigned int parts);
/* Milliseconds until the next frame is due: 0: now, -1: nothing changed. */
int64_t ui_frame_in_ms(const struct ui *ui);
/* Draw a frame; the cursor is at -1, -1 when there is none. */
void ui_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y);
/* Do a piece of background work; true if more is left. */
bool ui_work(struct ui *ui);

struct ui_shared *ui_shared(struct ui *ui);
