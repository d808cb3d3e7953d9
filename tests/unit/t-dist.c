/* SPDX-License-Identifier: MIT */
/* dist: values from scipy 1.10.1, closed forms, and round trips. */
#include "base/dist.h"

#include "tests/support/tap.h"

#define TOL 1e-9

struct vector {
	double a, b, c, want;
};

/* Compare with a tolerance relative to the value, however small that is. */
static bool is_close(double got, double want, double tol, const char *name)
{
	bool same = fabs(got - want) <= tol * fabs(want);

	if (!ok(same, "%s", name))
		printf("#  got: %.17g\n# want: %.17g\n", got, want);
	return same;
}

static void test_t_quantile(void)
{
	static const struct vector v[] = {
		{ .975, 1, 0, 12.7062047364 },
		{ .975, 2, 0, 4.30265272991 },
		{ .975, 3, 0, 3.18244630528 },
		{ .975, 5, 0, 2.57058183661 },
		{ .975, 7, 0, 2.36462425101 },
		{ .975, 2.5586448008, 0, 3.51671185487 },
		/* scipy gives 6.96455671876; this is the closed form. */
		{ .99, 2, 0, 6.96455673428327 },
		{ .8, 5, 0, 0.919543780236 },
		{ .95, 5, 0, 2.01504837267 },
		{ .9995, 2, 0, 31.599054577 },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_close(dist_t_quantile(v[i].a, v[i].b), v[i].want, TOL, "t quantile");
	is_close(dist_t_quantile(.025, 5), -2.57058183661, TOL, "t quantile of the lower tail");
	ok(fabs(dist_t_quantile(.5, 5)) < 1e-15, "the median of t is 0");
}

static void test_t_cdf(void)
{
	static const struct vector v[] = {
		{ 2.5, 5, 0, 0.972754950329 },
		{ -1.7559194730, 2.5586448008, 0, 0.0964715319638 },
		{ .5, 1, 0, 0.64758361765 },
		{ -4.9719775968, 2, 0, 0.0190760785969 },
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_close(dist_t_cdf(v[i].a, v[i].b), v[i].want, TOL, "t cdf");
	for (double t = -40; t <= 40; t += 0.37)
		good &= fabs(dist_t_cdf(t, 2) - 0.5 * (1 + t / sqrt(2 + t * t))) <= 1e-14;
	ok(good, "closed form of t with 2 df");
	is_close(dist_t_two_sided(37.842889099, 5), 2.42738518685e-07, TOL, "far tail");
	is_close(dist_t_two_sided(1e9, 2), 1e-18, 1e-8, "very far tail");
	is_close(dist_t_two_sided(1.959963984540054, INFINITY), 0.05, TOL,
		 "infinite df are the normal");
}

static void test_beta_f(void)
{
	static const struct vector v[] = {
		{ 4.0 / 9.0, 2.5, .5, 0.0544900993424 },
		{ .3, 1, .5, 0.163339973466 },
		{ .5, .5, .5, 0.5 },
		{ .75, 12, 3, 0.281127624214 },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_close(dist_beta_inc(v[i].a, v[i].b, v[i].c), v[i].want, TOL, "incomplete beta");
	/* t squared is F of 1, and F of 2 has a closed form. */
	is_close(dist_f_upper(2.5 * 2.5, 1, 7), dist_t_two_sided(2.5, 7), TOL, "F, 1 df");
	is_close(dist_f_upper(3.3, 2, 5), pow(1 + 2 * 3.3 / 5, -2.5), TOL, "F, 2 df");
	is_close(dist_f_upper(1e6, 2, 12), pow(1 + 2e6 / 12, -6), TOL, "F, far tail");
	is_close(dist_f_upper(1 / 3.3, 5, 2), 1 - pow(1 + 2 * 3.3 / 5, -2.5), TOL,
		 "F, the other way round");
	ok(dist_f_upper(0, 7, 3) == 1 && dist_f_upper(INFINITY, 7, 3) == 0, "F at both ends");
}

/* The noncentral t by mpmath 1.3.0, integrated to 25 digits. */
static void test_t_power(void)
{
	static const struct vector v[] = {
		{ 4, 1, 0.05, 0.468514005969 },	   { 4.97, 2, 0.01, 0.399072225096 },
		{ 6.5, 5, 0.01, 0.986431569832 },  { 3.5, 9, 0.01, 0.737664079869 },
		{ 2.6, 30, 0.05, 0.814817654925 }, { 3.2, 399, 0.01, 0.805873940845 },
		{ 0.5, 3, 0.01, 0.0230328710765 }, { 1, 999, 0.1, 0.388986086379 },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		is_close(dist_t_power(v[i].a, v[i].b, v[i].c), v[i].want, 1e-7,
			 "power of a t test");
	is_close(dist_t_power(0, 4, 0.01), 0.01, 1e-7, "no effect: alpha");
	ok(isnan(dist_t_power(1, 0, 0.01)) && isnan(dist_t_power(NAN, 3, 0.01)),
	   "no power without a difference");
}

static void test_normal(void)
{
	is_close(dist_t_quantile(.975, INFINITY), 1.959963984540054, TOL, "normal quantile");
	is_close(dist_t_quantile(1e-10, INFINITY), -6.361340902404056, TOL,
		 "normal quantile, far tail");
	is_close(dist_normal_cdf(1.0), 0.8413447460685429, TOL, "normal cdf");
	is_close(dist_normal_upper(6.0), 9.865876450376981e-10, TOL, "normal tail");
}

static void test_round_trips(void)
{
	double worst = 0;

	for (double df = 0.7; df < 300 && !isnan(worst); df *= 1.9)
		for (double p = 0.0004; p < 1; p += 0.0137) {
			double t = dist_t_quantile(p, df);
			double off = fabs(dist_t_cdf(t, df) / p - 1);

			if (!(off <= worst))
				worst = off;
			if (isnan(worst))
				break;
		}
	ok(worst < 1e-11, "quantile and cdf undo each other (%g)", worst);
}

static void test_absent(void)
{
	ok(isnan(dist_t_cdf(NAN, 3)) && isnan(dist_t_cdf(1, 0)) && isnan(dist_t_quantile(0, 3)) &&
		   isnan(dist_t_quantile(1, 3)) && isnan(dist_t_quantile(.5, NAN)),
	   "t outside its range is absent");
	ok(isnan(dist_beta_inc(1.5, 1, 1)) && isnan(dist_beta_inc(.5, 0, 1)) &&
		   isnan(dist_f_upper(1, 0, 1)) && isnan(dist_f_upper(-1, 2, 2)) &&
		   isnan(dist_f_upper(1, 2, NAN)),
	   "beta and F outside their range are absent");
}

int main(void)
{
	test_t_quantile();
	test_t_cdf();
	test_beta_f();
	test_t_power();
	test_normal();
	test_round_trips();
	test_absent();
	return tap_done();
}
