/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/row.h"

/* Find training rows in logs that no rule set matches. Lines with the same names, units and
 * words in the same order share a template. A template becomes rows when it has appeared
 * TEMPLATES_LEAST_ROWS times, its counter does not decrease and its figures change; the lines
 * before are held back and reported late, in order. A row may have several lines: one with the
 * counter, then others with figures.
 *
 * Memory is bounded: TEMPLATES_MAX templates (the one not used for longest is dropped), each with
 * two lines of at most TEMPLATES_LINE_BYTES. */
#define TEMPLATES_MAX	     64
#define TEMPLATES_LINE_BYTES 4096
#define TEMPLATES_LEAST_ROWS 3

struct templates;

struct templates *templates_new(row_fn fn, void *user);
void templates_free(struct templates *templates);

/* Process a line that no rule matched. A row is reported as a record of the format "generic", whose
 * rule has the kind train or val. True if the line is a row or a part of one. */
bool templates_read(struct templates *templates, const struct log_line *line);
/* A faster version for a line that differs from an earlier row only in its numbers. Rules that did
 * not match that row cannot match such a line. */
enum templates_similar {
	SIMILAR_NONE,  /* unknown: use templates_read */
	SIMILAR_ROW,   /* it is a row and was reported */
	SIMILAR_OTHER, /* a row of another rank, to be ignored */
};
enum templates_similar templates_read_similar(struct templates *templates,
					      const struct log_line *line);
/* Report the line if it is a row that counts to `planned` and has reached `step`, or a validation
 * of such a step after `val_step`; false if not. */
bool templates_read_planned(const struct log_line *line, double planned, double step,
			    double val_step, row_fn fn, void *user);
/* Return the counters of the last row; absent without templates (NULL). */
struct row_counts templates_get_counts(const struct templates *templates);
/* Report a row on several lines that is still open: no more lines of it follow. */
void templates_finish(struct templates *templates);

/* The format name of all rows. */
extern const char templates_format[];
