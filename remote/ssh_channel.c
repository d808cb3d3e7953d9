/* SPDX-License-Identifier: MIT */
/* What one channel of a libssh2 session does; driven by ssh_drive.c. */
#include "config.h"

#include "remote/ssh_channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"

#define WINDOW_BYTES (2U * 1024 * 1024)
/* A channel that is refused (MaxSessions) is tried again for so long. */
#define REOPEN_MS	2000
#define REOPEN_EVERY_MS 200

/* What a negative code of libssh2 means for the op. */
static enum op_result
blocked_or_lost(int rc)
{
	return rc == LIBSSH2_ERROR_EAGAIN ? OP_AGAIN : OP_LOST;
}

void
ssh_channel_free(struct ssh_channel *c)
{
	struct ssh_conn *conn = c->conn;

	if (conn->opening == c)
		conn->opening = NULL;
	list_remove(&c->in_conn);
	free(c->chunk);
	free(c->command);
	free(c);
}

/* The stream, if there is one still, ends with c->exit; c goes. */
static enum op_result
finish(struct ssh_channel *c)
{
	struct stream_exit exit = c->exit;
	struct stream *s = c->s;

	ssh_channel_free(c);
	if (s != NULL) {
		s->run = NULL;
		stream_finish(s, &exit);
	}
	return OP_GONE;
}

/* The channels of a connection that run a command. */
static size_t
count_open(const struct ssh_conn *conn)
{
	size_t n = 0;

	list_for_each (at, &conn->channels) {
		const struct ssh_channel *c =
			list_entry(at, struct ssh_channel, in_conn);

		n += c->step == CHANNEL_RUN && c->s != NULL;
	}
	return n;
}

/* The server will not open one more: soon again, elsewhere, or never. */
static enum op_result
open_refused(struct ssh_channel *c)
{
	int64_t now_ms = link_now_ms(c->conn->link);
	struct buf clean;
	char *message;

	c->conn->opening = NULL;
	if (c->s == NULL)
		return finish(c);
	if (now_ms - c->begun_ms < REOPEN_MS) {
		c->reopen_ms = now_ms + REOPEN_EVERY_MS;
		return OP_IDLE;
	}
	if (link_spill(c->s, count_open(c->conn))) {
		c->s = NULL;
		return finish(c);
	}
	libssh2_session_last_error(c->conn->session, &message, NULL, 0);
	buf_init(&clean, 200);
	utf8_sanitize(&clean, str_from(message));
	err_set(&c->exit.err, ERR_LIMIT,
		"%s: the server opens no more sessions on this connection "
		"(MaxSessions of sshd_config): %s",
		c->conn->link->pod.name, clean.data);
	buf_release(&clean);
	return finish(c);
}

static enum op_result
op_open(struct ssh_channel *c)
{
	struct ssh_conn *conn = c->conn;
	int rc;

	if (conn->opening != NULL && conn->opening != c)
		return OP_IDLE;
	if (c->s == NULL && c->command != NULL && conn->opening != c)
		return finish(c);
	if (c->reopen_ms > link_now_ms(conn->link))
		return OP_IDLE;
	conn->opening = c;
	c->channel = libssh2_channel_open_ex(conn->session, "session", 7,
					     WINDOW_BYTES, SSH_PACKET_BYTES,
					     NULL, 0);
	if (c->channel != NULL) {
		if (c->s == NULL)
			conn->opening = NULL;
		c->step = c->s != NULL ? CHANNEL_EXEC : CHANNEL_FREE;
		return OP_PROGRESS;
	}
	rc = libssh2_session_last_errno(conn->session);
	if (rc == LIBSSH2_ERROR_CHANNEL_FAILURE)
		return open_refused(c);
	return blocked_or_lost(rc);
}

/*
 * The turn that op_open took is kept until the command runs: libssh2 1.10 at
 * times fails to wait for one channel's answer while others are being opened
 * ("Failed waiting for channel success").
 */
static enum op_result
op_exec(struct ssh_channel *c)
{
	int rc = libssh2_channel_process_startup(
		c->channel, "exec", 4, c->command,
		(unsigned int)strlen(c->command));

	if (rc != LIBSSH2_ERROR_EAGAIN && c->conn->opening == c)
		c->conn->opening = NULL;
	if (rc == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED) {
		err_set(&c->exit.err, ERR_REMOTE,
			"%s: the server runs no commands",
			c->conn->link->pod.name);
		c->step = CHANNEL_FREE;
		return OP_PROGRESS;
	}
	if (rc != 0)
		return blocked_or_lost(rc);
	c->step = c->s != NULL ? CHANNEL_RUN : CHANNEL_FREE;
	return OP_PROGRESS;
}

/* The next piece of stdin; false when there is none. */
static bool
fill_chunk(struct ssh_channel *c)
{
	size_t len;

	if (c->chunk_sent < c->chunk_len)
		return true;
	if (c->s == NULL || c->s->in.len == 0)
		return false;
	if (c->chunk == NULL)
		c->chunk = xmalloc(SSH_PACKET_BYTES);
	len = c->s->in.len < SSH_PACKET_BYTES ? c->s->in.len : SSH_PACKET_BYTES;
	memcpy(c->chunk, c->s->in.data, len);
	buf_consume(&c->s->in, len);
	c->chunk_len = len;
	c->chunk_sent = 0;
	return true;
}

static enum op_result
op_write(struct ssh_channel *c)
{
	ssize_t n;

	if (c->write_closed && c->s != NULL)
		buf_clear(&c->s->in);
	/* What waits for the socket is enough. */
	if (c->write_closed || ssh_io_is_full(&c->conn->io) || !fill_chunk(c))
		return OP_IDLE;
	n = libssh2_channel_write(c->channel, c->chunk + c->chunk_sent,
				  c->chunk_len - c->chunk_sent);
	if (n == LIBSSH2_ERROR_CHANNEL_CLOSED ||
	    n == LIBSSH2_ERROR_CHANNEL_EOF_SENT) {
		c->write_closed = true;
		return OP_IDLE;
	}
	if (n < 0)
		return blocked_or_lost((int)n);
	c->chunk_sent += (size_t)n;
	return OP_PROGRESS;
}

static enum op_result
op_eof(struct ssh_channel *c)
{
	int rc;

	if (c->eof_sent || c->write_closed || c->s == NULL ||
	    !c->s->in_closed || c->s->in.len > 0 ||
	    c->chunk_sent < c->chunk_len)
		return OP_IDLE;
	rc = libssh2_channel_send_eof(c->channel);
	if (rc == LIBSSH2_ERROR_EAGAIN)
		return OP_AGAIN;
	c->eof_sent = true;
	return rc == 0 || rc == LIBSSH2_ERROR_CHANNEL_CLOSED ? OP_PROGRESS
							     : OP_LOST;
}

bool
ssh_channel_may_read(const struct ssh_channel *c)
{
	return c->s == NULL || stream_is_open(c->s);
}

/* One read of stdout (id 0) or stderr (1), at most *left bytes of it. */
static enum op_result
read_one(struct ssh_channel *c, int id, size_t *left)
{
	char *data = c->conn->link->fleet->block;
	ssize_t n;

	if (!ssh_channel_may_read(c))
		return OP_IDLE;
	n = libssh2_channel_read_ex(c->channel, id, data, *left);
	if (n < 0)
		return blocked_or_lost((int)n);
	if (n == 0)
		return OP_IDLE;
	*left -= (size_t)n;
	if (c->s != NULL && id == 0)
		stream_deliver(c->s, data, (size_t)n);
	else if (c->s != NULL)
		stream_deliver_stderr(c->s, data, (size_t)n);
	return OP_PROGRESS;
}

/* The end of the output is there: wait for the end of the command. */
static enum op_result
op_wait(struct ssh_channel *c)
{
	int rc = libssh2_channel_wait_closed(c->channel);
	char *name = NULL;
	size_t len = 0;

	if (rc != 0)
		return blocked_or_lost(rc);
	libssh2_channel_get_exit_signal(c->channel, &name, &len, NULL, NULL,
					NULL, NULL);
	if (name != NULL && len > 0) {
		struct buf clean;

		buf_init(&clean, sizeof(c->exit.signal) - 1);
		utf8_sanitize(&clean, (struct str){ name, len });
		snprintf(c->exit.signal, sizeof(c->exit.signal), "%s",
			 clean.data);
		buf_release(&clean);
		c->exit.signalled = true;
	} else {
		c->exit.exited = true;
		c->exit.status =
			libssh2_channel_get_exit_status(c->channel) & 0xff;
	}
	if (name != NULL)
		libssh2_free(c->conn->session, name);
	c->step = CHANNEL_FREE;
	return OP_PROGRESS;
}

/* Sends CLOSE where it was not sent, and waits for the other side's. */
static enum op_result
op_free(struct ssh_channel *c)
{
	int rc = libssh2_channel_free(c->channel);

	if (rc == LIBSSH2_ERROR_EAGAIN)
		return OP_AGAIN;
	c->channel = NULL;
	return finish(c);
}

/* Read until EAGAIN or until this channel had its share of the turn. */
static enum op_result
read_all(struct ssh_channel *c, int id)
{
	enum op_result result, all = OP_IDLE;
	size_t left = STREAM_BUDGET;

	while (left > 0) {
		result = read_one(c, id, &left);
		if (result != OP_PROGRESS)
			return result == OP_LOST ? OP_LOST : all;
		all = OP_PROGRESS;
	}
	return all;
}

static enum op_result
turn_running(struct ssh_channel *c)
{
	enum op_result result, all = OP_IDLE;

	for (int i = 0; i < 4; i++) {
		result = i == 0	  ? op_write(c)
			 : i == 1 ? op_eof(c)
				  : read_all(c, i - 2);
		if (result == OP_LOST)
			return OP_LOST;
		if (result == OP_PROGRESS)
			all = OP_PROGRESS;
	}
	if (all == OP_PROGRESS)
		return all;
	if (c->s == NULL) {
		c->step = CHANNEL_FREE;
		return OP_PROGRESS;
	}
	if (ssh_channel_may_read(c) && libssh2_channel_eof(c->channel) == 1) {
		c->step = CHANNEL_WAIT;
		return OP_PROGRESS;
	}
	return all;
}

enum op_result
ssh_channel_turn(struct ssh_channel *c)
{
	static enum op_result (*const ops[])(struct ssh_channel *) = {
		[CHANNEL_OPEN] = op_open,
		[CHANNEL_EXEC] = op_exec,
		[CHANNEL_WAIT] = op_wait,
		[CHANNEL_FREE] = op_free,
	};

	if (c->step == CHANNEL_RUN)
		return turn_running(c);
	return ops[c->step](c);
}
