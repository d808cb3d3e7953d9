/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/*
 * A command in a shell of which nothing is known but its stdin and stdout:
 * marks around what the command prints tell it from a banner, and its exit
 * status from that of the program which brought the shell.
 */
#define SHELL_MARK_LEN 20U		     /* "hgym", 16 hex digits */
#define SHELL_HELD_MAX (SHELL_MARK_LEN + 3U) /* and a status */

struct shell_marks {
	char mark[SHELL_MARK_LEN + 1];
	bool begun, over;
	int status;		   /* 0..255 when it is over; below 0: it told none */
	char held[SHELL_HELD_MAX]; /* may become a mark with what follows */
	size_t n_held;
};

/* Draw the mark at random; nothing was read yet. */
void shell_marks_init(struct shell_marks *marks);
/*
 * Append the line that has a POSIX shell run command.  The shell may have read
 * ahead what comes before the mark, so the command's stdin follows only then.
 */
void shell_marks_line(const struct shell_marks *marks, struct buf *out, const char *command);
/*
 * Part the bytes that came, those of held in front of them, into what was
 * printed *before the command and what is its *output.  The end is kept in
 * held while it may be a part of a mark.
 */
void shell_marks_take(struct shell_marks *marks, struct str data, struct str *before,
		      struct str *output);
