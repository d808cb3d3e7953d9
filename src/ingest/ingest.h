/* SPDX-License-Identifier: MIT */
#pragma once

#include "conf/conf.h"
#include "model/model.h"
#include "remote/fleet.h"

/*
 * The way of a byte: logs of pods, and logs of this machine, through the
 * parsers into the model and the store.  One object for the dashboard, the
 * demonstration, `collect` and `pods`.  All on the loop thread.
 *
 * A fetcher only appends to spool files; a reader only tails local files.  The
 * follower of a pod fetches its logs into spools, which outlive the program; a
 * log of this machine is its own spool.  Each log has three offsets: what was
 * fetched, parsed and stored of it; what there is to do is a comparison of
 * them.  Samples and the stored offset are written in one transaction, so a
 * program that is killed at any moment loses and doubles nothing.
 */
struct ingest;

struct ingest_cb {
	/* A sentence for a person: a warning, a change of state. */
	void (*on_say)(void *user, enum model_severity severity, const char *text);
	/* What only a person can answer; question->pod is the model's index.
	 * NULL: nobody is there. */
	void (*on_ask)(void *user, const struct fleet_question *question);
	/* We were the second one, and are the first one now.  May be NULL. */
	void (*on_writer)(void *user);
	void *user;
};

struct ingest_options {
	/* NULL: none yet (ingest_use_loop), or none at all (ingest_poll). */
	struct loop *loop;
	const struct clock *clock; /* NULL: the loop's */
	struct model *model;	   /* filled; its pods are added in order */
	const struct format_set *formats;
	const struct conf *conf; /* borrowed until ingest_reload; NULL: no pods
				  */
	const char *db_path;	 /* NULL: nothing is stored */
	const char *spool_path;	 /* folder; NULL: the one of our state */
	struct ingest_cb cb;
	bool keep_view;	 /* log lines and series go to the model too */
	bool accept_new; /* take unknown host keys */
	bool must_write; /* it is an error not to be the writer */
	bool no_follow;	 /* links and telemetry only: for `pods` */
	bool read_only;	 /* show what is stored, never write or follow */
};

/*
 * Opens the store and begins to connect.  Where someone else writes the
 * database already, the model shows what that one stores, and no pod is asked
 * for anything; this is said once.  When that one is gone, we take its place
 * (on_writer).
 */
struct ingest *ingest_new(const struct ingest_options *options, struct err *err)
	__attribute__((warn_unused_result));
/*
 * Stop following, bring each log to its end as it is now, write what waits.
 * -1 with err when something could not be written.
 */
int ingest_free(struct ingest *ingest, struct err *err);

/*
 * Add a log of this machine to a pod of the model; it is read as it grows, and
 * as another one when it is replaced or cut.  live: it is still written;
 * otherwise its end is the log's end unless it was touched in the last ten
 * minutes.
 */
int ingest_add_file(struct ingest *ingest, size_t pod, const char *path, bool live, struct err *err)
	__attribute__((warn_unused_result));
/* Logs of this machine are read by that loop from now on. */
void ingest_use_loop(struct ingest *ingest, struct loop *loop);
/* Without a loop: read what is new, a piece of each; true: there is more. */
bool ingest_poll(struct ingest *ingest);

/*
 * Take over another configuration (borrowed from now on): pods that are new
 * are followed, those that are gone are let go, the others go on as they
 * were.
 */
void ingest_reload(struct ingest *ingest, const struct conf *conf);

/* Whether we are the one that follows and stores. */
bool ingest_is_writer(const struct ingest *ingest);
/* Where a pod of the model is reached; *index is its number there.  NULL:
 * we only read. */
struct transport *ingest_transport(struct ingest *ingest, size_t pod, size_t *index);

/* The answer to a pod's question; see fleet_answer. */
void ingest_answer(struct ingest *ingest, size_t pod, const char *answer);
/* Try again now. */
void ingest_reconnect(struct ingest *ingest, size_t pod);

/* Milliseconds since anything new came, or since the start. */
int64_t ingest_idle_ms(const struct ingest *ingest);
/*
 * Each pod's logs were looked at once, and what was seen of them was read
 * (with no_follow: it answered), or it cannot be reached.
 */
bool ingest_is_settled(const struct ingest *ingest);
/* Pods that are neither live nor silent now. */
size_t ingest_unreachable(const struct ingest *ingest);
/* Something asked for a moment ago comes soon: look again at once. */
bool ingest_is_busy(const struct ingest *ingest);
