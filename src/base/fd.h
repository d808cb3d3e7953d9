/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_FD_H
#define HGYM_BASE_FD_H

#include <stddef.h>

/*
 * Write all len bytes, however many calls it takes.  -1 with errno when some
 * could not be written.  Async-signal-safe.
 */
int fd_write_all(int fd, const char *data, size_t len);

#endif
