/* SPDX-License-Identifier: MIT */
#pragma once

/* A text file compiled into the program. From the files on its command line, embed.awk creates an
 * array of these that ends with a NULL name. */
struct embed_file {
	const char *name; /* without directory and extension */
	const char *text;
};
