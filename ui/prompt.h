/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/keymap.h"
#include "ui/canvas.h"

/* An editable line with a history of entered lines. */
#define PROMPT_BYTES   512
#define PROMPT_HISTORY 50

struct prompt {
	char text[PROMPT_BYTES + 1];   /* UTF-8, NUL-terminated */
	size_t len, cursor;	       /* in bytes */
	char *history[PROMPT_HISTORY]; /* owned; newest last */
	size_t n_history, at;	       /* at: entry that is shown; n_history: the new line */
	char typed[PROMPT_BYTES + 1];  /* the new line while an entry is shown */
};

enum prompt_result { PROMPT_MORE, PROMPT_CHANGED, PROMPT_DONE, PROMPT_CANCEL };

/* A zeroed prompt is ready to use. */
void prompt_release(struct prompt *prompt);
void prompt_set(struct prompt *prompt, const char *text);
/* Handle a key. Enter adds the line to the history and returns PROMPT_DONE. */
enum prompt_result prompt_key(struct prompt *prompt, uint32_t code);
/* Draw label and text into one line; returns the cursor's column. */
int prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct rect rect,
		const char *label);
