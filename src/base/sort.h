/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/xalloc.h"

static inline int sort_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Compare two texts, or two structs whose first member is a text, for qsort. */
static inline int sort_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sort x in place, ascending; x must not contain NaN. */
static inline void sort_doubles(double *x, size_t n)
{
	if (n > 1)
		qsort(x, n, sizeof(*x), sort_by_value);
}

/* Sort x and return its median; NAN for n = 0. */
static inline double sort_median(double *x, size_t n)
{
	sort_doubles(x, n);
	return n == 0 ? (double)NAN : (x[(n - 1) / 2] + x[n / 2]) / 2.0;
}

/* Return the median of x without changing x; NAN for n = 0. */
static inline double values_median(const double *x, size_t n)
{
	double *copy = xmalloc((n + 1) * sizeof(*copy)), median;

	memcpy(copy, x, n * sizeof(*copy));
	median = sort_median(copy, n);
	free(copy);
	return median;
}
