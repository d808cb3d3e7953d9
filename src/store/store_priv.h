/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_STORE_PRIV_H
#define HGYM_STORE_STORE_PRIV_H

#include <sqlite3.h>

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
	struct batch writing; /* belongs to the job while busy */
	bool busy;	      /* a job runs */
	bool armed;	      /* the timer runs */
	bool failing;	      /* the last write failed */
	bool closing;
	struct err write_err; /* of the job */
};

/* Open a connection; *db is NULL after a failure. */
int store_open_db(const char *path, bool write, sqlite3 **db, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Write to the database at db_path in one transaction, from outside of a
 * store: write(db, user, err) returns 0, or -1 and all of it is undone.  The
 * database is made, and brought up to date, where nobody else did.  what
 * begins the sentence of an error.
 */
int store_write_once(const char *db_path, const char *what,
		     int (*write)(sqlite3 *db, const void *user,
				  struct err *err),
		     const void *user, struct err *err)
	__attribute__((warn_unused_result));
/* Give everything back; nothing is written. */
void store_free(struct store *store);

/* Something waits: see to it that it is written in time. */
void store_arm(struct store *store);
void store_touch_tail(struct store *store, struct store_tail *tail);

#endif
