/* SPDX-License-Identifier: MIT */
/* Warm-up cut and steadiness of a run; called by judge. */
#include "config.h"

#include "bench/window.h"

#include <math.h>

#include "bench/stats.h"

#define LEAST_KEPT   5
#define TREND_P	     0.01
#define TREND_CHANGE 0.005

const char *const window_trends[] = { "steady", "slowdown", "warmup", NULL };

int
window_mser(const double *x, size_t n, double *g)
{
	double best = (double)INFINITY;
	size_t cut = 0;

	for (size_t m = 0; m <= n / 2 && m < n; m++) {
		double left = (double)(n - m);
		double sd = stats_sd_population(x + m, n - m);
		double value = sd * sd / left;

		if (g != NULL)
			g[m] = value;
		if (value < best) {
			best = value;
			cut = m;
		}
	}
	if (cut == n / 2 || n - cut < LEAST_KEPT)
		return -1;
	return (int)cut;
}

enum window_trend
window_trend(const double *step, const double *log_ratio, size_t n)
{
	struct stats_line line = stats_fit(step, log_ratio, n);
	double change;

	if (n < LEAST_KEPT || !(line.p < TREND_P))
		return WINDOW_STEADY;
	change = line.slope * (step[n - 1] - step[0]);
	if (fabs(change) <= TREND_CHANGE)
		return WINDOW_STEADY;
	return change > 0.0 ? WINDOW_SLOWDOWN : WINDOW_WARMUP;
}
