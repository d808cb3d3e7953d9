/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/*
 * Rows of logs that no rule knows, found by what they are: lines of one
 * template (names, units and words in their order) that come again, with a
 * counter that does not fall and figures that change.  From the third line on
 * they are rows; the two before are given late, in order.  A row may lie on
 * several lines: one with the counter, then such with figures.
 *
 * What is kept is bounded: TEMPLATES_MAX templates (the one that was not seen
 * for longest goes), each with two lines of at most TEMPLATES_LINE_BYTES.
 */
#define TEMPLATES_MAX	     64
#define TEMPLATES_LINE_BYTES 4096
#define TEMPLATES_LEAST_ROWS 3

struct templates;

/* A line and where it stands; the text without time and rank. */
struct templates_line {
	struct str text; /* borrowed for the call */
	uint64_t line;
	int64_t wall_ms;
	int rank;   /* that printed it; -1: not told */
	bool cut;   /* the log ends within the line, as far as one can know */
	bool plain; /* nor is it of a metrics file, as far as that is known */
	/* Of a row that is given: */
	bool inside; /* the line has more before it than was taken off */
	bool joined; /* it is made of several lines */
	bool late;   /* it was held back; lines behind it were read already */
};

/* A row: a record of a rule of kind train or val, of the format "generic". */
typedef void (*templates_row_fn)(void *user, const struct record *record,
				 const struct templates_line *place);

struct templates *templates_new(templates_row_fn fn, void *user);
void templates_free(struct templates *templates);

/* Look at a line that no rule takes; true: it is a row, or a part of one. */
bool templates_take(struct templates *templates, const struct templates_line *line);
/*
 * The same for a line that differs from a row that was read only in its
 * numbers, at little cost.  A rule that did not take that one takes none of
 * these.
 */
enum templates_like {
	LIKE_NONE,  /* it may be anything */
	LIKE_ROW,   /* it is a row, and was taken */
	LIKE_OTHER, /* it is one of another rank: nobody takes it */
};
enum templates_like templates_take_like(struct templates *templates,
					const struct templates_line *line);
/* Give the row of several lines that may be open: nothing more is of it. */
void templates_finish(struct templates *templates);

/* The format that rows of all templates are of. */
extern const char templates_format[];
