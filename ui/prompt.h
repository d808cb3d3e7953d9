/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/keymap.h"
#include "ui/canvas.h"

/* A line that the user types, with a history for each kind of prompt. */
#define PROMPT_BYTES   512
#define PROMPT_HISTORY 50

struct prompt {
	char text[PROMPT_BYTES + 1];   /* UTF-8, NUL-ended */
	size_t len, cursor;	       /* in bytes */
	char *history[PROMPT_HISTORY]; /* owned; newest last */
	size_t n_history, at;	       /* at == n_history: the line itself */
	char typed[PROMPT_BYTES + 1];  /* the line while history is shown */
};

enum prompt_result { PROMPT_MORE, PROMPT_CHANGED, PROMPT_DONE, PROMPT_CANCEL };

/* Zeroed is ready; release frees the history. */
void prompt_release(struct prompt *prompt);
void prompt_set(struct prompt *prompt, const char *text);
/* Use a key; PROMPT_DONE also notes the line in the history. */
enum prompt_result prompt_key(struct prompt *prompt, uint32_t code);
/* Draw "label text" into a line; returns the cursor's column. */
int prompt_draw(const struct prompt *prompt, struct canvas *canvas, struct rect rect,
		const char *label);
