/* SPDX-License-Identifier: MIT */
/* Mann-Whitney, Hodges-Lehmann and their exact intervals. */
#include "config.h"

#include "bench/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/dist.h"
#include "base/sort.h"
#include "base/xalloc.h"
#include "bench/stats.h"

#define EXACT_BELOW 50

/*
 * Ways to reach each value of U (0..n*m) for n against m without ties, as
 * shares of all; by the recurrence over the largest observation.
 */
static double *
u_distribution(size_t n, size_t m)
{
	size_t top = n * m;
	double *ways = xcalloc(top + 1, sizeof(*ways)), all = 0.0;

	/* The Gaussian binomial: multiply by (1 - q^(m+i)) / (1 - q^i). */
	ways[0] = 1.0;
	for (size_t i = 1; i <= n; i++) {
		for (size_t u = top; u >= m + i && u <= top; u--)
			ways[u] -= ways[u - m - i];
		for (size_t u = i; u <= top; u++)
			ways[u] += ways[u - i];
	}
	for (size_t u = 0; u <= top; u++)
		all += ways[u];
	for (size_t u = 0; u <= top; u++)
		ways[u] /= all;
	return ways;
}

/* Shares of the signed-rank sum V (0..n(n+1)/2). */
static double *
v_distribution(size_t n)
{
	size_t top = n * (n + 1) / 2;
	double *ways = xcalloc(top + 1, sizeof(*ways));

	ways[0] = 1.0;
	for (size_t i = 1; i <= n; i++)
		for (size_t v = top + 1; v-- > 0;)
			ways[v] =
				0.5 * (ways[v] + (v >= i ? ways[v - i] : 0.0));
	return ways;
}

/* The smallest k with P(X <= k) >= p. */
static size_t
quantile(const double *shares, size_t top, double p)
{
	double sum = 0.0;

	for (size_t k = 0; k <= top; k++) {
		sum += shares[k];
		if (sum >= p * (1.0 - 1e-12))
			return k;
	}
	return top;
}

/* lo and hi of sorted estimates from the quantile k of their statistic. */
static void
interval(const double *sorted, size_t n, size_t k, double *lo, double *hi)
{
	if (k == 0)
		k = 1;
	if (k > n || n - k >= n)
		return;
	*lo = sorted[k - 1];
	*hi = sorted[n - k];
}

/* Sum over ties of t^3 - t in the pooled sample. */
static double
tie_sum(const double *x, size_t n, const double *y, size_t m)
{
	double *all = xmalloc((n + m) * sizeof(*all)), sum = 0.0;

	memcpy(all, x, n * sizeof(*all));
	memcpy(all + n, y, m * sizeof(*all));
	sort_doubles(all, n + m);
	for (size_t i = 0; i < n + m;) {
		size_t j = i;
		double t;

		while (j < n + m && all[j] == all[i])
			j++;
		t = (double)(j - i);
		sum += t * t * t - t;
		i = j;
	}
	free(all);
	return sum;
}

/* Two-sided by the normal approximation, continuity and ties corrected. */
static double
normal_p(double u, double n, double m, double ties)
{
	double total = n + m;
	double z = u - n * m / 2.0;
	double var =
		n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));

	if (!(var > 0.0))
		return (double)NAN;
	z -= z > 0.0 ? 0.5 : z < 0.0 ? -0.5 : 0.0;
	return fmin(1.0, 2.0 * dist_normal_upper(fabs(z) / sqrt(var)));
}

static double
exact_p(const double *shares, size_t top, double u)
{
	size_t k = (size_t)fmin(u, (double)top - u);
	double sum = 0.0;

	for (size_t i = 0; i <= k; i++)
		sum += shares[i];
	return fmin(1.0, 2.0 * sum);
}

struct rank_two
rank_mann_whitney(const double *x, size_t n, const double *y, size_t m,
		  double alpha)
{
	struct rank_two r = { (double)NAN, false,	(double)NAN,
			      (double)NAN, (double)NAN, (double)NAN,
			      (double)NAN };
	double *diffs, *shares, ties;

	if (n == 0 || m == 0 || n + m > RANK_MAX)
		return r;
	diffs = xmalloc(n * m * sizeof(*diffs));
	r.u = 0.0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++) {
			double d = x[i] - y[j];

			diffs[i * m + j] = d;
			r.u += d > 0.0 ? 1.0 : d == 0.0 ? 0.5 : 0.0;
		}
	sort_doubles(diffs, n * m);
	r.shift = stats_median(diffs, n * m);
	ties = tie_sum(x, n, y, m);
	r.p = r.p_normal = normal_p(r.u, (double)n, (double)m, ties);
	r.exact = ties == 0.0 && n < EXACT_BELOW && m < EXACT_BELOW;
	if (r.exact) {
		shares = u_distribution(n, m);
		r.p = exact_p(shares, n * m, r.u);
		interval(diffs, n * m, quantile(shares, n * m, alpha / 2.0),
			 &r.lo, &r.hi);
		free(shares);
	}
	free(diffs);
	return r;
}

struct rank_one
rank_walsh(const double *d, size_t n, double alpha)
{
	struct rank_one r = { (double)NAN, (double)NAN, (double)NAN };
	size_t n_walsh = n * (n + 1) / 2, k = 0;
	double *walsh, *shares;

	if (n == 0 || n > RANK_MAX)
		return r;
	walsh = xmalloc(n_walsh * sizeof(*walsh));
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			walsh[k++] = (d[i] + d[j]) / 2.0;
	sort_doubles(walsh, n_walsh);
	r.hl = stats_median(walsh, n_walsh);
	shares = v_distribution(n);
	interval(walsh, n_walsh, quantile(shares, n_walsh, alpha / 2.0), &r.lo,
		 &r.hi);
	free(shares);
	free(walsh);
	return r;
}
