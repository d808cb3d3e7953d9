/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_PATTERN_H
#define HGYM_PARSERS_PATTERN_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

/*
 * A pattern that a user typed (PCRE2): letters match in any case unless the
 * pattern has a capital.  Matching is bounded, so that no pattern hangs.
 */
struct pattern;

struct pattern *pattern_new(const char *text, struct err *err)
	__attribute__((warn_unused_result));
void pattern_free(struct pattern *pattern);
/* Whether it is found in s; where: first byte and length. */
bool pattern_find(const struct pattern *pattern, struct str s, size_t *at,
		  size_t *len);
/*
 * The same from a byte of s on, the first of a character: what is before it is
 * seen by anchors and by what looks back.
 */
bool pattern_find_from(const struct pattern *pattern, struct str s, size_t from,
		       size_t *at, size_t *len);
/*
 * The first line of a block of whole lines that begins at or behind `from`
 * (a line's begin) and matches; its begin.  A line ends with LF or CR LF,
 * which are not matched.  The whole block is looked at in one go where the
 * pattern allows it: thousands of megabytes a second.
 */
bool pattern_find_line(const struct pattern *pattern, struct str block,
		       size_t from, size_t *line);

#endif
