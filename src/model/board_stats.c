/* SPDX-License-Identifier: MIT */
/* Spreads and t tests of the leaderboard. */
#include "model/board_stats.h"

#include "base/dist.h"
#include "base/sort.h"

void board_stats_of(struct board_stats *stats, const double *values, size_t n)
{
	long double sum = 0, squares = 0;

	*stats = (struct board_stats){ n, NAN, NAN, NAN, NAN, NAN, NAN };
	if (n == 0)
		return;
	stats->min = stats->max = values[0];
	for (size_t i = 0; i < n; i++) {
		sum += (long double)values[i];
		stats->min = fmin(stats->min, values[i]);
		stats->max = fmax(stats->max, values[i]);
	}
	stats->mean = (double)(sum / (long double)n);
	if (n < 2)
		return;
	if (stats->min < stats->max) {
		for (size_t i = 0; i < n; i++) {
			long double d = (long double)values[i] - sum / (long double)n;

			squares += d * d;
		}
	}
	stats->sd_sample = (double)sqrtl(squares / (long double)(n - 1));
	stats->sd_population = (double)sqrtl(squares / (long double)n);
	stats->se = stats->sd_sample / sqrt((double)n);
}

struct board_test board_test_none(void)
{
	return (struct board_test){ NAN, NAN, NAN, NAN };
}

/* Test a difference with this standard error. All NAN without spread or for fewer than 2 values. */
static struct board_test t_test(double difference, double se, double df)
{
	double t = difference / se;

	if (!(se > 0) || !(df > 0))
		return board_test_none();
	return (struct board_test){ t, df, dist_t_cdf(t, df), dist_t_two_sided(t, df) };
}

struct board_test board_test_one_sample(const struct board_stats *a, double mu)
{
	return t_test(a->mean - mu, a->se, (double)a->n - 1);
}

struct board_test board_test_welch(const struct board_stats *a, const struct board_stats *b,
				   double margin)
{
	double va = a->se * a->se, vb = b->se * b->se;
	double df = (va + vb) * (va + vb) /
		    (va * va / ((double)a->n - 1) + vb * vb / ((double)b->n - 1));

	return t_test(a->mean - (b->mean - margin), sqrt(va + vb), df);
}

struct board_test board_test_pooled(const struct board_stats *a, const struct board_stats *b,
				    double margin)
{
	double na = (double)a->n, nb = (double)b->n, df = na + nb - 2;
	double va = a->sd_sample * a->sd_sample;
	double vb = b->sd_sample * b->sd_sample;
	double pooled = ((na - 1) * va + (nb - 1) * vb) / df;

	return t_test(a->mean - (b->mean - margin), sqrt(pooled * (1 / na + 1 / nb)), df);
}

unsigned int board_seeds_needed(const struct board_stats *a, double mu, double alpha,
				unsigned int min_n)
{
	double effect = (a->mean - mu) / a->sd_sample;
	unsigned int n = (unsigned int)a->n + 1;

	if (a->n < 2 || !(a->sd_sample > 0) || !(a->mean < mu))
		return 0;
	for (n = n < min_n ? min_n : n; n <= BOARD_MAX_NEEDED; n++)
		if (dist_t_cdf(effect * sqrt(n), n - 1.0) < alpha)
			return n;
	return 0;
}

unsigned int board_seeds_planned(const struct board_stats *a, double mu, double alpha, double power,
				 unsigned int min_n)
{
	double effect = (mu - a->mean) / a->sd_sample;
	size_t n = min_n < 2 ? 2 : min_n;

	if (a->n < 2 || !(a->sd_sample > 0) || !(effect > 0))
		return 0;
	n += bisect(BOARD_MAX_NEEDED, i,
		    dist_t_power(effect * sqrt((double)(n + i)), (double)(n + i) - 1, alpha) <
			    power);
	return n <= BOARD_MAX_NEEDED ? (unsigned int)n : 0;
}

double board_mean_needed(const struct board_stats *a, double mu, double alpha)
{
	if (a->n < 2 || !(a->se > 0))
		return NAN;
	return mu + dist_t_quantile(alpha, (double)a->n - 1) * a->se;
}
