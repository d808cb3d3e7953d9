/* SPDX-License-Identifier: MIT */
/*
 * One libssh2 session a pod: the steps that lead to it, and its end.  What the
 * steps do is in files of their own, which know nothing of this one.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "remote/dial.h"
#include "remote/openssh.h"
#include "remote/process.h"
#include "remote/ssh_channel.h"
#include "remote/ssh_login.h"

/* Received in one turn of the loop while shaking hands. */
#define HANDSHAKE_BUDGET (64U * 1024)

enum ssh_step {
	SSH_NAME,
	SSH_KNOWN,
	SSH_GATE,
	SSH_RESOLVE,
	SSH_CONNECT,
	SSH_HANDSHAKE,
	SSH_LOGIN,
	SSH_READY,
};

/* Its words in errors, and how long it may take; 0: for ever. */
static const struct {
	const char *words;
	int limit_s;
} steps[] = {
	[SSH_NAME] = { "ssh -G", 20 },
	[SSH_KNOWN] = { "looking the host key up", 20 },
	[SSH_GATE] = { "waiting for other logins", 0 },
	[SSH_RESOLVE] = { "resolving the name", 25 },
	[SSH_CONNECT] = { "connecting", 10 },
	[SSH_HANDSHAKE] = { "the SSH handshake", 20 },
	[SSH_LOGIN] = { "the login", 0 },
	[SSH_READY] = { "ready", 0 },
};

struct ssh_conn {
	struct remote_link *link; /* NULL: closed, waits for the login's job */
	struct loop *loop;
	enum ssh_step step;
	struct loop_timer *deadline;
	struct ssh_target target;
	struct capture *capture;
	size_t file; /* known_hosts file that is asked next */
	struct known_keys known;
	struct gate_ticket ticket;
	struct resolve *resolve; /* in SSH_RESOLVE */
	struct dial *dial;	 /* in SSH_CONNECT */
	struct process proxy;	 /* through which the server is reached */
	struct buf proxy_words;	 /* the newest of its stderr */
	struct ssh_session session;
	struct ssh_login login;
	struct ssh_channels channels;
};

static void
enter(struct ssh_conn *conn, enum ssh_step step)
{
	log_debug("ssh", "%s: %s", conn->link->pod.name, steps[step].words);
	conn->step = step;
	if (steps[step].limit_s > 0)
		loop_timer_start(conn->deadline,
				 steps[step].limit_s * INT64_C(1000), 0);
	else
		loop_timer_stop(conn->deadline);
}

static void
free_conn(struct ssh_conn *conn)
{
	ssh_session_release(&conn->session, conn->step == SSH_READY);
	ssh_login_release(&conn->login);
	if (conn->proxy.child != NULL)
		loop_child_kill(conn->proxy.child, SIGTERM);
	process_release(&conn->proxy);
	buf_release(&conn->proxy_words);
	ssh_target_release(&conn->target);
	known_keys_clear(&conn->known);
	free(conn);
}

static void
close_conn(struct ssh_conn *conn)
{
	conn->link->conn = NULL;
	conn->link = NULL;
	capture_cancel(conn->capture);
	gate_leave(&conn->ticket);
	resolve_cancel(conn->resolve);
	dial_cancel(conn->dial);
	ssh_channels_release(&conn->channels);
	loop_timer_close(conn->deadline);
	loop_fd_close(conn->session.watch);
	conn->session.watch = NULL;
	if (ssh_login_cancel(&conn->login))
		shutdown(conn->session.fd, SHUT_RDWR);
	else
		free_conn(conn);
}

/* End the connection and all streams of its link; tell says how. */
static void
end_conn(struct ssh_conn *conn, const struct err *why,
	 void (*tell)(struct remote_link *link, const struct err *why))
{
	struct remote_link *link = conn->link;
	struct err err = *why;

	err_prefix(&err, "%s", link->pod.name);
	close_conn(conn);
	tell(link, &err);
	link_fail_streams(link, &err);
}

static void
on_proxy_words(void *user, unsigned int events)
{
	struct ssh_conn *conn = user;

	(void)events;
	if (conn->proxy_words.truncated)
		buf_clear(&conn->proxy_words);
	(void)process_read(&conn->proxy, 2, &conn->proxy_words);
}

/* The end of its socket tells the session. */
static void
on_proxy_exit(void *user, int exit_status, int term_signal)
{
	struct ssh_conn *conn = user;

	(void)exit_status;
	(void)term_signal;
	conn->proxy.child = NULL;
}

/* It failed on the way there, of which a proxy may know more. */
static void
end_on_way(struct ssh_conn *conn, struct err *why)
{
	struct str words;
	bool final = false;

	if (conn->proxy.fds[2] >= 0)
		on_proxy_words(conn, LOOP_READ);
	words = str_trim(buf_str(&conn->proxy_words));
	if (words.len > 0)
		final = openssh_error(why, "the way there", words);
	end_conn(conn, why, final ? link_refused : link_lost);
}

static void
on_deadline(void *user)
{
	struct ssh_conn *conn = user;
	struct err err;

	err_set(&err, ERR_TIMEOUT, "%s took longer than %d s",
		steps[conn->step].words, steps[conn->step].limit_s);
	end_on_way(conn, &err);
}

static void
on_channels_lost(void *user, const struct err *why)
{
	struct ssh_conn *conn = user;
	struct remote_link *link = conn->link;

	if (why != NULL) {
		end_conn(conn, why, link_lost);
		return;
	}
	log_debug("ssh", "%s: the idle connection was closed", link->pod.name);
	close_conn(conn);
	link_idle(link);
	link_pump_soon(link);
}

static void
on_login(void *user, enum ssh_auth_result result, const struct err *why)
{
	struct ssh_conn *conn = user;

	if (conn->link == NULL) {
		free_conn(conn);
	} else if (result == SSH_AUTH_DONE) {
		enter(conn, SSH_READY);
		gate_leave(&conn->ticket);
		ssh_session_poll(&conn->session, true);
		link_live(conn->link);
		ssh_channels_start(&conn->channels);
		link_pump_soon(conn->link);
	} else {
		end_conn(conn, why,
			 result == SSH_AUTH_LOST ? link_lost : link_refused);
	}
}

static void
begin_login(struct ssh_conn *conn)
{
	enter(conn, SSH_LOGIN);
	loop_fd_set(conn->session.watch, 0);
	conn->session.early = false;
	ssh_login_start(&conn->login);
}

/* It failed: what can be said of it, and whether to try again. */
static void
handshake_failed(struct ssh_conn *conn, int rc)
{
	struct err err;

	if (rc == LIBSSH2_ERROR_KEX_FAILURE ||
	    rc == LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE ||
	    rc == LIBSSH2_ERROR_METHOD_NONE) {
		err_set(&err, ERR_NET,
			"libssh2 %s and the server have no host key type, key "
			"exchange, cipher or MAC in common (a server with RSA "
			"host keys only?): give it an ed25519 host key, or "
			"use \"transport\": \"openssh\"",
			libssh2_version(0));
		end_conn(conn, &err, link_refused);
		return;
	}
	ssh_session_error(&conn->session, "the SSH handshake failed", &err);
	end_on_way(conn, &err);
}

static void
shake_hands(struct ssh_conn *conn)
{
	struct ssh_session *session = &conn->session;
	int rc;

	session->budget = HANDSHAKE_BUDGET;
	rc = ssh_session_flush(session) != 0
		     ? LIBSSH2_ERROR_SOCKET_SEND
		     : libssh2_session_handshake(session->ssh2, session->fd);
	if (rc == LIBSSH2_ERROR_EAGAIN)
		ssh_session_poll(session, true);
	else if (rc != 0)
		handshake_failed(conn, rc);
	else
		begin_login(conn);
}

static void
on_socket(void *user, unsigned int events)
{
	struct ssh_conn *conn = user;

	if (events & LOOP_READ)
		conn->link->info.last_byte_ms = link_now_ms(conn->link);
	if (conn->step == SSH_HANDSHAKE)
		shake_hands(conn);
	else if (conn->step == SSH_READY)
		ssh_channels_drive(&conn->channels);
	else
		loop_fd_set(conn->session.watch, 0);
}

/* The socket is connected to the server. */
static void
begin_session(struct ssh_conn *conn)
{
	struct buf host_keys;

	enter(conn, SSH_HANDSHAKE);
	buf_init(&host_keys, 1024);
	known_keys_preference(&conn->known, &host_keys);
	ssh_session_begin(&conn->session, host_keys.data);
	buf_release(&host_keys);
	conn->session.watch =
		loop_fd_new(conn->loop, conn->session.fd, on_socket, conn);
	shake_hands(conn);
}

static void
on_dialled(void *user, int fd, int error)
{
	struct ssh_conn *conn = user;
	struct err err;

	conn->dial = NULL;
	conn->session.fd = fd;
	if (fd >= 0) {
		begin_session(conn);
		return;
	}
	err_set(&err, ERR_NET, "cannot connect to %s port %d: %s",
		conn->target.host, conn->target.port, strerror(error));
	end_conn(conn, &err, link_lost);
}

static void
on_resolved(void *user, const struct addrinfo *addrs, const char *error)
{
	struct ssh_conn *conn = user;
	struct err err;

	conn->resolve = NULL;
	if (addrs != NULL) {
		enter(conn, SSH_CONNECT);
		conn->dial = dial_new(conn->loop, addrs, on_dialled, conn);
		return;
	}
	err_set(&err, ERR_NET, "%s cannot be resolved: %s", conn->target.host,
		error);
	end_conn(conn, &err, link_lost);
}

/* One end of a socket is the program's stdin and stdout, the other ours. */
static int
start_proxy(struct ssh_conn *conn, const char *const *argv, struct err *err)
{
	int pair[2], rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return err_set_errno(err, ERR_IO, "cannot make a socket");
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	conn->session.fd = pair[0];
	rc = process_start(&conn->proxy, conn->loop,
			   &(struct process_plan){
				   .argv = argv,
				   .asks_nobody = true,
				   .on_ready = { NULL, NULL, on_proxy_words },
				   .fds = { pair[1], pair[1], -1 },
				   .on_exit = on_proxy_exit,
				   .user = conn },
			   err);
	close(pair[1]);
	return rc;
}

static void
begin_proxy(struct ssh_conn *conn)
{
	const struct ssh_target *target = &conn->target;
	struct ssh_words words = { .n = 0 };
	struct err err;
	int rc = 0;

	enter(conn, SSH_CONNECT);
	if (target->proxy_jump != NULL)
		rc = ssh_words_jump(&words, target->proxy_jump,
				    conn->link->fleet->options.accept_new,
				    target->host, target->port, &err);
	else
		ssh_words_add_all(&words, "/bin/sh", "-c",
				  target->proxy_command, NULL);
	if (rc == 0)
		rc = start_proxy(conn, words.argv, &err);
	ssh_words_release(&words);
	if (rc == 0)
		begin_session(conn);
	else
		end_conn(conn, &err, link_refused);
}

static void
on_admit(void *user)
{
	struct ssh_conn *conn = user;
	const struct ssh_target *target = &conn->target;

	if (target->proxy_jump != NULL || target->proxy_command != NULL) {
		begin_proxy(conn);
		return;
	}
	enter(conn, SSH_RESOLVE);
	conn->resolve = resolve_new(conn->loop, target->host, target->port,
				    on_resolved, conn);
}

static void look_up_next(struct ssh_conn *conn);

static void
on_known(void *user, int status, struct str out)
{
	struct ssh_conn *conn = user;

	(void)status;
	conn->capture = NULL;
	known_keys_add(&conn->known, out);
	look_up_next(conn);
}

/* Ask one file after the other; where ssh-keygen is missing, read it. */
static void
look_up_next(struct ssh_conn *conn)
{
	char *name = ssh_target_known_name(&conn->target);
	const char *argv[] = { "ssh-keygen", "-F", name, "-f", NULL, NULL };

	while (conn->file < conn->target.n_known_hosts &&
	       conn->capture == NULL) {
		argv[4] = conn->target.known_hosts[conn->file++];
		if (access(argv[4], R_OK) != 0)
			continue;
		conn->capture = capture_new(conn->loop, argv, 10000, on_known,
					    conn, NULL);
		if (conn->capture == NULL)
			known_keys_add_file(&conn->known, argv[4], name);
	}
	free(name);
	if (conn->capture != NULL)
		return;
	enter(conn, SSH_GATE);
	gate_enter(&conn->link->fleet->gate, &conn->ticket, conn->target.host,
		   on_admit, conn);
}

static void
take_name(struct ssh_conn *conn, struct str text)
{
	struct err err;

	if (ssh_target_parse(&conn->target, &conn->link->pod, text, &err) !=
	    0) {
		end_conn(conn, &err, link_refused);
		return;
	}
	enter(conn, SSH_KNOWN);
	look_up_next(conn);
}

static void
on_name(void *user, int status, struct str out)
{
	struct ssh_conn *conn = user;
	struct err err;

	conn->capture = NULL;
	if (status == 0) {
		take_name(conn, out);
		return;
	}
	err_set(&err, ERR_CONFIG,
		"`ssh -G -- %s` fails: see what it says in a terminal",
		conn->link->pod.ssh);
	end_conn(conn, &err, status < 0 ? link_lost : link_refused);
}

/* Without an ssh program the name is taken as it stands. */
static void
ask_name(struct ssh_conn *conn)
{
	struct ssh_words words = { .n = 0 };
	struct err err;

	enter(conn, SSH_NAME);
	ssh_words_add_all(&words, "ssh", "-G", NULL);
	if (ssh_words_add_host(&words, conn->link->pod.ssh, &err) != 0) {
		ssh_words_release(&words);
		end_conn(conn, &err, link_refused);
		return;
	}
	conn->capture =
		capture_new(conn->loop, words.argv, 15000, on_name, conn, NULL);
	ssh_words_release(&words);
	if (conn->capture == NULL)
		take_name(conn, (struct str){ NULL, 0 });
}

static struct ssh_conn *
new_conn(struct remote_link *link)
{
	struct ssh_conn *conn = xcalloc(1, sizeof(*conn));

	conn->link = link;
	conn->loop = link->fleet->loop;
	conn->proxy = PROCESS_NONE;
	buf_init(&conn->proxy_words, 4096);
	conn->deadline = loop_timer_new(conn->loop, on_deadline, conn);
	ssh_session_init(&conn->session);
	conn->login = (struct ssh_login){ .link = link,
					  .session = &conn->session,
					  .target = &conn->target,
					  .known = &conn->known,
					  .ticket = &conn->ticket,
					  .fn = on_login,
					  .user = conn };
	ssh_login_init(&conn->login);
	conn->channels = (struct ssh_channels){ .link = link,
						.session = &conn->session,
						.on_lost = on_channels_lost,
						.user = conn };
	return conn;
}

static void
ssh_start(struct remote_link *link, struct stream *s)
{
	struct ssh_conn *conn = link->conn;

	if (conn == NULL) {
		link->conn = conn = new_conn(link);
		link_connecting(link);
		ask_name(conn);
	} else if (conn->step == SSH_READY) {
		ssh_channels_add(&conn->channels, s);
	}
}

static void
ssh_kick(struct stream *s)
{
	struct ssh_conn *conn = s->link->conn;

	ssh_channels_drive_soon(&conn->channels);
}

static void
ssh_probe(struct remote_link *link)
{
	struct ssh_conn *conn = link->conn;

	if (conn != NULL && conn->step == SSH_READY)
		ssh_channels_probe(&conn->channels);
}

static void
ssh_answer(struct remote_link *link, const char *answer)
{
	struct ssh_conn *conn = link->conn;

	if (conn != NULL)
		ssh_login_answer(&conn->login, answer);
}

static void
ssh_release(struct remote_link *link)
{
	if (link->conn != NULL)
		close_conn(link->conn);
}

const struct link_ops ssh_link_ops = {
	.start = ssh_start,
	.kick = ssh_kick,
	.detach = ssh_channel_detach,
	.probe = ssh_probe,
	.answer = ssh_answer,
	.release = ssh_release,
};
