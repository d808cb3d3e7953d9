/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/keymap.h"

/* Decoder for the mouse reports of a terminal: "ESC [ < button ; x ; y M" (m for a release; mode
 * 1006) and the older "ESC [ M" with three bytes (mode 1000).  Source: xterm's ctlseqs, "Mouse
 * Tracking".  The decoder of curses merges reports that arrive together, as over a slow link. */
struct key_mouse {
	bool sgr, old; /* which of the two forms is being read */
	unsigned int n_bytes;
	unsigned int number[3], n_numbers;
};

#define KEY_MOUSE_MODES_ON  "\033[?1000h\033[?1002h\033[?1006h"
#define KEY_MOUSE_MODES_OFF "\033[?1006l\033[?1002l\033[?1000l"

/* Start a report whose first bytes ("ESC [ <" or "ESC [ M") were read. */
void key_mouse_begin(struct key_mouse *mouse, bool sgr);
/* Whether the next character belongs to a report. */
bool key_mouse_is_open(const struct key_mouse *mouse);
/* Take the next character; true if it completes an event, which *key gets with x and y from 0. */
bool key_mouse_feed(struct key_mouse *mouse, uint32_t ch, struct key *key);
