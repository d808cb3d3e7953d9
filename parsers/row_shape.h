/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/pairs.h"
#include "parsers/rule.h"

/* The text before a slot, without the blanks at its end. */
struct row_text {
	const char *p;
	size_t len;
	bool blanks;   /* there were blanks at its end */
	uint64_t word; /* its first bytes */
};

/*
 * The shape of a line, read once, to read lines that differ from it only in their numbers: the text
 * between the numbers is compared, and only the numbers are parsed. The result is the same as that
 * of pairs_read_line.
 */
struct row_shape {
	char *text; /* owned; contains the names of the pairs */
	size_t len;
	struct pair pairs[PAIRS_MAX]; /* of the line read last */
	size_t n;
	struct pair_slot slots[PAIR_SLOTS_MAX];
	size_t n_slots;
	struct row_text before[PAIR_SLOTS_MAX]; /* the text before each slot */
};

/* NULL if the line has no pairs or a number without a slot. */
struct row_shape *row_shape_new(struct str line);
/*
 * The shape of a line of a metrics file, CSV or one JSON object: its pairs are all its numbers in
 * their order, without names.
 */
struct row_shape *row_shape_of_cells(struct str line);
void row_shape_free(struct row_shape *shape);

/* Read the line into shape->pairs; false if it has another shape. */
bool row_shape_read(struct row_shape *shape, struct str line);

/* A record whose numbers come from the pairs of a shape. */
struct row_record {
	struct row_shape *shape; /* owned */
	struct record record;	 /* its pairs are `rows` */
	struct record_pair rows[PAIRS_MAX];
	struct record_memo memo; /* of record */
	size_t from[PAIRS_MAX];	 /* for each row: the index of its pair in the shape */
};

/* Copy the shape's numbers to the rows and to the metrics of the record. */
void row_record_fill(struct row_record *row);
