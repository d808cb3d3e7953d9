/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_LOGCLASS_H
#define HGYM_MODEL_LOGCLASS_H

#include <stddef.h>
#include <stdint.h>

#include "parsers/format.h"

/*
 * What each line of a log is, for logs of any length: stretches of lines of
 * one class, in bounded memory.  When there is no room for more, plain lines
 * and those with metrics are no longer told apart, then nothing is kept of
 * what follows (LINE_PLAIN).  Zeroed is empty.
 */
#define LOGCLASS_MAX	   65536U /* stretches */
#define LOGCLASS_MAX_PLAIN 49152U /* from then on metrics are plain */

struct logclass_stretch {
	uint64_t first; /* number of its first line */
	enum line_class class;
};

struct logclass {
	struct logclass_stretch *v; /* owned */
	size_t n, cap;
	uint64_t last; /* number of the last line that was added */
};

void logclass_release(struct logclass *lc);
/*
 * Lines come in order; a number that is not behind the last one begins the
 * log anew.
 */
void logclass_add(struct logclass *lc, uint64_t number, enum line_class class);
/* LINE_PLAIN where nothing is known. */
enum line_class logclass_of(const struct logclass *lc, uint64_t number);
/* First and last line of the stretch that holds the line. */
void logclass_stretch(const struct logclass *lc, uint64_t number,
		      uint64_t *first, uint64_t *last);

#endif
