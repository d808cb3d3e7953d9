/* SPDX-License-Identifier: MIT */
/* File descriptors: close once, write completely. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

void fd_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

int fd_write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t fd_write_now(int fd, const char *data, size_t len)
{
	int flags = fcntl(fd, F_GETFL);
	bool waits = flags >= 0 && (flags & O_NONBLOCK) == 0;
	ssize_t n;

	if (waits)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	do
		n = write(fd, data, len);
	while (n < 0 && errno == EINTR);
	int why = errno;
	if (waits)
		(void)fcntl(fd, F_SETFL, flags);
	errno = why;
	return n;
}
