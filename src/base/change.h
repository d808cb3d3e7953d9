/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Where the level of a series of numbers changes: E-divisive (Matteson and
 * James 2014, JASA 109, 334-345).  Of all splits of all stretches the one with
 * the largest energy distance between its sides is held against the same of
 * 199 series that have no change; it stays where p <= 0.05, and the search
 * goes on in its parts.  The 199 are permutations: of series without a change
 * 5 % at most have one found, whatever the distribution of their values is.
 *
 * That needs values that do not depend on those before them.  Where they seem
 * to, the 199 are autoregressions of the first order, of the permuted
 * innovations.  Of 100 points without a change, neighbours correlating by 0,
 * 0.3, 0.5 and 0.7, then 3.0, 4.1, 3.5 and 3.4 % have one found; of 16 points
 * 3, 9, 16 and 23 %: too few to tell a slow wave from a change.
 *
 * Of more than CHANGE_POINTS values the medians of so many equal stretches are
 * looked at, and a change is known to the length of one.
 */
#define CHANGE_POINTS 128
#define CHANGE_MOST   8 /* that are looked for */

struct change {
	size_t at;	      /* the first value of the new level */
	double before, after; /* medians, from and to the next changes */
};

/* The changes of y (finite, in their order) by their place; how many. */
size_t change_find(const double *y, size_t n, struct change out[CHANGE_MOST]);
