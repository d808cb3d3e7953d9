/* SPDX-License-Identifier: MIT */
/* All channels of a libssh2 session together: turns, events, deadlines. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "remote/ssh_channel.h"

/* Received in one turn of the loop by one session. */
#define RECEIVE_BUDGET (256U * 1024)
/* For a server to open a channel and start a command. */
#define ANSWER_MS 20000
/* After so long without a byte the server is asked for a sign of life; it is
 * dead after so much longer without any. */
#define SILENT_MS 5000
#define PROBE_MS  10000
#define TICK_MS	  100
#define PULSE_MS  1000

static void
session_lost(struct ssh_conn *conn)
{
	struct err err;

	if (!ssh_net_proxy_error(conn, &err))
		ssh_conn_error(conn, &err, ERR_NET, "the connection was lost");
	ssh_conn_lost(conn, &err);
}

/* Poll for what the session waits for; a paused pod's bytes may wait. */
static void
set_events(struct ssh_conn *conn)
{
	unsigned int events = 0;

	list_for_each (at, &conn->channels) {
		const struct ssh_channel *c =
			list_entry(at, struct ssh_channel, in_conn);

		if (c->step != CHANNEL_RUN || ssh_channel_may_read(c))
			events = LOOP_READ;
	}
	if (list_is_empty(&conn->channels))
		events = LOOP_READ;
	if (ssh_io_is_full(&conn->io))
		events |= LOOP_WRITE;
	loop_fd_set(conn->watch, events);
}

/* Nothing runs and the socket has something: its end, or a request. */
static void
look_at_idle(struct ssh_conn *conn)
{
	struct remote_link *link = conn->link;
	char byte;
	ssize_t n = recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		set_events(conn);
		return;
	}
	if (n > 0) {
		ssh_channel_probe(conn);
		return;
	}
	log_debug("ssh", "%s: the idle connection was closed", link->pod.name);
	ssh_conn_close(conn);
	link_idle(link);
	link_pump_soon(link);
}

void
ssh_conn_drive(struct ssh_conn *conn)
{
	enum op_result result;
	bool more = false;

	conn->io.budget = RECEIVE_BUDGET;
	if (ssh_io_flush(&conn->io) != 0) {
		session_lost(conn);
		return;
	}
	if (list_is_empty(&conn->channels)) {
		look_at_idle(conn);
		return;
	}
	list_for_each_safe(at, &conn->channels)
	{
		struct ssh_channel *c =
			list_entry(at, struct ssh_channel, in_conn);

		result = ssh_channel_turn(c);
		if (result == OP_LOST) {
			session_lost(conn);
			return;
		}
		more = more || result == OP_PROGRESS || result == OP_GONE;
	}
	set_events(conn);
	if (more)
		ssh_conn_drive_soon(conn);
}

static void
on_drive(void *user)
{
	struct ssh_conn *conn = user;

	conn->drive_posted = false;
	if (!list_is_empty(&conn->channels))
		ssh_conn_drive(conn);
}

void
ssh_conn_drive_soon(struct ssh_conn *conn)
{
	if (conn->drive_posted)
		return;
	conn->drive_posted = true;
	loop_post(conn->loop, on_drive, conn);
}

static bool
is_probe(const struct ssh_channel *c)
{
	return c->s == NULL && c->command == NULL;
}

/*
 * Has the server left this channel without an answer for too long?  Behind
 * many bytes of others an answer comes late: a probe asks for any byte.
 */
static bool
is_late(const struct ssh_channel *c, int64_t now, struct err *err)
{
	int64_t silent = now - c->conn->link->info.last_byte_ms;
	int64_t waits = now - c->begun_ms;

	if (is_probe(c)) {
		err_set(err, ERR_TIMEOUT,
			"nothing came from the server for %d s",
			(int)(silent / 1000));
		return waits >= PROBE_MS && silent >= PROBE_MS + SILENT_MS;
	}
	err_set(err, ERR_TIMEOUT, "the server has not answered for %d s",
		ANSWER_MS / 1000);
	return waits >= ANSWER_MS;
}

/* Channels that wait for the server: not for ever, and again if refused. */
static void
on_tick(void *user)
{
	struct ssh_conn *conn = user;
	int64_t now_ms = link_now_ms(conn->link);
	bool busy = false;
	struct err err;

	list_for_each (at, &conn->channels) {
		const struct ssh_channel *c =
			list_entry(at, struct ssh_channel, in_conn);

		if (c->step > CHANNEL_EXEC)
			continue;
		busy = true;
		if (is_late(c, now_ms, &err)) {
			ssh_conn_lost(conn, &err);
			return;
		}
	}
	if (busy)
		ssh_conn_drive_soon(conn);
	else
		loop_timer_stop(conn->tick);
}

/* Our own ping: nothing came for a while, so ask; on_tick judges. */
static void
on_pulse(void *user)
{
	struct ssh_conn *conn = user;
	int64_t last_ms = conn->link->info.last_byte_ms;

	if (link_now_ms(conn->link) - last_ms < SILENT_MS)
		return;
	list_for_each (at, &conn->channels)
		if (is_probe(list_entry(at, struct ssh_channel, in_conn)))
			return;
	ssh_channel_probe(conn);
}

void
ssh_drive_start(struct ssh_conn *conn)
{
	conn->pulse = loop_timer_new(conn->loop, on_pulse, conn);
	loop_timer_start(conn->pulse, PULSE_MS, PULSE_MS);
}

static struct ssh_channel *
add_channel(struct ssh_conn *conn)
{
	struct ssh_channel *c = xcalloc(1, sizeof(*c));

	c->conn = conn;
	c->begun_ms = link_now_ms(conn->link);
	list_append(&conn->channels, &c->in_conn);
	if (conn->tick == NULL)
		conn->tick = loop_timer_new(conn->loop, on_tick, conn);
	loop_timer_start(conn->tick, TICK_MS, TICK_MS);
	ssh_conn_drive_soon(conn);
	return c;
}

void
ssh_channel_start(struct ssh_conn *conn, struct stream *s)
{
	struct ssh_channel *c = add_channel(conn);

	c->s = s;
	c->command = xstrdup(s->command);
	s->run = c;
}

void
ssh_channel_probe(struct ssh_conn *conn)
{
	add_channel(conn);
}

/* A cancelled stream's channel closes behind its back. */
void
ssh_channel_detach(struct stream *s)
{
	struct ssh_channel *c = s->run;

	s->run = NULL;
	c->s = NULL;
	ssh_conn_drive_soon(c->conn);
}

void
ssh_channels_release(struct ssh_conn *conn)
{
	loop_unpost(conn->loop, on_drive, conn);
	while (!list_is_empty(&conn->channels)) {
		struct ssh_channel *c = list_entry(conn->channels.next,
						   struct ssh_channel, in_conn);

		if (c->s != NULL)
			c->s->run = NULL;
		ssh_channel_free(c);
	}
}
