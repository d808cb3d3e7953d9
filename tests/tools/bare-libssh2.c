/* SPDX-License-Identifier: MIT */
/* The reference for the benchmarks: read the output of commands, each over its own channel of one
 * libssh2 session, in a loop that only counts bytes.
 *
 *   bare-libssh2 PORT USER KEY COMMAND...
 *
 * Prints bytes, seconds from the first to the last byte, and the MAC. */
#include <arpa/inet.h>
#include <libssh2.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/sha256.h"
#include "base/str.h"

#define WINDOW_BYTES (2U * 1024 * 1024)

static double now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int connect_to(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0)
		return -1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* The cipher and the MAC that hgym-tui prefers too. */
static bool log_in(LIBSSH2_SESSION *session, int fd, char **argv)
{
	(void)libssh2_session_method_pref(session, LIBSSH2_METHOD_CRYPT_SC, "aes128-ctr");
	(void)libssh2_session_method_pref(session, LIBSSH2_METHOD_MAC_SC,
					  sha256_is_fast() ? "hmac-sha2-256" : "hmac-sha2-512");
	return libssh2_session_handshake(session, fd) == 0 &&
	       libssh2_userauth_publickey_fromfile(session, argv[2], NULL, argv[3], NULL) == 0;
}

static LIBSSH2_CHANNEL *run_command(LIBSSH2_SESSION *session, const char *command)
{
	LIBSSH2_CHANNEL *channel =
		libssh2_channel_open_ex(session, "session", 7, WINDOW_BYTES, 32768, NULL, 0);

	if (channel != NULL && libssh2_channel_exec(channel, command) != 0)
		channel = NULL;
	return channel;
}

/* Read all channels to their ends in turn: data for one waits in libssh2 while another is read.
 * Returns the number of bytes, or 0 if the session was lost. */
static unsigned long long read_all(LIBSSH2_CHANNEL **channels, int n, struct pollfd *pfd,
				   double *first)
{
	static char data[65536];
	unsigned long long bytes = 0;
	int n_open = n;

	while (n_open > 0) {
		bool idle = true;

		n_open = 0;
		for (int i = 0; i < n; i++) {
			ssize_t got = libssh2_channel_read(channels[i], data, sizeof(data));

			if (got < 0 && got != LIBSSH2_ERROR_EAGAIN)
				return 0;
			n_open += libssh2_channel_eof(channels[i]) == 0;
			if (got <= 0)
				continue;
			if (bytes == 0)
				*first = now_s();
			bytes += (unsigned long long)got;
			idle = false;
		}
		if (idle && n_open > 0)
			(void)poll(pfd, 1, 100);
	}
	return bytes;
}

int main(int argc, char **argv)
{
	LIBSSH2_CHANNEL *channels[64];
	LIBSSH2_SESSION *session;
	unsigned long long bytes;
	double first = 0;
	uint64_t port = 0;
	struct pollfd pfd = { .events = POLLIN };
	int n = argc - 4;

	if (n < 1 || n > 64 || !str_to_u64(str_from(argv[1]), &port))
		return 2;
	pfd.fd = connect_to((int)port);
	if (pfd.fd < 0 || libssh2_init(0) != 0)
		return 1;
	session = libssh2_session_init();
	if (!log_in(session, pfd.fd, argv))
		return 1;
	for (int i = 0; i < n; i++) {
		channels[i] = run_command(session, argv[4 + i]);
		if (channels[i] == NULL)
			return 1;
	}
	libssh2_session_set_blocking(session, 0);
	bytes = read_all(channels, n, &pfd, &first);
	printf("%llu %.3f %s\n", bytes, now_s() - first,
	       libssh2_session_methods(session, LIBSSH2_METHOD_MAC_SC));
	return bytes > 0 ? 0 : 1;
}
