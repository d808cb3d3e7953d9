/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "parsers/templates.h"

/*
 * Rules out of rows that no rule knows: the rows of templates.h, given as they
 * come, as a rule file that reads them by their names.
 */
struct learn;

struct learn *learn_new(void);
void learn_free(struct learn *learn);

/* A row; a templates_row_fn whose user is a struct learn. */
void learn_row(void *learn, const struct record *record, const struct templates_line *place);

/*
 * The rule file of that name, in the schema hgym-tui.format/1, and what a
 * person wants to see beside it: each template with its lines, counter,
 * numbers and some lines of it, as lines that begin with "# ".  Returns how
 * many rules the file has: 0 where all rows lie on several lines.
 */
size_t learn_print(const struct learn *learn, const char *name, struct buf *file,
		   struct buf *report);
