/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/sha256.h"
#include "parsers/run_reader.h"
#include "parsers/score_json.h"

/* Which files a command is to read, from what the user named. */
struct log_path {
	char *path; /* owned; as named, or as found below a directory */
	char *name; /* owned; "HOST:PATH" of one that was fetched; or NULL */
	bool named; /* the user named this very file (or a glob did) */
	bool table; /* rows of runs (.csv, .json, .jsonl), no metrics */
};

struct log_paths {
	struct log_path *v; /* owned */
	size_t n, cap;
};

#define LOG_PATHS_MAX 100000U

/*
 * Files and globs as they are (a name that exists is no pattern), directories
 * with all that is below them and ends like a log (.log, .txt, .out, .stdout),
 * in natural order; hidden ones and links to directories are left out.  Of a
 * folder without any, its metrics files (.csv and .jsonl with "metrics", "log"
 * or "history" in the name and such rows in it).  A file that comes twice is
 * listed once.  What does not exist is listed, so that reading it names it.
 */
void log_paths_find(struct log_paths *paths, char *const *argv, size_t n);
/*
 * The same where each argument stands for itself: what two of them name is
 * listed twice, no file is a table, and a directory without any log is listed,
 * so that reading it says so.
 */
void log_paths_list(struct log_paths *paths, char *const *argv, size_t n);
void log_paths_release(struct log_paths *paths);

/* Log files read whole, on several cores where that pays. */
struct parsed_file {
	const struct log_path *from;
	const char *path; /* its path; "-" is standard input */
	struct run *runs; /* owned by it */
	size_t n_runs, cap_runs;
	uint64_t lines, bytes;
	char sha256[SHA256_HEX_SIZE]; /* of its bytes; "" unless asked for */
	/* Owned by it; what a verifier printed, where it holds no run. */
	struct score_row *score;
	struct err err; /* ERR_NONE, or why it could not be read */
};

struct parse_options {
	const struct format_set *formats;
	unsigned int jobs; /* threads; 0: as many as pay */
	bool hash;	   /* fill sha256 */
};

/*
 * Read each path and give the files to fn in the order of paths, each as soon
 * as it and all before it are read.  A file that cannot be read is given with
 * its err; the others are still read.  The file is borrowed for the call.
 */
typedef void (*parsed_file_fn)(void *user, struct parsed_file *file);
void parse_files(const struct log_path *paths, size_t n, const struct parse_options *options,
		 parsed_file_fn fn, void *user);

/* One of them ("-": standard input) to its end; reset the reader before. */
int log_read(const char *path, struct run_reader *reader, struct err *err)
	__attribute__((warn_unused_result));
