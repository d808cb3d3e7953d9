/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_RANK_H
#define HGYM_BENCH_RANK_H

#include <stdbool.h>
#include <stddef.h>

/* Rank statistics: what a few odd runs cannot move. */

/* Largest n + m, and largest n of Walsh averages, that are computed. */
#define RANK_MAX 400

/* Mann-Whitney of x against y, and the shift between them. */
struct rank_two {
	double u;   /* pairs in which x > y, ties count half */
	bool exact; /* p is of the exact distribution (no ties, n, m < 50) */
	double p;   /* two-sided; asymptotic with continuity when not exact */
	double p_normal; /* the asymptotic one with continuity and ties */
	double shift;	 /* Hodges-Lehmann: median of all x - y */
	double lo, hi;	 /* its interval at 1 - alpha; NAN when not exact */
};

/* All NAN when a side is empty or n + m > RANK_MAX. */
struct rank_two rank_mann_whitney(const double *x, size_t n, const double *y,
				  size_t m, double alpha);

/* Median of the n(n+1)/2 Walsh averages with its exact interval. */
struct rank_one {
	double hl, lo, hi;
};

struct rank_one rank_walsh(const double *d, size_t n, double alpha);

#endif
