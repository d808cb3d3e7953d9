/* SPDX-License-Identifier: MIT */
/* A pod's follower from start to end: started, fed with what we have, pinged,
 * given up when silent, started again; for the collector and the UI. */
#include "config.h"

#include "remote/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "remote/follow_priv.h"

#define TICK_MS		  1000
#define POLL_MS		  200
#define PING_MS		  5000
#define SILENCE_MS	  15000 /* then a stream is dead */
#define HELLO_MS	  20000 /* on a link that is live */
#define HEALTHY_MS	  60000
#define BACKOFF_FIRST_MS  500
#define BACKOFF_MOST_MS	  30000
#define AGAIN_MS	  20 /* the link itself waits, if it must */
#define COMMAND_MAX_BYTES (256U * 1024)
#define LIST_MAX_BYTES	  (1000U * 1000)

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
look(const struct follow *follow, struct follow_status *status)
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
	look(follow, status);
	status->behind_bytes = 0;
	list_for_each (at, &follow->files) {
		const struct follow_file *file =
			list_entry(at, struct follow_file, in_follow);

		if (file->live)
			status->behind_bytes += file->size - file->guard.offset;
	}
}

void
follow_tell(struct follow *follow)
{
	struct follow_status now;

	look(follow, &now);
	if (now.state == follow->told.state &&
	    now.scanned == follow->told.scanned &&
	    now.retry_at_ms == follow->told.retry_at_ms &&
	    strcmp(now.why.text, follow->told.why.text) == 0)
		return;
	follow->told = now;
	if (follow->cb.on_state != NULL) {
		follow_get_status(follow, &now);
		follow->cb.on_state(follow->user, &now);
	}
}

static void
set_state(struct follow *follow, enum follow_state state, const struct err *why)
{
	follow->status.state = state;
	follow->status.since_ms = follow_now_ms(follow);
	follow->status.why = why != NULL ? *why : (struct err){ 0 };
	if (state != FOLLOW_WAITING)
		follow->status.retry_at_ms = 0;
	follow_tell(follow);
}

/* Give the stream up; on_close goes on with it. */
static void
lose(struct follow_session *session, const struct err *why)
{
	struct transport *transport = session->follow->transport;

	if (session->lost)
		return;
	session->lost = true;
	session->why = *why;
	transport->ops->cancel(session->stream);
}

static void
say(struct follow_session *session, struct str text)
{
	struct transport *transport = session->follow->transport;
	struct err err = { ERR_NONE, "" };

	if (transport->ops->write(session->stream, text.p, text.len, &err))
		lose(session, &err);
}

static void
append_list(struct buf *out, char letter, const struct follow_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		buf_appendf(out, "%c ", letter);
		follow_wire_escape(out, str_from(list->items[i]));
		buf_append_char(out, '\n');
	}
}

/* What is to be followed, and with `have` what we have of it. */
static void
say_list(struct follow_session *session, bool have)
{
	struct follow *follow = session->follow;
	struct buf out;

	buf_init(&out, LIST_MAX_BYTES);
	if (have) {
		buf_appendf(&out, "I %d\n", follow->poll_ms);
		follow_files_tell(follow, &out);
	}
	append_list(&out, 'G', &follow->globs);
	append_list(&out, 'F', &follow->names);
	if (have && follow->quiet)
		buf_append_str(&out, "Q 1\n");
	buf_append_str(&out, "GO\n");
	if (out.truncated) {
		struct err err;

		err_set(&err, ERR_LIMIT,
			"the list of logs is longer than %u bytes",
			LIST_MAX_BYTES);
		lose(session, &err);
	} else {
		say(session, (struct str){ out.data, out.len });
	}
	buf_release(&out);
}

static void
ping(struct follow_session *session)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "P %" PRIu64 "\n",
			 ++session->ping_seq);

	session->ping_ms = follow_now_ms(session->follow);
	session->ping_open = true;
	say(session, (struct str){ text, (size_t)n });
}

static void
on_hello(struct follow_session *session, const struct frame *frame)
{
	struct follow *follow = session->follow;

	session->hello = true;
	follow->status.python = frame->python;
	set_state(follow, FOLLOW_LIVE, NULL);
	ping(session);
}

static void
on_beat(struct follow_session *session, const struct frame *frame)
{
	struct follow *follow = session->follow;

	if (!session->ping_open || frame->seq != session->ping_seq)
		return;
	session->ping_open = false;
	follow->status.lag_ms = follow_now_ms(follow) - session->ping_ms;
}

/* Take one frame; -1 with err when it is not true, 1 when it is not whole. */
static int
take_frame(struct follow_session *session, const struct frame *frame,
	   struct str *in, struct err *err)
{
	size_t taken;

	if (frame->type == FRAME_HELLO) {
		on_hello(session, frame);
		return 0;
	}
	if (frame->type == FRAME_BEAT) {
		on_beat(session, frame);
		return 0;
	}
	if (follow_files_take(session, frame, &taken, err))
		return -1;
	if (frame->type == FRAME_DATA || frame->type == FRAME_PREVIEW)
		frame_take(&session->reader, in, taken);
	if (frame->type == FRAME_SCANNED)
		follow_tell(session->follow);
	return taken < frame->data.len;
}

static size_t
on_data(void *user, const void *data, size_t len)
{
	struct follow_session *session = user;
	struct str in = { data, len };
	struct frame frame;
	struct err err = { ERR_NONE, "" };
	int found, rc = 0;

	if (session->follow == NULL || session->lost)
		return len;
	session->follow->status.last_byte_ms = follow_now_ms(session->follow);
	do {
		found = frame_next(&session->reader, &in, &frame, &err);
		if (found == 1)
			rc = take_frame(session, &frame, &in, &err);
	} while (found == 1 && rc == 0 && !session->lost);
	if (found < 0 || rc < 0)
		lose(session, &err);
	if (session->lost)
		return len;
	session->paused = rc > 0;
	return len - in.len;
}

static void
on_stderr(void *user, const void *data, size_t len)
{
	struct follow_session *session = user;
	size_t room = sizeof(session->said) - 1 - session->said_len;

	if (len > room)
		len = room;
	memcpy(session->said + session->said_len, data, len);
	session->said_len += len;
}

/* Why a follower that ended by itself did. */
static void
explain(const struct follow_session *session, const struct stream_exit *exit,
	struct err *err)
{
	struct str said = str_trim(str_from(session->said));
	struct buf clean;

	if (exit->err.code != ERR_NONE) {
		*err = exit->err;
		return;
	}
	if (said.len == 0 && !session->hello)
		said = str_trim(str_from(session->reader.said));
	buf_init(&clean, 300);
	if (said.len > 0)
		buf_append_str(&clean, ": ");
	utf8_sanitize(&clean, said);
	if (exit->signalled)
		err_set(err, ERR_REMOTE,
			"the follower on the pod was killed by SIG%s%s",
			exit->signal, clean.data);
	else
		err_set(err, ERR_REMOTE,
			"the follower on the pod ended with status %d%s",
			exit->status, clean.data);
	buf_release(&clean);
}

/* 0.5, 1, 2 .. 30 s, a fifth more or less. */
static int64_t
backoff_ms(unsigned int failures)
{
	int64_t base = BACKOFF_FIRST_MS;
	uint32_t random = 0;

	for (unsigned int i = 1; i < failures && base < BACKOFF_MOST_MS; i++)
		base *= 2;
	if (base > BACKOFF_MOST_MS)
		base = BACKOFF_MOST_MS;
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = 0;
	return base * 4 / 5 + (int64_t)(random % 1001) * base * 2 / 5 / 1000;
}

/* The stream ended: when is the next one? */
static void
plan_retry(struct follow *follow, const struct follow_session *session,
	   const struct err *why)
{
	int64_t now = follow_now_ms(follow), delay = AGAIN_MS;
	struct link_info link;

	follow->transport->ops->link_info(follow->transport, follow->pod,
					  &link);
	if (link.state == LINK_REFUSED) {
		set_state(follow, FOLLOW_REFUSED, why);
		return;
	}
	if (session->hello && now - follow->status.since_ms >= HEALTHY_MS)
		follow->failures = 0;
	/* A lost link waits by itself, for all that use it. */
	if (link.state != LINK_WAITING) {
		follow->failures++;
		delay = backoff_ms(follow->failures);
	}
	follow->status.retry_at_ms =
		link.state == LINK_WAITING ? link.retry_at_ms : now + delay;
	set_state(follow, FOLLOW_WAITING, why);
	loop_timer_start(follow->retry, delay, 0);
}

static void
on_close(void *user, const struct stream_exit *exit)
{
	struct follow_session *session = user;
	struct follow *follow = session->follow;
	struct err why = session->why;

	if (follow != NULL) {
		if (!session->lost)
			explain(session, exit, &why);
		follow_files_lost(follow);
		follow->session = NULL;
		follow->status.lag_ms = -1;
		follow->status.scanned = false;
		follow->status.losses += session->hello && follow->started;
		if (!follow->started)
			set_state(follow, FOLLOW_STOPPED, NULL);
		else
			plan_retry(follow, session, &why);
	}
	free(session->ids);
	free(session);
}

static void
open_session(struct follow *follow)
{
	static const struct stream_cb cb = { on_data, on_stderr, on_close };
	struct follow_session *session = xcalloc(1, sizeof(*session));
	char nonce[FOLLOW_NONCE_SIZE];
	struct buf command;
	struct err err = { ERR_NONE, "" };

	loop_timer_stop(follow->retry);
	session->follow = follow;
	follow_wire_nonce(nonce);
	frame_reader_init(&session->reader, nonce);
	buf_init(&command, COMMAND_MAX_BYTES);
	follow_wire_start(&command, follow->variant, nonce);
	session->stream =
		follow->transport->ops->exec(follow->transport, follow->pod,
					     command.data, &cb, session, &err);
	buf_release(&command);
	if (session->stream == NULL) {
		free(session);
		set_state(follow, FOLLOW_REFUSED, &err);
		return;
	}
	follow->session = session;
	follow->opened_ms = follow_now_ms(follow);
	set_state(follow, FOLLOW_STARTING, NULL);
	say_list(session, true);
}

static void
on_retry(void *user)
{
	struct follow *follow = user;

	if (follow->started && follow->session == NULL)
		open_session(follow);
}

/* A follower that does not speak, or not any more, is given up. */
static void
watch_silence(struct follow_session *session, int64_t now)
{
	struct follow *follow = session->follow;
	struct link_info link;
	struct err err;

	if (session->hello) {
		if (!session->paused &&
		    now - follow->status.last_byte_ms > SILENCE_MS) {
			err_set(&err, ERR_TIMEOUT,
				"nothing came from the pod for %d s",
				SILENCE_MS / 1000);
			lose(session, &err);
		}
		return;
	}
	follow->transport->ops->link_info(follow->transport, follow->pod,
					  &link);
	if (link.state != LINK_LIVE || now - follow->opened_ms <= HELLO_MS ||
	    now - link.since_ms <= HELLO_MS)
		return;
	err_set(&err, ERR_TIMEOUT,
		"the follower did not start on the pod within %d s",
		HELLO_MS / 1000);
	lose(session, &err);
}

static void
on_tick(void *user)
{
	struct follow *follow = user;
	struct follow_session *session = follow->session;
	int64_t now = follow_now_ms(follow);
	struct link_info link;

	if (session != NULL && !session->lost) {
		if (session->hello && now - session->ping_ms >= PING_MS)
			ping(session);
		watch_silence(session, now);
	} else if (follow->status.state == FOLLOW_REFUSED && follow->started) {
		/* Someone may have had the link tried again. */
		follow->transport->ops->link_info(follow->transport,
						  follow->pod, &link);
		if (link.state != LINK_REFUSED && session == NULL)
			open_session(follow);
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
	list_init(&follow->files);
	map_init(&follow->generations);
	follow->tick = loop_timer_new(follow->loop, on_tick, follow);
	follow->retry = loop_timer_new(follow->loop, on_retry, follow);
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
			say_list(follow->session, false);
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
		lose(follow->session, &(struct err){ 0 });
	else
		set_state(follow, FOLLOW_STOPPED, NULL);
}

void
follow_set_quiet(struct follow *follow, bool quiet)
{
	if (follow->quiet == quiet)
		return;
	follow->quiet = quiet;
	if (follow->session == NULL || follow->session->lost)
		return;
	say(follow->session, quiet ? STR_LIT("Q 1\n") : STR_LIT("Q 0\n"));
	/* What was not looked for in quiet times is looked for now. */
	if (!quiet && !follow->session->lost)
		say_list(follow->session, false);
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
