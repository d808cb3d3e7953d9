/* SPDX-License-Identifier: MIT */
/* Connects to several addresses, a little after each other; for ssh_net.c. */
#include "config.h"

#include "remote/dial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/xalloc.h"
#include "remote/child.h"

struct attempt {
	struct dial *dial;
	struct sockaddr_storage addr;
	socklen_t len;
	int fd; /* -1: not yet begun, or failed */
	struct loop_fd *watch;
};

struct dial {
	struct loop *loop;
	dial_fn fn;
	void *user;
	struct attempt tries[DIAL_MAX_ADDRS];
	size_t n, begun, failed;
	struct loop_timer *next;
	int error; /* of the one that failed last */
};

static void
close_attempt(struct attempt *attempt)
{
	loop_fd_close(attempt->watch);
	attempt->watch = NULL;
	child_close_fd(&attempt->fd);
}

void
dial_cancel(struct dial *dial)
{
	if (dial == NULL)
		return;
	for (size_t i = 0; i < dial->n; i++)
		close_attempt(&dial->tries[i]);
	loop_timer_close(dial->next);
	free(dial);
}

static void
finish(struct dial *dial, int fd)
{
	dial_fn fn = dial->fn;
	void *user = dial->user;
	int error = fd < 0 ? dial->error : 0;

	dial_cancel(dial);
	fn(user, fd, error);
}

/* One more is out; the next is due at once. */
static void
note_failure(struct dial *dial, int error)
{
	dial->failed++;
	dial->error = error;
	loop_timer_start(dial->next, 0, 0);
}

/* The connect is through, or failed. */
static void
on_connect(void *user, unsigned int events)
{
	struct attempt *attempt = user;
	struct dial *dial = attempt->dial;
	socklen_t len = sizeof(int);
	int error = 0, fd = attempt->fd;

	(void)events;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error != 0) {
		close_attempt(attempt);
		note_failure(dial, error);
		return;
	}
	attempt->fd = -1;
	finish(dial, fd);
}

static void
begin(struct dial *dial, struct attempt *attempt)
{
	const struct sockaddr *addr = (const struct sockaddr *)&attempt->addr;

	attempt->fd = socket(addr->sa_family,
			     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (attempt->fd < 0 || (connect(attempt->fd, addr, attempt->len) != 0 &&
				errno != EINPROGRESS)) {
		note_failure(dial, errno);
		child_close_fd(&attempt->fd);
		return;
	}
	attempt->watch =
		loop_fd_new(dial->loop, attempt->fd, on_connect, attempt);
	loop_fd_set(attempt->watch, LOOP_WRITE);
	loop_timer_start(dial->next, DIAL_NEXT_MS, 0);
}

/* The last one failed, or has not answered for a while. */
static void
on_next(void *user)
{
	struct dial *dial = user;

	if (dial->begun < dial->n)
		begin(dial, &dial->tries[dial->begun++]);
	else if (dial->failed == dial->n)
		finish(dial, -1);
}

static void
add_address(struct dial *dial, const struct addrinfo *addr)
{
	struct attempt *attempt = &dial->tries[dial->n];

	if (dial->n >= DIAL_MAX_ADDRS ||
	    addr->ai_addrlen > sizeof(attempt->addr))
		return;
	memcpy(&attempt->addr, addr->ai_addr, addr->ai_addrlen);
	attempt->len = addr->ai_addrlen;
	attempt->dial = dial;
	attempt->fd = -1;
	dial->n++;
}

static const struct addrinfo *
skip_to(const struct addrinfo *addr, bool first_family, int family)
{
	while (addr != NULL && (addr->ai_family == family) != first_family)
		addr = addr->ai_next;
	return addr;
}

/* In the order given, but the family of the first and the others in turn. */
static void
add_addresses(struct dial *dial, const struct addrinfo *addrs)
{
	int family = addrs != NULL ? addrs->ai_family : AF_UNSPEC;
	const struct addrinfo *at[2] = { addrs, skip_to(addrs, false, family) };

	while (at[0] != NULL || at[1] != NULL)
		for (int i = 0; i < 2; i++)
			if (at[i] != NULL) {
				add_address(dial, at[i]);
				at[i] = skip_to(at[i]->ai_next, i == 0, family);
			}
}

struct dial *
dial_new(struct loop *loop, const struct addrinfo *addrs, dial_fn fn,
	 void *user)
{
	struct dial *dial = xcalloc(1, sizeof(*dial));

	dial->loop = loop;
	dial->fn = fn;
	dial->user = user;
	dial->error = EADDRNOTAVAIL;
	add_addresses(dial, addrs);
	dial->next = loop_timer_new(loop, on_next, dial);
	loop_timer_start(dial->next, 0, 0);
	return dial;
}
