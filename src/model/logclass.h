/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/format.h"

/* The class of each line of a log of any length, as stretches of lines of one class, in bounded
 * memory. When space gets short, lines with metrics count as plain ones; when it runs out, all
 * further lines are LINE_PLAIN. A zeroed struct is empty. */
#define LOGCLASS_MAX	   65536U /* stretches */
#define LOGCLASS_LINE_MASK ((UINT64_C(1) << 56) - 1)
#define LOGCLASS_MAX_PLAIN 49152U /* with more stretches, metrics count as plain */

struct logclass_stretch {
	uint64_t first : 56; /* number of its first line */
	uint64_t class : 8;  /* enum line_class */
};

struct logclass {
	struct logclass_stretch *v; /* owned */
	size_t n, cap;
	uint64_t last; /* number of the last line that was added */
};

/* When the bytes of a log arrived, for logs whose lines have no times: marks in bounded memory,
 * older ones further apart. A zeroed struct is empty. */
#define LOGCAME_MAX 4096U

struct logcame_mark {
	uint64_t upto; /* bytes before this offset had arrived by then */
	int64_t wall_ms;
};

struct logcame {
	struct logcame_mark *v; /* owned */
	size_t n, cap;
};

void logcame_release(struct logcame *came);
/* Record that the bytes up to `upto` have arrived; a lower offset restarts the log. */
void logcame_add(struct logcame *came, uint64_t upto, int64_t wall_ms);
/* When the byte at an offset arrived; 0: unknown. */
int64_t logcame_at(const struct logcame *came, uint64_t place);

void logclass_release(struct logclass *lc);
/* Add the next line; a number that is not above the last one starts the log again. */
void logclass_add(struct logclass *lc, uint64_t number, enum line_class class);
/* Return the class of a line; LINE_PLAIN if it is unknown. */
enum line_class logclass_of(const struct logclass *lc, uint64_t number);
/* Return the first and the last line of the stretch that contains the line. */
void logclass_stretch(const struct logclass *lc, uint64_t number, uint64_t *first, uint64_t *last);
