/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "store/db.h"
#include "store/pods.h"
#include "store/query.h"

/* Shared by the files of src/store only. */

/* write.c: tables and batches */

/* A row of `runs`. */
struct run_row {
	int64_t id, tail_id;
	int64_t first_wall_ms, last_wall_ms;
	int64_t rev;	/* number of the batch that wrote the row */
	int live;	/* 1: in progress; -1: was in progress when its writer was killed */
	struct run run; /* owns its texts, except final_class, which is static */
};

extern const struct table log_table;	   /* struct store_log */
extern const struct table run_table;	   /* struct run_row */
extern const struct table event_table;	   /* struct run_event */
extern const struct table series_table;	   /* struct run_series */
extern const struct table pod_table;	   /* struct store_pod */
extern const struct table telemetry_table; /* struct store_telemetry */

/* Names printed by logs; samples of further names are not stored. */
#define STORE_MAX_NAMES 32768

/* Rows for one transaction.  A batch owns its texts, so that another thread can write it. */
struct batch_sample {
	int64_t run_id;
	int64_t metric_id;  /* id in the table metrics; set by the writer */
	unsigned int seq;   /* number of the sample in its line, from 0 */
	unsigned int n_row; /* samples of its row, if it is the first one; set by the writer */
	struct sample sample;
};

struct batch_telemetry {
	char *pod; /* owned */
	bool keep;
	struct store_telemetry row;
};

struct batch {
	struct store_log *logs; /* copies, without runs */
	size_t n_logs, cap_logs;
	struct run_row *runs;
	size_t n_runs, cap_runs;
	struct batch_sample *samples;
	size_t n_samples, cap_samples;
	struct store_pod *pods;
	size_t n_pods, cap_pods;
	struct batch_telemetry *telemetry;
	size_t n_telemetry, cap_telemetry;
	char *prune_pod;  /* owned; delete the old telemetry of this pod; NULL: none */
	int64_t prune_ms; /* current time; wall clock */
};

bool batch_is_empty(const struct batch *batch);
/* Free all rows, but keep the memory of many samples for the next batch. */
void batch_clear(struct batch *batch);
/* Free all rows, and the memory for samples too. */
void batch_release(struct batch *batch);

/* The writing connection and its statements. */
struct writer;

/* Takes over db: writer_free() closes it. */
struct writer *writer_new(sqlite3 *db, struct err *err) MUST_USE;
void writer_free(struct writer *writer);

/* Write the whole batch or nothing; may be repeated after a failure.  Sets the rev of the runs. */
int writer_write(struct writer *writer, struct batch *batch, struct err *err) MUST_USE;

/* query.c */

/* A row of sample_rows has up to SAMPLE_SLOTS consecutive samples of a line with the same step and
 * times: m0 and v0, .. are metric (an id of the table metrics) and value; seq is of the first. */
#define SAMPLE_SLOTS 4

/* Reads the samples of a run, in the order of its log. */
struct sample_reader;

struct sample_span {
	int64_t run_id;
	uint64_t after_line; /* only samples after this line; 0: all */
	const char *metric;  /* a label (run_series.h); NULL: all */
};

/* path is for error messages; borrowed while the reader exists. */
struct sample_reader *sample_reader_new(sqlite3 *db, const char *path, struct err *err) MUST_USE;
void sample_reader_free(struct sample_reader *r);
/* Pass the samples of the span to fn until it returns something other than 0; returns that. */
int sample_reader_walk(struct sample_reader *r, const struct sample_span *span, stored_sample_fn fn,
		       void *user, struct err *err);

struct store {
	char *path;
	struct loop *loop;
	struct store_cb cb;
	int lock_fd; /* -1: another process writes */
	char why_reader[256];
	sqlite3 *reader;       /* used on the loop thread only */
	struct writer *writer; /* belongs to the job while one runs; NULL: this is a reader */
	struct loop_timer *timer;

	struct store_log **logs; /* owned, each stable */
	size_t n_logs, cap_logs;
	struct map log_index; /* "pod\0gen\0name" to struct store_log */
	struct buf key;
	int64_t next_log, next_run;

	size_t n_dirty; /* number of logs that changed since the last batch */
	struct batch waiting;
	struct batch writing; /* belongs to the job while one runs */
	struct job *job;
	bool is_written; /* result of the job */
	struct err write_err;
	bool armed;   /* the timer is running */
	bool failing; /* the last write failed */
	bool closing;
};

/* Start a transaction that writes to the database without being its writer; creates and migrates
 * the database if necessary.  Error messages start with `what`.  NULL with err. */
sqlite3 *store_begin_once(const char *db_path, const char *what, struct err *err) MUST_USE;
/* Commit, or roll back if rc is not 0, and close.  -1 if db is NULL. */
int store_end_once(sqlite3 *db, const char *what, int rc, struct err *err) MUST_USE;

/* Rows were added: write them after STORE_FLUSH_MS, or at once if they are many. */
void store_arm(struct store *store);

/* store_each_telemetry() with another connection; for pods.c and history.c. */
int telemetry_walk(sqlite3 *db, const struct stored_span *span, stored_telemetry_fn fn, void *user,
		   struct err *err);
