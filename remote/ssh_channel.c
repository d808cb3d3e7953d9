/* SPDX-License-Identifier: MIT */
/* Commands over one libssh2 session, one channel each; for ssh_conn.c. */
#include "remote/ssh_priv.h"

#include <sys/socket.h>

#include "base/utf8.h"

#define PACKET_BYTES 32768U
#define WINDOW_BYTES (2U * 1024 * 1024)
/* A refused channel (MaxSessions) is retried for this long. */
#define REOPEN_MS	2000
#define REOPEN_EVERY_MS 200
/* Time limit for a server to open a channel and start a command. */
#define ANSWER_MS 20000
/* A server that sent nothing for SILENT_MS is probed; it is dead PROBE_MS later without a byte. */
#define SILENT_MS 5000
#define PROBE_MS  10000
#define TICK_MS	  100
#define PULSE_MS  1000

enum channel_step { CHANNEL_OPEN, CHANNEL_EXEC, CHANNEL_RUN, CHANNEL_WAIT, CHANNEL_FREE };

struct ssh_channel {
	struct list in_all;
	struct ssh_channels *channels;
	struct stream *s; /* NULL: cancelled, or a probe */
	LIBSSH2_CHANNEL *channel;
	enum channel_step step;
	bool is_probe;	   /* runs no command: it shows whether the server answers */
	char *command;	   /* being sent, perhaps for longer than the stream exists; owned */
	int64_t begun_ms;  /* time of the first request to open it */
	int64_t reopen_ms; /* earliest time of the next request; 0: at once */
	char *chunk;	   /* part of stdin that libssh2 has not accepted yet; owned */
	size_t chunk_len, chunk_sent;
	bool eof_sent;
	bool write_closed; /* the command accepts no more input */
	struct stream_exit exit;
};

static void channel_free(struct ssh_channel *c)
{
	if (c->channels->opening == c)
		c->channels->opening = NULL;
	list_remove(&c->in_all);
	free(c->chunk);
	free(c->command);
	free(c);
}

/* A channel's functions return 1 after progress, 0 without any, -1 if the session is lost. */

/* Convert a negative libssh2 error code to 0 or -1. */
static int blocked_or_lost(ssize_t rc)
{
	return rc == LIBSSH2_ERROR_EAGAIN ? 0 : -1;
}

/* End the stream, if it still exists, with c->exit, and free c. */
static int channel_finish(struct ssh_channel *c)
{
	struct stream_exit exit = c->exit;
	struct stream *s = c->s;

	channel_free(c);
	if (s != NULL) {
		s->run = NULL;
		stream_finish(s, &exit);
	}
	return 1;
}

/* The server refuses another channel: retry, then use another connection, then give up. */
static int open_refused(struct ssh_channel *c)
{
	struct remote_link *link = c->channels->link;
	char message[SSH_MESSAGE_SIZE];

	c->channels->opening = NULL;
	if (c->s == NULL)
		return channel_finish(c);
	if (link_now_ms(link) - c->begun_ms < REOPEN_MS) {
		c->reopen_ms = link_now_ms(link) + REOPEN_EVERY_MS;
		return 0;
	}
	size_t n_running = 0;
	list_each (const struct ssh_channel, other, &c->channels->all, in_all)
		n_running += other->step == CHANNEL_RUN && other->s != NULL;
	if (link_spill(c->s, n_running)) {
		c->s = NULL;
		return channel_finish(c);
	}
	err_set(&c->exit.err, ERR_LIMIT,
		"%s: the server allows no more sessions on this connection (MaxSessions in its "
		"sshd_config): %s",
		link->pod.name, ssh_session_message(c->channels->session->ssh2, message));
	return channel_finish(c);
}

static int channel_open(struct ssh_channel *c)
{
	struct ssh_channels *channels = c->channels;

	if (channels->opening != NULL && channels->opening != c)
		return 0;
	if (c->s == NULL && !c->is_probe && channels->opening != c)
		return channel_finish(c);
	if (c->reopen_ms > link_now_ms(channels->link))
		return 0;
	channels->opening = c;
	c->channel = libssh2_channel_open_ex(channels->session->ssh2, "session", 7, WINDOW_BYTES,
					     PACKET_BYTES, NULL, 0);
	if (c->channel != NULL) {
		c->step = c->s != NULL ? CHANNEL_EXEC : CHANNEL_FREE;
		if (c->s == NULL) {
			channels->opening = NULL;
			return 1;
		}
		c->command = c->s->command;
		c->s->command = NULL;
		return 1;
	}
	int rc = libssh2_session_last_errno(channels->session->ssh2);
	return rc == LIBSSH2_ERROR_CHANNEL_FAILURE ? open_refused(c) : blocked_or_lost(rc);
}

/* Start the command. Other channels are opened only after that: libssh2 1.10 sometimes fails to
 * wait for one channel's answer while it opens another ("Failed waiting for channel success"). */
static int channel_exec(struct ssh_channel *c)
{
	int rc = libssh2_channel_process_startup(c->channel, "exec", 4, c->command,
						 (unsigned int)strlen(c->command));

	if (rc != LIBSSH2_ERROR_EAGAIN && c->channels->opening == c)
		c->channels->opening = NULL;
	if (rc == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED)
		err_set(&c->exit.err, ERR_REMOTE, "%s: the server refuses to run commands",
			c->channels->link->pod.name);
	else if (rc != 0)
		return blocked_or_lost(rc);
	xset_text(&c->command, NULL);
	c->step = rc == 0 && c->s != NULL ? CHANNEL_RUN : CHANNEL_FREE;
	return 1;
}

static int write_stdin(struct ssh_channel *c)
{
	struct buf *in = c->s != NULL ? &c->s->in : NULL;

	if (c->write_closed && in != NULL)
		buf_clear(in);
	/* Do not read more input while data is waiting for the socket. */
	if (c->write_closed || c->channels->session->out.len > 0)
		return 0;
	if (c->chunk == NULL) {
		if (in == NULL || in->len == 0)
			return 0;
		c->chunk_len = in->len < PACKET_BYTES ? in->len : PACKET_BYTES;
		c->chunk_sent = 0;
		c->chunk = xmalloc(c->chunk_len);
		memcpy(c->chunk, in->data, c->chunk_len);
		buf_consume(in, c->chunk_len);
	}
	ssize_t n = libssh2_channel_write(c->channel, c->chunk + c->chunk_sent,
					  c->chunk_len - c->chunk_sent);
	c->write_closed = n == LIBSSH2_ERROR_CHANNEL_CLOSED || n == LIBSSH2_ERROR_CHANNEL_EOF_SENT;
	if (n < 0)
		return c->write_closed ? 0 : blocked_or_lost(n);
	c->chunk_sent += (size_t)n;
	if (c->chunk_sent == c->chunk_len)
		xset_text(&c->chunk, NULL);
	return 1;
}

static int close_stdin(struct ssh_channel *c)
{
	if (c->eof_sent || c->write_closed || c->s == NULL || !c->s->in_closed ||
	    c->s->in.len > 0 || c->chunk != NULL)
		return 0;
	int rc = libssh2_channel_send_eof(c->channel);
	c->eof_sent = rc != LIBSSH2_ERROR_EAGAIN;
	return rc == 0 || rc == LIBSSH2_ERROR_CHANNEL_CLOSED ? 1 : blocked_or_lost(rc);
}

/* Should data for this channel be received? A cancelled channel discards it. */
static bool may_read(const struct ssh_channel *c)
{
	return c->s == NULL || stream_is_open(c->s);
}

/* Read stdout (id 0) or stderr (1), at most STREAM_BUDGET bytes per turn of the loop. */
static int read_stream(struct ssh_channel *c, int id)
{
	char *data = c->channels->link->fleet->block;
	size_t left = STREAM_BUDGET;

	while (left > 0 && may_read(c)) {
		ssize_t n = libssh2_channel_read_ex(c->channel, id, data, left);

		if (n < 0 && n != LIBSSH2_ERROR_EAGAIN)
			return -1;
		if (n <= 0)
			break;
		left -= (size_t)n;
		if (c->s != NULL && id == 0)
			stream_deliver(c->s, data, (size_t)n);
		else if (c->s != NULL)
			stream_deliver_stderr(c->s, data, (size_t)n);
	}
	return left < STREAM_BUDGET;
}

static int channel_run(struct ssh_channel *c)
{
	int sent, ended, out, errors;

	if ((sent = write_stdin(c)) < 0 || (ended = close_stdin(c)) < 0 ||
	    (out = read_stream(c, 0)) < 0 || (errors = read_stream(c, 1)) < 0)
		return -1;
	if (sent > 0 || ended > 0 || out > 0 || errors > 0)
		return 1;
	if (c->s != NULL && (!may_read(c) || libssh2_channel_eof(c->channel) != 1))
		return 0;
	c->step = c->s == NULL ? CHANNEL_FREE : CHANNEL_WAIT;
	return 1;
}

/* The output has ended: wait for the exit status. */
static int channel_wait(struct ssh_channel *c)
{
	int rc = libssh2_channel_wait_closed(c->channel);
	char *name = NULL;
	size_t len = 0;

	if (rc != 0)
		return blocked_or_lost(rc);
	libssh2_channel_get_exit_signal(c->channel, &name, &len, NULL, NULL, NULL, NULL);
	c->exit.signalled = name != NULL && len > 0;
	c->exit.exited = !c->exit.signalled;
	if (c->exit.signalled)
		utf8_clean(c->exit.signal, sizeof(c->exit.signal), (struct str){ name, len });
	else
		c->exit.status = libssh2_channel_get_exit_status(c->channel) & 0xff;
	if (name != NULL)
		libssh2_free(c->channels->session->ssh2, name);
	c->step = CHANNEL_FREE;
	return 1;
}

/* Send CLOSE if it was not sent, and wait for the server's CLOSE. */
static int channel_close(struct ssh_channel *c)
{
	if (libssh2_channel_free(c->channel) == LIBSSH2_ERROR_EAGAIN)
		return 0;
	c->channel = NULL;
	return channel_finish(c);
}

static int (*const channel_steps[])(struct ssh_channel *) = {
	[CHANNEL_OPEN] = channel_open, [CHANNEL_EXEC] = channel_exec,  [CHANNEL_RUN] = channel_run,
	[CHANNEL_WAIT] = channel_wait, [CHANNEL_FREE] = channel_close,
};

static void channels_lost(struct ssh_channels *channels)
{
	struct err err;

	ssh_session_error(channels->session, "the connection was lost", &err);
	channels->on_lost(channels->user, &err);
}

/* Wait for the socket. If all streams are paused, receive nothing: TCP then slows the pod down. */
static void poll_again(struct ssh_channels *channels)
{
	bool wants_input = list_is_empty(&channels->all);

	list_each (const struct ssh_channel, c, &channels->all, in_all)
		wants_input |= c->step != CHANNEL_RUN || may_read(c);
	ssh_session_poll(channels->session, wants_input);
}

void ssh_channels_drive(struct ssh_channels *channels)
{
	bool more = false;

	/* No more than one stream delivers: libssh2 would queue the rest, and read it from memory
	 * later instead of from the CPU cache. */
	channels->session->budget = STREAM_BUDGET;
	if (ssh_session_flush(channels->session) != 0) {
		channels_lost(channels);
		return;
	}
	if (list_is_empty(&channels->all)) {
		/* No command is running, so the server sent a request or closed the connection. */
		char byte;
		ssize_t n = recv(channels->session->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

		if (n > 0)
			ssh_channels_add(channels, NULL);
		else if (n < 0 && (errno == EAGAIN || errno == EINTR))
			poll_again(channels);
		else
			channels->on_lost(channels->user, NULL);
		return;
	}
	list_each_safe (struct ssh_channel, c, &channels->all, in_all) {
		int rc = channel_steps[c->step](c);

		if (rc < 0) {
			channels_lost(channels);
			return;
		}
		more |= rc > 0;
	}
	poll_again(channels);
	if (more)
		ssh_channels_drive_soon(channels);
}

static void on_drive(void *user)
{
	struct ssh_channels *channels = user;

	if (!list_is_empty(&channels->all))
		ssh_channels_drive(channels);
}

void ssh_channels_drive_soon(struct ssh_channels *channels)
{
	loop_post(channels->link->fleet->loop, on_drive, channels);
}

/* Has this channel waited too long for an answer of the server? For a probe any byte counts as an
 * answer, because its own answer may be queued after many bytes of other channels. */
static bool is_late(const struct ssh_channel *c, int64_t now_ms, struct err *err)
{
	int64_t silent_ms = now_ms - c->channels->link->info.last_byte_ms;
	int64_t waits_ms = now_ms - c->begun_ms;

	if (c->is_probe) {
		err_set(err, ERR_TIMEOUT, "nothing came from the server for %d s",
			(int)(silent_ms / 1000));
		return waits_ms >= PROBE_MS && silent_ms >= PROBE_MS + SILENT_MS;
	}
	err_set(err, ERR_TIMEOUT, "the server has not answered for %d s", ANSWER_MS / 1000);
	return waits_ms >= ANSWER_MS;
}

/* Check the time limits of channels that wait for the server, and retry refused ones. */
static void on_tick(void *user)
{
	struct ssh_channels *channels = user;
	int64_t now_ms = link_now_ms(channels->link);
	bool busy = false;
	struct err err;

	list_each (const struct ssh_channel, c, &channels->all, in_all) {
		if (c->step > CHANNEL_EXEC)
			continue;
		busy = true;
		if (is_late(c, now_ms, &err)) {
			channels->on_lost(channels->user, &err);
			return;
		}
	}
	if (busy)
		ssh_channels_drive_soon(channels);
	else
		loop_timer_stop(channels->tick);
}

/* Probe a server that sent nothing for SILENT_MS; on_tick() ends a session without an answer. */
static void on_pulse(void *user)
{
	struct ssh_channels *channels = user;
	int64_t last_ms = channels->link->info.last_byte_ms;

	if (link_now_ms(channels->link) - last_ms < SILENT_MS)
		return;
	list_each (const struct ssh_channel, c, &channels->all, in_all)
		if (c->is_probe)
			return;
	ssh_channels_add(channels, NULL);
}

void ssh_channels_start(struct ssh_channels *channels)
{
	struct loop *loop = channels->link->fleet->loop;

	list_init(&channels->all);
	channels->tick = loop_timer_new(loop, on_tick, channels);
	channels->pulse = loop_timer_new(loop, on_pulse, channels);
	loop_timer_start(channels->pulse, PULSE_MS, PULSE_MS);
}

void ssh_channels_release(struct ssh_channels *channels)
{
	if (channels->tick == NULL)
		return;
	loop_unpost(channels->link->fleet->loop, on_drive, channels);
	while (!list_is_empty(&channels->all)) {
		struct ssh_channel *c = list_entry(channels->all.next, struct ssh_channel, in_all);

		if (c->s != NULL)
			c->s->run = NULL;
		channel_free(c);
	}
	loop_timer_close(channels->tick);
	loop_timer_close(channels->pulse);
	channels->tick = channels->pulse = NULL;
}

void ssh_channels_add(struct ssh_channels *channels, struct stream *s)
{
	struct ssh_channel *c =
		xnew(struct ssh_channel, .channels = channels, .s = s, .is_probe = s == NULL,
		     .begun_ms = link_now_ms(channels->link));

	if (s != NULL)
		s->run = c;
	list_append(&channels->all, &c->in_all);
	loop_timer_start(channels->tick, TICK_MS, TICK_MS);
	ssh_channels_drive_soon(channels);
}

void ssh_channel_detach(struct stream *s)
{
	struct ssh_channel *c = s->run;

	s->run = NULL;
	c->s = NULL;
	ssh_channels_drive_soon(c->channels);
}
