/* SPDX-License-Identifier: MIT */
/* Statistics of benches: descriptive, ranks, paired blocks, interim analyses. */
#include "bench/stats.h"

#include "base/dist.h"
#include "base/str.h"

double stats_mean(const double *x, size_t n)
{
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n > 0 ? sum / (double)n : (double)NAN;
}

static double sum_of_squares(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

double stats_sd(const double *x, size_t n)
{
	return n > 1 ? sqrt(sum_of_squares(x, n) / (double)(n - 1)) : (double)NAN;
}

double stats_sd_population(const double *x, size_t n)
{
	return n > 0 ? sqrt(sum_of_squares(x, n) / (double)n) : (double)NAN;
}

double stats_mad(const double *x, size_t n)
{
	AUTO_FREE double *away = xmalloc((n + 1) * sizeof(*away));
	double median = values_median(x, n);

	for (size_t i = 0; i < n; i++)
		away[i] = fabs(x[i] - median);
	return sort_median(away, n);
}

double stats_min(const double *x, size_t n)
{
	double least = (double)NAN;

	for (size_t i = 0; i < n; i++)
		least = fmin(least, x[i]);
	return least;
}

double stats_max(const double *x, size_t n)
{
	double most = (double)NAN;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, x[i]);
	return most;
}

struct stats_line stats_fit(const double *x, const double *y, size_t n)
{
	struct stats_line line = { (double)NAN, (double)NAN, (double)NAN, (double)NAN };
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
		line.p = dist_t_two_sided(line.slope / line.slope_se, (double)(n - 2));
	else
		line.p = line.slope == 0.0 ? 1.0 : 0.0;
	return line;
}

double stats_pct(double d)
{
	return 100.0 * expm1(d);
}

struct stats_text stats_pct_text(double pct, bool sign)
{
	const char *plus = sign && pct >= 0.0 ? "+" : "";
	double size = fabs(pct);
	struct stats_text text;

	if (size >= 1e6)
		print_into(text.s, "%s%.3g", plus, pct);
	else
		print_into(text.s, "%s%.*f", plus, size > 0.0 && size < 0.005 ? 4 : 2, pct);
	return text;
}

#define EXACT_BELOW 50

/* Probability of each value of U (0..n*m) for n and m values without ties.  Owned by the caller. */
static double *u_distribution(size_t n, size_t m)
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

/* Probability of each signed-rank sum V (0..n(n+1)/2).  Owned by the caller. */
static double *v_distribution(size_t n)
{
	size_t top = n * (n + 1) / 2;
	double *ways = xcalloc(top + 1, sizeof(*ways));

	ways[0] = 1.0;
	for (size_t i = 1; i <= n; i++)
		for (size_t v = top + 1; v-- > 0;)
			ways[v] = 0.5 * (ways[v] + (v >= i ? ways[v - i] : 0.0));
	return ways;
}

/* The smallest k with P(X <= k) >= p. */
static size_t find_quantile(const double *shares, size_t top, double p)
{
	double sum = 0.0;

	for (size_t k = 0; k <= top; k++) {
		sum += shares[k];
		if (sum >= p * (1.0 - 1e-12))
			return k;
	}
	return top;
}

/* The bounds of an interval: the k-th value from each end of the sorted estimates. */
static void find_interval(const double *sorted, size_t n, size_t k, double *lo, double *hi)
{
	if (k == 0)
		k = 1;
	if (k > n || n - k >= n)
		return;
	*lo = sorted[k - 1];
	*hi = sorted[n - k];
}

/* Sum over ties of t^3 - t in the pooled sample. */
static double tie_sum(const double *x, size_t n, const double *y, size_t m)
{
	AUTO_FREE double *all = xmalloc((n + m) * sizeof(*all));
	double sum = 0.0;

	memcpy(all, x, n * sizeof(*all));
	memcpy(all + n, y, m * sizeof(*all));
	sort_doubles(all, n + m);
	for (size_t i = 0; i < n + m;) {
		size_t j = i;

		while (j < n + m && all[j] == all[i])
			j++;
		double t = (double)(j - i);
		sum += t * t * t - t;
		i = j;
	}
	return sum;
}

/* Two-sided p from the normal approximation with continuity and tie corrections. */
static double normal_p(double u, double n, double m, double ties)
{
	double total = n + m;
	double z = u - n * m / 2.0;
	double var = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));

	if (!(var > 0.0))
		return (double)NAN;
	z -= z > 0.0 ? 0.5 : z < 0.0 ? -0.5 : 0.0;
	return fmin(1.0, 2.0 * dist_normal_upper(fabs(z) / sqrt(var)));
}

struct rank_two rank_mann_whitney(const double *x, size_t n, const double *y, size_t m,
				  double alpha)
{
	struct rank_two r = { (double)NAN, false,	(double)NAN, (double)NAN,
			      (double)NAN, (double)NAN, (double)NAN };

	if (n == 0 || m == 0 || n + m > RANK_MAX)
		return r;
	AUTO_FREE double *diffs = xmalloc(n * m * sizeof(*diffs));
	r.u = 0.0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++) {
			double d = x[i] - y[j];

			diffs[i * m + j] = d;
			r.u += d > 0.0 ? 1.0 : d == 0.0 ? 0.5 : 0.0;
		}
	sort_doubles(diffs, n * m);
	r.shift = values_median(diffs, n * m);
	double ties = tie_sum(x, n, y, m);
	r.p = r.p_normal = normal_p(r.u, (double)n, (double)m, ties);
	r.exact = ties == 0.0 && n < EXACT_BELOW && m < EXACT_BELOW;
	if (r.exact) {
		AUTO_FREE double *shares = u_distribution(n, m);

		r.p = 0.0;
		for (size_t u = 0; u <= (size_t)fmin(r.u, (double)(n * m) - r.u); u++)
			r.p += 2.0 * shares[u];
		r.p = fmin(1.0, r.p);
		find_interval(diffs, n * m, find_quantile(shares, n * m, alpha / 2.0), &r.lo,
			      &r.hi);
	}
	return r;
}

/* Set the Hodges-Lehmann estimate, the median of the n(n+1)/2 Walsh averages, and its interval. */
static void rank_walsh(struct paired *p, const double *d, double alpha)
{
	size_t n = p->n, n_walsh = n * (n + 1) / 2, k = 0;

	if (n == 0 || n > RANK_MAX)
		return;
	AUTO_FREE double *walsh = xmalloc(n_walsh * sizeof(*walsh));
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			walsh[k++] = (d[i] + d[j]) / 2.0;
	sort_doubles(walsh, n_walsh);
	p->hl = values_median(walsh, n_walsh);
	AUTO_FREE double *shares = v_distribution(n);
	find_interval(walsh, n_walsh, find_quantile(shares, n_walsh, alpha / 2.0), &p->hl_lo,
		      &p->hl_hi);
}

/* The equivalence test uses the interval at 1 - 2 * TOST_ALPHA. */
#define TOST_ALPHA 0.05

/* Write the sum of d[0..n) under each of its 2^n sign patterns to out, in ascending order. */
static size_t signed_sums(const double *d, size_t n, double *out)
{
	size_t count = 1;

	out[0] = 0.0;
	for (size_t i = 0; i < n; i++, count *= 2)
		for (size_t k = 0; k < count; k++) {
			out[count + k] = out[k] - d[i];
			out[k] += d[i];
		}
	sort_doubles(out, count);
	return count;
}

/* Share of all 2^n sign patterns whose sum is at least as far from 0 as the sum of d. Each half of
 * d has few sums, sorted: pairs that reach the bar are counted from both ends. */
static double signflip_p(const double *d, size_t n)
{
	double left[1 << PAIRED_MAX_SIGNFLIP / 2], right[1 << PAIRED_MAX_SIGNFLIP / 2];
	double sum = 0.0, size = 0.0, far = 0.0, bar;
	size_t n_left, n_right, k;

	if (n == 0 || n > PAIRED_MAX_SIGNFLIP)
		return (double)NAN;
	for (size_t i = 0; i < n; i++) {
		sum += d[i];
		size += fabs(d[i]);
	}
	/* Leave room for rounding between patterns with the same sum. */
	bar = fabs(sum) - 1e-12 * size;
	if (!(bar > 0.0))
		return 1.0;
	n_left = signed_sums(d, n / 2, left);
	n_right = k = signed_sums(d + n / 2, n - n / 2, right);
	for (size_t i = 0; i < n_left; i++) {
		while (k > 0 && left[i] + right[k - 1] >= bar)
			k--;
		far += (double)(n_right - k);
	}
	/* By symmetry, as many sums are at or below -bar. */
	return 2.0 * far / ((double)n_left * (double)n_right);
}

/* The larger of the two one-sided p values against +-ln(1 + margin). */
static double tost_p(double mean, const struct paired_error *error, double margin)
{
	double bound = log1p(margin);

	if (!(error->se > 0.0))
		return fabs(mean) < bound ? 0.0 : 1.0;
	return fmax(dist_t_upper((mean + bound) / error->se, error->df),
		    dist_t_cdf((mean - bound) / error->se, error->df));
}

/* Residual sums of squares, adjusted for the place in the block. */
struct residuals {
	double d, aa; /* of d and of aa about their means; aa is scaled like d */
	double df;
	bool has_slope; /* enough degrees of freedom to fit it */
	double slope;	/* of ln y per place; 0: not fitted */
	double moments; /* sum of squares of the places about their means */
	double mean, mean_place;
};

/* Scales aa, with the variance of 2 runs, to the spread of d, with that of 3/2 runs: sqrt(3/4). */
#define AA_SCALE 0.86602540378443864676

static struct residuals fit_places(const struct paired_block *b, size_t n, bool has_aa)
{
	double d = 0.0, aa = 0.0, zd = 0.0, za = 0.0, cross = 0.0;
	double scale = has_aa ? AA_SCALE : 0.0, count = (double)n;
	struct residuals r = { .df = (has_aa ? 2.0 : 1.0) * (count - 1.0) };

	for (size_t i = 0; i < n; i++) {
		d += b[i].d / count;
		zd += b[i].place / count;
		aa += has_aa ? b[i].aa / count : 0.0;
		za += b[i].aa_place / count;
	}
	for (size_t i = 0; i < n; i++) {
		double x = b[i].place - zd, u = scale * (b[i].aa_place - za);
		double v = has_aa ? scale * (b[i].aa - aa) : 0.0;

		r.moments += x * x + u * u;
		cross += x * (b[i].d - d) + u * v;
	}
	r.mean = d;
	r.mean_place = zd;
	r.has_slope = r.df - 1.0 >= PAIRED_PLACE_DF && r.moments > 0.0;
	if (r.has_slope) {
		r.slope = cross / r.moments;
		r.df -= 1.0;
	}
	for (size_t i = 0; i < n; i++) {
		double x = b[i].d - d - r.slope * (b[i].place - zd);
		double v = has_aa ? b[i].aa - aa - r.slope * (b[i].aa_place - za) : 0.0;

		r.d += x * x;
		r.aa += scale * scale * v * v;
	}
	return r;
}

/* Are the variant's residuals so much larger than the control's that the two cannot be pooled?  If
 * the plan declares the same noise, stronger evidence is required. */
static bool is_unequal(const struct residuals *r, size_t n, bool same_noise)
{
	double df = (double)n - 1.0;

	if (!(r->aa > 0.0))
		return r->d > 0.0;
	return dist_f_upper(r->d / r->aa, df, df) < (same_noise ? 0.04 : 0.2);
}

/* 0 / 0 counts as no effect. */
static double t_statistic(double mean, double se)
{
	return se > 0.0 ? mean / se : mean == 0.0 ? 0.0 : copysign(INFINITY, mean);
}

double paired_own_level(double level, double alpha)
{
	return cbrt(level * level * alpha);
}

/* Half the width of the interval at 1 - level, plus the quantile of `power` (0.5 adds nothing).
 * Returns the larger of the values from se and from own.se. */
static double half_width(const struct paired *p, double level, double alpha, double power)
{
	const struct paired_error all = { p->se, p->df };
	const struct paired_error *errors[] = { &all, &p->own };
	double levels[] = { level, paired_own_level(level, alpha) };
	double half = (double)NAN;

	for (int i = 0; i < 2; i++) {
		double df = errors[i]->df;

		half = fmax(half, errors[i]->se * (dist_t_quantile(1.0 - levels[i] / 2.0, df) +
						   dist_t_quantile(power, df)));
	}
	return half;
}

static void compute_tests(struct paired *p, const struct paired_rule *rule)
{
	const struct paired_error all = { p->se, p->df };

	p->t = t_statistic(p->mean, p->se);
	p->p = dist_t_two_sided(p->t, p->df);
	p->p_tost = tost_p(p->mean, &all, rule->margin);
	if (!isnan(p->own.se)) {
		p->p_own = dist_t_two_sided(t_statistic(p->mean, p->own.se), p->own.df);
		/* p is below a level exactly if p_own is below that level's paired_own_level(). */
		p->p = fmax(p->p, fmin(1.0, p->p_own * sqrt(p->p_own / rule->alpha)));
		p->p_tost = fmax(p->p_tost, tost_p(p->mean, &p->own, rule->margin));
	}
	paired_set_level(p, rule->alpha, rule);
	double half = half_width(p, 2.0 * TOST_ALPHA, 2.0 * TOST_ALPHA, 0.5);
	p->tost_lo = p->mean - half;
	p->tost_hi = p->mean + half;
}

#define NONE (double)NAN

static const struct paired paired_none = { 0,	 NONE, NONE, NONE, NONE, NONE, { NONE, NONE },
					   NONE, NONE, NONE, NONE, NONE, NONE, NONE,
					   NONE, NONE, NONE, NONE, NONE, NONE };

/* In two mirrored rounds, the last run of the first and the first run of the second belong to the
 * same arm.  If neighboring runs correlate by rho, the d of the two rounds correlate by rho (1 -
 * rho) / 2, which is at most this.  With an A/A arm they do not. */
#define MIRRORED 0.125

struct paired paired_estimate(const struct paired_block *blocks, size_t n,
			      const struct paired_rule *rule)
{
	struct paired p = paired_none;
	bool has_aa = n > 1;

	for (size_t i = 0; i < n; i++)
		has_aa &= isfinite(blocks[i].aa);
	struct residuals r = fit_places(blocks, n, has_aa);
	if (has_aa && is_unequal(&r, n, rule->same_noise)) {
		has_aa = false;
		r = fit_places(blocks, n, false);
	}
	if (r.has_slope)
		p.slope = r.slope;
	p.n = n;
	p.mean = n > 0 ? r.mean - r.slope * r.mean_place : (double)NAN;
	if (n < 2)
		return p;
	p.df = r.df;
	p.sd = sqrt((r.d + r.aa) / p.df);
	if (p.sd < PAIRED_NO_SPREAD)
		p.sd = 0.0;
	if (fabs(p.mean) < PAIRED_NO_SPREAD)
		p.mean = 0.0;
	p.se = p.sd / sqrt((double)n);
	if (r.has_slope)
		p.se *= sqrt(1.0 + (double)n * r.mean_place * r.mean_place / r.moments);
	if (!has_aa && r.moments > 0.0)
		p.se *= sqrt(1.0 + MIRRORED);
	if (has_aa && !rule->same_noise) {
		p.own.df = p.df - ((double)n - 1.0);
		p.own.se = p.se / p.sd * sqrt(r.d / p.own.df);
	}
	return p;
}

struct paired paired_fit(struct paired_block *blocks, size_t n, const struct paired_rule *rule)
{
	struct paired p = paired_estimate(blocks, n, rule);
	AUTO_FREE double *d = xmalloc((n + 1) * sizeof(*d));

	for (size_t i = 0; i < n; i++) {
		blocks[i].d -= isnan(p.slope) ? 0.0 : p.slope * blocks[i].place;
		d[i] = blocks[i].d;
	}
	if (n < 2)
		return p;
	compute_tests(&p, rule);
	p.p_signflip = signflip_p(d, n);
	rank_walsh(&p, d, rule->alpha);
	return p;
}

struct paired paired_compare(const double *d, size_t n, const struct paired_rule *rule)
{
	AUTO_FREE struct paired_block *blocks = xcalloc(n + 1, sizeof(*blocks));

	for (size_t i = 0; i < n; i++)
		blocks[i] = (struct paired_block){ .d = d[i], .aa = (double)NAN };
	return paired_fit(blocks, n, rule);
}

void paired_error_add(struct paired_error *error, double variance)
{
	double own = error->se * error->se;

	if (own > 0.0)
		error->df *= (own + variance) / own * (own + variance) / own;
	error->se = sqrt(own + variance);
}

void paired_add_variance(struct paired *p, double variance, const struct paired_rule *rule)
{
	struct paired_error all = { p->se, p->df };

	if (isnan(p->se) || !(variance > 0.0))
		return;
	paired_error_add(&all, variance);
	paired_error_add(&p->own, variance);
	p->se = all.se;
	p->df = all.df;
	compute_tests(p, rule);
	p->p_signflip = p->hl_lo = p->hl_hi = (double)NAN;
}

void paired_set_level(struct paired *p, double level, const struct paired_rule *rule)
{
	double half = half_width(p, level, rule->alpha, 0.5);

	p->lo = p->mean - half;
	p->hi = p->mean + half;
	p->mde = half_width(p, level, rule->alpha, rule->power);
}

void paired_widen(struct paired *p, double by)
{
	p->lo -= by;
	p->hi += by;
	p->tost_lo -= by;
	p->tost_hi += by;
	p->mde += by;
}

bool paired_is_same(const struct paired *paired, double margin)
{
	double bound = log1p(margin);

	return paired->tost_lo > -bound && paired->tost_hi < bound;
}

size_t multi_rank(const double *p, size_t n, size_t i)
{
	return array_count(other, p, n, *other < p[i] || (*other == p[i] && other < p + i));
}

void multi_holm(const double *p, double *adjusted, size_t n)
{
	size_t m = array_count(one, p, n, !isnan(*one));

	for (size_t i = 0; i < n; i++) {
		adjusted[i] = (double)NAN;
		for (size_t j = 0; j < n && !isnan(p[i]); j++) {
			double factor = (double)(m - multi_rank(p, n, j));

			if (p[j] <= p[i])
				adjusted[i] = fmax(isnan(adjusted[i]) ? 0.0 : adjusted[i],
						   fmin(1.0, factor * p[j]));
		}
	}
}

struct welch multi_welch(const double *ln_control, size_t n, const double *ln_variant, size_t m,
			 double alpha)
{
	struct welch w = { (double)NAN, (double)NAN, (double)NAN, (double)NAN,
			   (double)NAN, (double)NAN, (double)NAN };
	double s1 = stats_sd(ln_control, n), s2 = stats_sd(ln_variant, m);
	double v1 = s1 * s1 / (double)n, v2 = s2 * s2 / (double)m, half;

	w.mean = stats_mean(ln_control, n) - stats_mean(ln_variant, m);
	if (n < 2 || m < 2 || !(s1 > PAIRED_NO_SPREAD || s2 > PAIRED_NO_SPREAD))
		return w;
	w.se = sqrt(v1 + v2);
	w.t = w.mean / w.se;
	w.df = (v1 + v2) * (v1 + v2) / (v1 * v1 / (double)(n - 1) + v2 * v2 / (double)(m - 1));
	w.p = dist_t_two_sided(w.t, w.df);
	half = dist_t_quantile(1.0 - alpha / 2.0, w.df) * w.se;
	w.lo = w.mean - half;
	w.hi = w.mean + half;
	return w;
}

struct pods_spread multi_pods(const double *mean, const double *sd, const double *blocks, size_t n)
{
	struct pods_spread s = { (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN };
	double sum = 0.0, all = 0.0, between = 0.0, within = 0.0;

	for (size_t i = 0; i < n; i++) {
		sum += blocks[i] * mean[i];
		all += blocks[i];
		if (blocks[i] > 1.0)
			within += (blocks[i] - 1.0) * sd[i] * sd[i];
	}
	if (n < 2 || !(all > (double)n))
		return s;
	for (size_t i = 0; i < n; i++)
		between += blocks[i] * (mean[i] - sum / all) * (mean[i] - sum / all);
	s.df_pods = (double)n - 1.0;
	s.df_within = all - (double)n;
	s.f = between > 0.0 ? (between / s.df_pods) / (within / s.df_within) : 0.0;
	s.p = dist_f_upper(s.f, s.df_pods, s.df_within);
	/* Without a difference between pods F is about 1. */
	s.share = fmax(0.0, 1.0 - 1.0 / s.f);
	return s;
}

const char *const looks_words[] = { LOOKS_LIST(LIST_NAME) NULL };

/* Points of Simpson's rule between the two boundaries of a look. */
#define PATH_POINTS 65

/* The distribution over `at` of Brownian paths that crossed no boundary, as shares of all paths. */
struct path {
	double at[PATH_POINTS], share[PATH_POINTS], time;
	size_t n;
};

/* Probability that a path first exceeds +-bound at this time; *falls: minus its slope in bound. */
static double path_crossing(const struct path *path, double time, double bound, double *falls)
{
	double sd = sqrt(time - path->time), sum = 0.0;

	*falls = 0.0;
	for (size_t i = 0; i < path->n; i++) {
		double up = (bound - path->at[i]) / sd;
		double down = (bound + path->at[i]) / sd;

		sum += path->share[i] * (dist_normal_upper(up) + dist_normal_upper(down));
		*falls += path->share[i] * (exp(-up * up / 2.0) + exp(-down * down / 2.0)) /
			  (sd * sqrt(2.0 * M_PI));
	}
	return sum;
}

static void path_advance(struct path *path, double time, double bound)
{
	struct path next = { .time = time, .n = PATH_POINTS };
	double step = 2.0 * bound / (PATH_POINTS - 1);
	double var = time - path->time;

	for (size_t i = 0; i < next.n; i++) {
		double weight = i == 0 || i == next.n - 1 ? 1.0 : i % 2 == 1 ? 4.0 : 2.0;

		next.at[i] = -bound + step * (double)i;
		for (size_t j = 0; j < path->n; j++) {
			double way = next.at[i] - path->at[j];

			next.share[i] += path->share[j] * exp(-way * way / (2.0 * var));
		}
		next.share[i] *= weight * step / 3.0 / sqrt(2.0 * M_PI * var);
	}
	*path = next;
}

/* The bound that the given share of all paths crosses at that time, by Newton's method. */
static double path_bound(const struct path *path, double time, double share)
{
	double low = 0.0, high = 40.0, bound = 2.0, next = bound;

	for (int i = 0; i < 100; i++) {
		double falls;

		bound = next;
		double off = path_crossing(path, time, bound, &falls) - share;
		if (off > 0.0)
			low = bound;
		else
			high = bound;
		next = bound + off / falls;
		if (!(next > low) || !(next < high))
			next = (low + high) / 2.0;
		if (fabs(next - bound) < 1e-13 * bound)
			break;
	}
	return next;
}

static double obrien_level(const struct looks *looks, size_t n, bool last, double alpha)
{
	double z = dist_t_quantile(1.0 - alpha / 4.0, (double)INFINITY);
	double bound = 0.0, time = 0.0, spent = 0.0, planned;
	struct path path = { .share = { 1.0 }, .n = 1 };

	planned = (double)(n > looks->planned ? n : looks->planned);
	if (looks->planned > looks->first + LOOKS_MOST)
		return 2.0 * dist_normal_upper(z / sqrt((double)n / planned));
	for (size_t k = looks->first < n ? looks->first : n; k <= n; k++) {
		time = (double)k / planned;
		double until = k == n && last ? alpha : 4.0 * dist_normal_upper(z / sqrt(time));
		bound = path_bound(&path, time, until - spent);
		spent = until;
		if (k < n)
			path_advance(&path, time, bound);
	}
	return 2.0 * dist_normal_upper(bound / sqrt(time));
}

double looks_level(const struct looks *looks, size_t n, bool last, double alpha)
{
	bool is_last = last || n >= looks->planned;

	if (looks->planned == 0 || n == 0)
		return alpha;
	if (looks->kind == LOOKS_OBRIEN)
		return obrien_level(looks, n, is_last, alpha);
	return is_last ? alpha : fmin(alpha, LOOKS_EARLY_P);
}

enum interim multi_interim(const struct paired *paired, size_t n, double level,
			   const struct looks *looks, const struct paired_rule *rule)
{
	double half = half_width(paired, rule->alpha, rule->alpha, 0.5);

	if (n >= looks->planned)
		return INTERIM_LAST;
	if (looks->kind == LOOKS_NONE || n < looks->first)
		return INTERIM_GO_ON;
	if (paired->p < level)
		return INTERIM_DIFFERENCE;
	if (paired->p >= rule->alpha && half <= log1p(rule->margin) / 2.0)
		return INTERIM_PRECISION;
	return INTERIM_GO_ON;
}
