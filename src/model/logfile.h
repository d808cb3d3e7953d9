/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_LOGFILE_H
#define HGYM_MODEL_LOGFILE_H

#include <stdbool.h>
#include <stdint.h>

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

#define LOGFILE_LINE_BYTES 4096U /* of a line that are shown */

struct logfile *logfile_open(const char *path, struct err *err)
	__attribute__((warn_unused_result));
void logfile_close(struct logfile *file);
/* Look at the size anew; true when it changed. */
bool logfile_refresh(struct logfile *file);
uint64_t logfile_size(const struct logfile *file);

/* The place of the line that holds the byte at `at`. */
uint64_t logfile_line_start(struct logfile *file, uint64_t at);
/* The next line's place, or the size. */
uint64_t logfile_next(struct logfile *file, uint64_t place);
/* The place of the line before; 0 stays 0. */
uint64_t logfile_prev(struct logfile *file, uint64_t place);
/* The line at a place without its end, cut to LOGFILE_LINE_BYTES. */
void logfile_read(struct logfile *file, uint64_t place, struct buf *line);

/*
 * Search from place on (forward) or before it for a line that matches, at
 * most `budget` bytes.  1: found, *place is its line; 0: none up to the end;
 * 2: the budget is used up, go on from *place.
 */
int logfile_search(struct logfile *file, const struct pattern *pattern,
		   bool forward, uint64_t budget, uint64_t *place);

/* Count lines for a while; true: not done yet. */
bool logfile_count(struct logfile *file, uint64_t budget);
/* The 1-based number of the line at a place; 0: not counted that far. */
uint64_t logfile_number(struct logfile *file, uint64_t place);
/* Lines counted, and whether that is all of them. */
uint64_t logfile_lines(const struct logfile *file, bool *all);

#endif
