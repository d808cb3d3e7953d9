/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/pairs.h"
#include "parsers/rule.h"

/* What stands before a number, without the blanks at its end. */
struct row_text {
	const char *p;
	size_t len;
	bool blanks;   /* it had some */
	uint64_t word; /* its first bytes */
};

/*
 * A line that was read once, for those that are like it but for their numbers:
 * what stands between the numbers is compared, and only they are read.  What
 * comes out is what pairs_read_line would give.
 */
struct row_shape {
	char *text; /* owned; the names lie in it */
	size_t len;
	struct pair pairs[PAIRS_MAX]; /* of the line that was read last */
	size_t n;
	struct pair_slot slots[PAIR_SLOTS_MAX];
	size_t n_slots;
	struct row_text before[PAIR_SLOTS_MAX]; /* each slot */
};

/* NULL for a line that cannot be told so. */
struct row_shape *row_shape_new(struct str line);
/*
 * The same of a line of a metrics file, CSV or one JSON object: its pairs are
 * all its numbers as they stand in it, without names.
 */
struct row_shape *row_shape_of_cells(struct str line);
void row_shape_free(struct row_shape *shape);

/* A record whose pairs are numbers of a shape. */
struct row_record {
	struct row_shape *shape; /* owned */
	struct record record;	 /* its pairs are rows */
	struct record_pair rows[PAIRS_MAX];
	struct record_memo memo; /* of record */
	size_t from[PAIRS_MAX];	 /* the shape's pair that each row is */
};

/* Put the shape's numbers into the rows and the metrics that they are of. */
void row_record_fill(struct row_record *row);

/* Whether the line is like it; then shape->pairs are the line's. */
bool row_shape_read(struct row_shape *shape, struct str line);
