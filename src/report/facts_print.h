/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "report/facts.h"

/*
 * Lists of facts as documents.  Every text of theirs passes utf8_sanitize,
 * whatever it holds.
 */

/* How text looks. */
struct facts_look {
	size_t columns; /* tables fit there; 0: no limit */
	size_t fold;	/* columns that words fold at; 0: they do not */
	size_t indent;	/* blanks before each line but titles */
	size_t hang;	/* so many more where a fact without a label goes on */
	bool color;	/* escape sequences are welcome */
	bool is_whole;	/* tables lose nothing to fit: they fold */
	bool is_tight;	/* blank lines stand before titles alone */
};

/*
 * For people.  Tables with the same columns line up; without a limit nothing
 * is cut, with one their texts are cut and columns dropped until they fit; or
 * (is_whole) the last text folds, and where that does not help, each row is
 * printed as a record, a line a column.
 */
void facts_print(struct buf *out, const struct facts *facts, const struct facts_look *look);
/* The same without escapes and tables uncut, folded at 80 columns. */
void facts_print_text(struct buf *out, const struct facts *facts);

void facts_print_md(struct buf *out, const struct facts *facts);

/* A table alone, with its head or only its rows; CSV is RFC 4180, its numbers
 * as they are, its head the keys of the columns, and a text that begins with
 * = + - or @ has a ' before it. */
void facts_print_md_table(struct buf *out, const struct facts *facts, size_t section, bool head);
void facts_print_csv(struct buf *out, const struct facts *facts, size_t section, bool head);
