/* SPDX-License-Identifier: MIT */
#ifndef HGYM_INGEST_COLLECT_H
#define HGYM_INGEST_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "conf/conf.h"
#include "loop/loop.h"
#include "model/model.h"
#include "parsers/format.h"
#include "remote/fleet.h"
#include "transport.h"

/*
 * The collector: pods of the configuration, a follower on each, their bytes
 * into mirrors, and from there through the parsers into the model and the
 * store.  One object for the dashboard and for `collect`.  All on the loop
 * thread.
 *
 * Mirrors outlive the program.  At the start the model is filled from the
 * database, and following goes on behind each mirror's last byte.  A log whose
 * last run is not over is read again from its mirror's first byte, beside
 * that, so that its parser is where it was; one that is over only when bytes
 * of it come.  What the store has already is not added again.  So a program
 * that is killed at any moment loses and doubles nothing.
 */
struct collect;

struct collect_cb {
	/* A sentence for a person: a warning, a change of state. */
	void (*on_say)(void *user, enum model_severity severity,
		       const char *text);
	/* What only a person can answer; question->pod is the model's index.
	 * NULL: nobody is there. */
	void (*on_ask)(void *user, const struct fleet_question *question);
	/* We were the second one, and are the first one now.  May be NULL. */
	void (*on_writer)(void *user);
	void *user;
};

struct collect_options {
	struct loop *loop;
	struct model *model; /* filled; its pods are added in order */
	const struct format_set *formats;
	const struct conf *conf; /* borrowed until collect_reload */
	const char *db_path;
	struct collect_cb cb;
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
struct collect *collect_new(const struct collect_options *options,
			    struct err *err)
	__attribute__((warn_unused_result));
/*
 * Stop following, bring each log to its end as it is now, write what waits.
 * -1 with err when something could not be written.
 */
int collect_free(struct collect *collect, struct err *err);

/*
 * Take over another configuration (borrowed from now on): pods that are new
 * are followed, those that are gone are let go, the others go on as they
 * were.
 */
void collect_reload(struct collect *collect, const struct conf *conf);

/* Whether we are the one that follows and stores. */
bool collect_is_writer(const struct collect *collect);
/* Where a pod of the model is reached; *index is its number there.  NULL:
 * we only read. */
struct transport *collect_transport(struct collect *collect, size_t pod,
				    size_t *index);

/* The answer to a pod's question; see fleet_answer. */
void collect_answer(struct collect *collect, size_t pod, const char *answer);
/* Try again now. */
void collect_reconnect(struct collect *collect, size_t pod);

/* Milliseconds since anything new came, or since the start. */
int64_t collect_idle_ms(const struct collect *collect);
/*
 * Each pod's logs were looked at once and what was seen of them has come
 * (with no_follow: it answered), or it cannot be reached.
 */
bool collect_is_settled(const struct collect *collect);
/* Pods that are neither live nor silent now. */
size_t collect_unreachable(const struct collect *collect);
/* Something asked for a moment ago comes soon: look again at once. */
bool collect_is_busy(const struct collect *collect);

#endif
