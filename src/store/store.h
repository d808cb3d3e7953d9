/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/log_identity.h"
#include "loop/loop.h"
#include "parsers/run.h"

/*
 * What was read, in SQLite.  One program writes a database at a time (a lock
 * beside it); others read it.  What is added waits in memory and is written
 * in one transaction with the offsets that it came from, so that after a
 * crash the log is read again from an offset that fits the rows.  A database
 * that cannot be written (disk full, locked) keeps what waits and says so;
 * the caller pauses its reading while store_is_full.
 */
struct store;

#define STORE_FLUSH_SAMPLES 256
#define STORE_FLUSH_MS	    500
#define STORE_MAX_PENDING   65536 /* samples that wait before it is full */
#define STORE_RETRY_MS	    1000

struct store_cb {
	/*
	 * A batch is about to be made: put the runs and offsets that changed
	 * (store_run_put, store_log_advance).  May be NULL.
	 */
	void (*on_flush)(void *user);
	/* Writing failed (why), or works again (NULL).  May be NULL. */
	void (*on_state)(void *user, const struct err *why);
	/* A batch was written: there is room.  May be NULL. */
	void (*on_room)(void *user);
	void *user;
};

struct store_options {
	const char *path;
	bool read_only;	   /* do not become the writer */
	struct loop *loop; /* NULL: every flush is made at once, here */
	/*
	 * By which rules logs are read now.  Where the database was written by
	 * other ones, the series of all logs that have not ended are forgotten:
	 * they are to be read again from their first byte.  NULL: as ever.
	 */
	const char *rules;
	struct store_cb cb;
};

/*
 * Open or make the database (mode 0600; its folder must exist).  It becomes
 * the writer when no one else is.  With read_only a missing database is
 * ERR_NODATA.  One of a newer schema is refused, one of an older schema is
 * brought up to date (with read_only too, when no one else writes).
 */
struct store *store_open(const struct store_options *options, struct err *err)
	__attribute__((warn_unused_result));
/* Writes what waits, waits for it; -1 when something could not be written. */
int store_close(struct store *store, struct err *err);

bool store_is_writer(const struct store *store);
/* Why it does not write ("another hgym-tui (process 12) ..."); "" else. */
const char *store_why_reader(const struct store *store);

/* A run of a tail. */
struct store_run_id {
	int64_t id;   /* 0: none yet */
	bool has_row; /* stored, or in what waits to be */
};

/*
 * One generation of one log file: what lies at a path until the file is cut
 * or replaced.  It is known by pod, name and gen; path is where it lies now.
 */
struct store_log {
	int64_t id;
	char *pod, *name;	      /* owned; raw bytes */
	unsigned int gen;	      /* 0, 1, .. of that name */
	struct log_identity identity; /* its texts are owned */
	const char *copy;	      /* owned; path of the local copy; NULL: none */
	uint64_t offset, lines;	      /* as last advanced; at open: as committed */
	uint64_t done_lines;	      /* samples before this line are stored; at open,
					 or as of store_log_restart */
	/* It has runs, their rows hold all that a screen shows of them, and
	 * nothing came since the database was opened. */
	bool is_whole;
	bool is_over;	      /* and its last run had finished */
	int64_t last_wall_ms; /* at open: of its last run's last byte */
	uint64_t last_line;   /* of the last sample added */
	unsigned int seq;     /* samples of that line so far */
	bool dirty;
	size_t trim_runs;	   /* of store_log_trim; SIZE_MAX: nothing to do */
	struct store_run_id *runs; /* by run index */
	size_t n_runs, cap_runs;
};

/*
 * The tail of that generation; made when it is new, with name as its path.
 * NULL when the store does not write.  Stable until store_close.
 */
struct store_log *store_log_get(struct store *store, const char *pod, const char *name,
				unsigned int gen);
/* All tails, in the order of their ids; borrowed. */
size_t store_log_count(const struct store *store);
const struct store_log *store_log_at(const struct store *store, size_t i);

void store_log_set_identity(struct store *store, struct store_log *log,
			    const struct log_identity *identity, const char *copy);
/* Its log is read from its first byte now, perhaps once more. */
void store_log_restart(struct store_log *log);
/* All before offset (and the whole lines before it) has been added. */
void store_log_advance(struct store *store, struct store_log *log, uint64_t offset, uint64_t lines);

/* All of it was read again: it holds n runs; what is stored beyond goes. */
void store_log_trim(struct store *store, struct store_log *log, size_t n);

/* The id of that run of the file; given out when it is new. */
int64_t store_run_id(struct store *store, struct store_log *log, unsigned int run_index);
/* Is there a row of it, or one in what waits to be written? */
bool store_run_has_row(const struct store_log *log, unsigned int run_index);
/* How a run is put. */
struct store_run_put {
	int64_t wall_ms; /* when its last byte came */
	bool is_live;	 /* its log is followed, and it is not over */
};

/*
 * What the run's log says, its status as if the log ended here (so that it
 * is true also when nobody can correct it any more).
 */
void store_run_put(struct store *store, struct store_log *log, const struct run *run,
		   const struct store_run_put *how);
void store_sample_add(struct store *store, struct store_log *log, unsigned int run_index,
		      const struct sample *sample);

/* No more should be read until on_state says that writing works again. */
bool store_is_full(const struct store *store);
/* Write what waits; with a loop: soon, in a job.  -1 only without a loop. */
int store_flush(struct store *store, struct err *err);
/* Samples that wait or are being written. */
size_t store_pending(const struct store *store);
/* The samples of that run among them, in the order they were added. */
void store_each_pending(const struct store *store, int64_t run_id,
			void (*fn)(void *user, const struct sample *sample), void *user);
