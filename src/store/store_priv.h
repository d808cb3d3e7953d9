/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "store/db.h"
#include "store/pods.h"
#include "store/query.h"

/* What the files of src/store share; nobody else includes it. */

/* write.c: the tables, and the batch that is written */

/* A row of `runs`. */
struct run_row {
	int64_t id, tail_id;
	int64_t first_wall_ms, last_wall_ms;
	int64_t rev; /* of the batch that wrote it */
	bool live;
	struct run run; /* its final_class is static, its other texts its own */
};

extern const struct table log_table;	   /* struct store_log */
extern const struct table run_table;	   /* struct run_row */
extern const struct table event_table;	   /* struct run_event */
extern const struct table series_table;	   /* struct run_series */
extern const struct table pod_table;	   /* struct store_pod */
extern const struct table telemetry_table; /* struct store_telemetry */

/*
 * Names that logs printed, in one database; samples of further ones are not
 * stored.
 */
#define STORE_MAX_NAMES 32768

/*
 * A batch: rows that go into the database in one transaction.  It owns all
 * its texts, so that it can be written on another thread.
 */
struct batch_sample {
	int64_t run_id;
	int64_t metric_id; /* in the table metrics; the writer's */
	unsigned int seq;  /* of the samples of its line, 0.. */
	struct sample sample;
};

struct batch_telemetry {
	char *pod; /* owned */
	bool keep;
	struct store_telemetry row;
};

struct batch {
	struct store_log *logs; /* copies; without their runs */
	size_t n_logs, cap_logs;
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
/*
 * Free all rows; the batch is empty and usable after it.  The room of many
 * samples stays for the next batch of a backlog, until one is small.
 */
void batch_clear(struct batch *batch);
/* That too. */
void batch_release(struct batch *batch);

/* The connection that writes, and its statements. */
struct writer;

/* db is given: writer_free closes it. */
struct writer *writer_new(sqlite3 *db, struct err *err) __attribute__((warn_unused_result));
void writer_free(struct writer *writer);

/*
 * All of the batch or nothing; may be tried again after a failure.  Gives the
 * runs their rev.
 */
int writer_write(struct writer *writer, struct batch *batch, struct err *err)
	__attribute__((warn_unused_result));

/* query.c */

/*
 * How samples lie in the database.  A row of sample_rows holds up to
 * SAMPLE_SLOTS samples that follow one another in a line and agree in step and
 * times: m0 and v0, m1 and v1, .. are metric (an id of the table metrics) and
 * value, NULL where there is none; seq is that of the first.
 */
#define SAMPLE_SLOTS 4

/* Reads the samples of runs, as they were at one moment, in log order. */
struct sample_reader;

struct sample_span {
	int64_t run_id;
	uint64_t after_line; /* only what is behind it; 0: all */
	const char *metric;  /* a label (run_series.h); NULL: all */
};

/* path is for errors, borrowed as long as the reader lives. */
struct sample_reader *sample_reader_new(sqlite3 *db, const char *path, struct err *err)
	__attribute__((warn_unused_result));
void sample_reader_free(struct sample_reader *r);
/* A callback that returns other than 0 ends the walk, which returns that. */
int sample_reader_walk(struct sample_reader *r, const struct sample_span *span, stored_sample_fn fn,
		       void *user, struct err *err);

/* What waits, and who writes it. */
struct store {
	char *path;
	struct loop *loop;
	struct store_cb cb;
	int lock_fd; /* -1: someone else writes */
	char why_reader[256];
	sqlite3 *reader;       /* used on the loop thread only */
	struct writer *writer; /* used by the job while one runs; or NULL */
	struct loop_timer *timer;

	struct store_log **logs; /* owned, each stable */
	size_t n_logs, cap_logs;
	struct map log_index; /* "pod\0gen\0name" to struct store_log */
	struct buf key;
	int64_t next_log, next_run;

	size_t n_dirty; /* tails touched since the last batch */
	struct batch waiting;
	struct batch writing; /* belongs to the job while there is one */
	struct job *job;
	bool is_written; /* by the job, and why not */
	struct err write_err;
	bool armed;   /* the timer runs */
	bool failing; /* the last write failed */
	bool closing;
};

/*
 * Begin to write to the database at db_path in one transaction, from outside
 * of a store; the database is made, and brought up to date, where nobody else
 * did.  what begins the sentence of an error.  NULL with err.
 */
sqlite3 *store_begin_once(const char *db_path, const char *what, struct err *err)
	__attribute__((warn_unused_result));
/* Commit, or with rc other than 0 undo all of it; db NULL: -1. */
int store_end_once(sqlite3 *db, const char *what, int rc, struct err *err)
	__attribute__((warn_unused_result));

/* Something waits: see to it that it is written in time. */
void store_arm(struct store *store);

/* For pods.c and history.c: store_each_telemetry on that connection. */
int telemetry_walk(sqlite3 *db, const struct stored_span *span, stored_telemetry_fn fn, void *user,
		   struct err *err);
