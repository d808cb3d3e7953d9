/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/pair_record.h"

/* Reads the rows of a metrics file, line by line: CSV with a header, as written by Lightning's
 * CSVLogger; the same with tabs; tables in columns of blanks, if they have a loss; or one JSON
 * object per line.
 *
 * The header or the object must have a counter: a step, else an epoch. The first row is reported
 * when a second one follows with the same cells (CSV) and a counter that is not lower. A line with
 * other cells ends a CSV table. Empty cells and texts are ignored; members of nested objects are
 * named "train/loss". */
struct metric_rows;

struct metric_rows *metric_rows_new(void);
void metric_rows_free(struct metric_rows *rows);
void metric_rows_reset(struct metric_rows *rows);

enum metric_file { METRIC_FILE_CSV, METRIC_FILE_JSON };

struct metric_row {
	enum metric_file file;
	uint64_t line;
	int64_t wall_ms; /* as passed with its line */
	struct str text; /* its line */
	double step;	 /* the step or, with is_epoch, the epoch */
	bool is_epoch;
	double planned;	 /* absent: unknown */
	bool is_summary; /* of the whole run; its loss is a mean */
	size_t n;	 /* numbers, except the counter */
	struct pair pairs[PAIRS_MAX];
	struct record *record; /* the meaning of the pairs */
};

/* Is no table open? Then a line that is not a header changes nothing. */
bool metric_rows_is_idle(const struct metric_rows *rows);

/* The row and all its texts are borrowed for the call. */
typedef void (*metric_row_fn)(void *user, const struct metric_row *row);

struct metric_line {
	struct str text;
	uint64_t line;
	int64_t wall_ms;
	bool cut; /* the end may be missing */
};

/* Read a whole line and pass the rows that are certain now to fn: none, this one, or the previous
 * one and this one. True if the line is a row or may be one. */
bool metric_rows_read(struct metric_rows *rows, const struct metric_line *line, metric_row_fn fn,
		      void *user);
/* The same for a line that differs from an earlier row only in its numbers, quickly; false: use
 * metric_rows_read. Only the record of such a row has its numbers. A rule that did not match the
 * earlier row does not match these. */
bool metric_rows_read_similar(struct metric_rows *rows, const struct metric_line *line,
			      metric_row_fn fn, void *user);
