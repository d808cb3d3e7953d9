/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/row.h"

/* Reads the rows of a metrics file, line by line: CSV with a header, as written by Lightning's
 * CSVLogger; the same with tabs; tables in columns of blanks, if they have a loss; or one JSON
 * object per line.
 *
 * The header or the object must have a counter: a step, else an epoch. The first row is reported
 * when a second one follows with the same cells (CSV) and a counter that is not lower. Other cells
 * end a CSV table. Empty cells and texts are ignored; nested members are named "train/loss". */
struct metric_rows;

struct metric_rows *metric_rows_new(void);
void metric_rows_free(struct metric_rows *rows);
void metric_rows_reset(struct metric_rows *rows);

/* Is no table open? If none is, a line that is not a header changes nothing. */
bool metric_rows_is_idle(const struct metric_rows *rows);

/* Read a whole line and pass the rows that are certain now to fn: none, this one, or the previous
 * one and this one. The value of METRIC_STEP in their records is the counter; it is not marked as
 * present if the counter is an epoch. True if the line is a row or may be one. */
bool metric_rows_read(struct metric_rows *rows, const struct log_line *line, row_fn fn, void *user);
/* A faster version for a line that differs from an earlier row only in its numbers; false: use
 * metric_rows_read. A rule that did not match the earlier row does not match this line either. */
bool metric_rows_read_similar(struct metric_rows *rows, const struct log_line *line, row_fn fn,
			      void *user);
