/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_KEY_H
#define HGYM_UI_KEY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A key: a Unicode character (Ctrl-a .. as 1 ..), or one of these.  The names
 * are what a configuration and the help write.
 */
#define KEYCODE_LIST(X)                                                        \
	X(UP, "Up")                                                            \
	X(DOWN, "Down")                                                        \
	X(LEFT, "Left")                                                        \
	X(RIGHT, "Right")                                                      \
	X(HOME, "Home")                                                        \
	X(END, "End")                                                          \
	X(PAGE_UP, "PgUp")                                                     \
	X(PAGE_DOWN, "PgDn")                                                   \
	X(BACK_TAB, "S-Tab")                                                   \
	X(BACKSPACE, "Backspace")                                              \
	X(DELETE, "Delete")                                                    \
	X(INSERT, "Insert")                                                    \
	X(F1, "F1")                                                            \
	X(F2, "F2")                                                            \
	X(F3, "F3")                                                            \
	X(F4, "F4")                                                            \
	X(F5, "F5")                                                            \
	X(F6, "F6")                                                            \
	X(F7, "F7")                                                            \
	X(F8, "F8")                                                            \
	X(F9, "F9")                                                            \
	X(F10, "F10")                                                          \
	X(F11, "F11")                                                          \
	X(F12, "F12")                                                          \
	X(RESIZE, "resize")                                                    \
	X(PASTE_BEGIN, "paste-begin")                                          \
	X(PASTE_END, "paste-end")                                              \
	X(MOUSE_PRESS, "mouse-press")                                          \
	X(MOUSE_RELEASE, "mouse-release")                                      \
	X(MOUSE_DRAG, "mouse-drag")                                            \
	X(WHEEL_UP, "wheel-up")                                                \
	X(WHEEL_DOWN, "wheel-down")

enum keycode {
	KEYCODE_BASE = 0x110000,
#define X(id, name) KEYCODE_##id,
	KEYCODE_LIST(X)
#undef X
		KEYCODE_END_OF_LIST
};

struct key {
	uint32_t code; /* a character or enum keycode */
	int x, y;      /* of the mouse */
};

/* The key of a name ("j", "Ctrl-d", "PgUp", "Space"), 0 when there is none. */
uint32_t key_by_name(const char *name, uint64_t len);

#define KEY_NAME_SIZE 24
/* The name of a key into out. */
void keycode_name(uint32_t code, char out[KEY_NAME_SIZE]);

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
