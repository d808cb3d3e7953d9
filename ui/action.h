/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_ACTION_H
#define HGYM_UI_ACTION_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Everything a key can do.  This one list makes the enum, the default keys,
 * the help, the palette, the man page's KEYS and the completion.
 *
 *	id, name, default keys (blanks between), where it works, what it does
 */
#define ACTION_LIST(X)                                                         \
	X(HELP, "help", "? F1", IN_ALL, "search and run every action")         \
	X(PALETTE, "palette", ":", IN_ALL,                                     \
	  "type an action's name, or a run's")                                 \
	X(EVENTS, "events", "!", IN_ALL, "alerts and events, newest first")    \
	X(VIEW_FLEET, "fleet", "1", IN_ALL, "all runs, one chart, the caps")   \
	X(VIEW_RUN, "run", "2", IN_ALL, "one run's metrics as charts")         \
	X(VIEW_BOARD, "board", "3", IN_ALL, "leaderboard over seeds")          \
	X(VIEW_COMPARE, "compare", "4", IN_ALL, "marked runs overlaid")        \
	X(VIEW_LOGS, "logs", "5", IN_ALL, "the selected run's log")            \
	X(VIEW_BENCH, "bench", "6", IN_ALL, "A/B throughput benches")          \
	X(VIEW_PODS, "pods", "7", IN_ALL, "links, GPUs, disks, alerts")        \
	X(VIEW_HARNESS, "harness", "8", IN_ALL, "HarnessGym runs")             \
	X(NEXT_VIEW, "next-view", "Tab", IN_ALL, "the view to the right")      \
	X(PREV_VIEW, "prev-view", "S-Tab", IN_ALL, "the view to the left")     \
	X(BACK, "back", "Esc", IN_ALL, "one layer back")                       \
	X(OPEN, "open", "Enter", IN_ALL, "open what is selected")              \
	X(UP, "up", "k Up", IN_ALL, "move up")                                 \
	X(DOWN, "down", "j Down", IN_ALL, "move down")                         \
	X(LEFT, "left", "h Left", IN_ALL, "move left; the chart's cursor")     \
	X(RIGHT, "right", "l Right", IN_ALL, "move right; the chart's cursor") \
	X(TOP, "top", "g Home", IN_ALL, "to the first line")                   \
	X(BOTTOM, "bottom", "G End", IN_ALL, "to the last line")               \
	X(PAGE_UP, "page-up", "Ctrl-u PgUp", IN_ALL, "half a screen up")       \
	X(PAGE_DOWN, "page-down", "Ctrl-d PgDn", IN_ALL, "half a screen down") \
	X(MARK, "mark", "Space", IN_RUNS, "mark the run for an overlay")       \
	X(POD_MARK, "mark-pod", "Space", IN_PODS, "mark the pod for b and a")  \
	X(REFERENCE, "reference", "R", IN_RUNS,                                \
	  "compare all others to this run; again: to none")                    \
	X(SORT, "sort", "s F6", IN_RUNS, "sort by the next column")            \
	X(SORT_REVERSE, "sort-reverse", "S", IN_RUNS, "turn the order round")  \
	X(NEXT_RUN, "next-run", "J", IN_ALL, "select the next run")            \
	X(PREV_RUN, "prev-run", "K", IN_ALL, "select the run before")          \
	X(METRIC_NEXT, "next-metric", "]", IN_CHARTS, "chart the next metric") \
	X(METRIC_PREV, "prev-metric", "[", IN_CHARTS,                          \
	  "chart the metric before")                                           \
	X(X_AXIS, "x-axis", "X", IN_CHARTS,                                    \
	  "x as train time, step, wall time or tokens")                        \
	X(LOG_AXIS, "log-axis", "L", IN_CHARTS, "y as logarithm")              \
	X(SMOOTH_LESS, "smooth-less", "m", IN_CHARTS, "smooth less")           \
	X(SMOOTH_MORE, "smooth-more", "M", IN_CHARTS,                          \
	  "smooth more; the raw values stay behind")                           \
	X(ZOOM_IN, "zoom-in", "z +", IN_CHARTS, "zoom in around the cursor")   \
	X(ZOOM_OUT, "zoom-out", "Z -", IN_CHARTS, "zoom out")                  \
	X(ZOOM_RESET, "zoom-reset", "0", IN_CHARTS, "show all of x")           \
	X(HOLD_Y, "hold-y", "H", IN_CHARTS,                                    \
	  "y by all of x, or by the part that is shown")                       \
	X(CHARSET, "charset", "C", IN_ALL, "charts: braille, block, ASCII")    \
	X(SEARCH, "search", "/", IN_TEXT, "search for a pattern")              \
	X(FILTER, "filter", "&", IN_TEXT,                                      \
	  "show matching lines only; ! before it: the others")                 \
	X(SEARCH_NEXT, "search-next", "n", IN_TEXT, "next hit")                \
	X(SEARCH_PREV, "search-prev", "N", IN_TEXT, "hit before")              \
	X(ERROR_NEXT, "error-next", "e", IN_LOGS, "next error line")           \
	X(ERROR_PREV, "error-prev", "E", IN_LOGS, "error line before")         \
	X(FOLLOW, "follow", "f F", IN_LOGS, "stay at the end")                 \
	X(MERGE, "merge", "A", IN_LOGS, "all logs merged, or the selected")    \
	X(FOLD, "fold", "o", IN_LOGS, "fold or show printed source code")      \
	X(WRAP, "wrap", "w", IN_LOGS, "wrap long lines, or scroll sideways")   \
	X(COPY, "copy", "y", IN_ALL, "copy the selected line (OSC 52)")        \
	X(EXPORT, "export", "x", IN_ALL, "write what is shown to a file")      \
	X(ACKNOWLEDGE, "acknowledge", "a", IN_ALL, "acknowledge all alerts")   \
	X(MUTE, "mute", "u", IN_ALL, "mute or unmute bell and notices")        \
	X(RECONNECT, "reconnect", "r", IN_PODS, "try the pod's link now")      \
	X(CHECK, "check", "c", IN_PODS,                                        \
	  "is the pod fit for a run? reads only")                              \
	X(SHELL, "shell", "s", IN_PODS, "a shell on the pod; asks first")      \
	X(SORT_PODS, "sort-pods", "o", IN_PODS, "sort by the next column")     \
	X(BENCH_START, "bench-start", "b", IN_BENCH | IN_PODS,                 \
	  "start an A/B bench: the selected, another, a form; asks first")     \
	X(AUDIT, "audit", "a", IN_AUDIT | IN_PODS,                             \
	  "the same code twice: how much the pod differs; asks first")         \
	X(BENCH_STOP, "bench-stop", "B", IN_BENCH,                             \
	  "abort the selected bench; asks first")                              \
	X(PAUSE, "pause", "P", IN_ALL, "hold the screen still")                \
	X(MOUSE, "mouse", "F9", IN_ALL, "mouse on or off")                     \
	X(THEME, "theme", "T", IN_ALL, "the next theme of colours")            \
	X(RELOAD, "reload", "Ctrl-r", IN_ALL, "read the configuration again")  \
	X(REPAINT, "repaint", "Ctrl-l", IN_ALL, "draw the screen anew")        \
	X(SUSPEND, "suspend", "Ctrl-z", IN_ALL, "to the shell; fg returns")    \
	X(QUIT, "quit", "q", IN_ALL, "one layer back; leave at the last")      \
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
	IN_AUDIT = 1 << 6, /* benches that an audit can be made of */
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

#endif
