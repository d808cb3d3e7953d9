/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/logfile.h"
#include "model/model.h"

/*
 * All logs of a model as one, by the times that their lines begin with
 * (parsers/line_prefix.h).  A line without one has that of the line before it
 * in its log; the lines of a log that has no times at all stand where they
 * came.  The lines of a log keep their order, also where its times go back.
 * It begins at the end and goes back on demand; a place is a number that stays
 * true while more is read at either end.
 */
struct logtimed;

struct logtimed_line {
	const struct model_log *log;
	struct logfile *file; /* borrowed */
	uint64_t at;	      /* its place in file */
};

/* So many lines are kept, of 24 bytes each. */
#define LOGTIMED_MAX_LINES (2U << 20)
#define LOGTIMED_MAX_LOGS  200U

/*
 * Of more than LOGTIMED_MAX_LOGS the newest; those that cannot be read are
 * left out.
 */
struct logtimed *logtimed_open(const struct model *model);
void logtimed_close(struct logtimed *timed);
/* Whether logs came, moved or were written anew: open it again. */
bool logtimed_is_stale(const struct logtimed *timed);
/* Whether the lines of all, or of some of its logs, have no times. */
enum logtimed_order { LOGTIMED_TIMES, LOGTIMED_SOME, LOGTIMED_NONE };
enum logtimed_order logtimed_order(const struct logtimed *timed);
/* Take the new lines; true: there are. */
bool logtimed_refresh(struct logtimed *timed);
/* Go back by a block; false: there is no more, or no room for it. */
bool logtimed_more(struct logtimed *timed);

/* The first place and the one behind the last; all between are lines. */
uint64_t logtimed_begin(const struct logtimed *timed);
uint64_t logtimed_end(const struct logtimed *timed);
/* Whether there was no room for all that is older. */
bool logtimed_is_cut(const struct logtimed *timed);
/* As logfile_count, for all of its files. */
bool logtimed_count(struct logtimed *timed, uint64_t budget);
/* begin <= place < end. */
struct logtimed_line logtimed_at(const struct logtimed *timed, uint64_t place);
