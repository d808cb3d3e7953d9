/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_REPORT_H
#define HGYM_BENCH_REPORT_H

#include "base/buf.h"
#include "parsers/json.h"
#include "report/facts.h"

/*
 * The facts of a verdict.json, whoever prints them: of each variant the
 * verdict first, then the numbers, then why.  Borrows of the tree.
 */
void report_facts(struct facts *facts, const cJSON *verdict);

/* "B: FASTER by ..; C: .."; of an audit what it would show.  "": no verdict. */
void report_line(struct buf *out, const cJSON *verdict);

#endif
