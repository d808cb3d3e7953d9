/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* A PCRE2 pattern that a user typed. Matching ignores case unless the pattern has a capital letter.
 * A limit stops every pattern that takes too long. */
struct pattern;

struct pattern *pattern_new(const char *text, struct err *err) MUST_USE;
void pattern_free(struct pattern *pattern);
/* Find the first match in s: its first byte and its length. */
bool pattern_find(const struct pattern *pattern, struct str s, size_t *at, size_t *len);
/* The same from byte `from` of s, which must be the first byte of a character. Anchors and
 * lookbehinds see the bytes before it. */
bool pattern_find_from(const struct pattern *pattern, struct str s, size_t from, size_t *at,
		       size_t *len);
/* Find the first line that matches in a block of whole lines. `from` is the start of a line; *line
 * becomes the start of the line found. LF and CR LF end a line and are not matched. If the pattern
 * allows it, the whole block is searched at once, at gigabytes per second. */
bool pattern_find_line(const struct pattern *pattern, struct str block, size_t from, size_t *line);

/* Compile a pattern that takes a name from a path: its group named "group" or, without one, its
 * first group. NULL with ERR_USAGE if it does not compile or has no group. */
struct pattern *pattern_new_path(const char *text, struct err *err) MUST_USE;
/* Take the name from path, as a slice of it. Returns 1, 0: no match, -1: over the match limit. */
int pattern_capture(const struct pattern *pattern, const char *path, struct str *taken);
