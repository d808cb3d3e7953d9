/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"

/* The debug log: a file, never the terminal. While it is closed a message costs one comparison.
 * Messages pass utf8_sanitize. Never log keys, passphrases, tokens or an environment. */

/* Append to the file at path (mode 0600); -1 with err if it cannot be opened. */
int log_open(const char *path, struct err *err) MUST_USE;
void log_close(void);

/* Write one line: time, area ("ssh", "store"), message. */
void log_debug(const char *area, const char *fmt, ...) LIKE_PRINTF(2, 3);
