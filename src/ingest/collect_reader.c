/* SPDX-License-Identifier: MIT */
/*
 * The second one on a database: it shows what the first one stores, as it is
 * stored, and asks nothing of any pod.  When the first one is gone, however
 * it went, this one follows the pods in its place.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "ingest/collect_priv.h"
#include "store/lock.h"
#include "store/query.h"

#define LOOK_MS	   200
#define LOCK_LOOKS 10 /* so seldom the lock of a living process is tried */
#define RETRY_MS   5000

static void
look_at_rows(struct collect *c)
{
	int64_t version = store_data_version(c->history);
	struct err err = { ERR_NONE, "" };

	if (version == c->data_version)
		return;
	c->data_version = version;
	c->last_news_ms = collect_now_ms(c);
	if (collect_history_renew(c, &err) != 0)
		log_debug("collect", "%s", err.text);
}

/* Whoever wrote is gone; be the one that does, unless a third one is. */
static void
take_over(struct collect *c)
{
	struct err err = { ERR_NONE, "" };

	if (collect_become_writer(c, &err) != 0) {
		collect_say(c, MODEL_ALARM, "%s", err.text);
		loop_timer_start(c->look, RETRY_MS, LOOK_MS);
		return;
	}
	if (c->store == NULL)
		return;
	c->o.model->is_shared = false;
	loop_timer_stop(c->look);
	collect_say(c, MODEL_INFO,
		    "the hgym-tui that wrote is gone: this one follows the "
		    "pods and writes now");
	collect_add_pods(c);
	if (c->o.cb.on_writer != NULL)
		c->o.cb.on_writer(c->o.cb.user);
}

/* To try the lock is to have it for a moment: not oftener than need be. */
static bool
is_written(struct collect *c)
{
	if (c->has_writer && c->writer != 0 && c->looks++ % LOCK_LOOKS != 0 &&
	    (kill((pid_t)c->writer, 0) == 0 || errno == EPERM))
		return true;
	return lock_is_held(c->o.db_path, &c->writer);
}

static void
on_look(void *user)
{
	struct collect *c = user;
	bool held = is_written(c);

	if (c->history != NULL)
		look_at_rows(c);
	if (held == c->has_writer && (held || c->o.read_only))
		return;
	c->has_writer = c->o.model->is_shared = held;
	if (!c->o.read_only && !held)
		take_over(c);
	else if (c->history != NULL)
		(void)collect_history_again(c, NULL);
}

void
collect_reader_reload(struct collect *c)
{
	/* Without pods there was nothing to follow. */
	c->o.read_only &= c->o.conf->n_pods == 0;
	collect_history_pods(c);
	if (c->history != NULL)
		(void)collect_history_again(c, NULL);
}

void
collect_reader_start(struct collect *c)
{
	c->has_writer = lock_is_held(c->o.db_path, &c->writer);
	c->data_version = store_data_version(c->history);
	c->o.model->is_shared = c->has_writer;
	c->look = loop_timer_new(c->o.loop, on_look, c);
	loop_timer_start(c->look, LOOK_MS, LOOK_MS);
}
