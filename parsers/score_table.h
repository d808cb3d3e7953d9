/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/* Read the tables that Triton's perf_report prints:
 *
 *   softmax-performance:
 *            N      Triton       Torch
 *   0    256.0  234.567890  123.456789
 *
 * The columns of whole numbers are the sizes; each other column is a score. */
#define SCORE_TABLE_COLUMNS 12
#define SCORE_TABLE_TITLE   32

struct score_table {
	char title[SCORE_TABLE_TITLE]; /* without its colon */
	bool has_title;		       /* the last line was a title */
	size_t n_columns;	       /* of the current table; 0: none */
	size_t n_sizes;		       /* columns of sizes, known from the first row */
	unsigned int next;	       /* number of the next row */
	char names[SCORE_TABLE_COLUMNS][SERIES_NAME_BYTES]; /* "title/column" */
	struct record_pair pairs[SCORE_TABLE_COLUMNS];	    /* of the last record */
};

/* Read a whole line. True if it is a row, which is in *record until the next call. */
bool score_table_read(struct score_table *table, struct str line, struct record *record);
