/* SPDX-License-Identifier: MIT */
/* Resolves a host name, and connects to the first of its addresses that answers; for ssh_conn.c. */
#include "remote/dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/xalloc.h"

/* Belongs to a job, so a cancelled one is freed when the job is done. */
struct resolve {
	resolve_fn fn; /* NULL: cancelled */
	void *user;
	char *host;
	char port[8];
	int rc;
	struct addrinfo *addrs;
};

static void resolve_work(void *user)
{
	struct resolve *resolve = user;
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV };

	resolve->rc = getaddrinfo(resolve->host, resolve->port, &hints, &resolve->addrs);
}

static void resolve_done(void *user)
{
	struct resolve *resolve = user;

	if (resolve->fn != NULL)
		resolve->fn(resolve->user, resolve->addrs, gai_strerror(resolve->rc));
	if (resolve->addrs != NULL)
		freeaddrinfo(resolve->addrs);
	free(resolve->host);
	free(resolve);
}

struct resolve *resolve_new(struct loop *loop, const char *host, int port, resolve_fn fn,
			    void *user)
{
	struct resolve *resolve =
		xnew(struct resolve, .fn = fn, .user = user, .host = xstrdup(host));

	snprintf(resolve->port, sizeof(resolve->port), "%d", port);
	loop_job(loop, JOB_RESOLVE, resolve_work, resolve_done, resolve);
	return resolve;
}

void resolve_cancel(struct resolve *resolve)
{
	if (resolve != NULL)
		resolve->fn = NULL;
}

struct attempt {
	struct dial *dial;
	struct sockaddr_storage addr;
	socklen_t len;
	int fd; /* -1: not started, or failed */
	struct loop_fd *watch;
};

struct dial {
	struct loop *loop;
	dial_fn fn;
	void *user;
	struct attempt tries[DIAL_MAX_ADDRS];
	size_t n, started, failed;
	struct loop_timer *next;
	int error; /* errno of the last attempt that failed */
};

static void close_attempt(struct attempt *attempt)
{
	loop_fd_close(attempt->watch);
	attempt->watch = NULL;
	fd_close(&attempt->fd);
}

void dial_cancel(struct dial *dial)
{
	if (dial == NULL)
		return;
	for (size_t i = 0; i < dial->n; i++)
		close_attempt(&dial->tries[i]);
	loop_timer_close(dial->next);
	free(dial);
}

static void dial_finish(struct dial *dial, int fd)
{
	/* A dead peer ends the connection: no acknowledgement for 20 s, or for probes when idle. */
	static const struct {
		int level, name, value;
	} options[] = {
		{ IPPROTO_TCP, TCP_NODELAY, 1 },	  { SOL_SOCKET, SO_KEEPALIVE, 1 },
#ifdef TCP_KEEPIDLE
		{ IPPROTO_TCP, TCP_KEEPIDLE, 10 },	  { IPPROTO_TCP, TCP_KEEPINTVL, 5 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 3 },
#endif
#ifdef TCP_USER_TIMEOUT
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, 20000 },
#endif
	};
	dial_fn fn = dial->fn;
	void *user = dial->user;
	int error = fd < 0 ? dial->error : 0;

	dial_cancel(dial);
	for (size_t i = 0; fd >= 0 && i < LENGTH(options); i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			   sizeof(options[i].value));
	fn(user, fd, error);
}

static void note_failure(struct dial *dial, int error)
{
	dial->failed++;
	dial->error = error;
	loop_timer_start(dial->next, 0, 0);
}

static void on_connect(void *user, UNUSED unsigned int events)
{
	struct attempt *attempt = user;
	struct dial *dial = attempt->dial;
	socklen_t len = sizeof(int);
	int error = 0, fd = attempt->fd;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0) {
		close_attempt(attempt);
		note_failure(dial, error);
		return;
	}
	attempt->fd = -1;
	dial_finish(dial, fd);
}

/* The last attempt failed, or has had no answer for DIAL_NEXT_MS: start the next one. */
static void on_next(void *user)
{
	struct dial *dial = user;

	if (dial->started == dial->n) {
		if (dial->failed == dial->n)
			dial_finish(dial, -1);
		return;
	}
	struct attempt *attempt = &dial->tries[dial->started++];
	const struct sockaddr *addr = (const struct sockaddr *)&attempt->addr;
	attempt->fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (attempt->fd < 0 ||
	    (connect(attempt->fd, addr, attempt->len) != 0 && errno != EINPROGRESS)) {
		note_failure(dial, errno);
		fd_close(&attempt->fd);
		return;
	}
	attempt->watch = loop_fd_new(dial->loop, attempt->fd, on_connect, attempt);
	loop_fd_set(attempt->watch, LOOP_WRITE);
	loop_timer_start(dial->next, DIAL_NEXT_MS, 0);
}

struct dial *dial_new(struct loop *loop, const struct addrinfo *addrs, dial_fn fn, void *user)
{
	struct dial *dial =
		xnew(struct dial, .loop = loop, .fn = fn, .user = user, .error = EADDRNOTAVAIL);
	const struct addrinfo *turns[2 * DIAL_MAX_ADDRS] = { NULL };
	int family = addrs != NULL ? addrs->ai_family : AF_UNSPEC;
	size_t n[2] = { 0, 0 };

	/* Copy the addresses, alternating between the family of the first one and the others. */
	for (; addrs != NULL; addrs = addrs->ai_next) {
		size_t other = addrs->ai_family != family;

		if (n[other] < DIAL_MAX_ADDRS)
			turns[2 * n[other]++ + other] = addrs;
	}
	for (size_t i = 0; i < 2 * DIAL_MAX_ADDRS && dial->n < DIAL_MAX_ADDRS; i++) {
		struct attempt *attempt = &dial->tries[dial->n];

		if (turns[i] == NULL || turns[i]->ai_addrlen > sizeof(attempt->addr))
			continue;
		memcpy(&attempt->addr, turns[i]->ai_addr, turns[i]->ai_addrlen);
		attempt->len = turns[i]->ai_addrlen;
		attempt->dial = dial;
		attempt->fd = -1;
		dial->n++;
	}
	dial->next = loop_timer_new(loop, on_next, dial);
	loop_timer_start(dial->next, 0, 0);
	return dial;
}
