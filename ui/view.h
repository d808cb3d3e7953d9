/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/keymap.h"
#include "command.h"
#include "model/alerts.h"
#include "model/model.h"
#include "model/track.h"
#include "ui/chart.h"
#include "ui/list.h"

enum chart_axis {
	AXIS_TRAIN,
	AXIS_STEP,
	AXIS_WALL,
	AXIS_TOKENS,
	AXIS_ROW, /* of a log that says none of these */
	AXIS_COUNT
};

/* What a chart shows: enum plot_metric; of PLOT_OWN by its printed name. */
struct chart_metric {
	unsigned int id;
	char own[SERIES_NAME_BYTES];
};

/* How charts are shown, the same in all views. */
struct chart_settings {
	enum chart_charset charset;
	enum chart_axis axis;
	struct chart_metric metric;
	unsigned int smoothing; /* index of plot_smoothing */
	bool log_y;
	double zoom;   /* 1: all of x, 2: half of it .. */
	double center; /* 0..1, middle of what is shown */
	double cursor; /* 0..1 of what is shown; < 0: none */
	bool replay;   /* others as far as the first run has come */
	bool hold_y;   /* y by all of x, also when a part is shown */
};

#define UI_MAX_MARKS	 8
#define UI_MAX_SCORES	 64 /* of a baseline that is typed */
#define UI_MAX_POD_MARKS 64
#define UI_MAX_AREAS	 16

/* What is marked, in the order it was. */
struct ui_marks {
	const void *v[UI_MAX_POD_MARKS];
	size_t n;
};

/* Published scores to compare with, as the configuration gives them. */
struct ui_baseline {
	const char *name;
	const double *bpb;
	size_t n_bpb;
	double nats_per_bpb; /* absent: from the logs */
};

/* What the views share: the data, and what is selected in it. */
struct ui_shared {
	const struct model *model;
	const struct track *track; /* caps */
	const struct alerts *alerts;
	const struct ui_baseline *baseline; /* NULL: none */
	char *(*group_of)(void *user, const struct model_run *mr);
	void *group_user;
	unsigned int configured;	   /* grows with each new configuration */
	const struct model_run *selected;  /* NULL: no runs */
	struct ui_marks marks;		   /* struct model_run */
	struct ui_marks pod_marks;	   /* names, as the model has them */
	const struct model_run *reference; /* NULL: none */
	bool only_marked;		   /* are shown in lists of runs */
	struct chart_settings chart;
	bool read_only;
	bool log_colors; /* those that a log asks for are shown */
	int64_t now_wall_ms, now_mono_ms;
	enum action go;			 /* a view asks for another; the frame clears it */
	const char *find;		 /* what its list shows then; NULL: as it was */
	struct rect areas[UI_MAX_AREAS]; /* of charts, as drawn last */
	size_t n_areas;
	char said[240]; /* status line, sanitised by the canvas */
	int64_t said_at_ms;
};

/* A screen.  state is zeroed at first and kept while the program runs. */
struct view_ops {
	const char *name; /* in the tabs */
	enum action open; /* the action that shows it */
	size_t state_size;
	unsigned int places;	  /* enum action_place bits */
	size_t curves;		  /* most runs of its chart, the selected one first */
	bool copies;		  /* has a selected line to copy */
	unsigned int watches;	  /* enum model_part bits that make it stale */
	const enum action *hints; /* for the last line; ends with NONE */
	/* Draw into rect; never blocks. */
	void (*draw)(void *state, struct ui_shared *shared, struct canvas *canvas,
		     struct rect rect);
	/*
	 * Use the action, or (false) leave it to the list and the frame; never
	 * draws.  A command in *out is executed.
	 */
	bool (*act)(void *state, struct ui_shared *shared, enum action action, struct command *out);
	/*
	 * The list that has the keys which no view uses otherwise, up to
	 * date.  NULL: none ever.  Else the state begins with a list, and the
	 * frame releases that one.
	 */
	struct list *(*list)(void *state, struct ui_shared *shared);
	/* Its selection moved; NULL: nobody else asks. */
	void (*moved)(void *state, struct ui_shared *shared);
	/* A click on what is no row of the list; NULL: none. */
	bool (*click)(void *state, struct ui_shared *shared, int x, int y);
	/* A pattern of / or &; -1 with err when it is wrong.  NULL: none. */
	int (*search)(void *state, struct ui_shared *shared, const char *text, bool filter,
		      struct err *err);
	/* Work in small pieces; true: call again soon.  NULL: none. */
	bool (*work)(void *state, struct ui_shared *shared);
	/* Text of an export.  NULL: none. */
	void (*text)(void *state, struct ui_shared *shared, struct buf *out);
	void (*release)(void *state); /* NULL: nothing to release */
};

extern const struct view_ops view_fleet, view_run, view_board, view_compare, view_logs, view_bench,
	view_pods, view_harness;

/* The track, or where there is none one without caps. */
const struct track *ui_caps(const struct ui_shared *shared);
/* The key of a run's group on the board; the caller frees it. */
char *ui_group_of(const struct ui_shared *shared, const struct model_run *mr);
/* Whether lists show a run: all, or the marked alone. */
bool ui_shows_run(const struct ui_shared *shared, const struct model_run *mr);
/* Set the status line. */
void ui_show_message(struct ui_shared *shared, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool ui_is_marked(const struct ui_marks *marks, const void *what);
/* Mark it, or not any more; at most `most`, else it says so. */
void ui_toggle_mark(struct ui_shared *shared, struct ui_marks *marks, const void *what,
		    size_t most);
/* Show the part from a to b (0..1) of what is shown. */
void ui_chart_zoom_to(struct chart_settings *chart, double a, double b);
/*
 * The names of the marked pods, a comma between, else that of the pod;
 * MODEL_NONE: "" without marks.  Owned by the caller.
 */
char *ui_pod_names(const struct ui_shared *shared, size_t pod);
/* Actions on the chart settings; false when it is none. */
bool ui_chart_act(struct ui_shared *shared, enum action action);
