/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* Search for the name that a mistyped word was meant to be. */
struct nearest {
	struct str word, name;	 /* name.p is NULL if no name is similar */
	size_t typos, max_typos; /* typos in name; the most that are allowed */
};

/* Remember name if it is fewer typos from the word than the best so far; a prefix: one typo. */
void nearest_add(struct nearest *near, const char *name, size_t len);
