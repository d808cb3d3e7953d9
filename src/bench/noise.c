/* SPDX-License-Identifier: MIT */
/*
 * How much the same code differs from itself, and what that allows to see;
 * for the noise register, the audit and the forms that plan a bench.
 */
#include "config.h"

#include "bench/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/dist.h"
#include "base/xalloc.h"
#include "bench/stats.h"

#define ALPHA 0.05
#define POWER 0.8
/* Blocks from which their own spread says more than that of the runs. */
#define OWN_BLOCKS 3

static bool
is_measured(const struct noise_run *run)
{
	return run->y > 0.0 && isfinite(run->y);
}

/* The change of ln y over the time of the runs, where their times are known. */
static void
measure_drift(struct noise *noise, const struct noise_run *runs, size_t n)
{
	double *t = xcalloc(n + 1, sizeof(*t)),
	       *ln = xcalloc(n + 1, sizeof(*t));
	struct stats_line line;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (!is_measured(&runs[i]) || isnan(runs[i].t0_s))
			continue;
		t[k] = runs[i].t0_s;
		ln[k++] = log(runs[i].y);
	}
	noise->span_s = k > 1 ? stats_max(t, k) - stats_min(t, k) : (double)NAN;
	if (k >= 3 && noise->span_s > 0.0) {
		double first = stats_min(t, k);

		/* Seconds since 1970 would cost the fit its digits. */
		for (size_t i = 0; i < k; i++)
			t[i] -= first;
		line = stats_fit(t, ln, k);
		noise->drift = line.slope * noise->span_s;
		noise->drift_p = line.p;
	}
	free(t);
	free(ln);
}

/* What one kind of a block's runs lends to it: their median; how many. */
static double
block_y(const struct noise_run *like, bool again, const struct noise_run *runs,
	size_t n, size_t *count)
{
	double *y = xcalloc(n + 1, sizeof(*y)), median;

	*count = 0;
	for (size_t i = 0; i < n; i++)
		if (runs[i].block == like->block && runs[i].again == again &&
		    is_measured(&runs[i]))
			y[(*count)++] = runs[i].y;
	median = stats_median(y, *count);
	free(y);
	return median;
}

/* Is it the first run of its block? (To go over blocks.) */
static bool
is_first(const struct noise_run *run, const struct noise_run *runs)
{
	for (const struct noise_run *r = runs; r < run; r++)
		if (r->block == run->block)
			return false;
	return true;
}

/* A log-difference of each block that has all its runs, as a verdict has. */
static size_t
block_differences(const struct noise_run *runs, size_t n, double *d)
{
	size_t *least = xcalloc(n + 1, sizeof(*least)), most = 0, kept = 0;
	size_t n_d = 0;

	for (size_t i = 0; i < n; i++) {
		size_t a, b;
		double x, y;

		if (!is_first(&runs[i], runs))
			continue;
		x = block_y(&runs[i], false, runs, n, &a);
		y = block_y(&runs[i], true, runs, n, &b);
		least[n_d] = a < b ? a : b;
		if (least[n_d] == 0)
			continue;
		if (least[n_d] > most)
			most = least[n_d];
		d[n_d++] = log(x) - log(y);
	}
	/* A block that lost a run counts no more than in a verdict. */
	for (size_t i = 0; i < n_d; i++)
		if (least[i] == most)
			d[kept++] = d[i];
	free(least);
	return kept;
}

void
noise_measure(struct noise *noise, const struct noise_run *runs, size_t n)
{
	double *ln = xcalloc(n + 1, sizeof(*ln)),
	       *d = xcalloc(n + 1, sizeof(*d));
	double *took = xcalloc(n + 1, sizeof(*took));
	size_t n_took = 0;

	*noise = (struct noise){ .drift = (double)NAN, .drift_p = (double)NAN };
	for (size_t i = 0; i < n; i++) {
		if (!is_measured(&runs[i]))
			continue;
		ln[noise->n_runs++] = log(runs[i].y);
		if (!isnan(runs[i].took_s))
			took[n_took++] = runs[i].took_s;
	}
	noise->n_blocks = block_differences(runs, n, d);
	noise->mean = stats_mean(ln, noise->n_runs);
	noise->sd = stats_sd(ln, noise->n_runs);
	noise->df =
		noise->n_runs > 1 ? (double)noise->n_runs - 1.0 : (double)NAN;
	noise->sd_block = stats_sd(d, noise->n_blocks);
	noise->run_s = stats_median(took, n_took);
	measure_drift(noise, runs, n);
	free(ln);
	free(d);
	free(took);
}

double
noise_mde(const struct noise *noise, size_t blocks)
{
	double sd = noise->n_blocks >= OWN_BLOCKS ? noise->sd_block
						  : noise->sd * M_SQRT2;

	if (noise->n_runs < NOISE_MIN_RUNS || isnan(sd))
		return (double)NAN;
	return paired_mde(sd, blocks, ALPHA, POWER);
}

/* Two sample spreads as one; one that is not defined counts for nothing. */
static double
pool_sd(double a, double df_a, double b, double df_b)
{
	if (isnan(a) || !(df_a > 0.0))
		return b;
	if (isnan(b) || !(df_b > 0.0))
		return a;
	return sqrt((df_a * a * a + df_b * b * b) / (df_a + df_b));
}

void
noise_pool(struct noise *total, const struct noise *more)
{
	struct noise both = *more;

	if (total->n_runs == 0) {
		*total = *more;
		return;
	}
	both.sd = pool_sd(total->sd, total->df, more->sd, more->df);
	both.df = (isnan(total->df) ? 0.0 : total->df) +
		  (isnan(more->df) ? 0.0 : more->df);
	both.sd_block = pool_sd(total->sd_block, (double)total->n_blocks - 1.0,
				more->sd_block, (double)more->n_blocks - 1.0);
	both.n_runs += total->n_runs;
	both.n_blocks += total->n_blocks;
	*total = both;
}

/* P(F > f) of the F distribution by the incomplete beta function. */
static double
f_upper(double f, double df_a, double df_b)
{
	return dist_beta_inc(df_b / (df_b + df_a * f), df_b / 2.0, df_a / 2.0);
}

double
noise_compare(const struct noise *a, const struct noise *b)
{
	double upper;

	if (!(a->sd > 0.0) || !(b->sd > 0.0) || !(a->df >= 1.0) ||
	    !(b->df >= 1.0))
		return (double)NAN;
	upper = f_upper(a->sd * a->sd / (b->sd * b->sd), a->df, b->df);
	return 2.0 * fmin(upper, 1.0 - upper);
}
