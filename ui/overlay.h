/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_OVERLAY_H
#define HGYM_UI_OVERLAY_H

#include "ui/ui_impl.h"

/* What lies over a view: help, palette, events, search, and questions. */

/* Open the overlay of that action; false when it has none. */
bool overlay_open(struct ui *ui, enum action action);
/* Ask before a command (taken over) is executed. */
void overlay_ask(struct ui *ui, struct command *command);
/* Show a pod's question when nothing else is open. */
void overlay_next_question(struct ui *ui);
void overlay_key(struct ui *ui, const struct key *key);
void overlay_draw(struct ui *ui, struct canvas *canvas, int *cursor_x,
		  int *cursor_y);
void overlay_release(struct ui *ui);

/* A framed place in the middle, cleared; what is inside of the frame. */
struct rect overlay_box(struct canvas *canvas, int width, int height,
			const char *title);
/* What a key that moves does in a list, where letters are text. */
enum action overlay_list_action(uint32_t code);

/* overlay_events.c: the alerts that hold and what happened. */
void overlay_events_key(struct ui *ui, const struct key *key);
void overlay_events_draw(struct ui *ui, struct canvas *canvas);

/* overlay_bench.c: pick a bench file or fill the form, for those pods. */
void overlay_bench_open(struct ui *ui, const char *pods);
/* The picked line of it. */
void overlay_bench_picked(struct ui *ui, int id);
void overlay_form_key(struct ui *ui, const struct key *key);

#endif
