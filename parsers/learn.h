/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "parsers/templates.h"

/* Make a rule file from rows that templates.h reports; its rules read numbers by their names. */
struct learn;

struct learn *learn_new(void);
void learn_free(struct learn *learn);

/* Add a row; a row_fn whose user is a struct learn. */
void learn_row(void *learn, const struct record *record, const struct log_line *place);

/* Write the rule file `name`, with the schema hgym-tui.format/1. The report explains it to a
 * person, as lines that start with "# ": each template with its number of rows, its names and some
 * of its lines. Returns the number of rules in the file; 0 if all rows have several lines. */
size_t learn_print(const struct learn *learn, const char *name, struct buf *file,
		   struct buf *report);
