/* SPDX-License-Identifier: MIT */
/* dial: real sockets on loopback that answer, refuse, or stay silent. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop/loop.h"
#include "remote/dial.h"
#include "tests/support/tap.h"

#define MAX_FILL    8
#define PATIENCE_MS 600000

struct place {
	int fd, fill[MAX_FILL];
	struct sockaddr_storage addr;
	socklen_t len;
};

struct seen {
	struct loop *loop;
	int calls, fd, error;
};

static const struct sockaddr *address(const struct place *place)
{
	return (const struct sockaddr *)&place->addr;
}

/* Bind a socket to its own port; false if the machine lacks the address family. */
static bool bind_place(struct place *place, int family)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&place->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&place->addr;
	union {
		struct sockaddr_storage *in;
		struct sockaddr *out;
	} cast = { .in = &place->addr };

	memset(place, 0, sizeof(*place));
	memset(place->fill, -1, sizeof(place->fill));
	place->len = family == AF_INET ? sizeof(*v4) : sizeof(*v6);
	if (family == AF_INET) {
		v4->sin_family = AF_INET;
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else {
		v6->sin6_family = AF_INET6;
		v6->sin6_addr = in6addr_loopback;
	}
	place->fd = socket(family, SOCK_STREAM, 0);
	return place->fd >= 0 && bind(place->fd, address(place), place->len) == 0 &&
	       getsockname(place->fd, cast.out, &place->len) == 0;
}

static void make_listening(struct place *place, int family)
{
	if (!bind_place(place, family) || listen(place->fd, 8) != 0)
		abort();
}

/* Fill the queue of a place, so that further connections get no answer. */
static void make_silent(struct place *place)
{
	if (!bind_place(place, AF_INET) || listen(place->fd, 0) != 0)
		abort();
	for (int i = 0; i < MAX_FILL; i++) {
		place->fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(place->fill[i], address(place), place->len);
	}
	usleep(50000);
}

static void make_refusing(struct place *place)
{
	if (!bind_place(place, AF_INET))
		abort();
}

static void close_place(struct place *place)
{
	for (int i = 0; i < MAX_FILL; i++)
		if (place->fill[i] >= 0)
			close(place->fill[i]);
	close(place->fd);
}

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir != NULL && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	return n;
}

static void on_dialled(void *user, int fd, int error)
{
	struct seen *seen = user;

	seen->calls++;
	seen->fd = fd;
	seen->error = error;
	loop_stop(seen->loop);
}

static void on_late(void *user)
{
	struct seen *seen = user;

	loop_stop(seen->loop);
}

/* Connect to the places in their order, within a time limit. */
static struct seen dial(struct place *const *places, size_t n, int64_t most_ms)
{
	struct addrinfo addrs[4] = { 0 };
	struct err err;
	struct seen seen = { .loop = loop_new(&err), .fd = -1 };
	struct loop_timer *late = loop_timer_new(seen.loop, on_late, &seen);
	struct dial *dial;

	for (size_t i = 0; i < n; i++) {
		union {
			struct sockaddr_storage *in;
			struct sockaddr *out;
		} cast = { .in = &places[i]->addr };

		addrs[i].ai_family = places[i]->addr.ss_family;
		addrs[i].ai_addr = cast.out;
		addrs[i].ai_addrlen = places[i]->len;
		addrs[i].ai_next = i + 1 < n ? &addrs[i + 1] : NULL;
	}
	dial = dial_new(seen.loop, n > 0 ? addrs : NULL, on_dialled, &seen);
	is_int(seen.calls, 0, "nothing is reported during the call");
	loop_timer_start(late, most_ms, 0);
	loop_run(seen.loop);
	if (seen.calls == 0)
		dial_cancel(dial);
	loop_timer_close(late);
	loop_free(seen.loop);
	return seen;
}

/* Is the descriptor connected to that place? Closes it. */
static bool is_at(int fd, const struct place *place)
{
	struct sockaddr_storage peer = { 0 };
	union {
		struct sockaddr_storage *in;
		struct sockaddr *out;
	} cast = { .in = &peer };
	socklen_t len = sizeof(peer);
	bool same = fd >= 0 && getpeername(fd, cast.out, &len) == 0 && len == place->len &&
		    memcmp(&peer, &place->addr, len) == 0;

	if (fd >= 0)
		close(fd);
	return same;
}

static void test_which(void)
{
	struct place live, other, silent, refusing;
	struct seen seen;
	int before;

	make_listening(&live, AF_INET);
	make_listening(&other, AF_INET);
	make_silent(&silent);
	make_refusing(&refusing);
	seen = dial((struct place *[]){ &live, &other }, 2, PATIENCE_MS);
	ok(is_at(seen.fd, &live), "the first address that answers is used");
	/* The first loop of a process opens descriptors that stay open. */
	before = open_files();
	seen = dial((struct place *[]){ &silent, &live, &other }, 3, PATIENCE_MS);
	ok(is_at(seen.fd, &live), "a silent address is not waited for");
	seen = dial((struct place *[]){ &refusing, &silent, &refusing, &live }, 4, PATIENCE_MS);
	ok(is_at(seen.fd, &live), "an address that refuses is not waited for");
	seen = dial((struct place *[]){ &refusing, &refusing }, 2, PATIENCE_MS);
	ok(seen.calls == 1 && seen.fd == -1 && seen.error == ECONNREFUSED,
	   "if all addresses refuse, this is reported once, with the reason");
	seen = dial((struct place *[]){ &silent, &refusing }, 2, 1000);
	is_int(seen.calls, 0, "a silent address may still answer");
	seen = dial(NULL, 0, PATIENCE_MS);
	ok(seen.calls == 1 && seen.fd == -1 && seen.error != 0,
	   "an empty list of addresses is a failure");
	is_int(open_files(), before, "no descriptor is left");
	close_place(&live);
	close_place(&other);
	close_place(&silent);
	close_place(&refusing);
}

static void test_families(void)
{
	struct place silent, live, six;
	struct seen seen;

	if (!bind_place(&six, AF_INET6) || listen(six.fd, 8) != 0) {
		ok(true, "the other family goes second # SKIP needs IPv6");
		return;
	}
	make_silent(&silent);
	make_listening(&live, AF_INET);
	seen = dial((struct place *[]){ &silent, &live, &six }, 3, PATIENCE_MS);
	ok(is_at(seen.fd, &six), "the other family goes second");
	close_place(&silent);
	close_place(&live);
	close_place(&six);
}

int main(void)
{
	test_which();
	test_families();
	return tap_done();
}
