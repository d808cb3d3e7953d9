/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/pattern.h"

/* A local log, read by byte offset instead of line number, so that ten million lines open at their
 * end at once. A place is the offset of the first byte of a line. Lines are counted in the
 * background. The file may grow or be truncated at any time. */
struct logfile;

/* Longer lines are cut at multiples of this: shorter blocks have no cut before their last LF. */
#define LOGFILE_CUT_BYTES (1U << 20)
/* A part of a line is shorter than twice the cut size. */
#define LOGFILE_SCAN_BYTES (2U * LOGFILE_CUT_BYTES)

struct logfile *logfile_open(const char *path, struct err *err) MUST_USE;
/* Open a log from a descriptor; takes ownership of the descriptor, also on failure. */
struct logfile *logfile_open_fd(int fd, struct err *err) MUST_USE;
void logfile_close(struct logfile *file);
/* Check the file for changes; true if it changed. */
bool logfile_refresh(struct logfile *file);
uint64_t logfile_size(const struct logfile *file);
/* The inode of the file; 0: unknown. */
uint64_t logfile_inode(const struct logfile *file);
/* How often the file was seen to be truncated or rewritten.  Places from before are invalid. */
unsigned int logfile_life(const struct logfile *file);

/* Read up to len bytes at `at`, fewer at the end of the file. */
size_t logfile_pread(const struct logfile *file, void *data, size_t len, uint64_t at);
/* The start of the line that contains the byte at `at`. */
uint64_t logfile_line_start(struct logfile *file, uint64_t at);
/* The start of the next line, or the file size. */
uint64_t logfile_next(struct logfile *file, uint64_t place);
/* The start of the previous line; 0 stays 0. */
uint64_t logfile_prev(struct logfile *file, uint64_t place);
/* Read the line at a place without its line end, cut to the capacity of `line`. */
void logfile_read(struct logfile *file, uint64_t place, struct buf *line);
/* Is the place a cut in the middle of a line? */
bool logfile_is_part(struct logfile *file, uint64_t place);

/* Which lines a sweep returns, matched by their visible text (model/logtext.h). */
struct logfile_filter {
	const struct pattern *pattern;
	bool invert;	    /* return lines that do not match */
	size_t block_bytes; /* size of the next block, adapted to the speed */
};

/* Start with a small block, since the pattern may be slow. */
#define LOGFILE_FIRST_BYTES 8192U

struct logfile_hits {
	uint64_t *v; /* owned by the caller */
	size_t n, cap;
};

/* Append the lines of the next block that pass the filter, nearest first: from *place on (forward)
 * or before it. Moves *place. Returns false after the last block. A last line without a line end is
 * returned too, but *place stays before it. */
bool logfile_sweep(struct logfile *file, struct logfile_filter *filter, bool forward,
		   uint64_t *place, struct logfile_hits *hits);

/* Count lines in about `budget` bytes; true if some are not counted yet. */
bool logfile_count(struct logfile *file, uint64_t budget);
/* The 1-based number of the line at a place; 0: not counted yet. */
uint64_t logfile_number(struct logfile *file, uint64_t place);
/* The place of the line with this number; the file size: not counted yet. */
uint64_t logfile_place(struct logfile *file, uint64_t number);
/* The number of lines counted until now, and whether the whole file is counted. */
uint64_t logfile_lines(const struct logfile *file, bool *all);
