/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_WRITE_H
#define HGYM_STORE_WRITE_H

#include "parsers/run.h"
#include "store/db.h"
#include "store/pods.h"
#include "store/store.h"

/* Which member lies in which column, for the rows that are read and written. */

/* A row of `runs`. */
struct run_row {
	int64_t id, tail_id;
	int64_t first_wall_ms, last_wall_ms;
	int64_t rev; /* of the batch that wrote it */
	bool live;
	struct run run; /* its final_class is static, its other texts its own */
};

extern const struct table tail_table;	   /* struct store_tail */
extern const struct table run_table;	   /* struct run_row */
extern const struct table event_table;	   /* struct run_event */
extern const struct table pod_table;	   /* struct store_pod */
extern const struct table telemetry_table; /* struct store_telemetry */

/*
 * A batch: rows that go into the database in one transaction.  It owns all
 * its texts, so that it can be written on another thread.
 */
struct batch_sample {
	int64_t run_id;
	unsigned int seq; /* of the samples of its line, 0.. */
	struct sample sample;
};

struct batch_telemetry {
	char *pod; /* owned */
	bool keep;
	struct store_telemetry row;
};

struct batch {
	struct store_tail *tails; /* copies; without their runs */
	size_t n_tails, cap_tails;
	struct run_row *runs;
	size_t n_runs, cap_runs;
	struct batch_sample *samples;
	size_t n_samples, cap_samples;
	struct store_pod *pods;
	size_t n_pods, cap_pods;
	struct batch_telemetry *telemetry;
	size_t n_telemetry, cap_telemetry;
	char *prune_pod;  /* owned; its old telemetry goes; NULL: of none */
	int64_t prune_ms; /* the time now */
};

bool batch_is_empty(const struct batch *batch);
/* Free all rows; the batch is empty and usable after it. */
void batch_clear(struct batch *batch);

/* The connection that writes, and its statements. */
struct writer;

/* db is given: writer_free closes it. */
struct writer *writer_new(sqlite3 *db, struct err *err)
	__attribute__((warn_unused_result));
void writer_free(struct writer *writer);

/*
 * All of the batch or nothing; may be tried again after a failure.  Gives the
 * runs their rev.
 */
int writer_write(struct writer *writer, struct batch *batch, struct err *err)
	__attribute__((warn_unused_result));

#endif
