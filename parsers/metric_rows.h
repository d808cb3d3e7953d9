/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/pair_record.h"

/*
 * The rows of a metrics file, line by line: CSV with a header, as Lightning's
 * CSVLogger writes it, the same with tabs or, of what has a loss, in columns
 * set with blanks; or one JSON object a line.  Nothing else is a row.  The
 * header or the object names a counter, a step, else an epoch.  A first row is
 * given when a second one comes that has the same cells (of CSV) and whose
 * counter is not lower.  A line with other cells ends the CSV.  What is empty
 * or no number gives nothing; members of objects are named "train/loss".
 */
struct metric_rows;

struct metric_rows *metric_rows_new(void);
void metric_rows_free(struct metric_rows *rows);
void metric_rows_reset(struct metric_rows *rows);

enum metric_file { METRIC_FILE_CSV, METRIC_FILE_JSON };

struct metric_row {
	enum metric_file file;
	uint64_t line;
	int64_t wall_ms; /* as was given with its line */
	struct str text; /* its line */
	double step;	 /* or, with is_epoch, the epoch: there is no step */
	bool is_epoch;
	double planned;	 /* absent: not told */
	bool is_summary; /* of the whole run: its loss is a mean */
	size_t n;	 /* of the numbers that are no counter */
	struct pair pairs[PAIRS_MAX];
	struct record *record; /* what they say */
};

/* Whether no table is under way: a line that is no header changes nothing. */
bool metric_rows_is_idle(const struct metric_rows *rows);

/* All of the row is borrowed for the call. */
typedef void (*metric_row_fn)(void *user, const struct metric_row *row);

struct metric_line {
	struct str text;
	uint64_t line;
	int64_t wall_ms;
	bool cut; /* its end may be missing */
};

/*
 * Take a whole line and give fn the rows that are known now: none, this one,
 * or the one before and this one.  True when the line is a row, or may be.
 */
bool metric_rows_take(struct metric_rows *rows, const struct metric_line *line, metric_row_fn fn,
		      void *user);
/*
 * The same for a line that differs from a row only in its numbers, at little
 * cost; false: it may be anything.  Of such a row only the record has the
 * numbers.  A rule that did not take that one takes none of these.
 */
bool metric_rows_take_like(struct metric_rows *rows, const struct metric_line *line,
			   metric_row_fn fn, void *user);
