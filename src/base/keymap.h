/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Keys, the actions of the dashboard, and which key runs which action.  The lists of names are
 * used by the configuration too, so they know nothing of the screen.
 */

/* Keys that are not a character, with their names in the configuration and in the help. */
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
	uint32_t code; /* a Unicode character (Ctrl-a is 1 and so on) or enum keycode */
	int x, y;      /* of the mouse */
};

/* Code of a key's name ("j", "Ctrl-d", "PgUp", "Space"); 0 for an unknown name. */
uint32_t key_by_name(const char *name, size_t len);

#define KEY_NAME_SIZE 24
void keycode_name(uint32_t code, char out[KEY_NAME_SIZE]);

/*
 * Every action that a key can run.  From this list come the enum, the default keys, the hints of
 * the footer, the help, and the key list of the manual.
 *
 *	id, name in the configuration, label, default keys (separated by blanks), places, help
 */
#define ACTION_LIST(X)                                                                            \
	X(HELP, "help", "help", "? F1", IN_ALL, "find and run any action")                        \
	X(PALETTE, "palette", "go to", ":", IN_ALL, "go to an action or a run by its name")       \
	X(EVENTS, "events", "events", "!", IN_ALL, "alerts and events, newest first")             \
	X(VIEW_FLEET, "fleet", "fleet", "1", IN_ALL, "all runs with a chart and the caps")        \
	X(VIEW_RUN, "run", "run", "2", IN_ALL, "charts of one run")                               \
	X(VIEW_BOARD, "board", "board", "3", IN_ALL, "leaderboard of groups of seeds")            \
	X(VIEW_COMPARE, "compare", "compare", "4", IN_ALL, "curves of the marked runs")           \
	X(VIEW_LOGS, "logs", "logs", "5", IN_ALL, "log of the selected run")                      \
	X(VIEW_BENCH, "bench", "bench", "6", IN_ALL, "A/B benches")                               \
	X(VIEW_PODS, "pods", "pods", "7", IN_ALL, "connections, GPUs and disks of the pods")      \
	X(VIEW_HARNESS, "harness", "harness", "8", IN_ALL, "HarnessGym runs")                     \
	X(NEXT_VIEW, "next-view", "next view", "Tab", IN_ALL, "go to the view to the right")      \
	X(PREV_VIEW, "prev-view", "previous view", "S-Tab", IN_ALL, "go to the view to the left") \
	X(BACK, "back", "back", "Esc", IN_ALL, "return from a filter or a view")                  \
	X(OPEN, "open", "open", "Enter", IN_ALL, "open the selected item")                        \
	X(UP, "up", "up", "k Up", IN_ALL, "move up")                                              \
	X(DOWN, "down", "down", "j Down", IN_ALL, "move down")                                    \
	X(LEFT, "left", "left", "h Left", IN_ALL, "move left, or move the cursor of the chart")   \
	X(RIGHT, "right", "right", "l Right", IN_ALL,                                             \
	  "move right, or move the cursor of the chart")                                          \
	X(TOP, "top", "top", "g Home", IN_ALL, "go to the first line")                            \
	X(BOTTOM, "bottom", "bottom", "G End", IN_ALL, "go to the last line")                     \
	X(PAGE_UP, "page-up", "page up", "Ctrl-u PgUp", IN_ALL, "move up by half a screen")       \
	X(PAGE_DOWN, "page-down", "page down", "Ctrl-d PgDn", IN_ALL,                             \
	  "move down by half a screen")                                                           \
	X(MARK, "mark", "mark", "Space", IN_RUNS, "mark the run for Compare (toggle)")            \
	X(POD_MARK, "mark-pod", "mark", "Space", IN_PODS,                                         \
	  "mark the pod for a bench or audit (toggle)")                                           \
	X(REFERENCE, "reference", "reference", "R", IN_RUNS,                                      \
	  "compare every run with this one (press again to clear)")                               \
	X(ONLY_MARKED, "only-marked", "marked only", "*", IN_RUNS,                                \
	  "Fleet and Board: only marked runs (toggle)")                                           \
	X(BASELINE, "baseline", "baseline", "B", IN_RUNS,                                         \
	  "compare with published scores: name=v1,v2,v3")                                         \
	X(SORT, "sort", "sort", "s F6", IN_ALL, "sort the list by its next column")               \
	X(SORT_REVERSE, "sort-reverse", "reverse order", "S", IN_ALL,                             \
	  "reverse the order of the list")                                                        \
	X(DIFF, "diff", "diff", "d", IN_COMPARE, "diff settings and source with the reference")   \
	X(NEXT_RUN, "next-run", "next run", "J", IN_ALL, "select the next run")                   \
	X(PREV_RUN, "prev-run", "previous run", "K", IN_ALL, "select the previous run")           \
	X(METRIC_NEXT, "next-metric", "next metric", "]", IN_CHARTS, "chart the next metric")     \
	X(METRIC_PREV, "prev-metric", "previous metric", "[", IN_CHARTS,                          \
	  "chart the previous metric")                                                            \
	X(X_AXIS, "x-axis", "x axis", "X", IN_CHARTS,                                             \
	  "x axis: train time, step, wall time, tokens")                                          \
	X(LOG_AXIS, "log-axis", "log axis", "L", IN_CHARTS, "logarithmic y axis (toggle)")        \
	X(SMOOTH_LESS, "smooth-less", "smooth less", "m", IN_CHARTS, "smooth less")               \
	X(SMOOTH_MORE, "smooth-more", "smooth", "M", IN_CHARTS,                                   \
	  "smooth more; raw values stay visible")                                                 \
	X(ZOOM_IN, "zoom-in", "zoom in", "z +", IN_CHARTS, "zoom in around the cursor")           \
	X(ZOOM_OUT, "zoom-out", "zoom out", "Z -", IN_CHARTS, "zoom out")                         \
	X(ZOOM_RESET, "zoom-reset", "reset zoom", "0", IN_CHARTS, "show the whole x axis")        \
	X(REPLAY, "replay", "replay", ".", IN_CHARTS,                                             \
	  "cut the other curves at this run's current step (toggle)")                             \
	X(LARGE, "large", "large", "v", IN_CHARTS, "one large chart, or several (toggle)")        \
	X(HOLD_Y, "hold-y", "y scale", "H", IN_CHARTS,                                            \
	  "y axis: scale to all data, or to the visible part (toggle)")                           \
	X(CHARSET, "charset", "chart style", "C", IN_ALL,                                         \
	  "charts in braille, blocks, ASCII or pixels")                                           \
	X(SEARCH, "search", "search", "/", IN_ALL, "filter a list; search a log")                 \
	X(FILTER, "filter", "filter", "&", IN_TEXT,                                               \
	  "show only lines that match: a & b, !a for lines without a")                            \
	X(SEARCH_NEXT, "search-next", "next match", "n", IN_TEXT, "go to the next match")         \
	X(SEARCH_PREV, "search-prev", "previous match", "N", IN_TEXT, "go to the previous match") \
	X(ERROR_NEXT, "error-next", "next error", "e", IN_LOGS, "go to the next error line")      \
	X(ERROR_PREV, "error-prev", "previous error", "E", IN_LOGS,                               \
	  "go to the previous error line")                                                        \
	X(BOOKMARK, "bookmark", "bookmark", "Space", IN_LOGS,                                     \
	  "set or remove a bookmark on the line")                                                 \
	X(BOOKMARK_NEXT, "next-bookmark", "next bookmark", "'", IN_LOGS,                          \
	  "go to the next bookmark")                                                              \
	X(FOLLOW, "follow", "follow", "f F", IN_LOGS, "stay at the end as lines arrive")          \
	X(LEARN, "learn", "learn rules", "i", IN_LOGS,                                            \
	  "write rules for rows like this; asks first")                                           \
	X(MERGE, "merge", "all logs", "A", IN_LOGS, "all logs merged by time, or one (toggle)")   \
	X(FOLD, "fold", "fold", "o", IN_LOGS, "hide or show printed source code")                 \
	X(WRAP, "wrap", "wrap", "w", IN_LOGS, "wrap long lines, or scroll sideways (toggle)")     \
	X(COPY, "copy", "copy", "y", IN_ALL, "copy the selected line (OSC 52)")                   \
	X(EXPORT, "export", "export", "x", IN_ALL, "save table, chart, curves or text to a file") \
	X(ACKNOWLEDGE, "acknowledge", "acknowledge", "a", IN_EVENTS, "acknowledge all alerts")    \
	X(MUTE, "mute", "mute", "u", IN_ALL, "turn bell and notifications off or on")             \
	X(RECONNECT, "reconnect", "reconnect", "r", IN_PODS, "connect to the pod now")            \
	X(CHECK, "check", "check", "c", IN_PODS, "check if the pod is ready; changes nothing")    \
	X(SHELL, "shell", "shell", "$", IN_PODS, "open a shell on the pod; asks first")           \
	X(POD_STOP, "stop-pod", "stop pod", "B", IN_PODS, "run the pod's stop_cmd; asks first")   \
	X(BENCH_START, "bench-start", "start bench", "b", IN_BENCH | IN_PODS,                     \
	  "start an A/B bench (file or form); asks first")                                        \
	X(AUDIT, "audit", "audit", "a", IN_AUDIT | IN_PODS,                                       \
	  "measure how much timings vary; asks first")                                            \
	X(BENCH_STOP, "bench-stop", "stop bench", "B", IN_BENCH,                                  \
	  "abort the selected bench; asks first")                                                 \
	X(PAUSE, "pause", "pause", "P", IN_ALL, "freeze the screen (toggle)")                     \
	X(MOUSE, "mouse", "mouse", "F9", IN_ALL, "turn the mouse off or on")                      \
	X(THEME, "theme", "theme", "T", IN_ALL, "use the next color theme")                       \
	X(TRACK, "track", "track", "t", IN_ALL, "use the next track: its caps and records")       \
	X(RELOAD, "reload", "reload", "Ctrl-r", IN_ALL, "read the configuration again")           \
	X(REPAINT, "repaint", "repaint", "Ctrl-l", IN_ALL, "redraw the screen")                   \
	X(SUSPEND, "suspend", "suspend", "Ctrl-z", IN_ALL, "return to the shell; fg continues")   \
	X(QUIT, "quit", "quit", "q", IN_ALL, "leave a filter or a view; in Fleet, quit")          \
	X(QUIT_NOW, "quit-now", "quit now", "Q F10 Ctrl-c", IN_ALL, "quit the program")

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
	ACTION_LIST(X)
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

/* Static row of the table of actions; not of ACTION_NONE. */
const struct action_info *action_info(enum action action);

/* Whether the action changes something on a pod: --read-only hides it. */
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
/*
 * Give these keys (names separated by blanks; "" for none) to an action and take them from the
 * other actions in the same places.  -1 with err for an unknown name.
 */
int keymap_bind(struct keymap *keymap, const char *action, const char *keys, struct err *err)
	__attribute__((warn_unused_result));
/*
 * Action of a key in these places (enum action_place bits).  An action of one of the places takes
 * precedence over one that works everywhere; ACTION_NONE if there is neither.
 */
enum action keymap_find(const struct keymap *keymap, uint32_t code, unsigned int places);
/* Name of an action's first key; "" if it has none. */
void keymap_key_name(const struct keymap *keymap, enum action action, char out[KEY_NAME_SIZE]);
/* Append the names of all keys of an action, separated by blanks. */
void keymap_key_names(const struct keymap *keymap, enum action action, struct buf *out);
