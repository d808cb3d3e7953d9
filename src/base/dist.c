/* SPDX-License-Identifier: MIT */
/* Beta, Student's t, chi-squared and normal distributions; called by
 * the bench statistics and the leaderboard's tests. */
#include "base/dist.h"

#include <float.h>
#include <math.h>

/* Maximum number of terms of a series or fraction; far more than any argument here needs. */
#define MAX_TERMS   100000
#define POWER_PARTS 600
#define EPSILON	    1e-16
#define TINY	    1e-300

/* log Gamma(x), x > 0. Unlike lgamma, it writes no global variable. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

static double not_tiny(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of I_x(a, b), which converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1.0, d = 1.0 / not_tiny(1.0 - (a + b) * x / (a + 1.0));
	double value = d;

	for (int i = 1; i < MAX_TERMS; i++) {
		double m = i, change;
		double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));

		d = 1.0 / not_tiny(1.0 + even * d);
		c = not_tiny(1.0 + even / c);
		value *= d * c;
		d = 1.0 / not_tiny(1.0 + odd * d);
		c = not_tiny(1.0 + odd / c);
		change = d * c;
		value *= change;
		if (fabs(change - 1.0) <= EPSILON)
			break;
	}
	return value;
}

/* I_x(a, b) with y = 1 - x as a separate argument: 1 - x loses digits if x is close to 1. */
static double beta_inc_xy(double x, double y, double a, double b)
{
	if (x <= 0.0)
		return 0.0;
	if (y <= 0.0)
		return 1.0;
	double front =
		exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1.0) / (a + b + 2.0))
		return front * beta_fraction(x, a, b) / a;
	return 1.0 - front * beta_fraction(y, b, a) / b;
}

double dist_beta_inc(double x, double a, double b)
{
	if (!(a > 0.0) || !(b > 0.0) || !(x >= 0.0) || !(x <= 1.0))
		return NAN;
	return beta_inc_xy(x, 1.0 - x, a, b);
}

double dist_t_two_sided(double t, double df)
{
	if (!(df > 0.0) || isnan(t))
		return NAN;
	if (isinf(t))
		return 0.0;
	if (isinf(df))
		return 2.0 * dist_normal_upper(fabs(t));
	double sum = df + t * t;
	return isinf(sum) ? 0.0 : beta_inc_xy(df / sum, t * t / sum, df / 2.0, 0.5);
}

double dist_t_upper(double t, double df)
{
	double tail = dist_t_two_sided(t, df) / 2.0;

	return t < 0.0 ? 1.0 - tail : tail;
}

double dist_t_cdf(double t, double df)
{
	return dist_t_upper(-t, df);
}

static double t_density(double t, double df)
{
	if (isinf(df))
		return exp(-t * t / 2.0) / sqrt(2.0 * M_PI);
	return exp(log_gamma((df + 1.0) / 2.0) - log_gamma(df / 2.0) -
		   (df + 1.0) / 2.0 * log1p(t * t / df)) /
	       sqrt(df * M_PI);
}

/* By symmetry, find the t >= 0 with P(T > t) = tail < 1/2: double `high` until it exceeds t, then
 * take Newton steps, or bisect if a step leaves the bracket. */
double dist_t_quantile(double p, double df)
{
	double tail = p < 0.5 ? p : 1.0 - p, low = 0.0, high = 1.0, next;

	if (!(p > 0.0) || !(p < 1.0) || !(df > 0.0))
		return NAN;
	if (p == 0.5)
		return 0.0;
	while (dist_t_upper(high, df) > tail && high < DBL_MAX / 4.0) {
		low = high;
		high *= 2.0;
	}
	next = low + (high - low) / 2.0;
	for (int i = 0; i < 200 && next > low && next < high; i++) {
		double t = next, off = dist_t_upper(t, df) - tail;

		if (off > 0.0)
			low = t;
		else
			high = t;
		next = t + off / t_density(t, df);
		if (fabs(next - t) <= 1e-15 * t)
			break;
		if (!(next > low) || !(next < high))
			next = low + (high - low) / 2.0;
	}
	return p < 0.5 ? -next : next;
}

/* The probability that a normal variable with mean delta exceeds bar * s, where s is the measured
 * standard deviation divided by the true one; integrated over s with Simpson's rule. */
double dist_t_power(double delta, double df, double alpha)
{
	double bar = dist_t_quantile(1.0 - alpha, df), width = 8.0 / sqrt(df);
	double from = fmax(0.0, 1.0 - width), sum = 0.0;
	double step = (1.0 + width - from) / POWER_PARTS;
	double front = M_LN2 + df / 2.0 * log(df / 2.0) - log_gamma(df / 2.0);

	if (!(df >= 1.0) || isnan(bar) || isnan(delta))
		return NAN;
	for (int i = 0; i <= POWER_PARTS; i++) {
		double s = from + i * step, weight = i % 2 == 0 ? 2.0 : 4.0;
		double of_s = df > 1.0 ? (df - 1.0) * log(s) : 0.0;

		if (i == 0 || i == POWER_PARTS)
			weight = 1.0;
		sum += weight * exp(front + of_s - df * s * s / 2.0) *
		       dist_normal_cdf(delta - bar * s);
	}
	return sum * step / 3.0;
}

double dist_f_upper(double f, double df_a, double df_b)
{
	if (!(f >= 0.0) || !(df_a > 0.0) || !(df_b > 0.0))
		return NAN;
	return isinf(f) ? 0.0
			: beta_inc_xy(df_b / (df_b + df_a * f), df_a * f / (df_b + df_a * f),
				      df_b / 2.0, df_a / 2.0);
}

double dist_normal_upper(double z)
{
	return 0.5 * erfc(z * M_SQRT1_2);
}

double dist_normal_cdf(double z)
{
	return dist_normal_upper(-z);
}
