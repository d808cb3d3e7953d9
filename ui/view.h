/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"
#include "model/alerts.h"
#include "ui/chart.h"
#include "ui/list.h"

enum chart_axis {
	AXIS_TRAIN,
	AXIS_STEP,
	AXIS_WALL,
	AXIS_TOKENS,
	AXIS_ROW, /* number of the row, for logs without time, steps and tokens */
	AXIS_COUNT
};

/* Metric of a chart: an enum plot_metric, and for PLOT_OWN the printed name of the series. */
struct chart_metric {
	unsigned int id;
	char own[SERIES_NAME_BYTES];
};

/* Settings of charts, shared by all views. */
struct chart_settings {
	enum chart_charset charset;
	enum chart_axis axis;
	struct chart_metric metric;
	unsigned int smoothing; /* index of plot_smoothing */
	bool log_y;
	double x_from; /* share of x at the start that is not drawn */
	double zoom;   /* 1 shows all of x, 2 shows half of it, and so on */
	double center; /* middle of the visible range, as a share of x (0..1) */
	double cursor; /* position of the cursor in the visible range (0..1); < 0: none */
	/* A frame's first chart sets its whole x range, and x at the cursor's row (NAN: none). */
	double x_lo, x_hi, cursor_x;
	int cursor_kind; /* axis of cursor_x */
	bool replay;	 /* draw other runs only up to the current step of the first */
	bool hold_y;	 /* scale y to all points, also when zoomed in */
};

#define UI_MAX_MARKS	 8
#define UI_MAX_SCORES	 64 /* scores of a baseline that the user typed */
#define UI_MAX_POD_MARKS 64
#define UI_MAX_AREAS	 16

/* Marked runs or pods, in the order of marking. */
struct ui_marks {
	const void *v[UI_MAX_POD_MARKS];
	size_t n;
};

/* Published scores to compare with. */
struct ui_baseline {
	const char *name;
	const double *bpb;
	size_t n_bpb;
	double nats_per_bpb; /* absent: compute it from the logs */
};

/* State shared by all views: the data, and what the user selected. */
struct ui_shared {
	const struct model *model;
	const struct track *track;	/* caps */
	const struct track_set *tracks; /* NULL: none */
	size_t track_choice;		/* index of the chosen track + 1; 0: each log decides */
	const struct alerts *alerts;
	const struct ui_baseline *baseline; /* NULL: none */
	const char *conf_path;		    /* path of the configuration, for messages */
	char *(*group_of)(void *user, const struct model_run *mr);
	void *group_user;
	unsigned int configured;	   /* incremented with each new configuration */
	const struct model_run *selected;  /* NULL: no runs yet */
	struct ui_marks marks;		   /* struct model_run */
	struct ui_marks pod_marks;	   /* names in the model */
	const struct model_run *reference; /* NULL: none */
	bool only_marked;		   /* lists of runs hide runs that are not marked */
	struct chart_settings chart;
	bool read_only;
	bool log_colors; /* show the colors that a log asks for */
	int64_t now_wall_ms, now_mono_ms;
	enum action go;	  /* opens another view after this action; or ACTION_NONE */
	const char *find; /* filter for the list of that view; NULL: keep its filter */
	struct rect areas[UI_MAX_AREAS]; /* charts, as drawn last */
	size_t n_areas;
	char said[240]; /* message in the status line; the canvas sanitizes it */
	int64_t said_at_ms;
};

/* A view. Its state starts zeroed and is never reset. Functions from `moved` on may be NULL. */
struct view_ops {
	const char *name; /* in the tabs */
	enum action open; /* action that opens the view */
	size_t state_size;
	unsigned int places;	  /* which actions it has: enum action_place bits */
	size_t curves;		  /* maximum number of runs in its chart, the selected one first */
	bool copies;		  /* has a selected line to copy */
	unsigned int watches;	  /* draw again if these parts change: enum model_part bits */
	const enum action *hints; /* for the footer; ends with ACTION_NONE */
	/* Draw into rect. Must not block. */
	void (*draw)(void *state, struct ui_shared *shared, struct canvas *canvas,
		     struct rect rect);
	/* Run an action; false: the list and the frame try it. The frame runs a command in *out. */
	bool (*act)(void *state, struct ui_shared *shared, enum action action, struct command *out);
	/* Update and return the list, which gets the actions that the view leaves. The state of
	 * such a view starts with the struct list; the frame releases it. May be NULL. */
	struct list *(*list)(void *state, struct ui_shared *shared);
	/* The selection of the list moved. */
	void (*moved)(void *state, struct ui_shared *shared);
	/* Handle a click outside the list; false if nothing is there. */
	bool (*click)(void *state, struct ui_shared *shared, int x, int y);
	/* Search (/) or filter (&) by a pattern; -1 with err if it is invalid. */
	int (*search)(void *state, struct ui_shared *shared, const char *text, bool filter,
		      struct err *err);
	/* Do some background work; true if more is left. */
	bool (*work)(void *state, struct ui_shared *shared);
	/* Append the text of an export. */
	void (*text)(void *state, struct ui_shared *shared, struct buf *out);
	void (*release)(void *state);
};

extern const struct view_ops view_fleet, view_run, view_board, view_compare, view_logs, view_bench,
	view_pods, view_harness;

/* Return a run's track, or the chosen one if mr is NULL; if there is none, a track without caps. */
const struct track *ui_caps(const struct ui_shared *shared, const struct model_run *mr);
/* Return the key of a run's group on the board; the caller frees it. */
char *ui_group_of(const struct ui_shared *shared, const struct model_run *mr);
/* Do lists show this run? With only_marked, they show only marked runs. */
bool ui_shows_run(const struct ui_shared *shared, const struct model_run *mr);
/* Return the version (see struct list) of a list of all runs. */
uint64_t ui_runs_version(const struct ui_shared *shared);
/* Show a message in the status line. */
void ui_show_message(struct ui_shared *shared, const char *fmt, ...) LIKE_PRINTF(2, 3);
bool ui_is_marked(const struct ui_marks *marks, const void *what);
/* Mark an item or remove its mark. If there are `most` marks, show a message instead of marking. */
void ui_toggle_mark(struct ui_shared *shared, struct ui_marks *marks, const void *what,
		    size_t most);
/* Zoom to the part from a to b (0..1) of the visible range. */
void ui_chart_zoom_to(struct chart_settings *chart, double a, double b);
/* Return the names of the marked pods, separated by commas. If none is marked, return the name of
 * `pod`; "" for MODEL_NONE. The caller frees it. */
char *ui_pod_names(const struct ui_shared *shared, size_t pod);
/* Run an action that changes the settings of charts; false for other actions. */
bool ui_chart_act(struct ui_shared *shared, enum action action);
