/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Close *fd if it is open, and set it to -1. */
void fd_close(int *fd);

/* Write all len bytes; -1 with errno if that is not possible. Async-signal-safe. */
int fd_write_all(int fd, const char *data, size_t len);

/* Write as much as fd accepts without blocking; returns the number of bytes, or -1 with errno
 * (EAGAIN if fd accepts nothing now). O_NONBLOCK is set only for this write, because all processes
 * that have a terminal open share its flags. Async-signal-safe. */
ssize_t fd_write_now(int fd, const char *data, size_t len);
