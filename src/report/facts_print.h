/* SPDX-License-Identifier: MIT */
#pragma once

#include "report/facts.h"

/* Print lists of facts as documents.  All texts pass utf8_sanitize. */

/* Text layout. */
struct facts_look {
	size_t columns; /* maximum width of tables; 0: no limit */
	size_t fold;	/* width at which words fold; 0: they do not fold */
	size_t indent;	/* spaces before each line except titles */
	size_t hang;	/* additional spaces before continuation lines of a fact without a label */
	bool color;	/* use escape sequences */
	bool is_whole;	/* tables fold; they are not cut, and no columns are dropped */
	bool is_tight;	/* blank lines only before titles */
};

/* Print for people.  Tables with the same columns are aligned with each other.  If their width is
 * limited, texts are cut and columns dropped until a table fits.  With is_whole the last text folds
 * instead, and if that is not enough, each row is printed as a record with one line per column. */
void facts_print(struct buf *out, const struct facts *facts, const struct facts_look *look);
/* The same without escapes and with complete tables, folded at 80 columns. */
void facts_print_text(struct buf *out, const struct facts *facts);

void facts_print_md(struct buf *out, const struct facts *facts);

/* Print a table by itself, with its header (head) or only its rows.  CSV follows RFC 4180, with
 * full numbers and the columns' keys as header; a ' precedes texts that start with = + - or @. */
void facts_print_md_table(struct buf *out, const struct facts *facts, size_t section, bool head);
void facts_print_csv(struct buf *out, const struct facts *facts, size_t section, bool head);
