/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* Keys, the actions of the dashboard, and which key runs which action. The configuration uses these
 * lists of names too, so nothing here depends on the screen. */

/* Keys that are not a character, with their names in the configuration and in the help. */
#define KEYCODE_LIST(X)                           \
	X(KEYCODE_UP, "Up")                       \
	X(KEYCODE_DOWN, "Down")                   \
	X(KEYCODE_LEFT, "Left")                   \
	X(KEYCODE_RIGHT, "Right")                 \
	X(KEYCODE_HOME, "Home")                   \
	X(KEYCODE_END, "End")                     \
	X(KEYCODE_PAGE_UP, "PgUp")                \
	X(KEYCODE_PAGE_DOWN, "PgDn")              \
	X(KEYCODE_BACK_TAB, "S-Tab")              \
	X(KEYCODE_BACKSPACE, "Backspace")         \
	X(KEYCODE_DELETE, "Delete")               \
	X(KEYCODE_INSERT, "Insert")               \
	X(KEYCODE_F1, "F1")                       \
	X(KEYCODE_F2, "F2")                       \
	X(KEYCODE_F3, "F3")                       \
	X(KEYCODE_F4, "F4")                       \
	X(KEYCODE_F5, "F5")                       \
	X(KEYCODE_F6, "F6")                       \
	X(KEYCODE_F7, "F7")                       \
	X(KEYCODE_F8, "F8")                       \
	X(KEYCODE_F9, "F9")                       \
	X(KEYCODE_F10, "F10")                     \
	X(KEYCODE_F11, "F11")                     \
	X(KEYCODE_F12, "F12")                     \
	X(KEYCODE_RESIZE, "resize")               \
	X(KEYCODE_PASTE_BEGIN, "paste-begin")     \
	X(KEYCODE_PASTE_END, "paste-end")         \
	X(KEYCODE_MOUSE_PRESS, "mouse-press")     \
	X(KEYCODE_MOUSE_RELEASE, "mouse-release") \
	X(KEYCODE_MOUSE_DRAG, "mouse-drag")       \
	X(KEYCODE_WHEEL_UP, "wheel-up")           \
	X(KEYCODE_WHEEL_DOWN, "wheel-down")

enum keycode { KEYCODE_BASE = 0x110000, KEYCODE_LIST(LIST_ID) KEYCODE_END_OF_LIST };

struct key {
	uint32_t code; /* a Unicode character (Ctrl-a is 1 and so on) or enum keycode */
	int x, y;      /* position of the mouse */
};

/* Code of a key's name ("j", "Ctrl-d", "PgUp", "Space"); 0 for an unknown name. */
uint32_t key_by_name(const char *name, size_t len);

#define KEY_NAME_SIZE 24
void keycode_name(uint32_t code, char out[KEY_NAME_SIZE]);

/* Where an action works. */
enum action_place {
	IN_ALL = 0,
	IN_RUNS = 1 << 0, /* lists of runs */
	IN_CHARTS = 1 << 1,
	IN_TEXT = 1 << 2, /* views with text to search */
	IN_LOGS = 1 << 3,
	IN_PODS = 1 << 4,
	IN_BENCH = 1 << 5,
	IN_AUDIT = 1 << 6,  /* benches whose control can be audited */
	IN_EVENTS = 1 << 7, /* the list of alerts and events */
	IN_COMPARE = 1 << 8,
};

enum action {
	ACTION_NONE,
#define X(id, ...) ACTION_##id,
#include "base/actions.def"
#undef X
	ACTION_COUNT
};

struct action_info {
	const char *name;    /* in the configuration: "next-view" */
	const char *label;   /* on the screen: "next view" */
	const char *keys;    /* default: "Tab" */
	unsigned int places; /* enum action_place bits; IN_ALL: everywhere */
	const char *help;
};

/* The row of the action in a static table; all zero for ACTION_NONE. */
const struct action_info *action_info(enum action action);

/* Does the action change something on a pod? --read-only hides these actions. */
bool action_is_acting(enum action action);

/* ACTION_NONE for an unknown name. */
enum action action_by_name(struct str name);

#define KEYMAP_KEYS 4 /* of one action */

/* Which key runs which action: the defaults, changed by the configuration. */
struct keymap {
	uint32_t keys[ACTION_COUNT][KEYMAP_KEYS]; /* 0: none */
};

/* Set the default keys. */
void keymap_init(struct keymap *keymap);
/* Give these keys (names separated by blanks; "" for none) to an action and take them from the
 * other actions in the same places.  -1 with err for an unknown name. */
int keymap_bind(struct keymap *keymap, const char *action, const char *keys,
		struct err *err) MUST_USE;
/* Action of a key in these places (enum action_place bits).  An action of one of the places takes
 * precedence over one that works everywhere; ACTION_NONE if there is neither. */
enum action keymap_find(const struct keymap *keymap, uint32_t code, unsigned int places);
/* Name of an action's first key; "" if it has none. */
void keymap_key_name(const struct keymap *keymap, enum action action, char out[KEY_NAME_SIZE]);
/* Append the names of all keys of an action, separated by blanks. */
void keymap_key_names(const struct keymap *keymap, enum action action, struct buf *out);
