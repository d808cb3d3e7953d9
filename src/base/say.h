/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/array.h"

/* Print lines to stderr without blocking: a terminal that accepts no output (Ctrl-s, a suspended
 * SSH client) gets them later, with the number of dropped lines if too many were waiting. If stderr
 * is not a terminal, lines are written at once. */

/* Write a line, given without its newline; plain text. */
void say_line(const char *line);
/* Write waiting lines; true if none are left. Call it regularly. */
bool say_send(void);

/* Write "hgym-tui: " and a sanitized sentence; does not block. */
void say_error(const char *fmt, ...) LIKE_PRINTF(1, 2);
