/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Run a command in a shell that offers only stdin and stdout, such as `docker exec -i POD sh`.
 * Markers around the command's output separate it from a banner, and the command's exit status from
 * the exit status of the program that provides the shell. */
#define SHELL_MARK_LEN 20U		     /* "hgym", 16 hex digits */
#define SHELL_HELD_MAX (SHELL_MARK_LEN + 3U) /* a marker and its status of three digits */

struct shell_marks {
	char mark[SHELL_MARK_LEN + 1];
	bool begun, over;	   /* the first marker was read; the second was read */
	int status;		   /* of the command: 0..255, or -1 if none was reported */
	char held[SHELL_HELD_MAX]; /* may be the start of a marker */
	size_t n_held;
};

/* Choose a random marker, and start before the first byte. */
void shell_marks_init(struct shell_marks *marks);
/* Append the line that makes a POSIX shell run command. Send the command's stdin only after the
 * first marker arrived: until then the shell may read ahead and take those bytes. */
void shell_marks_line(const struct shell_marks *marks, struct buf *out, const char *command);
/* Split data into what the shell printed *before the command, and the command's *output. data must
 * start with the bytes in held. Its end goes to held again if that may be part of a marker. */
void shell_marks_take(struct shell_marks *marks, struct str data, struct str *before,
		      struct str *output);
