/* SPDX-License-Identifier: MIT */
/* One stream of a pod's follower: started, fed with what we have, its frames
 * taken, pinged, given up when silent; for follow.c. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "remote/follow_priv.h"

#define PING_MS		  5000
#define SILENCE_MS	  15000 /* then a stream is dead */
#define LINK_SILENT_MS	  10000 /* longer than its pings take */
#define LINK_FIRST_MS	  2000
#define HELLO_MS	  20000 /* on a link that is live */
#define COMMAND_MAX_BYTES (256U * 1024)
#define LIST_MAX_BYTES	  (1000U * 1000)

void
follow_session_lose(struct follow_session *session, const struct err *why)
{
	struct transport *transport = session->follow->transport;

	if (session->lost)
		return;
	session->lost = true;
	session->why = *why;
	transport->ops->cancel(session->stream);
}

void
follow_session_flush(struct follow_session *session)
{
	struct transport *transport = session->follow->transport;
	struct buf *out = &session->out;
	struct err err = { ERR_NONE, "" };

	if (out->len == 0 || session->lost)
		return;
	if (out->truncated) {
		err_set(&err, ERR_LIMIT,
			"the list of logs is longer than %u bytes",
			LIST_MAX_BYTES);
		follow_session_lose(session, &err);
	} else if (transport->ops->write(session->stream, out->data, out->len,
					 &err)) {
		follow_session_lose(session, &err);
	}
	buf_clear(out);
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

void
follow_session_list(struct follow_session *session)
{
	struct follow *follow = session->follow;

	append_list(&session->out, 'G', &follow->globs);
	append_list(&session->out, 'F', &follow->names);
	buf_append_str(&session->out, "GO\n");
	follow_session_flush(session);
}

static void
ping(struct follow_session *session)
{
	buf_appendf(&session->out, "P %" PRIu64 "\n", ++session->ping_seq);
	session->ping_ms = follow_now_ms(session->follow);
	session->ping_open = true;
	follow_session_flush(session);
}

static void
on_hello(struct follow_session *session, const struct frame *frame)
{
	struct follow *follow = session->follow;

	session->hello = true;
	follow->status.python = frame->python;
	follow_set_state(follow, FOLLOW_LIVE, NULL);
	ping(session);
}

/* It cannot run there: what it needs has to be installed first. */
static int
lacks(const struct frame *frame, struct err *err)
{
	struct buf clean;

	buf_init(&clean, 200);
	utf8_sanitize(&clean, frame->data);
	err_set(err, ERR_REMOTE,
		"the pod has neither python3 nor %s, by which logs are "
		"followed",
		clean.data);
	buf_release(&clean);
	return -1;
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
	if (frame->type == FRAME_LACKS)
		return lacks(frame, err);
	if (frame->type == FRAME_BEAT) {
		on_beat(session, frame);
		return 0;
	}
	if (follow_files_take(session, frame, &taken, err))
		return -1;
	if (frame->type == FRAME_DATA || frame->type == FRAME_PREVIEW)
		frame_take(&session->reader, in, taken);
	else
		follow_tell(session->follow);
	return taken < frame->data.len;
}

static size_t
session_on_data(void *user, const void *data, size_t len)
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
		follow_session_lose(session, &err);
	if (session->lost)
		return len;
	session->paused = rc > 0;
	follow_session_flush(session);
	return len - in.len;
}

static void
session_on_stderr(void *user, const void *data, size_t len)
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

static void
session_on_close(void *user, const struct stream_exit *exit)
{
	struct follow_session *session = user;
	struct follow *follow = session->follow;
	struct err why = session->why;

	if (follow != NULL) {
		if (!session->lost)
			explain(session, exit, &why);
		follow_files_lost(session);
		follow->session = NULL;
		follow->status.lag_ms = -1;
		follow->status.scanned = false;
		follow->status.losses += session->hello && follow->started;
		if (!follow->started)
			follow_set_state(follow, FOLLOW_STOPPED, NULL);
		else
			follow_plan_retry(follow, session, &why);
	}
	for (size_t i = 0; i < session->n_seen; i++) {
		free(session->seen[i].path);
		free(session->seen[i].real);
	}
	free(session->seen);
	buf_release(&session->out);
	free(session);
}

void
follow_session_open(struct follow *follow)
{
	static const struct stream_cb cb = { session_on_data, session_on_stderr,
					     session_on_close };
	struct follow_session *session = xcalloc(1, sizeof(*session));
	char nonce[FOLLOW_NONCE_SIZE];
	struct buf command;
	struct err err = { ERR_NONE, "" };

	session->follow = follow;
	buf_init(&session->out, LIST_MAX_BYTES);
	follow_wire_nonce(nonce);
	frame_reader_init(&session->reader, nonce);
	buf_init(&command, COMMAND_MAX_BYTES);
	follow_wire_start(&command, follow->variant, nonce);
	session->stream =
		follow->transport->ops->exec(follow->transport, follow->pod,
					     command.data, &cb, session, &err);
	buf_release(&command);
	if (session->stream == NULL) {
		buf_release(&session->out);
		free(session);
		follow_set_state(follow, FOLLOW_REFUSED, &err);
		return;
	}
	follow->session = session;
	follow->opened_ms = follow_now_ms(follow);
	follow_files_begin(follow);
	follow_set_state(follow, FOLLOW_STARTING, NULL);
	buf_appendf(&session->out, "I %d\n", follow->poll_ms);
	if (follow->quiet)
		buf_append_str(&session->out, "Q 1\n");
	follow_session_list(session);
}

/*
 * Is a follower that said hello dead?  Where nothing else came over the link
 * either, its own pings are about to tell: it goes first.
 */
static bool
is_silent(const struct follow_session *session, const struct link_info *link,
	  int64_t now)
{
	int64_t last_ms = session->follow->status.last_byte_ms;
	int64_t limit = SILENCE_MS;

	if (now - link->last_byte_ms > LINK_SILENT_MS)
		limit += LINK_FIRST_MS;
	return !session->paused && now - last_ms > limit;
}

void
follow_session_watch(struct follow_session *session, int64_t now)
{
	struct follow *follow = session->follow;
	struct link_info link;
	struct err err;

	if (session->hello && now - session->ping_ms >= PING_MS)
		ping(session);
	follow->transport->ops->link_info(follow->transport, follow->pod,
					  &link);
	if (session->hello) {
		if (is_silent(session, &link, now)) {
			err_set(&err, ERR_TIMEOUT,
				"nothing came from the pod for %d s",
				SILENCE_MS / 1000);
			follow_session_lose(session, &err);
		}
		return;
	}
	if (link.state != LINK_LIVE || now - follow->opened_ms <= HELLO_MS ||
	    now - link.since_ms <= HELLO_MS)
		return;
	err_set(&err, ERR_TIMEOUT,
		"the follower did not start on the pod within %d s",
		HELLO_MS / 1000);
	follow_session_lose(session, &err);
}
