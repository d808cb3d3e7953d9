/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_PATH_PATTERN_H
#define HGYM_PARSERS_PATH_PATTERN_H

#include "base/err.h"
#include "base/str.h"

/*
 * A user's PCRE2 pattern that takes a name out of a path: its group named
 * "group" or, without one, its first capture.
 */
struct path_pattern;

/* NULL with ERR_USAGE when it does not compile or captures nothing. */
struct path_pattern *path_pattern_new(const char *pattern, struct err *err)
	__attribute__((warn_unused_result));
void path_pattern_free(struct path_pattern *pattern);

/*
 * What is captured of path, a slice of it.  1: found; 0: no match; -1: the
 * pattern gave up at its match limit.
 */
int path_pattern_take(const struct path_pattern *pattern, const char *path,
		      struct str *taken);

#endif
