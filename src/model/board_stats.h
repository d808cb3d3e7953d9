/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Means, spreads and t tests of a few values. Undefined results are NAN. */
struct board_stats {
	size_t n;
	double mean, min, max; /* NAN for n = 0 */
	double sd_sample;      /* n - 1; NAN for n < 2 */
	double sd_population;  /* n; NAN for n < 2 */
	double se;	       /* sd_sample / sqrt(n); NAN for n < 2 */
};

/* A t test of a difference. */
struct board_test {
	double t, df;
	double p; /* one-sided: P(T <= t), small when the mean is lower */
	double p_two_sided;
};

void board_stats_of(struct board_stats *stats, const double *values, size_t n);

/* The result of a test that could not be made: all NAN. */
struct board_test board_test_none(void);

/* Is a's mean below mu?  df = n - 1. */
struct board_test board_test_one_sample(const struct board_stats *a, double mu);

/* Is a's mean below b's mean minus margin? Welch: separate variances, df by Welch-Satterthwaite.
 * Pooled: one variance, df = n_a + n_b - 2. */
struct board_test board_test_welch(const struct board_stats *a, const struct board_stats *b,
				   double margin);
struct board_test board_test_pooled(const struct board_stats *a, const struct board_stats *b,
				    double margin);

/* The number of values (>= min_n and more than now) with which the one-sample test would pass at
 * alpha if mean and spread stay the same; 0 if more than BOARD_MAX_NEEDED. */
#define BOARD_MAX_NEEDED 1000U
unsigned int board_seeds_needed(const struct board_stats *a, double mu, double alpha,
				unsigned int min_n);

/* The number of values (>= min_n) with which a new one-sample test would pass at alpha with this
 * power if mean and spread stay the same; 0 if more than BOARD_MAX_NEEDED. */
unsigned int board_seeds_planned(const struct board_stats *a, double mu, double alpha, double power,
				 unsigned int min_n);

/* The mean below which the one-sample test would pass if the spread stays the same. */
double board_mean_needed(const struct board_stats *a, double mu, double alpha);
