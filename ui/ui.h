/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "parsers/json.h"
#include "ui/view.h"

/*
 * The frame around the views: tabs, status, hints, overlays, and what a key
 * does.  It knows no terminal: keys go in, cells come out, so a test drives
 * it as the program does.
 */
struct ui;

struct ui_setup {
	const struct model *model;
	const struct track *track; /* NULL: no caps */
	struct alerts *alerts;
	const struct ui_baseline *baseline; /* NULL: none */
	const struct keymap *keymap;	    /* copied */
	/* The key of a run's group, owned by the caller; NULL: its folder. */
	char *(*group_of)(void *user, const struct model_run *mr);
	void *group_user;
	struct command_sink sink;
	enum chart_charset charset;
	bool read_only;
	bool log_colors; /* show those that a log asks for */
	bool remote;	 /* over SSH: at most 4 frames a second, else 30 */
};

/* What the frame asks of its owner; cleared by ui_take_wants. */
enum ui_want {
	UI_WANT_QUIT = 1 << 0,
	UI_WANT_SUSPEND = 1 << 1,
	UI_WANT_REPAINT = 1 << 2,
	UI_WANT_MOUSE = 1 << 3, /* on or off, the other of what it is */
	UI_WANT_THEME = 1 << 4, /* the next one */
	UI_WANT_RELOAD = 1 << 5,
	UI_WANT_TRACK = 1 << 6, /* the next one */
};

struct ui *ui_new(const struct ui_setup *setup);
void ui_free(struct ui *ui);
/* Take over another configuration: keys, baseline, groups, charset. */
void ui_configure(struct ui *ui, const struct ui_setup *setup);

/* Tell the time, before keys and frames. */
void ui_set_now(struct ui *ui, int64_t wall_ms, int64_t mono_ms);
void ui_key(struct ui *ui, const struct key *key);
void ui_action(struct ui *ui, enum action action);
unsigned int ui_take_wants(struct ui *ui);

/*
 * Put a pod's question to the user; the answer comes as COMMAND_ANSWER.
 * secret: what is typed is not shown.  At most UI_MAX_QUESTIONS wait.
 */
#define UI_MAX_QUESTIONS 64
void ui_ask(struct ui *ui, size_t pod, const char *question, bool secret);

/*
 * What was chosen by keys, for the next start: marks, reference, baseline, x
 * axis, and the order of each view's list.  ui_load_choices takes over what is known
 * of it; runs are marked as soon as the model has them.
 */
void ui_save_choices(const struct ui *ui, cJSON *out);
void ui_load_choices(struct ui *ui, const cJSON *chosen);

/* Note what changed in the model (enum model_part bits); UI_ALL: clocks and
 * ages too, as when a second went by. */
#define UI_ALL UINT_MAX
void ui_changed(struct ui *ui, unsigned int parts);
/*
 * Milliseconds until the next frame may be drawn: 0 now, -1 nothing is stale.
 */
int64_t ui_frame_in_ms(const struct ui *ui);
/* Draw all; the cursor's place is -1, -1 when there is none. */
void ui_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y);
/* Do a piece of background work; true: there is more. */
bool ui_work(struct ui *ui);
/* Whether there is more of it. */
bool ui_is_working(const struct ui *ui);

struct ui_shared *ui_shared(struct ui *ui);
