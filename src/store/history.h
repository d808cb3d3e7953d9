/* SPDX-License-Identifier: MIT */
#pragma once

#include "loop/loop.h"
#include "model/series.h"

/* Load the series of stored runs, and telemetry, for the dashboard: in jobs with a separate
 * connection, one request at a time, in order. */
struct history;

struct history_ask {
	const char *pod;  /* telemetry of this pod (copied); NULL: series of a run */
	int64_t after_ms; /* for a pod: only later rows */
	int64_t run_id;
	uint64_t after_line; /* only samples after this line; 0: all */
	void *tag;	     /* chosen by the caller */
};

struct history_answer {
	void *tag;
	/* NULL: none.  The callback may keep a series: it then sets the pointer to NULL. */
	struct series *series[METRIC_COUNT];
	struct own_series own; /* series with printed names; may be kept the same way */
	uint64_t last_line;    /* line of the last sample; after_line: none is new */
	struct err err;	       /* ERR_NONE, or why nothing could be read */
};

/* Add a sample of the run to the series of the answer. */
void history_answer_add(struct history_answer *answer, const struct sample *sample);
/* Free the series. */
void history_answer_release(struct history_answer *answer);

/* Called on the loop; the answer is borrowed, except series that are kept. */
typedef void (*history_fn)(void *user, struct history_answer *answer);

/* path is copied; the first job opens the database. */
struct history *history_new(struct loop *loop, const char *path, history_fn fn, void *user);
/* Drop all requests; a job that runs frees itself. */
void history_free(struct history *history);
void history_read(struct history *history, const struct history_ask *ask);
