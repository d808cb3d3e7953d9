/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/store.h"

/* Read committed rows of the database, on the caller's thread.  Rows are borrowed for the call.  A
 * callback that returns something other than 0 stops the walk, which returns that number. */
struct stored_run {
	int64_t run_id;
	const char *pod, *path;		     /* path in raw bytes */
	const char *name;		     /* the log's first path */
	unsigned int gen;		     /* generation of the file at that name */
	int64_t first_wall_ms, last_wall_ms; /* 0: unknown */
	bool is_live;			     /* in progress and followed when it was stored */
	bool is_ended;			     /* nothing more will be written to its log */
	const char *copy;		     /* path of the local copy of its log; NULL: none */
	int64_t rev;			     /* increases with each change of a row; 0: an old
					      * row, without the numbers of RUN_LIVE_LIST */
	struct run run;			     /* its status is as if its log had ended */
};

typedef int (*stored_run_fn)(void *user, const struct stored_run *row);

/* Pass one run to fn or, with run_id 0, all runs in the order of their ids. */
int store_each_run(struct store *store, int64_t run_id, stored_run_fn fn, void *user,
		   struct err *err);
/* Pass the runs whose rows changed since rev to fn, in the order of the changes. */
int store_each_changed_run(struct store *store, int64_t rev, stored_run_fn fn, void *user,
			   struct err *err);

/* A number that changes when another process writes to the database (data_version), or -1. */
int64_t store_data_version(struct store *store);

/* Find a run by its id, by its path, by the start of its path or file name, or by "pod:path".  0
 * with err if there is none (ERR_NODATA) or more than one (ERR_USAGE). */
int64_t store_find_run(struct store *store, const char *text, struct err *err);

struct stored_sample {
	const char *metric;   /* its label (parsers/run_series.h) */
	struct sample sample; /* .metric is METRIC_COUNT for a printed name */
};

typedef int (*stored_sample_fn)(void *user, const struct stored_sample *row);

/* Pass the samples of a run to fn, in the order of the log; metric is a label, NULL: all. */
int store_each_sample(struct store *store, int64_t run_id, const char *metric, stored_sample_fn fn,
		      void *user, struct err *err);

/* Look for damage within about a second; -1 with err if there is some. *is_partial: the database is
 * so large that not all of its samples were read. */
int store_check(struct store *store, bool *is_partial, struct err *err);
