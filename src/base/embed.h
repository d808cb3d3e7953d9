/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A text file compiled into the program; embed.awk makes arrays of these from
 * the files named on its command line, ended by a NULL name.
 */
struct embed_file {
	const char *name; /* without directory and extension */
	const char *text;
};
