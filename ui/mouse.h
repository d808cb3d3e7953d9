/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/keymap.h"

/* Decode mouse reports of a terminal: "ESC [ < button ; x ; y M" (m for a release; mode 1006), and
 * the older "ESC [ M" followed by three bytes (mode 1000). Source: xterm's ctlseqs, "Mouse
 * Tracking". Curses' own decoder merges reports that arrive together over a slow link. */
struct key_mouse {
	bool sgr, old; /* the form that is being read (mode 1006, 1000); both false: none */
	unsigned int n_bytes;
	unsigned int number[3], n_numbers;
};

#define KEY_MOUSE_MODES_ON  "\033[?1000h\033[?1002h\033[?1006h"
#define KEY_MOUSE_MODES_OFF "\033[?1006l\033[?1002l\033[?1000l"

/* Start a report after its first bytes: "ESC [ <" (sgr) or "ESC [ M". */
void key_mouse_begin(struct key_mouse *mouse, bool sgr);
/* Does the next character belong to a report? */
bool key_mouse_is_open(const struct key_mouse *mouse);
/* Take the next character. True if it completes an event in *key; x and y start at 0. */
bool key_mouse_feed(struct key_mouse *mouse, uint32_t ch, struct key *key);
