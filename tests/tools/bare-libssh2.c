/* SPDX-License-Identifier: MIT */
/*
 * The yardstick of the benches: a command's output over libssh2, read by a
 * loop that does nothing else, not even count apart.
 *
 *   bare-libssh2 PORT USER KEY COMMAND
 *
 * Prints bytes, seconds from the first to the last, and the MAC.
 */
#include "config.h"

#include <arpa/inet.h>
#include <libssh2.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/sha256.h"
#include "base/str.h"

#define WINDOW_BYTES (2U * 1024 * 1024)

static double
now_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int
connect_to(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0)
		return -1;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* The cipher and the MAC that the program prefers too. */
static LIBSSH2_CHANNEL *
log_in(LIBSSH2_SESSION *session, int fd, char **argv)
{
	(void)libssh2_session_method_pref(session, LIBSSH2_METHOD_CRYPT_SC,
					  "aes128-ctr");
	(void)libssh2_session_method_pref(session, LIBSSH2_METHOD_MAC_SC,
					  sha256_is_fast() ? "hmac-sha2-256"
							   : "hmac-sha2-512");
	if (libssh2_session_handshake(session, fd) != 0 ||
	    libssh2_userauth_publickey_fromfile(session, argv[2], NULL, argv[3],
						NULL) != 0)
		return NULL;
	return libssh2_channel_open_ex(session, "session", 7, WINDOW_BYTES,
				       32768, NULL, 0);
}

int
main(int argc, char **argv)
{
	static char data[65536];
	unsigned long long bytes = 0;
	LIBSSH2_SESSION *session;
	LIBSSH2_CHANNEL *channel;
	double first = 0;
	uint64_t port = 0;
	struct pollfd pfd = { .events = POLLIN };
	ssize_t n = 1;

	if (argc != 5 || !str_to_u64(str_from(argv[1]), &port))
		return 2;
	pfd.fd = connect_to((int)port);
	if (pfd.fd < 0 || libssh2_init(0) != 0)
		return 1;
	session = libssh2_session_init();
	channel = log_in(session, pfd.fd, argv);
	if (channel == NULL || libssh2_channel_exec(channel, argv[4]) != 0)
		return 1;
	libssh2_session_set_blocking(session, 0);
	while (n > 0 || n == LIBSSH2_ERROR_EAGAIN) {
		n = libssh2_channel_read(channel, data, sizeof(data));
		if (n == LIBSSH2_ERROR_EAGAIN)
			(void)poll(&pfd, 1, -1);
		if (n > 0 && bytes == 0)
			first = now_s();
		bytes += n > 0 ? (unsigned long long)n : 0;
	}
	printf("%llu %.3f %s\n", bytes, now_s() - first,
	       libssh2_session_methods(session, LIBSSH2_METHOD_MAC_SC));
	return n == 0 ? 0 : 1;
}
