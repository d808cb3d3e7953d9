/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Lines to stderr for a person, of a program that has better to do than to
 * wait: a terminal that takes no output (Ctrl-s, an SSH client asleep) gets
 * them later, and is told how many were left out when it was too many.  What
 * is no terminal is written to as ever.
 */

/* A line, without its end; plain text. */
void say_line(const char *line);
/* Hand on what waits; true when nothing does.  Call it now and then. */
bool say_send(void);

/* A sentence behind "hgym-tui: ", made harmless; it does not wait. */
void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
