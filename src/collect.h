/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_COLLECT_H
#define HGYM_SRC_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "conf.h"
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
 * Mirrors outlive the program.  At the start each is read again from its
 * first byte, so that model and parsers are where they were, and following
 * goes on behind its last byte; what the store has already is not added
 * again.  So a program that is killed at any moment loses and doubles
 * nothing.
 */
struct collect;

struct collect_cb {
	/* A sentence for a person: a warning, a change of state. */
	void (*on_say)(void *user, enum model_severity severity,
		       const char *text);
	/* What only a person can answer; question->pod is the model's index.
	 * NULL: nobody is there. */
	void (*on_ask)(void *user, const struct fleet_question *question);
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
};

/*
 * Opens the store and begins to connect.  Someone else who writes the
 * database already: follows without storing, and says so once.
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

/* Where a pod of the model is reached; *index is its number there. */
struct transport *collect_transport(struct collect *collect, size_t pod,
				    size_t *index);

/* The answer to a pod's question; see fleet_answer. */
void collect_answer(struct collect *collect, size_t pod, const char *answer);
/* Try again now. */
void collect_reconnect(struct collect *collect, size_t pod);

/*
 * A bench begins (or ends) on the pod: while it runs nothing else is done
 * there, no log but `log` (may be NULL) is looked at, no nvidia-smi runs.
 */
void collect_quiet(struct collect *collect, size_t pod, bool quiet,
		   const char *log);

/* Milliseconds since anything new came, or since the start. */
int64_t collect_idle_ms(const struct collect *collect);
/*
 * Each pod's logs were looked at once (with no_follow: it answered), or it
 * cannot be reached.
 */
bool collect_is_settled(const struct collect *collect);
/* Pods that are neither live nor silent now. */
size_t collect_unreachable(const struct collect *collect);
/* NULL while the database is not open for writing by us. */
struct store *collect_store(struct collect *collect);

#endif
