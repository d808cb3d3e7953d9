/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/compare.h"

/* What the dashboard shows of HarnessGym: the followed directories with their runs or their
 * comparison. Written on the loop thread when files change; the view reads it as const. */
struct harness_place {
	char *title;			   /* owned; "pod:dir" or the directory, sanitised */
	const struct harness_files *files; /* borrowed */
	bool is_compare;
	struct harness_workspace ws;	/* unless is_compare */
	struct harness_compare compare; /* if is_compare */
	bool read;			/* ws or compare is filled */
	char why[256];			/* why the directory cannot be read now, or "" */
	int64_t age_ms; /* age of the shown state, while the directory cannot be read */
	int64_t now_ms; /* time on the directory's machine when it was read */
};

#define HARNESS_MAX_PLACES 64

struct harness_view {
	struct harness_place *places; /* owned */
	size_t n, cap;
};

void harness_view_release(struct harness_view *view);
/* Add a place; returns its index, or SIZE_MAX if there are HARNESS_MAX_PLACES already. */
size_t harness_view_add(struct harness_view *view, const char *title,
			const struct harness_files *files);
/* Read the files of a place again; now_ms as in harness_workspace_read. */
void harness_view_read(struct harness_view *view, size_t place, bool is_compare, int64_t now_ms);
/* Record why a place cannot be read now; the last state stays. */
void harness_view_set_trouble(struct harness_view *view, size_t place, const char *why);
/* Set the age of the shown state, and remove its countdown. */
void harness_view_set_age(struct harness_view *view, size_t place, int64_t age_ms);

/* A score on the chart of a run. */
enum harness_point_kind {
	HARNESS_POINT_BASELINE, /* verified, iteration 0 */
	HARNESS_POINT_VERIFIED,
	HARNESS_POINT_INVALID, /* drawn hollow, as are the two below */
	HARNESS_POINT_CLAIMED,
	HARNESS_POINT_SESSION,
};

/* The x axis: iteration, minutes since the start, or USD spent on the agent. */
enum harness_x { HARNESS_X_ITERATION, HARNESS_X_WALL, HARNESS_X_COST, HARNESS_X_COUNT };

struct harness_point {
	double x[HARNESS_X_COUNT]; /* NAN: unknown */
	double value;
	enum harness_point_kind kind;
};

/* Fill points with the scores of a run by iteration; returns how many there are (<= max). */
size_t harness_view_points(const struct harness_run *run, struct harness_point *points, size_t max);

/* A text of an iteration that can be opened. */
struct harness_text {
	const char *name; /* static: "attempt transcript" */
	struct str text;  /* borrowed, raw bytes: sanitise before drawing */
};

/* The name of the text that belongs to the run and not to an iteration; it is listed first. */
#define HARNESS_DIFF_NAME "diff from the template to the best checkpoint"

/* List the existing texts, newest phase first; returns how many there are (<= max). */
size_t harness_view_texts(const struct harness_place *place, const struct harness_run *run,
			  unsigned int iteration, struct harness_text *texts, size_t max);
