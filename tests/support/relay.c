/* SPDX-License-Identifier: MIT */
/* A TCP relay on loopback that causes failures, for tests of the transports.
 *
 *   relay PORT-FILE TARGET-PORT [DELAY-MS]   relay, with a one-way delay
 *   relay PORT-FILE rubbish KIND             do not relay, send rubbish
 *
 * SIGUSR1 freezes it (a black hole), SIGUSR2 resumes it, SIGHUP resets all its connections (RST),
 * SIGTERM ends it. It writes the port it listens on to PORT-FILE. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define MAX_PAIRS 64
#define CHUNK	  65536
#define QUEUE	  64

/* One direction: chunks waiting for their delivery time. */
struct flow {
	struct {
		char data[CHUNK];
		size_t len, sent;
		int64_t due_ms;
	} ring[QUEUE];
	size_t head, count;
	bool ended; /* the source has closed */
};

struct pair {
	int fds[2];
	struct flow *flows[2]; /* from fds[0] to fds[1], and the other direction */
};

static volatile sig_atomic_t frozen, reset;
static struct pair pairs[MAX_PAIRS];
static size_t n_pairs;
static int64_t delay_ms;

static void on_signal(int signum)
{
	if (signum == SIGHUP)
		reset = 1;
	else
		frozen = signum == SIGUSR1;
}

static int64_t now_ms(void)
{
	return clock_mono_ms();
}

static int listen_on(const char *port_file)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	char temporary[512];
	FILE *file;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	snprintf(temporary, sizeof(temporary), "%s.new", port_file);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) != 0 || listen(fd, 64) != 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &len) != 0)
		exit(1);
	file = fopen(temporary, "w");
	if (file == NULL)
		exit(1);
	fprintf(file, "%d\n", ntohs(addr.sin_port));
	fclose(file);
	if (rename(temporary, port_file) != 0)
		exit(1);
	return fd;
}

static int connect_to(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	close(fd);
	return -1;
}

static void add_pair(int client, int port)
{
	int server = n_pairs < MAX_PAIRS ? connect_to(port) : -1, on = 1;
	struct pair *pair = &pairs[n_pairs];

	if (server < 0) {
		close(client);
		return;
	}
	*pair = (struct pair){ .fds = { client, server } };
	for (int i = 0; i < 2; i++) {
		fcntl(pair->fds[i], F_SETFL, O_NONBLOCK);
		setsockopt(pair->fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		pair->flows[i] = calloc(1, sizeof(struct flow));
		if (pair->flows[i] == NULL)
			exit(1);
	}
	n_pairs++;
}

static void drop_pair(size_t at, bool with_reset)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	for (int i = 0; i < 2; i++) {
		if (with_reset)
			setsockopt(pairs[at].fds[i], SOL_SOCKET, SO_LINGER, &linger,
				   sizeof(linger));
		close(pairs[at].fds[i]);
		free(pairs[at].flows[i]);
	}
	pairs[at] = pairs[--n_pairs];
}

/* Read available data; false on error. */
static bool take(struct flow *flow, int fd)
{
	size_t slot = (flow->head + flow->count) % QUEUE;
	ssize_t n;

	if (flow->count == QUEUE || flow->ended)
		return true;
	n = recv(fd, flow->ring[slot].data, CHUNK, 0);
	if (n < 0)
		return errno == EAGAIN;
	if (n == 0) {
		flow->ended = true;
		return true;
	}
	flow->ring[slot].len = (size_t)n;
	flow->ring[slot].sent = 0;
	flow->ring[slot].due_ms = now_ms() + delay_ms;
	flow->count++;
	return true;
}

/* Forward the chunks that are due; false on error. */
static bool pass(struct flow *flow, int fd)
{
	while (flow->count > 0 && flow->ring[flow->head].due_ms <= now_ms()) {
		size_t at = flow->head;
		ssize_t n = send(fd, flow->ring[at].data + flow->ring[at].sent,
				 flow->ring[at].len - flow->ring[at].sent, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN;
		flow->ring[at].sent += (size_t)n;
		if (flow->ring[at].sent < flow->ring[at].len)
			return true;
		flow->head = (flow->head + 1) % QUEUE;
		flow->count--;
	}
	if (flow->ended && flow->count == 0)
		shutdown(fd, SHUT_WR);
	return true;
}

static void move_bytes(void)
{
	for (size_t i = n_pairs; i-- > 0;) {
		struct pair *p = &pairs[i];
		bool good = true;

		for (int k = 0; k < 2 && good; k++)
			good = take(p->flows[k], p->fds[k]) && pass(p->flows[k], p->fds[1 - k]);
		if (!good || (p->flows[0]->ended && p->flows[1]->ended))
			drop_pair(i, false);
	}
}

static void obey_reset(void)
{
	if (reset) {
		reset = 0;
		while (n_pairs > 0)
			drop_pair(0, true);
	}
}

static void relay(int listener, int port)
{
	struct pollfd fds[1 + 2 * MAX_PAIRS];

	for (;;) {
		nfds_t n = 0;

		obey_reset();
		fds[n++] = (struct pollfd){ .fd = listener, .events = POLLIN };
		for (size_t i = 0; i < n_pairs && !frozen; i++)
			for (int k = 0; k < 2; k++)
				if (pairs[i].flows[k]->count < QUEUE && !pairs[i].flows[k]->ended)
					fds[n++] = (struct pollfd){ .fd = pairs[i].fds[k],
								    .events = POLLIN };
		if (poll(fds, frozen ? 0 : n, frozen ? 20 : 5) < 0 || frozen)
			continue;
		if (fds[0].revents & POLLIN)
			add_pair(accept(listener, NULL, NULL), port);
		move_bytes();
	}
}

/* A packet whose header claims two gigabytes. */
static const char lie[] = "SSH-2.0-OpenSSH_9.2\r\n\x7f\xff\xff\xff\x06\x14zzzz";
static const char garbage[] = "SSH-2.0-OpenSSH_9.2\r\n"
			      "\x00\x00\x00\x0c\xff\xfe\xfd\x01\x02\x03"
			      "\x80\x90\xa0\xb0\xc0\xd0\xe0\xf0";

static const struct {
	const char *kind;
	const char *text;
	size_t len;
	bool again; /* endless */
	bool hold;  /* followed by silence */
} rubbish[] = {
	{ "silence", "", 0, false, true },
	{ "http", "HTTP/1.0 400 Bad Request\r\n\r\n", 28, false, false },
	{ "lines", "this is not ssh\r\n", 17, true, false },
	{ "long", "AAAAAAAAAAAAAAAA", 16, true, false },
	{ "nul", "\0\0\0\0\0\0\0\0", 8, true, false },
	{ "lie", lie, sizeof(lie) - 1, false, true },
	{ "garbage", garbage, sizeof(garbage) - 1, false, true },
	{ "old", "SSH-1.5-ancient\r\n", 17, false, true },
	{ "penalty", "Not allowed at this time\r\n", 26, false, false },
	{ "escape", "\x1b[2J\x1b]0;x\x07SSH\r\n", 15, false, false },
};

static void speak(int client, const char *kind)
{
	char sink[4096];

	for (size_t i = 0; i < sizeof(rubbish) / sizeof(*rubbish); i++) {
		if (strcmp(rubbish[i].kind, kind) != 0)
			continue;
		while (send(client, rubbish[i].text, rubbish[i].len, MSG_NOSIGNAL) >= 0 &&
		       rubbish[i].again)
			;
		while (rubbish[i].hold && recv(client, sink, sizeof(sink), 0) > 0)
			;
	}
	close(client);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	int listener;

	if (argc < 3)
		return 2;
	/* If both signals are pending, handle SIGUSR2 last, because it was sent last. */
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaddset(&action.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	listener = listen_on(argv[1]);
	if (argc > 3 && strcmp(argv[2], "rubbish") == 0)
		for (;;)
			speak(accept(listener, NULL, NULL), argv[3]);
	if (argc > 3)
		delay_ms = strtol(argv[3], NULL, 10);
	relay(listener, (int)strtol(argv[2], NULL, 10));
	return 0;
}
