/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_SCAN_H
#define HGYM_PARSERS_SCAN_H

#include "parsers/format.h"
#include "parsers/rule.h"

/*
 * The hot loop: which rule takes a line.  A scanner holds the scratch memory
 * of PCRE2; a thread has one of its own, the format_set is shared.
 */
struct scanner;

struct scanner *scanner_new(const struct format_set *formats);
void scanner_free(struct scanner *scanner);

/*
 * The first rule, in the set's order, that matches line and all of whose
 * groups are numbers (a loss may be nan or inf) fills *record: true.
 */
bool scanner_scan(struct scanner *scanner, struct str line,
		  struct record *record);

/*
 * The same for a last line without its LF, which may be cut within a number:
 * only what one more digit would not change, or a BPB with as many decimals
 * as its loss.
 */
bool scanner_scan_cut(struct scanner *scanner, struct str line,
		      struct record *record);

/* How often rule number i ran into the match limit. */
uint64_t scanner_limit_hits(const struct scanner *scanner, size_t i);

#endif
