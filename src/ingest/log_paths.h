/* SPDX-License-Identifier: MIT */
#ifndef HGYM_INGEST_LOG_PATHS_H
#define HGYM_INGEST_LOG_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* Which files a command is to read, from what the user named. */
struct log_path {
	char *path; /* owned; as named, or as found below a directory */
	bool named; /* the user named this very file (or a glob did) */
	bool table; /* rows of runs (.csv, .json, .jsonl), no log */
};

struct log_paths {
	struct log_path *v; /* owned */
	size_t n, cap;
};

#define LOG_PATHS_MAX 100000U

/*
 * Files and globs as they are, directories with all that is below them and
 * ends like a log (.log, .txt, .out, .stdout), in natural order; hidden ones
 * and links to directories are left out.  A file that comes twice is listed
 * once.  What does not exist is listed, so that reading it names it.
 */
void log_paths_find(struct log_paths *paths, char *const *argv, size_t n);
void log_paths_release(struct log_paths *paths);

#endif
