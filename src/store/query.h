/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/store.h"

/*
 * What the database holds.  Short reads on the thread of the caller, of what
 * was committed; rows are borrowed for the call.  A callback that returns
 * other than 0 ends the walk, which returns that number.
 */
struct stored_run {
	int64_t run_id;
	const char *pod, *path;		     /* path in raw bytes */
	const char *name;		     /* where it lay first */
	unsigned int gen;		     /* of the file at that name */
	int64_t first_wall_ms, last_wall_ms; /* 0: unknown */
	bool is_live;			     /* was followed when it was stored, and not over */
	bool is_ended;			     /* its log: nothing more will come */
	const char *copy;		     /* path of the local copy of its log; NULL: none */
	int64_t rev;			     /* rises with each change of a run's row; 0: a row
					      * that lacks what is of RUN_LIVE_LIST */
	struct run run;			     /* its status as if its log ended there */
};

typedef int (*stored_run_fn)(void *user, const struct stored_run *row);

/* In the order of their ids; run_id 0: all of them. */
int store_each_run(struct store *store, int64_t run_id, stored_run_fn fn, void *user,
		   struct err *err);
/* Those whose rows changed since that rev, in the order of the changes. */
int store_each_changed_run(struct store *store, int64_t rev, stored_run_fn fn, void *user,
			   struct err *err);

/*
 * A number that changes when another process has written to the database
 * since (PRAGMA data_version); -1 when it cannot be asked.  Cheap.
 */
int64_t store_data_version(struct store *store);

/*
 * The run that text names: its id, or a path that only one run has, or the
 * beginning of such a path or of its last part, or "pod:path".  0 with err
 * when there is none (ERR_NODATA) or more than one (ERR_USAGE).
 */
int64_t store_find_run(struct store *store, const char *text, struct err *err);

struct stored_sample {
	const char *metric;   /* its label (parsers/run_series.h) */
	struct sample sample; /* .metric is METRIC_COUNT for a printed name */
};

typedef int (*stored_sample_fn)(void *user, const struct stored_sample *row);

/* In the order of the log; metric is a label, NULL: all. */
int store_each_sample(struct store *store, int64_t run_id, const char *metric, stored_sample_fn fn,
		      void *user, struct err *err);

/*
 * Whether the database is sound, by SQLite's own quick check; -1 with what
 * is wrong.  Takes long for a large one.
 */
int store_check(struct store *store, struct err *err);
