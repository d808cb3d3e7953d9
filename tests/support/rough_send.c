/* SPDX-License-Identifier: MIT */
/* A send that accepts little or nothing at a time, linked instead of send(2) with --wrap, so that
 * every packet of a session is half sent at some point. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>

ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *data, size_t len, int flags);

static _Thread_local unsigned int seed = 1;

ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	int dice = rand_r(&seed) % 8;

	if (dice < 3) {
		errno = EAGAIN;
		return -1;
	}
	if (dice < 6 && len > 20)
		len = (size_t)(rand_r(&seed) % 20) + 1;
	return __real_send(fd, data, len, flags);
}
