/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/logfile.h"
#include "model/model.h"

/* All logs of a model as one, ordered by the times at the start of their lines
 * (parsers/line_prefix.h). A line without a time gets the time of the line before; lines of a log
 * without any times are ordered by their arrival. Lines of one log keep their order, even if its
 * times go back. Reading starts at the end and goes back on demand; a place is a number that stays
 * valid while more is read at either end. */
struct logtimed;

struct logtimed_line {
	const struct model_log *log;
	struct logfile *file; /* borrowed */
	uint64_t at;	      /* place in file */
};

/* At most this many lines are kept, 24 bytes each. */
#define LOGTIMED_MAX_LINES (2U << 20)
#define LOGTIMED_MAX_LOGS  200U

/* Opens the newest LOGTIMED_MAX_LOGS logs; skips logs that cannot be read. */
struct logtimed *logtimed_open(const struct model *model);
void logtimed_close(struct logtimed *timed);
/* Were logs added, moved or rewritten?  Then open it again. */
bool logtimed_is_stale(const struct logtimed *timed);
/* Do lines of all logs, of some, or of none have times? */
enum logtimed_order { LOGTIMED_TIMES, LOGTIMED_SOME, LOGTIMED_NONE };
enum logtimed_order logtimed_order(const struct logtimed *timed);
/* Read new lines; true if there are any. */
bool logtimed_refresh(struct logtimed *timed);
/* Read an older block; false if there is none, or no space for it. */
bool logtimed_more(struct logtimed *timed);

/* The first place, and the place after the last line. */
uint64_t logtimed_begin(const struct logtimed *timed);
uint64_t logtimed_end(const struct logtimed *timed);
/* Are older lines missing because of the size limit? */
bool logtimed_is_cut(const struct logtimed *timed);
/* Like logfile_count, for all files. */
bool logtimed_count(struct logtimed *timed, uint64_t budget);
/* The line at a place; logtimed_begin <= place < logtimed_end. */
struct logtimed_line logtimed_at(const struct logtimed *timed, uint64_t place);
