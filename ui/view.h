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
	AXIS_ROW, /* number of the row, for logs without the others */
	AXIS_COUNT
};

/* Metric of a chart: enum plot_metric; PLOT_OWN by its printed name. */
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
	double zoom;   /* 1: all of x, 2: half of it, and so on */
	double center; /* 0..1, middle of the visible range */
	double cursor; /* 0..1 of the visible range; < 0: none */
	/* Set by the first chart of a frame: its whole range of x, and the printed row under the
	 * cursor; NAN: none. */
	double x_lo, x_hi, cursor_x;
	int cursor_kind; /* axis of cursor_x */
	bool replay;	 /* cut other runs at the current step of the first */
	bool hold_y;	 /* scale y to all of x, also when zoomed in */
};

#define UI_MAX_MARKS	 8
#define UI_MAX_SCORES	 64 /* of a typed baseline */
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
	double nats_per_bpb; /* absent: computed from the logs */
};

/* State shared by all views: the data, and the selection in it. */
struct ui_shared {
	const struct model *model;
	const struct track *track;	/* caps */
	const struct track_set *tracks; /* NULL: none */
	size_t track_choice;		/* 0: by the logs; else the index of a track + 1 */
	const struct alerts *alerts;
	const struct ui_baseline *baseline; /* NULL: none */
	const char *conf_path;		    /* of the configuration, for messages */
	char *(*group_of)(void *user, const struct model_run *mr);
	void *group_user;
	unsigned int configured;	   /* grows with each new configuration */
	const struct model_run *selected;  /* NULL: no runs yet */
	struct ui_marks marks;		   /* struct model_run */
	struct ui_marks pod_marks;	   /* names in the model */
	const struct model_run *reference; /* NULL: none */
	bool only_marked;		   /* lists of runs hide the others */
	struct chart_settings chart;
	bool read_only;
	bool log_colors; /* show the colors that a log asks for */
	int64_t now_wall_ms, now_mono_ms;
	enum action go;			 /* action of the view to open next; ACTION_NONE: stay */
	const char *find;		 /* filter for the list of that view; NULL: unchanged */
	struct rect areas[UI_MAX_AREAS]; /* charts, as drawn last */
	size_t n_areas;
	char said[240]; /* message of the status line; sanitized by the canvas */
	int64_t said_at_ms;
};

/* A view.  Its state starts zeroed and lives as long as the program. */
struct view_ops {
	const char *name; /* in the tabs */
	enum action open; /* action that shows it */
	size_t state_size;
	unsigned int places;	  /* enum action_place bits */
	size_t curves;		  /* most runs in its chart, the selected one first */
	bool copies;		  /* has a selected line to copy */
	unsigned int watches;	  /* enum model_part bits that make it stale */
	const enum action *hints; /* for the footer; ends with ACTION_NONE */
	/* Draw into rect; never blocks. */
	void (*draw)(void *state, struct ui_shared *shared, struct canvas *canvas,
		     struct rect rect);
	/* Use the action; false leaves it to the list and the frame.  A command in *out is
	 * executed afterwards. */
	bool (*act)(void *state, struct ui_shared *shared, enum action action, struct command *out);
	/* The list, up to date, that gets the actions which the view leaves.  NULL: the view has
	 * none.  Otherwise its state starts with a struct list, which the frame releases. */
	struct list *(*list)(void *state, struct ui_shared *shared);
	/* The selection of the list moved; may be NULL. */
	void (*moved)(void *state, struct ui_shared *shared);
	/* A click outside of the list; false if nothing is there.  May be NULL. */
	bool (*click)(void *state, struct ui_shared *shared, int x, int y);
	/* Search (/) or filter (&) by a pattern; -1 with err.  May be NULL. */
	int (*search)(void *state, struct ui_shared *shared, const char *text, bool filter,
		      struct err *err);
	/* Do a small piece of work; true if more is left.  May be NULL. */
	bool (*work)(void *state, struct ui_shared *shared);
	/* Append the text of an export.  May be NULL. */
	void (*text)(void *state, struct ui_shared *shared, struct buf *out);
	void (*release)(void *state); /* may be NULL */
};

extern const struct view_ops view_fleet, view_run, view_board, view_compare, view_logs, view_bench,
	view_pods, view_harness;

/* The track of a run (NULL: the one that was chosen), or one without caps if none is set. */
const struct track *ui_caps(const struct ui_shared *shared, const struct model_run *mr);
/* Key of a run's group on the board; owned by the caller. */
char *ui_group_of(const struct ui_shared *shared, const struct model_run *mr);
/* Do lists show the run?  They show all runs, or only the marked ones. */
bool ui_shows_run(const struct ui_shared *shared, const struct model_run *mr);
/* Version (see struct list) of a list of all runs. */
uint64_t ui_runs_version(const struct ui_shared *shared);
/* Show a message in the status line. */
void ui_show_message(struct ui_shared *shared, const char *fmt, ...) LIKE_PRINTF(2, 3);
bool ui_is_marked(const struct ui_marks *marks, const void *what);
/* Mark it or remove the mark; more than `most` marks are refused with a message. */
void ui_toggle_mark(struct ui_shared *shared, struct ui_marks *marks, const void *what,
		    size_t most);
/* Zoom to the part from a to b (0..1) of the visible range. */
void ui_chart_zoom_to(struct chart_settings *chart, double a, double b);
/* Names of the marked pods, separated by commas; without marks the name of the given pod, ""
 * for MODEL_NONE.  Owned by the caller. */
char *ui_pod_names(const struct ui_shared *shared, size_t pod);
/* Run an action on the settings of charts; false if it is a different one. */
bool ui_chart_act(struct ui_shared *shared, enum action action);
