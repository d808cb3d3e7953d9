/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_WRITE_H
#define HGYM_STORE_WRITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "parsers/run.h"
#include "store/pods.h"

/*
 * A batch: rows that go into the database in one transaction.  It owns all
 * its strings, so that it can be written on another thread.
 */
struct batch_tail {
	int64_t id;
	char *pod, *name, *path, *mirror, *real; /* owned */
	struct cksum sum;
	bool ended;
	unsigned int gen;
	uint64_t dev, inode, offset, lines, stamp;
	size_t trim_runs; /* remove runs from this index on; SIZE_MAX: none */
};

struct batch_run {
	int64_t id, tail_id, wall_ms;
	bool live;
	struct run run; /* owned */
};

struct batch_sample {
	int64_t run_id;
	unsigned int seq; /* of the samples of its line, 0.. */
	struct sample sample;
};

struct batch_pod {
	char *name, *target, *state, *why, *gpu; /* owned */
	int64_t lag_ms, seen_ms;
	double disk_free_bytes;
};

struct batch_telemetry {
	char *pod; /* owned */
	bool keep;
	struct store_telemetry row;
};

struct batch {
	struct batch_tail *tails;
	size_t n_tails, cap_tails;
	struct batch_run *runs;
	size_t n_runs, cap_runs;
	struct batch_sample *samples;
	size_t n_samples, cap_samples;
	struct batch_pod *pods;
	size_t n_pods, cap_pods;
	struct batch_telemetry *telemetry;
	size_t n_telemetry, cap_telemetry;
	char *prune_pod;  /* owned; its old telemetry goes; NULL: of none */
	int64_t prune_ms; /* the time now */
};

/* Free what it owns. */
void batch_pod_release(struct batch_pod *row);

bool batch_is_empty(const struct batch *batch);
/* Free all rows; the batch is empty and usable after it. */
void batch_clear(struct batch *batch);

/* For pods.c and history.c: store_each_telemetry on that connection. */
int telemetry_walk(sqlite3 *db, const struct stored_span *span,
		   stored_telemetry_fn fn, void *user, struct err *err);

/* The connection that writes, and its statements. */
struct writer;

/* db is given: writer_free closes it. */
struct writer *writer_new(sqlite3 *db, struct err *err)
	__attribute__((warn_unused_result));
void writer_free(struct writer *writer);

/* All of the batch or nothing; may be tried again after a failure. */
int writer_write(struct writer *writer, const struct batch *batch,
		 struct err *err) __attribute__((warn_unused_result));

#endif
