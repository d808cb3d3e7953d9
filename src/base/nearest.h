/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* Search for the name that a mistyped word was meant to be. */
struct nearest {
	struct str word, name;	 /* name.p is NULL if no name is similar */
	size_t typos, max_typos; /* typos in name; the most that are allowed */
};

/* Remember name if the word is fewer typos away from it than from the best name so far. A prefix of
 * name counts as one typo away. */
void nearest_add(struct nearest *near, const char *name, size_t len);
