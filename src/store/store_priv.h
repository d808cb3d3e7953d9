/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_STORE_PRIV_H
#define HGYM_STORE_STORE_PRIV_H

#include "base/buf.h"
#include "base/map.h"
#include "store/store.h"
#include "store/write.h"

/* Inside of struct store; for src/store alone. */
struct store {
	char *path;
	struct loop *loop;
	struct store_cb cb;
	int lock_fd; /* -1: someone else writes */
	char why_reader[256];
	sqlite3 *reader;       /* used on the loop thread only */
	struct writer *writer; /* used by the job while one runs; or NULL */
	struct loop_timer *timer;

	struct store_tail **tails; /* owned, each stable */
	size_t n_tails, cap_tails;
	struct map tail_index; /* "pod\0gen\0name" to struct store_tail */
	struct buf key;
	int64_t next_tail, next_run;

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
sqlite3 *store_begin_once(const char *db_path, const char *what,
			  struct err *err) __attribute__((warn_unused_result));
/* Commit, or with rc other than 0 undo all of it; db NULL: -1. */
int store_end_once(sqlite3 *db, const char *what, int rc, struct err *err)
	__attribute__((warn_unused_result));

/* queue.c: tails, and what waits to be written */

/* Take up a tail; the texts of row are given. */
struct store_tail *store_tail_add(struct store *store,
				  const struct store_tail *row);
void store_set_run_id(struct store_tail *tail, size_t run_index, int64_t id);
/* Something waits: see to it that it is written in time. */
void store_arm(struct store *store);
/* Write all that waits, also what a job is writing; nothing runs after it. */
int store_flush_last(struct store *store, struct err *err);

struct stored_span;
/* For pods.c and history.c: store_each_telemetry on that connection. */
int telemetry_walk(sqlite3 *db, const struct stored_span *span,
		   stored_telemetry_fn fn, void *user, struct err *err);

#endif
