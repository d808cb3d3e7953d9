/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_CONTEXT_H
#define HGYM_SRC_CONTEXT_H

#include <stdbool.h>

/* Global options, parsed before the command. */
struct context {
	const char *config_path; /* NULL: the default */
	const char *db_path;	 /* NULL: the default */
	bool read_only;
	bool verbose;
	const char *color;   /* auto, always, never */
	const char *charset; /* NULL: by the locale; braille, block, ascii */
};

#endif
