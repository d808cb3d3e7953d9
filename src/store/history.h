/* SPDX-License-Identifier: MIT */
#pragma once

#include "loop/loop.h"
#include "model/series.h"

/*
 * Series of stored runs for the eye: read in jobs over a connection of their
 * own, one at a time in the order asked.
 */
struct history;

struct history_ask {
	const char *pod;  /* not a run: the telemetry of that pod; copied */
	int64_t after_ms; /* of a pod: only what came later */
	int64_t run_id;
	uint64_t after_line; /* only samples behind that line; 0: all */
	void *tag;	     /* the caller's */
};

struct history_answer {
	void *tag;
	/* Taken over by who sets them to NULL; NULL where there is none. */
	struct series *series[METRIC_COUNT];
	struct own_series own; /* of a run; taken over likewise */
	uint64_t last_line;    /* of the last sample; after_line: none is new */
	struct err err;	       /* ERR_NONE, or why there is nothing */
};

/* On the loop; the answer is borrowed but for its series. */
typedef void (*history_fn)(void *user, struct history_answer *answer);

/* path is copied; the database is opened by the first job. */
struct history *history_new(struct loop *loop, const char *path, history_fn fn, void *user);
/* No answer comes any more; what still runs frees itself. */
void history_free(struct history *history);
void history_read(struct history *history, const struct history_ask *ask);
