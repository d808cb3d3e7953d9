/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/format.h"

/*
 * What each line of a log is, for logs of any length: stretches of lines of
 * one class, in bounded memory.  When there is no room for more, plain lines
 * and those with metrics are no longer told apart, then nothing is kept of
 * what follows (LINE_PLAIN).  Zeroed is empty.
 */
#define LOGCLASS_MAX	   65536U /* stretches */
#define LOGCLASS_LINE_MASK ((UINT64_C(1) << 56) - 1)
#define LOGCLASS_MAX_PLAIN 49152U /* from then on metrics are plain */

struct logclass_stretch {
	uint64_t first : 56; /* number of its first line */
	uint64_t class : 8;  /* enum line_class */
};

struct logclass {
	struct logclass_stretch *v; /* owned */
	size_t n, cap;
	uint64_t last; /* number of the last line that was added */
};

/*
 * When the bytes of a log came, for logs whose lines have no times: marks in
 * bounded memory, the older ones further apart.  Zeroed is empty.
 */
#define LOGCAME_MAX 4096U

struct logcame_mark {
	uint64_t upto; /* bytes before it came then, or earlier */
	int64_t wall_ms;
};

struct logcame {
	struct logcame_mark *v; /* owned */
	size_t n, cap;
};

void logcame_release(struct logcame *came);
/* The bytes up to there have come; fewer than before: the log begins anew. */
void logcame_add(struct logcame *came, uint64_t upto, int64_t wall_ms);
/* When the byte at a place came; 0: not known. */
int64_t logcame_at(const struct logcame *came, uint64_t place);

void logclass_release(struct logclass *lc);
/*
 * Lines come in order; a number that is not behind the last one begins the
 * log anew.
 */
void logclass_add(struct logclass *lc, uint64_t number, enum line_class class);
/* LINE_PLAIN where nothing is known. */
enum line_class logclass_of(const struct logclass *lc, uint64_t number);
/* First and last line of the stretch that holds the line. */
void logclass_stretch(const struct logclass *lc, uint64_t number, uint64_t *first, uint64_t *last);
