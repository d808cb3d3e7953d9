/* SPDX-License-Identifier: MIT */
/* The logs of a pod from start to end: what is to be followed, and when the
 * next stream is tried; for the collector and the UI. */
#include "config.h"

#include "remote/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/xalloc.h"
#include "remote/follow_priv.h"

#define TICK_MS	   1000
#define POLL_MS	   200
#define HEALTHY_MS 60000
#define AGAIN_MS   20	  /* the link itself waits, if it must */
#define LIMIT_MS   600000 /* a pod that wants too much is left alone */

int64_t
follow_now_ms(const struct follow *follow)
{
	const struct clock *clock = loop_clock(follow->loop);

	return clock->mono_ms(clock);
}

static void
list_set(struct follow_list *list, const char *const *items, size_t n)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->items[i]);
	free(list->items);
	list->items = n > 0 ? xcalloc(n, sizeof(*list->items)) : NULL;
	list->n = n;
	for (size_t i = 0; i < n; i++)
		list->items[i] = xstrdup(items[i]);
}

/* What the state is now, from the session and its link. */
static void
follow_look(const struct follow *follow, struct follow_status *status)
{
	const struct follow_session *session = follow->session;
	struct link_info link;

	*status = follow->status;
	if (session == NULL || session->hello)
		return;
	follow->transport->ops->link_info(follow->transport, follow->pod,
					  &link);
	if (link.state == LINK_WAITING || link.state == LINK_REFUSED) {
		status->state = link.state == LINK_WAITING ? FOLLOW_WAITING
							   : FOLLOW_REFUSED;
		status->why = link.why;
		status->retry_at_ms = link.retry_at_ms;
	}
}

void
follow_get_status(const struct follow *follow, struct follow_status *status)
{
	follow_look(follow, status);
	status->behind_bytes = 0;
	list_each (const struct follow_file, file, &follow->files, in_follow) {
		if (file->id > 0)
			status->behind_bytes += file->size - file->offset;
	}
}

void
follow_tell(struct follow *follow)
{
	struct follow_status now;

	follow_look(follow, &now);
	if (now.state == follow->told.state &&
	    now.scanned == follow->told.scanned &&
	    now.n_followed == follow->told.n_followed &&
	    now.n_matching == follow->told.n_matching &&
	    now.retry_at_ms == follow->told.retry_at_ms &&
	    strcmp(now.why.text, follow->told.why.text) == 0)
		return;
	follow->told = now;
	if (follow->cb.on_state != NULL) {
		follow_get_status(follow, &now);
		follow->cb.on_state(follow->user, &now);
	}
}

void
follow_set_state(struct follow *follow, enum follow_state state,
		 const struct err *why)
{
	follow->status.state = state;
	follow->status.since_ms = follow_now_ms(follow);
	follow->status.why = why != NULL ? *why : (struct err){ 0 };
	if (state != FOLLOW_WAITING)
		follow->status.retry_at_ms = 0;
	follow_tell(follow);
}

void
follow_plan_retry(struct follow *follow, const struct follow_session *session,
		  const struct err *why)
{
	int64_t now_ms = follow_now_ms(follow), delay_ms = AGAIN_MS;
	struct link_info link;

	follow->transport->ops->link_info(follow->transport, follow->pod,
					  &link);
	if (link.state == LINK_REFUSED) {
		follow_set_state(follow, FOLLOW_REFUSED, why);
		return;
	}
	if (session->hello && now_ms - follow->status.since_ms >= HEALTHY_MS)
		follow->failures = 0;
	/* A lost link waits by itself, for all that use it. */
	if (why->code == ERR_LIMIT) {
		delay_ms = LIMIT_MS;
	} else if (link.state != LINK_WAITING) {
		follow->failures++;
		delay_ms = backoff_ms(follow->failures);
	}
	follow->status.retry_at_ms =
		link.state == LINK_WAITING && why->code != ERR_LIMIT
			? link.retry_at_ms
			: now_ms + delay_ms;
	follow_set_state(follow, FOLLOW_WAITING, why);
	loop_timer_start(follow->retry, delay_ms, 0);
}

static void
follow_on_retry(void *user)
{
	struct follow *follow = user;

	if (follow->started && follow->session == NULL)
		follow_session_open(follow);
}

static void
follow_on_tick(void *user)
{
	struct follow *follow = user;
	struct follow_session *session = follow->session;
	int64_t now_ms = follow_now_ms(follow);
	struct link_info link;

	if (session != NULL && !session->lost) {
		follow_session_watch(session, now_ms);
	} else if (follow->status.state == FOLLOW_REFUSED && follow->started) {
		/* Someone may have had the link tried again. */
		follow->transport->ops->link_info(follow->transport,
						  follow->pod, &link);
		if (link.state != LINK_REFUSED && session == NULL)
			follow_session_open(follow);
	}
	follow_tell(follow);
}

struct follow *
follow_new(const struct follow_options *options)
{
	struct follow *follow = xcalloc(1, sizeof(*follow));

	follow->loop = options->loop;
	follow->transport = options->transport;
	follow->pod = options->pod;
	follow->poll_ms = options->poll_ms > 0 ? options->poll_ms : POLL_MS;
	follow->variant = options->variant;
	follow->cb = options->cb;
	follow->user = options->user;
	follow->status.state = follow->told.state = FOLLOW_STOPPED;
	follow->status.lag_ms = -1;
	follow->new_ms = follow_now_ms(follow);
	list_init(&follow->files);
	map_init(&follow->generations);
	follow->tick = loop_timer_new(follow->loop, follow_on_tick, follow);
	follow->retry = loop_timer_new(follow->loop, follow_on_retry, follow);
	return follow;
}

void
follow_free(struct follow *follow)
{
	if (follow == NULL)
		return;
	loop_timer_close(follow->tick);
	loop_timer_close(follow->retry);
	if (follow->session != NULL) {
		follow->session->follow = NULL;
		follow->transport->ops->cancel(follow->session->stream);
		follow->session = NULL;
	}
	follow_files_release(follow);
	list_set(&follow->globs, NULL, 0);
	list_set(&follow->names, NULL, 0);
	free(follow);
}

void
follow_start(struct follow *follow, const char *const *globs, size_t n_globs,
	     const char *const *files, size_t n_files)
{
	list_set(&follow->globs, globs, n_globs);
	list_set(&follow->names, files, n_files);
	if (follow->started) {
		if (follow->session != NULL && !follow->session->lost)
			follow_session_list(follow->session);
		return;
	}
	follow->started = true;
	loop_timer_start(follow->tick, TICK_MS, TICK_MS);
	if (follow->session == NULL)
		loop_timer_start(follow->retry, 0, 0);
}

void
follow_stop(struct follow *follow)
{
	if (!follow->started)
		return;
	follow->started = false;
	loop_timer_stop(follow->tick);
	loop_timer_stop(follow->retry);
	if (follow->session != NULL)
		follow_session_lose(follow->session, &(struct err){ 0 });
	else
		follow_set_state(follow, FOLLOW_STOPPED, NULL);
}

void
follow_set_quiet(struct follow *follow, bool quiet)
{
	if (follow->quiet == quiet)
		return;
	follow->quiet = quiet;
	if (follow->session == NULL || follow->session->lost)
		return;
	buf_appendf(&follow->session->out, "Q %d\n", quiet);
	/* What was not looked for in quiet times is looked for now. */
	if (!quiet)
		follow_session_list(follow->session);
	else
		follow_session_flush(follow->session);
}

void
follow_resume(struct follow *follow)
{
	struct follow_session *session = follow->session;

	if (session == NULL || !session->paused)
		return;
	session->paused = false;
	follow->status.last_byte_ms = follow_now_ms(follow);
	follow->transport->ops->resume(session->stream);
}

void
follow_retry(struct follow *follow)
{
	if (!follow->started)
		return;
	follow->transport->ops->reconnect(follow->transport, follow->pod);
	if (follow->session == NULL)
		loop_timer_start(follow->retry, 0, 0);
}
