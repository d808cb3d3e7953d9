/* SPDX-License-Identifier: MIT */
/* Descriptive statistics; called by every part of the benches. */
#include "config.h"

#include "bench/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dist.h"
#include "base/sort.h"
#include "base/xalloc.h"

double
stats_mean(const double *x, size_t n)
{
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n > 0 ? sum / (double)n : (double)NAN;
}

/* Sum of squares about the mean. */
static double
squares(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

double
stats_sd(const double *x, size_t n)
{
	return n > 1 ? sqrt(squares(x, n) / (double)(n - 1)) : (double)NAN;
}

double
stats_sd_population(const double *x, size_t n)
{
	return n > 0 ? sqrt(squares(x, n) / (double)n) : (double)NAN;
}

/* The median of x, which is sorted on the way. */
static double
median_in_place(double *x, size_t n)
{
	sort_doubles(x, n);
	return n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2.0;
}

double
stats_median(const double *x, size_t n)
{
	double *copy, median;

	if (n == 0)
		return (double)NAN;
	copy = xmalloc(n * sizeof(*copy));
	memcpy(copy, x, n * sizeof(*copy));
	median = median_in_place(copy, n);
	free(copy);
	return median;
}

double
stats_mad(const double *x, size_t n)
{
	double *away, median = stats_median(x, n), mad;

	if (n == 0)
		return (double)NAN;
	away = xmalloc(n * sizeof(*away));
	for (size_t i = 0; i < n; i++)
		away[i] = fabs(x[i] - median);
	mad = median_in_place(away, n);
	free(away);
	return mad;
}

double
stats_r1(const double *x, size_t n)
{
	double mean = stats_mean(x, n), all = squares(x, n), sum = 0.0;

	if (n < 2 || !(all > 0.0))
		return (double)NAN;
	for (size_t i = 0; i + 1 < n; i++)
		sum += (x[i] - mean) * (x[i + 1] - mean);
	return sum / all;
}

double
stats_min(const double *x, size_t n)
{
	double least = (double)NAN;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, x[i]);
	return least;
}

double
stats_max(const double *x, size_t n)
{
	double most = (double)NAN;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, x[i]);
	return most;
}

struct stats_line
stats_fit(const double *x, const double *y, size_t n)
{
	struct stats_line line = { (double)NAN, (double)NAN, (double)NAN,
				   (double)NAN };
	double mx = stats_mean(x, n), my = stats_mean(y, n);
	double sxx = 0.0, sxy = 0.0, rest = 0.0;

	for (size_t i = 0; i < n; i++) {
		sxx += (x[i] - mx) * (x[i] - mx);
		sxy += (x[i] - mx) * (y[i] - my);
	}
	if (!(sxx > 0.0))
		return line;
	line.slope = sxy / sxx;
	line.intercept = my - line.slope * mx;
	if (n < 3)
		return line;
	for (size_t i = 0; i < n; i++) {
		double e = y[i] - line.slope * x[i] - line.intercept;

		rest += e * e;
	}
	line.slope_se = sqrt(rest / (double)(n - 2) / sxx);
	if (line.slope_se > 0.0)
		line.p = dist_t_two_sided(line.slope / line.slope_se,
					  (double)(n - 2));
	else
		line.p = line.slope == 0.0 ? 1.0 : 0.0;
	return line;
}

double
stats_pct(double d)
{
	return 100.0 * expm1(d);
}

const char *
stats_pct_text(double pct, bool sign, char out[STATS_PCT_SIZE])
{
	const char *plus = sign && pct >= 0.0 ? "+" : "";
	double size = fabs(pct);

	if (size >= 1e6)
		(void)snprintf(out, STATS_PCT_SIZE, "%s%.3g", plus, pct);
	else
		(void)snprintf(out, STATS_PCT_SIZE, "%s%.*f", plus,
			       size > 0.0 && size < 0.005 ? 4 : 2, pct);
	return out;
}
