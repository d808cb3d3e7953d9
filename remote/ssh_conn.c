/* SPDX-License-Identifier: MIT */
/* One libssh2 session a pod: the steps to it, and its end. */
#include "config.h"

#include "remote/ssh_conn.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cpu.h"
#include "base/log.h"
#include "base/utf8.h"
#include "base/xalloc.h"

/* Received in one turn of the loop while shaking hands. */
#define HANDSHAKE_BUDGET (64U * 1024)

static const struct {
	const char *words;
	int64_t deadline_ms;
} steps[] = {
#define X(id, words, ms) [SSH_##id] = { (words), (ms) },
	SSH_STEP_LIST(X)
#undef X
};

void
ssh_conn_enter(struct ssh_conn *conn, enum ssh_step step)
{
	log_debug("ssh", "%s: %s", conn->link->pod.name,
		  step == SSH_READY ? "ready" : steps[step].words);
	conn->step = step;
	if (steps[step].deadline_ms > 0)
		loop_timer_start(conn->deadline, steps[step].deadline_ms, 0);
	else
		loop_timer_stop(conn->deadline);
}

void
ssh_conn_error(const struct ssh_conn *conn, struct err *err, enum err_code code,
	       const char *what)
{
	char *message = NULL;
	struct buf clean;

	libssh2_session_last_error(conn->session, &message, NULL, 0);
	buf_init(&clean, 200);
	utf8_sanitize(&clean, str_from(message != NULL ? message : ""));
	err_set(err, code, "%s: %s (libssh2 %d)", what, clean.data,
		libssh2_session_last_errno(conn->session));
	buf_release(&clean);
}

/* End a session without a byte more on its socket. */
static void
free_session(struct ssh_conn *conn)
{
	if (conn->session == NULL)
		return;
	conn->io.blocks = false;
	if (conn->step == SSH_READY)
		libssh2_session_disconnect(conn->session, "bye");
	conn->io.dead = true;
	libssh2_session_set_blocking(conn->session, 0);
	for (int i = 0; i < 100; i++)
		if (libssh2_session_free(conn->session) != LIBSSH2_ERROR_EAGAIN)
			break;
	conn->session = NULL;
}

static void
destroy(struct ssh_conn *conn)
{
	free_session(conn);
	ssh_net_close(conn);
	ssh_target_release(&conn->target);
	known_keys_clear(&conn->known);
	ssh_io_release(&conn->io);
	buf_release(&conn->key_base64);
	if (conn->auth != NULL)
		ssh_auth_wipe(conn->auth);
	free(conn->auth);
	free(conn);
}

void
ssh_conn_close(struct ssh_conn *conn)
{
	conn->link->conn = NULL;
	conn->link = NULL;
	capture_cancel(conn->capture);
	gate_leave(&conn->ticket);
	ssh_channels_release(conn);
	loop_timer_close(conn->deadline);
	loop_timer_close(conn->tick);
	loop_timer_close(conn->pulse);
	loop_fd_close(conn->watch);
	conn->watch = NULL;
	if (!conn->in_job) {
		destroy(conn);
		return;
	}
	/* The job ends soon; ssh_login.c then calls on. */
	atomic_store(&conn->auth->cancel, true);
	shutdown(conn->fd, SHUT_RDWR);
}

/* Called with the connection whose job came back after it was closed. */
void
ssh_conn_orphan_done(struct ssh_conn *conn)
{
	assert(conn->link == NULL);
	destroy(conn);
}

static void
end(struct ssh_conn *conn, const struct err *why,
    void (*tell)(struct remote_link *link, const struct err *why))
{
	struct remote_link *link = conn->link;
	struct err err = *why;

	err_prefix(&err, "%s", link->pod.name);
	ssh_conn_close(conn);
	tell(link, &err);
	link_fail_streams(link, &err);
}

void
ssh_conn_lost(struct ssh_conn *conn, const struct err *why)
{
	end(conn, why, link_lost);
}

void
ssh_conn_refused(struct ssh_conn *conn, const struct err *why)
{
	end(conn, why, link_refused);
}

static void
on_deadline(void *user)
{
	struct ssh_conn *conn = user;
	struct err err;

	err_set(&err, ERR_TIMEOUT, "%s took longer than %d s",
		steps[conn->step].words,
		(int)(steps[conn->step].deadline_ms / 1000));
	if (!ssh_net_proxy_error(conn, &err))
		ssh_conn_lost(conn, &err);
	else
		ssh_conn_refused(conn, &err);
}

static void
on_admit(void *user)
{
	ssh_net_start(user);
}

void
ssh_conn_known(struct ssh_conn *conn)
{
	ssh_conn_enter(conn, SSH_GATE);
	gate_enter(&conn->link->fleet->gate, &conn->ticket, conn->target.host,
		   on_admit, conn);
}

static void
take_name(struct ssh_conn *conn, struct str text)
{
	struct err err;

	if (ssh_target_parse(&conn->target, &conn->link->pod, text, &err) != 0)
		ssh_conn_refused(conn, &err);
	else
		ssh_login_lookup(conn);
}

static void
on_name(void *user, const struct capture_result *result)
{
	struct ssh_conn *conn = user;
	struct err err;

	conn->capture = NULL;
	if (result->status == 0) {
		take_name(conn, result->out);
		return;
	}
	err_set(&err, ERR_CONFIG,
		"`ssh -G -- %s` fails: see what it says in a terminal",
		conn->link->pod.ssh);
	if (result->status < 0)
		ssh_conn_lost(conn, &err);
	else
		ssh_conn_refused(conn, &err);
}

/* Without an ssh program the name is taken as it stands. */
static void
on_begin(void *user)
{
	struct ssh_conn *conn = user;
	const char *argv[8] = { "ssh", "-G" };
	struct ssh_dest dest;
	char port[16];
	struct err err;
	size_t n = 2;

	ssh_conn_enter(conn, SSH_NAME);
	if (ssh_dest_parse(&dest, conn->link->pod.ssh, &err) != 0) {
		ssh_conn_refused(conn, &err);
		return;
	}
	if (dest.port > 0) {
		snprintf(port, sizeof(port), "-p%d", dest.port);
		argv[n++] = port;
	}
	if (dest.user != NULL) {
		argv[n++] = "-l";
		argv[n++] = dest.user;
	}
	argv[n++] = "--";
	argv[n++] = dest.host;
	conn->capture =
		capture_new(conn->loop, argv, 15000, on_name, conn, NULL);
	ssh_dest_release(&dest);
	if (conn->capture == NULL)
		take_name(conn, (struct str){ NULL, 0 });
}

static bool
is_one_of(struct str name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (str_eq_cstr(name, names[i]))
			return true;
	return false;
}

/*
 * Prefer the wanted methods in their order.  What this libssh2 does not know
 * is left out here: its own way to drop names copies overlapping memory.
 */
static void
prefer(struct ssh_conn *conn, int method, const char *wanted)
{
	struct str rest = str_from(wanted), name;
	const char **names = NULL;
	struct buf list;
	int n = libssh2_session_supported_algs(conn->session, method, &names);

	buf_init(&list, 1024);
	while (n > 0 && str_next(&rest, ',', &name))
		if (is_one_of(name, names, n))
			buf_appendf(&list, "%s%.*s", list.len > 0 ? "," : "",
				    (int)name.len, name.p);
	if (list.len > 0)
		libssh2_session_method_pref(conn->session, method, list.data);
	if (n > 0)
		libssh2_free(conn->session, names);
	buf_release(&list);
}

/*
 * No CBC (it is weak).  The MAC costs more than the cipher: first the one
 * that is the fastest here, and probably on the pod.
 */
static void
set_preferences(struct ssh_conn *conn)
{
	static const char ciphers[] =
		"aes128-gcm@openssh.com,aes256-gcm@openssh.com,aes128-ctr,"
		"aes192-ctr,aes256-ctr,chacha20-poly1305@openssh.com";
	const char *macs = cpu_has_sha256()
				   ? "hmac-sha2-256-etm@openssh.com,"
				     "hmac-sha2-512-etm@openssh.com,"
				     "hmac-sha2-256,hmac-sha2-512,hmac-sha1"
				   : "hmac-sha2-512-etm@openssh.com,"
				     "hmac-sha2-256-etm@openssh.com,"
				     "hmac-sha2-512,hmac-sha2-256,hmac-sha1";
	struct buf types;

	buf_init(&types, 1024);
	known_keys_preference(&conn->known, &types);
	prefer(conn, LIBSSH2_METHOD_HOSTKEY, types.data);
	buf_release(&types);
	prefer(conn, LIBSSH2_METHOD_CRYPT_CS, ciphers);
	prefer(conn, LIBSSH2_METHOD_CRYPT_SC, ciphers);
	prefer(conn, LIBSSH2_METHOD_MAC_CS, macs);
	prefer(conn, LIBSSH2_METHOD_MAC_SC, macs);
}

/* It failed: what can be said of it, and whether to try again. */
static void
handshake_failed(struct ssh_conn *conn, int rc)
{
	struct err err;

	if (ssh_net_proxy_error(conn, &err)) {
		ssh_conn_refused(conn, &err);
		return;
	}
	if (rc == LIBSSH2_ERROR_KEX_FAILURE ||
	    rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE ||
	    rc == LIBSSH2_ERROR_METHOD_NONE) {
		err_set(&err, ERR_NET,
			"libssh2 %s and the server have no host key type, key "
			"exchange, cipher or MAC in common (a server with RSA "
			"host keys only?): give it an ed25519 host key, or "
			"use \"transport\": \"openssh\"",
			libssh2_version(0));
		ssh_conn_refused(conn, &err);
		return;
	}
	if (conn->proxy_words.len == 0)
		ssh_conn_error(conn, &err, ERR_NET, "the SSH handshake failed");
	ssh_conn_lost(conn, &err);
}

static void
go_on_handshake(struct ssh_conn *conn)
{
	int rc;

	conn->io.budget = HANDSHAKE_BUDGET;
	rc = ssh_io_flush(&conn->io) != 0
		     ? LIBSSH2_ERROR_SOCKET_SEND
		     : libssh2_session_handshake(conn->session, conn->fd);
	if (rc == LIBSSH2_ERROR_EAGAIN) {
		loop_fd_set(conn->watch,
			    LOOP_READ | (ssh_io_is_full(&conn->io) ? LOOP_WRITE
								   : 0));
		return;
	}
	if (rc != 0) {
		handshake_failed(conn, rc);
		return;
	}
	conn->io.early = false;
	loop_fd_set(conn->watch, 0);
	ssh_login_check_host(conn);
}

static void
on_ready(void *user, unsigned int events)
{
	struct ssh_conn *conn = user;

	if (events & LOOP_READ)
		conn->link->info.last_byte_ms = link_now_ms(conn->link);
	if (conn->step == SSH_HANDSHAKE)
		go_on_handshake(conn);
	else if (conn->step == SSH_READY)
		ssh_conn_drive(conn);
	else
		loop_fd_set(conn->watch, 0);
}

void
ssh_conn_connected(struct ssh_conn *conn)
{
	ssh_conn_enter(conn, SSH_HANDSHAKE);
	conn->io.fd = conn->fd;
	conn->io.early = true;
	conn->session = ssh_io_session(&conn->io);
	set_preferences(conn);
	conn->watch = loop_fd_new(conn->loop, conn->fd, on_ready, conn);
	go_on_handshake(conn);
}

void
ssh_conn_ready(struct ssh_conn *conn)
{
	struct remote_link *link = conn->link;

	ssh_conn_enter(conn, SSH_READY);
	gate_leave(&conn->ticket);
	loop_fd_set(conn->watch, LOOP_READ);
	link_live(link);
	ssh_drive_start(conn);
	link_pump_soon(link);
}

static void
ssh_start(struct remote_link *link, struct stream *s)
{
	struct ssh_conn *conn = link->conn;

	if (conn == NULL) {
		conn = xcalloc(1, sizeof(*conn));
		link->conn = conn;
		conn->link = link;
		conn->loop = link->fleet->loop;
		conn->fd = conn->proxy_fd = -1;
		list_init(&conn->channels);
		ssh_io_init(&conn->io);
		buf_init(&conn->key_base64, 65536);
		buf_init(&conn->proxy_words, 4096);
		conn->deadline = loop_timer_new(conn->loop, on_deadline, conn);
		link_connecting(link);
		on_begin(conn);
	} else if (conn->step == SSH_READY) {
		ssh_channel_start(conn, s);
	}
}

static void
ssh_kick(struct stream *s)
{
	ssh_conn_drive_soon(s->link->conn);
}

static void
ssh_probe(struct remote_link *link)
{
	struct ssh_conn *conn = link->conn;

	if (conn != NULL && conn->step == SSH_READY)
		ssh_channel_probe(conn);
}

static void
ssh_answer(struct remote_link *link, const char *answer)
{
	struct ssh_conn *conn = link->conn;

	if (conn != NULL && conn->step == SSH_ASK)
		ssh_login_answer(conn, answer);
}

static void
ssh_release(struct remote_link *link)
{
	if (link->conn != NULL)
		ssh_conn_close(link->conn);
}

const struct link_ops ssh_link_ops = {
	.start = ssh_start,
	.kick = ssh_kick,
	.detach = ssh_channel_detach,
	.probe = ssh_probe,
	.answer = ssh_answer,
	.release = ssh_release,
};
