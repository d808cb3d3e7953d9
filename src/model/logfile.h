/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "parsers/pattern.h"

/*
 * A log on this machine, read by place and not by line number, so that ten
 * million lines open at their end at once.  A place is the offset of a line's
 * first byte.  Lines are counted in the background.  The file may grow and
 * be truncated at any time.
 */
struct logfile;

/*
 * A longer line is cut into several at multiples of this offset.  So a block
 * of fewer bytes that holds a line end has no cut before its last one.
 */
#define LOGFILE_CUT_BYTES (1U << 20)
/* The longest part of a line is less than two cuts. */
#define LOGFILE_SCAN_BYTES (2U * LOGFILE_CUT_BYTES)

struct logfile *logfile_open(const char *path, struct err *err) __attribute__((warn_unused_result));
/* The same of a descriptor, which is given: also closed where it fails. */
struct logfile *logfile_open_fd(int fd, struct err *err) __attribute__((warn_unused_result));
void logfile_close(struct logfile *file);
/* Look at the file anew; true when it changed. */
bool logfile_refresh(struct logfile *file);
uint64_t logfile_size(const struct logfile *file);
/* Which file it is, whatever its name; 0: not known. */
uint64_t logfile_inode(const struct logfile *file);
/*
 * How often the file was truncated or written anew, as far as was seen: all
 * places of an earlier life are void.
 */
unsigned int logfile_life(const struct logfile *file);

/* Read len bytes at `at`; fewer at the end of what the file holds. */
size_t logfile_pread(const struct logfile *file, void *data, size_t len, uint64_t at);
/* The place of the line that holds the byte at `at`. */
uint64_t logfile_line_start(struct logfile *file, uint64_t at);
/* The next line's place, or the size. */
uint64_t logfile_next(struct logfile *file, uint64_t place);
/* The place of the line before; 0 stays 0. */
uint64_t logfile_prev(struct logfile *file, uint64_t place);
/* The line at a place without its end, cut to what line may hold. */
void logfile_read(struct logfile *file, uint64_t place, struct buf *line);
/* Whether the place is in the middle of a line too long for one. */
bool logfile_is_part(struct logfile *file, uint64_t place);

/* Which lines a sweep takes: by what can be seen of them (model/logtext.h). */
struct logfile_filter {
	const struct pattern *pattern;
	bool invert;	    /* the lines that do not match */
	size_t block_bytes; /* to look at next, about; paced */
};

/* A pattern may be slow: the first block is small. */
#define LOGFILE_FIRST_BYTES 8192U

struct logfile_hits {
	uint64_t *v; /* places; the caller frees it */
	size_t n, cap;
};

/*
 * Append the lines of the next block that pass the filter, the nearest first:
 * from *place on (forward) or before it; *place moves on.  False: that was the
 * last block.  A last line without its end is told, but *place stays before
 * it.
 */
bool logfile_sweep(struct logfile *file, struct logfile_filter *filter, bool forward,
		   uint64_t *place, struct logfile_hits *hits);

/* Count lines for a while; true: not done yet. */
bool logfile_count(struct logfile *file, uint64_t budget);
/* The 1-based number of the line at a place; 0: not counted that far. */
uint64_t logfile_number(struct logfile *file, uint64_t place);
/* The place of the line of that number; the size: not counted that far. */
uint64_t logfile_place(struct logfile *file, uint64_t number);
/* Lines counted, and whether that is all; the last one may have no end. */
uint64_t logfile_lines(const struct logfile *file, bool *all);
