/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_WINDOW_H
#define HGYM_BENCH_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where the measured part of a run begins, and whether it is steady.
 */

/*
 * MSER: how many of the first n interval times to cut, the argmin over
 * m = 0..n/2 of sum_{i>=m} (x_i - mean)^2 / (n - m)^2; the first on ties.
 * -1: no steady state (the argmin is the last allowed cut, or fewer than 5
 * would be left).  g (may be NULL) takes the n/2 + 1 values.
 */
int window_mser(const double *x, size_t n, double *g);

enum window_trend { WINDOW_STEADY, WINDOW_SLOWDOWN, WINDOW_WARMUP };

/*
 * Barrett's words for a series of log time ratios (variant to control of the
 * same steps) over the window: a trend counts when its slope has p < 0.01 and
 * its fitted change across the window is above 0.5 %.
 */
enum window_trend window_trend(const double *step, const double *log_ratio,
			       size_t n);

extern const char *const window_trends[]; /* ended by NULL */

#endif
