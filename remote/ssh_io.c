/* SPDX-License-Identifier: MIT */
/* libssh2's send and receive functions, with a queue behind the first. */
#include "config.h"

#include "remote/ssh_io.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A server that says more before the end of the handshake is none. */
#define EARLY_MAX_BYTES (128U * 1024)
/* One that never reads, but has us answer, is given up. */
#define OUT_CAP_BYTES (4U << 20)
/* How long a send of a job waits. */
#define BLOCK_MS 20000

void
ssh_io_init(struct ssh_io *io)
{
	io->fd = -1;
	buf_init(&io->out, OUT_CAP_BYTES);
}

void
ssh_io_release(struct ssh_io *io)
{
	buf_release(&io->out);
}

/* Errors are negative errno, as libssh2 wants them. */
static ssize_t
on_recv(libssh2_socket_t fd, void *buffer, size_t length, int flags,
	void **abstract)
{
	struct ssh_io *io = *abstract;
	ssize_t n;

	if (io->dead)
		return -ECONNRESET;
	if (io->early && io->early_bytes > EARLY_MAX_BYTES)
		return -EPROTO;
	if (io->budget == 0)
		return -EAGAIN;
	n = recv(fd, buffer, length < io->budget ? length : io->budget, flags);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (io->budget != SIZE_MAX)
		io->budget -= (size_t)n;
	io->early_bytes += (size_t)n;
	return n;
}

/* Wait until the socket takes something; false when it takes too long. */
static bool
wait_writable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };

	return poll(&pfd, 1, BLOCK_MS) > 0;
}

int
ssh_io_flush(struct ssh_io *io)
{
	while (io->out.len > 0 && !io->dead) {
		ssize_t n =
			send(io->fd, io->out.data, io->out.len, MSG_NOSIGNAL);

		if (n >= 0) {
			buf_consume(&io->out, (size_t)n);
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -1;
		if (!io->blocks)
			return 0;
		if (!wait_writable(io->fd))
			return -1;
	}
	return 0;
}

static ssize_t
on_send(libssh2_socket_t fd, const void *buffer, size_t length, int flags,
	void **abstract)
{
	struct ssh_io *io = *abstract;

	(void)fd;
	(void)flags;
	if (io->dead)
		return -EPIPE;
	if (length > io->out.cap - io->out.len)
		return -ENOBUFS;
	buf_append(&io->out, buffer, length);
	if (ssh_io_flush(io) != 0)
		return -EPIPE;
	return (ssize_t)length;
}

/* The callbacks of libssh2 are set as data pointers. */
static void
set_callback(LIBSSH2_SESSION *session, int type, void (*fn)(void))
{
	union {
		void (*in)(void);
		void *out;
	} cast = { .in = fn };

	libssh2_session_callback_set(session, type, cast.out);
}

LIBSSH2_SESSION *
ssh_io_session(struct ssh_io *io)
{
	LIBSSH2_SESSION *session =
		libssh2_session_init_ex(NULL, NULL, NULL, io);

	if (session == NULL)
		abort();
	libssh2_session_set_blocking(session, 0);
	set_callback(session, LIBSSH2_CALLBACK_RECV, (void (*)(void))on_recv);
	set_callback(session, LIBSSH2_CALLBACK_SEND, (void (*)(void))on_send);
	return session;
}
