/* SPDX-License-Identifier: MIT */
#pragma once

/* A text file compiled into the program; embed.awk creates arrays of these from the files on its
 * command line, terminated by a NULL name. */
struct embed_file {
	const char *name; /* without directory and extension */
	const char *text;
};
