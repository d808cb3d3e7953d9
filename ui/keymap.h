/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * A key: a Unicode character (Ctrl-a .. as 1 ..), or one of these.  The names
 * are what a configuration and the help write.
 */
#define KEYCODE_LIST(X)                   \
	X(UP, "Up")                       \
	X(DOWN, "Down")                   \
	X(LEFT, "Left")                   \
	X(RIGHT, "Right")                 \
	X(HOME, "Home")                   \
	X(END, "End")                     \
	X(PAGE_UP, "PgUp")                \
	X(PAGE_DOWN, "PgDn")              \
	X(BACK_TAB, "S-Tab")              \
	X(BACKSPACE, "Backspace")         \
	X(DELETE, "Delete")               \
	X(INSERT, "Insert")               \
	X(F1, "F1")                       \
	X(F2, "F2")                       \
	X(F3, "F3")                       \
	X(F4, "F4")                       \
	X(F5, "F5")                       \
	X(F6, "F6")                       \
	X(F7, "F7")                       \
	X(F8, "F8")                       \
	X(F9, "F9")                       \
	X(F10, "F10")                     \
	X(F11, "F11")                     \
	X(F12, "F12")                     \
	X(RESIZE, "resize")               \
	X(PASTE_BEGIN, "paste-begin")     \
	X(PASTE_END, "paste-end")         \
	X(MOUSE_PRESS, "mouse-press")     \
	X(MOUSE_RELEASE, "mouse-release") \
	X(MOUSE_DRAG, "mouse-drag")       \
	X(WHEEL_UP, "wheel-up")           \
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
uint32_t key_by_name(const char *name, size_t len);

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

/*
 * Everything a key can do.  This one list makes the enum, the default keys,
 * the help, the palette, the man page's KEYS and the completion.
 *
 *	id, name, default keys (blanks between), where it works, what it does
 */
#define ACTION_LIST(X)                                                                           \
	X(HELP, "help", "? F1", IN_ALL, "search and run every action")                           \
	X(PALETTE, "palette", ":", IN_ALL, "type an action's name, or a run's")                  \
	X(EVENTS, "events", "!", IN_ALL, "alerts and events, newest first")                      \
	X(VIEW_FLEET, "fleet", "1", IN_ALL, "all runs, one chart, the caps")                     \
	X(VIEW_RUN, "run", "2", IN_ALL, "one run's metrics as charts")                           \
	X(VIEW_BOARD, "board", "3", IN_ALL, "leaderboard over seeds")                            \
	X(VIEW_COMPARE, "compare", "4", IN_ALL, "curves of the marked runs")                     \
	X(VIEW_LOGS, "logs", "5", IN_ALL, "the selected run's log")                              \
	X(VIEW_BENCH, "bench", "6", IN_ALL, "A/B throughput benches")                            \
	X(VIEW_PODS, "pods", "7", IN_ALL, "links, GPUs, disks, alerts")                          \
	X(VIEW_HARNESS, "harness", "8", IN_ALL, "HarnessGym runs")                               \
	X(NEXT_VIEW, "next-view", "Tab", IN_ALL, "the view to the right")                        \
	X(PREV_VIEW, "prev-view", "S-Tab", IN_ALL, "the view to the left")                       \
	X(BACK, "back", "Esc", IN_ALL, "one layer back")                                         \
	X(OPEN, "open", "Enter", IN_ALL, "open what is selected")                                \
	X(UP, "up", "k Up", IN_ALL, "move up")                                                   \
	X(DOWN, "down", "j Down", IN_ALL, "move down")                                           \
	X(LEFT, "left", "h Left", IN_ALL, "move left; the chart's cursor")                       \
	X(RIGHT, "right", "l Right", IN_ALL, "move right; the chart's cursor")                   \
	X(TOP, "top", "g Home", IN_ALL, "to the first line")                                     \
	X(BOTTOM, "bottom", "G End", IN_ALL, "to the last line")                                 \
	X(PAGE_UP, "page-up", "Ctrl-u PgUp", IN_ALL, "half a screen up")                         \
	X(PAGE_DOWN, "page-down", "Ctrl-d PgDn", IN_ALL, "half a screen down")                   \
	X(MARK, "mark", "Space", IN_RUNS, "mark the run for an overlay")                         \
	X(POD_MARK, "mark-pod", "Space", IN_PODS, "mark the pod for b and a")                    \
	X(REFERENCE, "reference", "R", IN_RUNS,                                                  \
	  "compare all others to this run and its seeds; again: to none")                        \
	X(ONLY_MARKED, "only-marked", "*", IN_RUNS,                                              \
	  "fleet and board of the marked runs alone; again: of all")                             \
	X(BASELINE, "baseline", "B", IN_RUNS,                                                    \
	  "type published scores to compare with: name=v1,v2,v3")                                \
	X(SORT, "sort", "s F6", IN_ALL, "sort the list by its next column")                      \
	X(SORT_REVERSE, "sort-reverse", "S", IN_ALL, "turn the order round")                     \
	X(DIFF, "diff", "d", IN_COMPARE, "settings and source that differ from the reference's") \
	X(NEXT_RUN, "next-run", "J", IN_ALL, "select the next run")                              \
	X(PREV_RUN, "prev-run", "K", IN_ALL, "select the run before")                            \
	X(METRIC_NEXT, "next-metric", "]", IN_CHARTS, "chart the next metric")                   \
	X(METRIC_PREV, "prev-metric", "[", IN_CHARTS, "chart the metric before")                 \
	X(X_AXIS, "x-axis", "X", IN_CHARTS, "x as train time, step, wall time or tokens")        \
	X(LOG_AXIS, "log-axis", "L", IN_CHARTS, "y as logarithm")                                \
	X(SMOOTH_LESS, "smooth-less", "m", IN_CHARTS, "smooth less")                             \
	X(SMOOTH_MORE, "smooth-more", "M", IN_CHARTS, "smooth more; the raw values stay behind") \
	X(ZOOM_IN, "zoom-in", "z +", IN_CHARTS, "zoom in around the cursor")                     \
	X(ZOOM_OUT, "zoom-out", "Z -", IN_CHARTS, "zoom out")                                    \
	X(ZOOM_RESET, "zoom-reset", "0", IN_CHARTS, "show all of x")                             \
	X(REPLAY, "replay", ".", IN_CHARTS, "other runs as far as this one has come, or whole")  \
	X(LARGE, "large", "v", IN_CHARTS, "one large chart, or several")                         \
	X(HOLD_Y, "hold-y", "H", IN_CHARTS, "y by all of x, or by the part that is shown")       \
	X(CHARSET, "charset", "C", IN_ALL, "charts: braille, block, ASCII, pixels")              \
	X(SEARCH, "search", "/", IN_ALL, "show the rows of a list that match; in a log search")  \
	X(FILTER, "filter", "&", IN_TEXT,                                                        \
	  "show lines that match a & b .. only; ! before it: the others")                        \
	X(SEARCH_NEXT, "search-next", "n", IN_TEXT, "next hit")                                  \
	X(SEARCH_PREV, "search-prev", "N", IN_TEXT, "hit before")                                \
	X(ERROR_NEXT, "error-next", "e", IN_LOGS, "next error line")                             \
	X(ERROR_PREV, "error-prev", "E", IN_LOGS, "error line before")                           \
	X(BOOKMARK, "bookmark", "Space", IN_LOGS, "mark the line, or not any more")              \
	X(BOOKMARK_NEXT, "next-bookmark", "'", IN_LOGS, "to the next line that is marked")       \
	X(FOLLOW, "follow", "f F", IN_LOGS, "stay at the end")                                   \
	X(LEARN, "learn", "i", IN_LOGS, "write rules for rows like this line; asks first")       \
	X(MERGE, "merge", "A", IN_LOGS, "all logs merged, or the selected")                      \
	X(FOLD, "fold", "o", IN_LOGS, "fold or show printed source code")                        \
	X(WRAP, "wrap", "w", IN_LOGS, "wrap long lines, or scroll sideways")                     \
	X(COPY, "copy", "y", IN_ALL, "copy the selected line (OSC 52)")                          \
	X(EXPORT, "export", "x", IN_ALL, "write the table, chart, curves or text to a file")     \
	X(ACKNOWLEDGE, "acknowledge", "a", IN_EVENTS, "acknowledge all alerts")                  \
	X(MUTE, "mute", "u", IN_ALL, "mute or unmute bell and notices")                          \
	X(RECONNECT, "reconnect", "r", IN_PODS, "try the pod's link now")                        \
	X(CHECK, "check", "c", IN_PODS, "is the pod fit for a run? reads only")                  \
	X(SHELL, "shell", "$", IN_PODS, "a shell on the pod; asks first")                        \
	X(POD_STOP, "stop-pod", "B", IN_PODS, "run the pod's stop_cmd; asks first")              \
	X(BENCH_START, "bench-start", "b", IN_BENCH | IN_PODS,                                   \
	  "start an A/B bench: the selected, another, a form; asks first")                       \
	X(AUDIT, "audit", "a", IN_AUDIT | IN_PODS,                                               \
	  "the same code twice: how much the pod differs; asks first")                           \
	X(BENCH_STOP, "bench-stop", "B", IN_BENCH, "abort the selected bench; asks first")       \
	X(PAUSE, "pause", "P", IN_ALL, "hold the screen still")                                  \
	X(MOUSE, "mouse", "F9", IN_ALL, "mouse on or off")                                       \
	X(THEME, "theme", "T", IN_ALL, "the next theme of colours")                              \
	X(TRACK, "track", "t", IN_ALL, "the next track: caps and records")                       \
	X(RELOAD, "reload", "Ctrl-r", IN_ALL, "read the configuration again")                    \
	X(REPAINT, "repaint", "Ctrl-l", IN_ALL, "draw the screen anew")                          \
	X(SUSPEND, "suspend", "Ctrl-z", IN_ALL, "to the shell; fg returns")                      \
	X(QUIT, "quit", "q", IN_ALL, "one layer back; leave at the last")                        \
	X(QUIT_NOW, "quit-now", "Q F10 Ctrl-c", IN_ALL, "leave the program")

/* Where an action works. */
enum action_place {
	IN_ALL = 0,
	IN_RUNS = 1 << 0, /* lists of runs */
	IN_CHARTS = 1 << 1,
	IN_TEXT = 1 << 2, /* what can be searched */
	IN_LOGS = 1 << 3,
	IN_PODS = 1 << 4,
	IN_BENCH = 1 << 5,
	IN_AUDIT = 1 << 6,  /* benches that an audit can be made of */
	IN_EVENTS = 1 << 7, /* the list of alerts and events */
	IN_COMPARE = 1 << 8,
};

enum action {
	ACTION_NONE,
#define X(id, name, keys, place, help) ACTION_##id,
	ACTION_LIST(X)
#undef X
		ACTION_COUNT
};

struct action_info {
	const char *name;    /* "next-view" */
	const char *keys;    /* "Tab", the default */
	unsigned int places; /* enum action_place bits; IN_ALL: everywhere */
	const char *help;
};

/* The row of an action (not ACTION_NONE); static. */
const struct action_info *action_info(enum action action);

/* Whether it acts on a pod: --read-only hides it. */
bool action_is_acting(enum action action);

/* The action of that name, or ACTION_NONE. */
enum action action_by_name(struct str name);

/* Which key does what: the defaults of the list, changed by the user. */
#define KEYMAP_KEYS 4 /* of one action */

struct keymap {
	uint32_t keys[ACTION_COUNT][KEYMAP_KEYS]; /* 0: none */
};

/* The default keys. */
void keymap_init(struct keymap *keymap);
/*
 * Give an action these keys (names with blanks between; "" for none) and take
 * them from the others of the same places.  -1 with err for an unknown name.
 */
int keymap_bind(struct keymap *keymap, const char *action, const char *keys, struct err *err)
	__attribute__((warn_unused_result));
/*
 * The action of a key where these places are; an action of a place wins over
 * one of everywhere.  ACTION_NONE when no action has it.
 */
enum action keymap_find(const struct keymap *keymap, uint32_t code, unsigned int places);
/* The name of an action's first key; "" when it has none. */
void keymap_key_name(const struct keymap *keymap, enum action action, char out[KEY_NAME_SIZE]);
/* All of its keys, with blanks between. */
void keymap_key_names(const struct keymap *keymap, enum action action, struct buf *out);
