/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Close *fd where it is open, and set it to -1. */
void fd_close(int *fd);

/*
 * Write all len bytes, however many calls it takes.  -1 with errno when some
 * could not be written.  Async-signal-safe.
 */
int fd_write_all(int fd, const char *data, size_t len);

/*
 * Write what fd takes at once, whether it is O_NONBLOCK or not: that flag is
 * set for this write alone, as a terminal's belongs to all that have it open.
 * -1 with errno (EAGAIN: it takes nothing now).  Async-signal-safe.
 */
ssize_t fd_write_now(int fd, const char *data, size_t len);
