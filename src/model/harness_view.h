/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness_compare.h"
#include "parsers/harness_run.h"

/*
 * What the dashboard shows of HarnessGym: the directories that are followed,
 * each with its runs (or its comparison) as they were judged last.  Written
 * by whoever follows them, on the loop thread; read by the view as const.
 */
struct harness_place {
	char *title;			   /* owned; "pod:dir", or the directory; clean */
	const struct harness_files *files; /* borrowed: texts of phases */
	bool is_compare;
	struct harness_workspace ws;	/* of runs */
	struct harness_compare compare; /* of a comparison */
	bool read;			/* ws or compare holds something */
	char why[256];			/* it cannot be read now; "" while it can */
	int64_t age_ms;			/* since it was read, while it cannot be */
	int64_t now_ms;			/* by its own clock, when it was read */
};

#define HARNESS_MAX_PLACES 64

struct harness_view {
	struct harness_place *places; /* owned */
	size_t n, cap;
};

void harness_view_release(struct harness_view *view);
/* Index of the new place; SIZE_MAX beyond HARNESS_MAX_PLACES. */
size_t harness_view_add(struct harness_view *view, const char *title,
			const struct harness_files *files);
/* Judge the files of a place anew; now_ms as in harness_workspace_read. */
void harness_view_read(struct harness_view *view, size_t place, bool is_compare, int64_t now_ms);
/* It cannot be read now: what was read stays, why is shown beside it. */
void harness_view_trouble(struct harness_view *view, size_t place, const char *why);
/* What is shown is so old: its state is of then, nothing of it is to go. */
void harness_view_age(struct harness_view *view, size_t place, int64_t age_ms);

/* A score on the chart of a run. */
enum harness_point_kind {
	HARNESS_POINT_BASELINE, /* verified, iteration 0 */
	HARNESS_POINT_VERIFIED,
	HARNESS_POINT_INVALID, /* these three are hollow */
	HARNESS_POINT_CLAIMED,
	HARNESS_POINT_SESSION,
};

/* What a score may stand over: minutes, and USD that the agent has cost. */
enum harness_x { HARNESS_X_ITERATION, HARNESS_X_WALL, HARNESS_X_COST, HARNESS_X_COUNT };

struct harness_point {
	double x[HARNESS_X_COUNT]; /* NAN: not known */
	double value;
	enum harness_point_kind kind;
};

/* All scores of a run by iteration, at most max; returns how many. */
size_t harness_view_points(const struct harness_run *run, struct harness_point *points, size_t max);

/* A text of an iteration that can be looked at. */
struct harness_text {
	const char *name; /* static: "attempt transcript" */
	struct str text;  /* borrowed, raw bytes: sanitise before drawing */
};

/* What the best checkpoint changed of the template; of the run, and first. */
#define HARNESS_DIFF_NAME "diff from the template to the best checkpoint"

/* Those that are there, newest phase first, at most max; returns how many. */
size_t harness_view_texts(const struct harness_place *place, const struct harness_run *run,
			  unsigned int iteration, struct harness_text *texts, size_t max);
