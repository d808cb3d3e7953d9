/* SPDX-License-Identifier: MIT */
/* Numbers in order, for whoever wants a median. */
#include "config.h"

#include "base/sort.h"

#include <stdlib.h>

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void
sort_doubles(double *x, size_t n)
{
	if (n > 1)
		qsort(x, n, sizeof(*x), compare_doubles);
}
