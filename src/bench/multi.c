/* SPDX-License-Identifier: MIT */
/* Several variants, pods and looks; called by judge and by the session. */
#include "config.h"

#include "bench/multi.h"

#include <math.h>

#include "base/dist.h"
#include "bench/stats.h"

/* How many p values are below p[i], or equal and before it. */
static size_t
rank_of(const double *p, size_t n, size_t i)
{
	size_t rank = 0;

	for (size_t j = 0; j < n; j++)
		if (p[j] < p[i] || (p[j] == p[i] && j < i))
			rank++;
	return rank;
}

void
multi_holm(const double *p, double *adjusted, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		m += isnan(p[i]) ? 0 : 1;
	for (size_t i = 0; i < n; i++) {
		adjusted[i] = (double)NAN;
		for (size_t j = 0; j < n && !isnan(p[i]); j++) {
			double factor = (double)(m - rank_of(p, n, j));

			if (p[j] <= p[i])
				adjusted[i] = fmax(
					isnan(adjusted[i]) ? 0.0 : adjusted[i],
					fmin(1.0, factor * p[j]));
		}
	}
}

struct welch
multi_welch(const double *ln_control, size_t n, const double *ln_variant,
	    size_t m, double alpha)
{
	struct welch w = { n,		m,	     (double)NAN,
			   (double)NAN, (double)NAN, (double)NAN,
			   (double)NAN, (double)NAN, (double)NAN };
	double s1 = stats_sd(ln_control, n), s2 = stats_sd(ln_variant, m);
	double v1 = s1 * s1 / (double)n, v2 = s2 * s2 / (double)m, half;

	w.mean = stats_mean(ln_control, n) - stats_mean(ln_variant, m);
	if (n < 2 || m < 2 || !(s1 > PAIRED_NO_SPREAD || s2 > PAIRED_NO_SPREAD))
		return w;
	w.se = sqrt(v1 + v2);
	w.t = w.mean / w.se;
	w.df = (v1 + v2) * (v1 + v2) /
	       (v1 * v1 / (double)(n - 1) + v2 * v2 / (double)(m - 1));
	w.p = dist_t_two_sided(w.t, w.df);
	half = dist_t_quantile(1.0 - alpha / 2.0, w.df) * w.se;
	w.lo = w.mean - half;
	w.hi = w.mean + half;
	return w;
}

struct pods_spread
multi_pods(const double *d, const double *se, size_t n)
{
	struct pods_spread s = { (double)NAN, (double)NAN, (double)NAN,
				 (double)NAN, (double)NAN };
	double sum = 0.0, sum2 = 0.0, weighted = 0.0, df = (double)n - 1.0;

	if (n < 2)
		return s;
	for (size_t i = 0; i < n; i++) {
		double w = 1.0 / (se[i] * se[i]);

		if (!(se[i] > 0.0))
			return s;
		sum += w;
		sum2 += w * w;
		weighted += w * d[i];
	}
	s.fixed_mean = weighted / sum;
	s.q = 0.0;
	for (size_t i = 0; i < n; i++) {
		double away = (d[i] - s.fixed_mean) / se[i];

		s.q += away * away;
	}
	s.p_q = dist_chi2_upper(s.q, df);
	s.i2 = s.q > 0.0 ? fmax(0.0, (s.q - df) / s.q) : 0.0;
	s.tau2 = fmax(0.0, (s.q - df) / (sum - sum2 / sum));
	return s;
}

enum interim
multi_interim(const struct paired *paired, const struct interim_rule *rule)
{
	double half = (paired->hi - paired->lo) / 2.0;

	if (paired->n >= rule->max_blocks)
		return INTERIM_LAST;
	if (!rule->early || paired->n < rule->min_blocks)
		return INTERIM_GO_ON;
	if (paired->p < MULTI_EARLY_P)
		return INTERIM_DIFFERENCE;
	if (paired->p >= rule->rule.alpha &&
	    half <= log1p(rule->rule.margin) / 2.0)
		return INTERIM_PRECISION;
	return INTERIM_GO_ON;
}
