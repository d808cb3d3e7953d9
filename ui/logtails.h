/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_LOGTAILS_H
#define HGYM_UI_LOGTAILS_H

#include "model/model.h"

/*
 * The last lines of one or of all logs of a model, in the order they came.
 * A place is the number of a line's arrival: it stays true while new lines
 * come and old ones go.
 */
struct logtails_entry {
	uint64_t order;
	const struct model_log *log;
	uint64_t seq; /* of the line in its log's tail, since the beginning */
};

struct logtails_log {
	const struct model_log *log;
	uint64_t taken; /* lines of its tail that are in entries */
};

struct logtails {
	const struct model *model;
	const struct model_log *only; /* NULL: all */
	struct logtails_entry *v;     /* owned; ascending order */
	size_t n, cap;
	struct logtails_log *logs; /* owned */
	size_t n_logs, cap_logs;
	uint64_t seen_lines; /* of the model */
	bool is_cut;	     /* older lines were left out */
};

void logtails_init(struct logtails *tails, const struct model *model,
		   const struct model_log *only);
void logtails_release(struct logtails *tails);
/* Take the new lines; true: there are. */
bool logtails_refresh(struct logtails *tails);

/* One behind the last place. */
uint64_t logtails_end(const struct logtails *tails);
/* The first entry at or behind a place that is still kept; NULL: none. */
const struct logtails_entry *logtails_at(const struct logtails *tails,
					 uint64_t place);
/* The last entry before it; NULL: none. */
const struct logtails_entry *logtails_before(const struct logtails *tails,
					     uint64_t place);
const struct logtail_line *logtails_line(const struct logtails_entry *entry);

#endif
