/* SPDX-License-Identifier: MIT */
/* From the name of a host to a connected socket, or to a jump host's ssh. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "remote/child.h"
#include "remote/dial.h"
#include "remote/ssh_conn.h"

/* A job; lives on when its connection is closed before it is done. */
struct ssh_resolve {
	struct ssh_conn *conn; /* NULL: nobody waits any more */
	char *host;
	char port[8];
	int rc;
	struct addrinfo *addrs;
};

/*
 * A dead peer is to be noticed: unacknowledged data for 20 s ends the
 * connection, an idle one is asked every 5 s after 10.
 */
static void
set_socket_options(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
#ifdef TCP_KEEPIDLE
		{ IPPROTO_TCP, TCP_KEEPIDLE, 10 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 5 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
#endif
#ifdef TCP_USER_TIMEOUT
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 20000 },
#endif
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		setsockopt(fd, options[i].level, options[i].name,
			   &options[i].value, sizeof(options[i].value));
}

static void
on_dial(void *user, int fd, int error)
{
	struct ssh_conn *conn = user;
	struct err err;

	conn->dial = NULL;
	if (fd >= 0) {
		conn->fd = fd;
		set_socket_options(fd);
		ssh_conn_connected(conn);
		return;
	}
	errno = error;
	err_set_errno(&err, ERR_NET, "cannot connect to %s port %d",
		      conn->target.host, conn->target.port);
	ssh_conn_lost(conn, &err);
}

static void
start_dial(struct ssh_conn *conn, struct addrinfo *addrs)
{
	ssh_conn_enter(conn, SSH_CONNECT);
	conn->dial = dial_new(conn->loop, addrs, on_dial, conn);
}

static void
on_resolve_work(void *user)
{
	struct ssh_resolve *resolve = user;
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_ADDRCONFIG |
						    AI_NUMERICSERV };

	resolve->rc = getaddrinfo(resolve->host, resolve->port, &hints,
				  &resolve->addrs);
}

static void
on_resolve_done(void *user)
{
	struct ssh_resolve *resolve = user;
	struct ssh_conn *conn = resolve->conn;
	struct err err;

	if (conn != NULL)
		conn->resolve = NULL;
	if (resolve->rc == 0) {
		if (conn != NULL)
			start_dial(conn, resolve->addrs);
		freeaddrinfo(resolve->addrs);
	} else if (conn != NULL) {
		err_set(&err, ERR_NET, "%s cannot be resolved: %s",
			resolve->host, gai_strerror(resolve->rc));
		ssh_conn_lost(conn, &err);
	}
	free(resolve->host);
	free(resolve);
}

static void
on_proxy_words(void *user, unsigned int events)
{
	struct ssh_conn *conn = user;
	char data[1024];
	ssize_t n = read(conn->proxy_fd, data, sizeof(data));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		if (conn->proxy_words.len + (size_t)n > conn->proxy_words.cap)
			buf_clear(&conn->proxy_words);
		buf_append(&conn->proxy_words, data, (size_t)n);
		return;
	}
	loop_fd_close(conn->proxy_watch);
	conn->proxy_watch = NULL;
	child_close_fd(&conn->proxy_fd);
}

static void
on_proxy_exit(void *user, int exit_status, int term_signal)
{
	struct ssh_conn *conn = user;

	(void)exit_status;
	(void)term_signal;
	/* The end of the socket tells the session. */
	conn->proxy = NULL;
}

bool
ssh_net_proxy_error(struct ssh_conn *conn, struct err *err)
{
	struct str words;

	if (conn->proxy_watch != NULL)
		on_proxy_words(conn, LOOP_READ);
	words = (struct str){ conn->proxy_words.data, conn->proxy_words.len };
	if (str_trim(words).len == 0)
		return false;
	return child_ssh_error(err, "the way there", words);
}

/* Start the child with one end of a socketpair as its stdin and stdout. */
static int
start_proxy(struct ssh_conn *conn, const char *const *argv, struct err *err)
{
	const char **envp;
	int pair[2], words[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return err_set_errno(err, ERR_IO, "cannot make a socket");
	if (child_pipe(words, 0, err) != 0) {
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	conn->fd = pair[0];
	conn->proxy_fd = words[0];
	envp = child_ssh_environment();
	conn->proxy =
		loop_child_new(conn->loop, argv, envp,
			       (const int[3]){ pair[1], pair[1], words[1] },
			       on_proxy_exit, conn, err);
	free(envp);
	close(pair[1]);
	close(words[1]);
	if (conn->proxy == NULL)
		return -1;
	conn->proxy_watch =
		loop_fd_new(conn->loop, conn->proxy_fd, on_proxy_words, conn);
	loop_fd_set(conn->proxy_watch, LOOP_READ);
	return 0;
}

/* `ssh -W host:port jump`; of "a,b" b is reached through a. */
static int
start_jump(struct ssh_conn *conn, struct err *err)
{
	const char *jump = conn->target.proxy_jump;
	const char *last = strrchr(jump, ',');
	const char *argv[16] = { "ssh", "-oBatchMode=yes",
				 "-oConnectTimeout=10" };
	struct ssh_dest dest;
	struct buf where, port;
	char *first =
		last != NULL ? xstrndup(jump, (size_t)(last - jump)) : NULL;
	size_t n = 3;
	int rc;

	if (ssh_dest_parse(&dest, last != NULL ? last + 1 : jump, err) != 0) {
		free(first);
		return -1;
	}
	buf_init(&where, 1024);
	buf_init(&port, 16);
	argv[n++] = conn->link->fleet->options.accept_new
			    ? "-oStrictHostKeyChecking=accept-new"
			    : "-oStrictHostKeyChecking=yes";
	if (first != NULL) {
		argv[n++] = "-J";
		argv[n++] = first;
	}
	if (dest.port > 0) {
		buf_appendf(&port, "-p%d", dest.port);
		argv[n++] = port.data;
	}
	if (dest.user != NULL) {
		argv[n++] = "-l";
		argv[n++] = dest.user;
	}
	buf_appendf(&where, "-W[%s]:%d", conn->target.host, conn->target.port);
	argv[n++] = where.data;
	argv[n++] = "--";
	argv[n++] = dest.host;
	rc = start_proxy(conn, argv, err);
	buf_release(&where);
	buf_release(&port);
	ssh_dest_release(&dest);
	free(first);
	return rc;
}

static void
start_through_proxy(struct ssh_conn *conn)
{
	const char *const argv[] = { "/bin/sh", "-c",
				     conn->target.proxy_command, NULL };
	struct err err;
	int rc;

	ssh_conn_enter(conn, SSH_CONNECT);
	if (conn->target.proxy_jump != NULL)
		rc = start_jump(conn, &err);
	else
		rc = start_proxy(conn, argv, &err);
	if (rc != 0)
		ssh_conn_refused(conn, &err);
	else
		ssh_conn_connected(conn);
}

void
ssh_net_start(struct ssh_conn *conn)
{
	struct ssh_resolve *resolve;

	if (conn->target.proxy_jump != NULL ||
	    conn->target.proxy_command != NULL) {
		start_through_proxy(conn);
		return;
	}
	ssh_conn_enter(conn, SSH_RESOLVE);
	resolve = xcalloc(1, sizeof(*resolve));
	resolve->conn = conn;
	resolve->host = xstrdup(conn->target.host);
	snprintf(resolve->port, sizeof(resolve->port), "%d", conn->target.port);
	conn->resolve = resolve;
	loop_job(conn->loop, JOB_RESOLVE, on_resolve_work, on_resolve_done,
		 resolve);
}

void
ssh_net_close(struct ssh_conn *conn)
{
	if (conn->resolve != NULL)
		conn->resolve->conn = NULL;
	conn->resolve = NULL;
	dial_cancel(conn->dial);
	conn->dial = NULL;
	loop_fd_close(conn->watch);
	conn->watch = NULL;
	child_close_fd(&conn->fd);
	if (conn->proxy != NULL)
		loop_child_kill(conn->proxy, SIGTERM);
	loop_child_close(conn->proxy);
	conn->proxy = NULL;
	loop_fd_close(conn->proxy_watch);
	conn->proxy_watch = NULL;
	child_close_fd(&conn->proxy_fd);
	buf_release(&conn->proxy_words);
}
