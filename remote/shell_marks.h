/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* A command in a shell of which only stdin and stdout are known: markers around the command's
 * output separate it from a banner, and its exit status from that of the program that provides the
 * shell. */
#define SHELL_MARK_LEN 20U		     /* "hgym", 16 hex digits */
#define SHELL_HELD_MAX (SHELL_MARK_LEN + 3U) /* and a status */

struct shell_marks {
	char mark[SHELL_MARK_LEN + 1];
	bool begun, over;
	int status;		   /* 0..255 after its end; negative: none was reported */
	char held[SHELL_HELD_MAX]; /* may become a marker with the following bytes */
	size_t n_held;
};

/* Draw a random marker; nothing has been read yet. */
void shell_marks_init(struct shell_marks *marks);
/* Append the line that makes a POSIX shell run command. The shell may read ahead before it prints
 * the marker, so the command's stdin must be sent only after it. */
void shell_marks_line(const struct shell_marks *marks, struct buf *out, const char *command);
/* Split the new bytes, preceded by those in held, into the output *before the command and its own
 * *output. The end is kept in held while it may be a part of a marker. */
void shell_marks_take(struct shell_marks *marks, struct str data, struct str *before,
		      struct str *output);
