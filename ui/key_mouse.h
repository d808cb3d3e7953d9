/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_KEY_MOUSE_H
#define HGYM_UI_KEY_MOUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/key.h"

/*
 * What a terminal says of its mouse: "ESC [ < button ; x ; y M" (m at a
 * release; mode 1006), and the older "ESC [ M" with three bytes (mode 1000).
 * Source: xterm's ctlseqs, "Mouse Tracking".  curses reads it too, but what
 * comes in one piece, as over a slow link, it makes one event of.
 */
struct key_mouse {
	bool sgr, old; /* which of the two is under way */
	unsigned int n_bytes;
	unsigned int number[3], n_numbers;
};

#define KEY_MOUSE_MODES_ON  "\033[?1000h\033[?1002h\033[?1006h"
#define KEY_MOUSE_MODES_OFF "\033[?1006l\033[?1002l\033[?1000l"

/* A sequence begins; its first bytes ("ESC [ <" or "ESC [ M") were read. */
void key_mouse_begin(struct key_mouse *mouse, bool sgr);
/* Whether the next character belongs to a sequence. */
bool key_mouse_is_open(const struct key_mouse *mouse);
/*
 * Take the next character.  True when it was the last and an event came of
 * it: *key has it, x and y from 0.
 */
bool key_mouse_feed(struct key_mouse *mouse, uint32_t ch, struct key *key);

#endif
