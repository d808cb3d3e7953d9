/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_STATS_H
#define HGYM_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Descriptive statistics of a few numbers.  What is not defined (a spread of
 * one value, a correlation of constants) is NAN, never 0.
 */
double stats_mean(const double *x, size_t n);
/* Sample standard deviation, divisor n - 1. */
double stats_sd(const double *x, size_t n);
/* Divisor n. */
double stats_sd_population(const double *x, size_t n);
double stats_median(const double *x, size_t n);
/* Median absolute deviation from the median, not scaled. */
double stats_mad(const double *x, size_t n);
/* Lag-1 autocorrelation. */
double stats_r1(const double *x, size_t n);
double stats_min(const double *x, size_t n);
double stats_max(const double *x, size_t n);

/* y = slope * x + intercept by ordinary least squares. */
struct stats_line {
	double slope, intercept;
	double slope_se; /* NAN below 3 points */
	double p;	 /* two-sided, slope against 0; NAN below 3 points */
};

struct stats_line stats_fit(const double *x, const double *y, size_t n);

/* ln units to per cent: 100 * expm1(d). */
double stats_pct(double d);

/*
 * A percentage for people: two decimals, four where these are 0.00, and from
 * a million on three digits ("1.22e+07").  sign: "+" where it is not below 0.
 */
#define STATS_PCT_SIZE 32
const char *stats_pct_text(double pct, bool sign, char out[STATS_PCT_SIZE]);

#endif
