/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REPORT_FACTS_PRINT_H
#define HGYM_REPORT_FACTS_PRINT_H

#include "base/buf.h"
#include "report/facts.h"

/*
 * Lists of facts as documents.  Every text of theirs passes utf8_sanitize,
 * whatever it holds; nothing is cut.
 */

/* For people: plain text without escapes, folded at 80 columns but for tables
 * and for words that are longer. */
void facts_print_text(struct buf *out, const struct facts *facts);

void facts_print_md(struct buf *out, const struct facts *facts);

#endif
