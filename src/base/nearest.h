/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* Search for the name that a mistyped word was meant to be. */
struct nearest {
	struct str word, name;	 /* name.p is NULL if no name is similar */
	size_t typos, max_typos; /* in name; allowed */
};

/* Keep name if it has fewer typos than the best one before; an unfinished word counts as one. */
void nearest_add(struct nearest *near, const char *name, size_t len);
