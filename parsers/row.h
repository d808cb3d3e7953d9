/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/line_prefix.h"
#include "parsers/pairs.h"
#include "parsers/rule.h"

/* The kinds of counters of a row, the best kind first. */
enum counter_kind {
	COUNTS_STEPS,  /* named "step", "iter" or similar */
	COUNTS_EPOCHS, /* "epoch" */
	COUNTS_UNITS,  /* batches, frames, or a number with a total */
	COUNTS_LEAD,   /* the first number of the line, without a name */
};

/* The numbers of a line of text (pairs.h), of CSV or of JSON (metric_rows.h). */
struct row {
	struct log_line line;
	struct pair pairs[PAIRS_MAX];
	size_t n;
	struct pairs_line about;
	size_t counter; /* index of the pair that counts the rows; n: no pair does */
	enum counter_kind kind;
	double step, planned; /* of the counter: its value and its total; absent if not printed */
};

/* Called with each row: its record, and the line or lines that it comes from. */
typedef void (*row_fn)(void *user, const struct record *record, const struct log_line *line);

/* Add the n pairs of a line to *record, whose rule and groups are already set. Each named number
 * except a counter becomes a series in `rows`; a number without a name is named by its unit. The
 * record borrows `rows`, and `rows` borrows the line. A number also sets the metric that the rule's
 * names, or else meaning.h, give its name, unless a group of the rule has set that metric. "global
 * step" is preferred to "step", and "step" to any other counter. If a metric has two different
 * numbers, it is dropped, and the result is false. */
bool row_fill(struct record *record, const struct pair *pairs, size_t n,
	      struct record_pair rows[PAIRS_MAX]);

/* Rate how likely the name of a counter means optimizer steps; 1 is the lowest rank. */
int row_counter_rank(struct str name);

/* The text before a slot, without the blanks at its end. */
struct row_text {
	const char *p;
	size_t len;
	bool blanks;   /* there were blanks at its end */
	uint64_t word; /* its first bytes */
};

/* The shape of a line, to read lines with other numbers quickly: the text between them is compared,
 * and only they are parsed. The result equals that of pairs_read_slots. */
struct row_shape {
	char *text; /* owned; contains the names of the pairs */
	size_t len;
	struct pair pairs[PAIRS_MAX]; /* of the line read last */
	size_t n;
	struct pair_slot slots[PAIR_SLOTS_MAX];
	size_t n_slots;
	struct row_text before[PAIR_SLOTS_MAX]; /* the text before each slot */
};

/* Create a shape; NULL if the line has no pairs or a number without a slot. of_cells: the line is
 * from a metrics file (CSV or a JSON object); its pairs are its numbers, without names. */
struct row_shape *row_shape_new(struct str line, bool of_cells);
void row_shape_free(struct row_shape *shape);

/* Read the line into shape->pairs; false if it has another shape. */
bool row_shape_read(struct row_shape *shape, struct str line);

/* A row that was read in full, for reading rows that differ from it only in their numbers. */
struct known_row {
	struct row_shape *shape; /* owned; NULL: none */
	char *names;		 /* owned; of its numbers; NULL: they are in the shape */
	struct record record;	 /* its pairs are `rows` */
	struct record_pair rows[PAIRS_MAX];
	struct record_memo memo; /* of record */
	/* Index of the shape's pair: for each of `rows`, and for the counter. */
	size_t from[PAIRS_MAX], counter;
};

/* Set `from` for a record that was filled with the indexes of the shape's pairs in place of values.
 * False if these pairs do not determine the whole record. */
bool known_row_link(struct known_row *row);
/* Copy the shape's numbers to the rows and to the metrics of the record. */
void known_row_fill(struct known_row *row);
void known_row_release(struct known_row *row);
