/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/sha256.h"
#include "parsers/run_reader.h"
#include "parsers/score_json.h"

/* A file to read, found from an argument of the user. */
struct log_path {
	char *path;  /* owned; as the user gave it, or found in a directory */
	char *name;  /* owned; "HOST:PATH" of a fetched file; or NULL */
	bool named;  /* named by the user, directly or by a glob */
	bool table;  /* a table of runs (.csv, .json, .jsonl), not metrics */
	bool stream; /* standard input, a FIFO or a device: its content shows its type */
};

struct log_paths {
	struct log_path *v; /* owned */
	size_t n, cap;
};

#define LOG_PATHS_MAX 100000U

/* List files, the matches of globs (a name that exists is not a pattern), and in directories all
 * files with the name of a log (.log, .txt, .out, .stdout, report*.md, also compressed),
 * recursively and in natural order; hidden files and symlinks to directories are skipped. In a
 * directory without logs, metrics files are listed: .csv and .jsonl with "metrics", "log" or
 * "history" in their names that contain metrics. A file that is found twice is listed once. A
 * missing or compressed file is listed, so that reading it gives the error message. */
void log_paths_find(struct log_paths *paths, char *const *argv, size_t n);
/* The same, but each argument counts on its own: a file can be listed twice, no file is a table,
 * and a directory without logs is listed, so that reading it fails. */
void log_paths_list(struct log_paths *paths, char *const *argv, size_t n);
void log_paths_release(struct log_paths *paths);

/* Does the text start with rows of metrics, as the CSV and JSON logs of trainers do? */
bool log_has_metrics(struct str text);

/* A log file that was parsed as a whole. */
struct parsed_file {
	const struct log_path *from;
	const char *path; /* "-" is standard input */
	struct run *runs; /* owned */
	size_t n_runs, cap_runs;
	uint64_t lines, bytes;
	char sha256[SHA256_HEX_SIZE]; /* hash of the file's bytes; "" unless requested */
	/* Owned; the output of a verifier, if the file contains no run. */
	struct score_row *score;
	struct err err; /* ERR_NONE, or why it could not be read */
};

struct parse_options {
	const struct format_set *formats;
	unsigned int jobs; /* number of threads; 0: chosen from the amount to read */
	bool hash;	   /* fill sha256 */
};

/* Parse each path and pass the files to fn in the order of paths, each as soon as it and all before
 * it are parsed. A file that cannot be read has its err. The file is borrowed for the call. */
typedef void (*parsed_file_fn)(void *user, struct parsed_file *file);
void parse_files(const struct log_path *paths, size_t n, const struct parse_options *options,
		 parsed_file_fn fn, void *user);

/* Feed a file ("-": standard input) to a reader, which was reset before, and finish it. */
int log_read(const char *path, struct run_reader *reader, struct err *err) MUST_USE;
