/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/log_identity.h"
#include "loop/loop.h"
#include "parsers/run.h"

/* The results of parsing, in SQLite.  One process at a time writes a database (lock.h); others read
 * it.  Added rows wait in memory and are written in one transaction with the offsets up to which
 * the logs were read, so that after a crash reading continues where the rows end.  If the database
 * cannot be written (disk full, locked), the rows stay in memory and on_state reports it; the
 * caller stops reading while store_is_full(). */
struct store;

#define STORE_FLUSH_SAMPLES 256
#define STORE_FLUSH_MS	    500
#define STORE_MAX_PENDING   32768 /* waiting samples; more: store_is_full() */
#define STORE_RETRY_MS	    1000

struct store_cb {
	/* Add changed runs and offsets (store_run_put, store_log_advance). May be NULL. */
	void (*on_flush)(void *user);
	/* Writing failed (why), or works again (why is NULL).  May be NULL. */
	void (*on_state)(void *user, const struct err *why);
	/* A batch was written, so there is room for samples.  May be NULL. */
	void (*on_room)(void *user);
	void *user;
};

struct store_options {
	const char *path;
	bool read_only;	   /* do not become the writer */
	struct loop *loop; /* NULL: store_flush() writes at once */
	/* Hash of the rules by which logs are parsed.  If the database has another one, all logs
	 * that have not ended are read again from the start.  NULL: keep everything. */
	const char *rules;
	struct store_cb cb;
};

/* Open or create the database (mode 0600; its directory must exist), and become the writer unless
 * another process is.  With read_only a missing database is ERR_NODATA.  A newer schema is an
 * error; an older one is migrated (with read_only only if no process writes the database). */
struct store *store_open(const struct store_options *options, struct err *err) MUST_USE;
/* Write the waiting rows and close; -1 if some could not be written. */
int store_close(struct store *store, struct err *err);

bool store_is_writer(const struct store *store);
/* Why this process is a reader ("another hgym-tui (process 12) ..."); "" if it writes. */
const char *store_why_reader(const struct store *store);

struct store_run_id {
	int64_t id;   /* 0: none yet */
	bool has_row; /* the run has a row, in the database or waiting */
};

/* One generation of one log: the file at a path until it is truncated or replaced.  Pod, name and
 * gen are the key; name is the log's first path. */
struct store_log {
	int64_t id;
	char *pod, *name;	      /* owned; raw bytes */
	unsigned int gen;	      /* 0, 1, .. of that name */
	struct log_identity identity; /* its texts are owned */
	const char *copy;	      /* owned; path of the local copy; NULL: none */
	uint64_t offset, lines;	      /* read, see store_log_advance */
	uint64_t done_lines;	      /* samples before this line were stored already */
	/* The rows of its runs contain everything that the screen shows, none was in progress when
	 * its writer was killed, and nothing was read since the database was opened. */
	bool is_whole;
	bool is_over;	      /* is_whole, and the log's last run finished */
	int64_t last_wall_ms; /* when the last byte of its last run arrived, before opening */
	uint64_t last_line;   /* line of the last sample added */
	unsigned int seq;     /* samples in that line */
	bool dirty;
	size_t trim_runs;	   /* delete the runs from here on; SIZE_MAX: none */
	struct store_run_id *runs; /* indexed by run index */
	size_t n_runs, cap_runs;
};

/* Find or add a log; name is a new one's path. NULL for a reader. Valid until store_close(). */
struct store_log *store_log_get(struct store *store, const char *pod, const char *name,
				unsigned int gen);
/* All logs, in the order of their ids; borrowed. */
struct store_log *const *store_logs(const struct store *store, size_t *n);

/* Set how the log is recognized, and where its local copy is (NULL: none); texts are copied. */
void store_log_set_identity(struct store *store, struct store_log *log,
			    const struct log_identity *identity, const char *copy);
/* The log will be read from its first byte, perhaps again. */
void store_log_restart(struct store_log *log);
/* Everything before offset was added; `lines` complete lines end before it. */
void store_log_advance(struct store *store, struct store_log *log, uint64_t offset, uint64_t lines);

/* The log was read again and has only n runs: delete the others. */
void store_log_trim(struct store *store, struct store_log *log, size_t n);

/* The id of a run of the log, which may be new. */
int64_t store_run_id(struct store *store, struct store_log *log, unsigned int run_index);
/* Does the run have a row, in the database or waiting? */
bool store_run_has_row(const struct store_log *log, unsigned int run_index);
struct store_run_put {
	int64_t wall_ms; /* when its last byte arrived */
	bool is_live;	 /* in progress, and its log is followed */
};

/* Add or replace the row of a run.  The run gets the status that it would have if its log ended
 * here, in case no later row follows. */
void store_run_put(struct store *store, struct store_log *log, const struct run *run,
		   const struct store_run_put *how);
void store_sample_add(struct store *store, struct store_log *log, unsigned int run_index,
		      const struct sample *sample);

/* Are too many samples waiting? Then stop reading until on_room. */
bool store_is_full(const struct store *store);
/* Write the waiting rows; with a loop in a job.  -1 with err only without a loop. */
int store_flush(struct store *store, struct err *err);
/* Number of samples that wait or are being written. */
size_t store_pending(const struct store *store);
/* Pass the waiting samples of a run to fn, in the order in which they were added. */
void store_each_pending(const struct store *store, int64_t run_id,
			void (*fn)(void *user, const struct sample *sample), void *user);
