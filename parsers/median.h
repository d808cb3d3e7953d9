/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The median of numbers above 0 that come one by one: exact of the first
 * MEDIAN_EXACT, within 0.1 % of more (a histogram of bins that are 0.2 %
 * wide, from 1e-6 to 1e12; what lies outside counts in the outermost bin).
 */
#define MEDIAN_EXACT 4096

struct median {
	double *values; /* owned; in any order; NULL once there are bins */
	uint32_t *bins; /* owned; NULL while all values are kept */
	uint64_t n;
};

/* A zeroed *median is empty. */
void median_add(struct median *median, double value);
/* Of all numbers so far; NaN where there is none. */
double median_get(const struct median *median);
void median_release(struct median *median);
