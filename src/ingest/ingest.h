/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "model/model.h"
#include "remote/fleet.h"

/* The pipeline: it follows logs on pods and on this machine, parses them, and passes the results
 * to the model and the store.  The dashboard, the demo, `collect` and `pods` each use one.  All
 * functions run on the loop's thread.
 *
 * The follower of a pod appends the bytes of its logs to local copies, which outlive the program;
 * a reader parses the local file.  A log on this machine is parsed in place.  Each log has three
 * offsets: how many of its bytes were fetched, parsed and stored.  What remains to be done follows
 * from comparing them.  Samples and the stored offset are committed in one transaction, so a
 * program that is killed at any moment neither loses nor repeats a sample. */
struct ingest;

struct ingest_cb {
	/* A message for the user: a warning, or a change of state. */
	void (*on_notice)(void *user, enum model_severity severity, const char *text);
	/* A question to the user; question->pod is an index in the model. May be NULL. */
	void (*on_ask)(void *user, const struct fleet_question *question);
	/* This process was a reader of the database and is now the writer.  May be NULL. */
	void (*on_writer)(void *user);
	void *user;
};

struct ingest_options {
	/* NULL: set later by ingest_use_loop(), or never: the caller uses ingest_poll(). */
	struct loop *loop;
	const struct clock *clock; /* NULL: the real clock */
	struct model *model;	   /* receives the pods, in the order of conf, and the runs */
	const struct format_set *formats;
	const struct conf *conf; /* borrowed until ingest_reload(); NULL: no pods */
	const char *db_path;	 /* NULL: nothing is stored */
	const char
		*copies_path; /* parent directory of the local copies; NULL: the state directory */
	struct ingest_cb cb;
	bool keep_view;	 /* also pass log lines and series to the model */
	bool accept_new; /* accept unknown host keys */
	bool must_write; /* fail if another process writes the database */
	bool no_follow;	 /* connections and telemetry only: for `pods` */
	bool read_only;	 /* show stored data, never write or follow */
};

/* Open the store and connect.  While another process writes the database, show what it stores and
 * contact no pod; when it exits, this one takes over (on_writer). */
struct ingest *ingest_new(const struct ingest_options *options, struct err *err) MUST_USE;
/* Read each log to its current end and write the waiting rows; -1 if some could not be written. */
int ingest_free(struct ingest *ingest, struct err *err);

/* Add a log on this machine to a pod of the model. It is read while it grows; a file that is
 * replaced or truncated continues as the next generation. live: a program still writes the file;
 * otherwise the log ends here, unless it was modified in the last ten minutes. */
int ingest_add_file(struct ingest *ingest, size_t pod, const char *path, bool live,
		    struct err *err) MUST_USE;
/* Use this loop from now on, also to read the logs on this machine. */
void ingest_use_loop(struct ingest *ingest, struct loop *loop);
/* Without a loop: parse more of the logs that have new bytes. Returns true if more is left. */
bool ingest_poll(struct ingest *ingest);

/* Switch to another configuration (borrowed from now on); pods of both stay connected. */
void ingest_reload(struct ingest *ingest, const struct conf *conf);

/* Is this the process that follows the pods and writes the database? */
bool ingest_is_writer(const struct ingest *ingest);
/* The transport to a pod of the model; sets its index there. NULL: not connected to the pod. */
struct transport *ingest_transport(struct ingest *ingest, size_t pod, size_t *index);

/* Answer a pod's question; see fleet_answer. */
void ingest_answer(struct ingest *ingest, size_t pod, const char *answer);
/* Try to connect again now. */
void ingest_reconnect(struct ingest *ingest, size_t pod);

/* Milliseconds since the last new data, or since the start. */
int64_t ingest_idle_ms(const struct ingest *ingest);
/* Has each reachable pod reported its logs once (no_follow: answered), and is all of it parsed? */
bool ingest_is_settled(const struct ingest *ingest);
/* Number of pods that are neither live nor silent now. */
size_t ingest_unreachable(const struct ingest *ingest);
/* Number of pods on which no file matches the log patterns. */
size_t ingest_without_logs(const struct ingest *ingest);
/* Is a request for series unanswered? The answer arrives within moments: redraw soon. */
bool ingest_is_busy(const struct ingest *ingest);
