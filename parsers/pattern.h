/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * A pattern that a user typed (PCRE2): letters match in any case unless the
 * pattern has a capital.  Matching is bounded, so that no pattern hangs.
 */
struct pattern;

struct pattern *pattern_new(const char *text, struct err *err) __attribute__((warn_unused_result));
void pattern_free(struct pattern *pattern);
/* Whether it is found in s; where: first byte and length. */
bool pattern_find(const struct pattern *pattern, struct str s, size_t *at, size_t *len);
/*
 * The same from a byte of s on, the first of a character: what is before it is
 * seen by anchors and by what looks back.
 */
bool pattern_find_from(const struct pattern *pattern, struct str s, size_t from, size_t *at,
		       size_t *len);
/*
 * The first line of a block of whole lines that begins at or behind `from`
 * (a line's begin) and matches; its begin.  A line ends with LF or CR LF,
 * which are not matched.  The whole block is looked at in one go where the
 * pattern allows it: thousands of megabytes a second.
 */
bool pattern_find_line(const struct pattern *pattern, struct str block, size_t from, size_t *line);

/*
 * A user's pattern that takes a name out of a path: its group named "group"
 * or, without one, its first capture.  NULL with ERR_USAGE when it does not
 * compile or captures nothing.
 */
struct pattern *pattern_new_path(const char *text, struct err *err)
	__attribute__((warn_unused_result));
/*
 * What is captured of path, a slice of it.  1: found; 0: no match; -1: the
 * pattern gave up at its match limit.
 */
int pattern_take(const struct pattern *pattern, const char *path, struct str *taken);
