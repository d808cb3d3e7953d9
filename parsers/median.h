/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The median of positive numbers that are added one by one: exact for the first MEDIAN_EXACT
 * numbers, then within 0.1 % (a histogram with bins 0.2 % wide, from 1e-6 to 1e12; the outermost
 * bins also count all numbers beyond these limits). */
#define MEDIAN_EXACT 4096

struct median {
	double *values; /* owned; unsorted; NULL once there are bins */
	uint32_t *bins; /* owned; NULL while all values are stored */
	uint64_t n;
};

/* A zeroed *median is empty. */
void median_add(struct median *median, double value);
/* Return the median of all numbers added; NaN if there are none. */
double median_get(const struct median *median);
void median_release(struct median *median);
