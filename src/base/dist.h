/* SPDX-License-Identifier: MIT */
#pragma once

/* Distribution functions that need only libm. Relative accuracy is about 1e-12 in the body and
 * in those parts of the tails that statistics of a few runs reach. Every function returns NAN if
 * an argument is NAN or outside its stated range.
 *
 * Formulas: Abramowitz & Stegun 26.5.8 (continued fraction of the incomplete beta function, by the
 * modified Lentz method), 26.6.2 and 26.7.1 (F and Student's t from the beta function). */

/* Regularized incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1. */
double dist_beta_inc(double x, double a, double b);

/* P(T <= t) of Student's t; df > 0, need not be an integer. */
double dist_t_cdf(double t, double df);
/* P(T > t), accurate where 1 - dist_t_cdf would lose digits. */
double dist_t_upper(double t, double df);
/* P(|T| > |t|): the two-sided p value. */
double dist_t_two_sided(double t, double df);
/* The t with P(T <= t) = p; 0 < p < 1. */
double dist_t_quantile(double p, double df);

/* The power of a one-sided t test: the probability that it passes at level alpha if the true t is
 * delta > 0 (noncentral t). Accurate to 1e-8; df >= 1. */
double dist_t_power(double delta, double df, double alpha);

/* P(X > f) of the F distribution; df_a, df_b > 0, f >= 0. */
double dist_f_upper(double f, double df_a, double df_b);

double dist_normal_cdf(double z);
double dist_normal_upper(double z);
