/* SPDX-License-Identifier: MIT */
/* Statistics of benches compared with values from scipy and R, on published throughput logs and
 * invented blocks. */
#include <string.h>

#include "bench/power.h"
#include "bench/schedule.h"
#include "bench/stats.h"

#include "base/dist.h"
#include "base/random.h"
#include "bench/steps.h"

#include "tests/support/tap.h"

#define TOL   1e-9
#define BATCH 786432.0

static const struct paired_rule rule = { 0.05, 0.005, 0.8, false };

/* Relative tolerance, also for small values. */
static void is_rel(double got, double want, double tol, const char *name)
{
	if (!ok(fabs(got - want) <= tol * fabs(want), "%s", name))
		printf("#  got: %.17g\n# want: %.17g\n", got, want);
}

static void test_descriptive(void)
{
	static const double x[] = { 1384256, 1380055, 1379763, 1377927, 1377064,
				    1377070, 1376018, 1375996, 1375347 };

	is_rel(stats_mean(x, 9), 1378166.2222222222, TOL, "mean");
	is_rel(stats_sd(x, 9), 2805.10997012, TOL, "sd of a sample");
	is_rel(stats_sd_population(x, 9), 2644.68304246, TOL, "sd of a population");
	is_rel(values_median(x, 9), 1377070, TOL, "median");
	is_rel(stats_mad(x, 9), 1074, TOL, "mad");
	is_rel((x[0] - values_median(x, 9)) / stats_mad(x, 9), 6.69087523277, TOL,
	       "distance from the median in MADs");
	is_rel(100 * stats_sd(x, 9) / stats_mean(x, 9), 0.203539306427, TOL,
	       "coefficient of variation");
	ok(isnan(stats_sd(x, 1)) && isnan(values_median(x, 0)) && isnan(stats_mean(x, 0)),
	   "undefined values are NAN");
}

static struct step_row row_of(double step, double train_min, double tok_s)
{
	return (struct step_row){ .step = step,
				  .train_loss = NAN,
				  .train_ms = NAN,
				  .train_min = train_min,
				  .step_avg_ms = NAN,
				  .step_ms = NAN,
				  .tok_s = tok_s,
				  .day_s = NAN,
				  .stamp_s = NAN,
				  .line = 1 };
}

/* A log with these tok/s in rows 20, 30 .. 100. */
static struct step_times times_of(const double tok[9], struct step_row rows[9])
{
	const struct step_rates rates = { TOK_CUMULATIVE, BATCH };
	struct step_times times;
	struct err err = { ERR_NONE, "" };

	for (int i = 0; i < 9; i++)
		rows[i] = row_of(20 + 10 * i, NAN, tok[i]);
	if (step_times_init(&times, rows, 9, &rates, 20, 100, &err) != 0)
		printf("# %s\n", err.text);
	return times;
}

static const double a2_a[] = { 1385269, 1380338, 1379726, 1377666, 1377176,
			       1377179, 1375967, 1375965, 1375385 };
static const double a2_b[] = { 1472442, 1446226, 1433889, 1425463, 1421437,
			       1419009, 1416087, 1414266, 1412051 };

static void check_run(const double tok[9], const double want[6], const double ms[8],
		      const char *name)
{
	struct step_row rows[9];
	struct step_times times = times_of(tok, rows);
	struct step_window w;
	double got[9];

	printf("# %s\n", name);
	is_int(step_window_measure(&w, &times, 20, 100, NULL), 0, "measured");
	is_rel(times.t_s[0], want[0], TOL, "time at step 20");
	is_rel(times.t_s[8], want[1], TOL, "time at step 100");
	is_rel(w.y_ms, want[2], TOL, "ms per step");
	is_rel(w.slope_ms, want[3], TOL, "slope");
	is_rel(w.lag_s, want[4], TOL, "lag of the clock");
	is_rel(step_legacy(rows, 9, 20, 100), want[5], TOL, "published mean");
	is_int((long long)step_intervals(&times, 20, 100, 1, got, NULL), 8, "intervals");
	for (int i = 0; i < 8; i++)
		if (fabs(got[i] - ms[i]) > 1e-6 * ms[i])
			ok(false, "interval %d: %.9g", i, got[i]);
	is_rel(w.interval_median_ms, values_median(got, 8), TOL, "median of the intervals");
	step_times_release(&times);
}

static void test_steps(void)
{
	static const double want_a[] = { 11.3542135138, 57.179044413,	 572.810386241,
					 572.701079838, 0.0991091930433, 1378296.7777777778 };
	static const double ms_a[] = { 573.794797, 570.749584, 574.252924, 572.06237,
				       571.03813,  575.06957,  571.556068, 573.959646 };
	static const double want_b[] = { 10.6820098856, 55.6943056589,	562.653697166,
					 562.396073793, 0.557212931116, 1428985.5555555555 };
	static const double ms_b[] = { 563.145703, 562.496765, 564.670795, 561.078527,
				       559.89213,  563.360764, 561.791362, 564.793532 };

	check_run(a2_a, want_a, ms_a, "no graphs");
	check_run(a2_b, want_b, ms_b, "graphs");
}

static void test_paired_by_step(void)
{
	struct step_row rows[9];
	struct step_times a = times_of(a2_a, rows), b = times_of(a2_b, rows);
	double ms_a[9], ms_b[9], d[8];
	struct paired p;

	step_intervals(&a, 20, 100, 1, ms_a, NULL);
	step_intervals(&b, 20, 100, 1, ms_b, NULL);
	for (int i = 0; i < 8; i++)
		d[i] = log(ms_a[i] / ms_b[i]);
	p = paired_compare(d, 8, &rule);
	is_rel(p.mean, .0178907959926, TOL, "paired by step: mean");
	is_rel(p.sd, .00204534982133, TOL, "sd");
	is_rel(p.t, 24.74041953, TOL, "t");
	is_rel(stats_pct(p.mean), 1.80517949835, TOL, "mean in per cent");
	is_rel(stats_pct(p.lo), 1.63124594966, TOL, "low");
	is_rel(stats_pct(p.hi), 1.97941072006, TOL, "high");
	step_times_release(&a);
	step_times_release(&b);
}

static void test_steps_refuse(void)
{
	struct step_row rows[3] = { row_of(1, 0.0, 1000), row_of(2, 0.0, 1000),
				    row_of(3, 0.0, 1000) };
	struct step_rates rates = { TOK_CUMULATIVE, 100 }, unknown = { TOK_CUMULATIVE, NAN };
	struct step_times times;
	struct step_window w;
	struct err err = { ERR_NONE, "" };

	is_int(step_times_init(&times, rows, 3, &rates, 1, 3, &err), 0,
	       "consistent rows are accepted");
	is_int(step_window_measure(&w, &times, 1, 4, &err), -1,
	       "refused: a window beyond the last row");
	is_str(err.text, "no training row at step 4", "the error names the step");
	step_times_release(&times);
	is_int(step_times_init(&times, rows, 3, &unknown, 1, 3, &err), -1,
	       "refused: no batch size");
	rows[1].train_min = 3.0;
	is_int(step_times_init(&times, rows, 3, &rates, 1, 3, &err), -1,
	       "refused: printed minutes that contradict the tok/s");
	rows[1].train_min = 0.0;
	rows[1].step = 1;
	is_int(step_times_init(&times, rows, 3, &rates, 1, 3, &err), -1,
	       "refused: a step that appears twice");
	rows[1].step = 2;
	rows[1].tok_s = INFINITY;
	is_int(step_times_init(&times, rows, 3, &rates, 1, 3, &err), -1,
	       "refused: an infinite rate");
	rows[1].tok_s = 1000;
	rates.kind = TOK_INTERVAL;
	is_int(step_times_init(&times, rows, 3, &rates, 1, 3, &err), 0,
	       "rates since the previous row");
	is_rel(times.t_s[2], 0.3, TOL, "the times add up");
	step_times_release(&times);
}

static void differences(const double *a, const double *b, double *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		d[i] = log(a[i]) - log(b[i]);
}

static void test_blocks(void)
{
	static const double a[] = { 572.71, 572.95, 572.40, 573.10, 572.88, 572.60 };
	static const double b[] = { 562.80, 564.10, 561.95, 563.70, 562.45, 563.05 };
	double d[6], la[6], lb[6];
	struct paired p;
	struct welch w;

	differences(a, b, d, 6);
	p = paired_compare(d, 6, &rule);
	is_rel(p.mean, .0171963752419, TOL, "blocks: mean");
	is_rel(p.sd, .00111308480328, TOL, "sd");
	is_rel(p.t, 37.842889099, TOL, "t");
	is_rel(p.p, 2.42738518685e-07, TOL, "p");
	is_rel(stats_pct(p.mean), 1.73450840975, TOL, "mean in per cent");
	is_rel(stats_pct(p.lo), 1.6157406058, TOL, "low");
	is_rel(stats_pct(p.hi), 1.85341502872, TOL, "high");
	is_rel(p.p_signflip, .03125, TOL, "sign-flip");
	is_rel(p.hl, .0171370568385, TOL, "Hodges-Lehmann");
	is_rel(p.hl_lo, .0155669121265, TOL, "lower bound of Hodges-Lehmann");
	is_rel(p.hl_hi, .0184251697180, TOL, "upper bound of Hodges-Lehmann");
	is_rel(p.mde, .00158596532077, TOL, "smallest detectable difference");
	is_rel(stats_pct(p.mde), 0.158722362889, TOL, "smallest detectable difference in per cent");
	for (int i = 0; i < 6; i++) {
		la[i] = log(a[i]);
		lb[i] = log(b[i]);
	}
	w = multi_welch(la, 6, lb, 6, 0.05);
	is_rel(w.t, 28.5147914159, TOL, "Welch t");
	is_rel(w.df, 5.98142212688, TOL, "Welch df");
	is_rel(w.p, 1.27923012502e-07, TOL, "Welch p");
}

static void test_null_blocks(void)
{
	static const double a[] = { 572.7, 573.1, 572.4, 572.9, 573.3, 572.5 };
	static const double b[] = { 572.9, 572.6, 572.8, 573.2, 572.7, 573.0 };
	double d[6];
	struct paired p;

	differences(a, b, d, 6);
	p = paired_compare(d, 6, &rule);
	is_rel(p.mean, -8.73793994146e-05, TOL, "null blocks: mean");
	is_rel(p.sd, .000831691746422, TOL, "sd");
	is_rel(p.t, -.257348883787, TOL, "t");
	is_rel(p.p, .8071647663, TOL, "p");
	is_rel(stats_pct(p.lo), -.0959725528433, TOL, "low");
	is_rel(stats_pct(p.hi), .0785736090017, TOL, "high");
	is_rel(stats_pct(p.tost_lo), -.0771264764371, TOL, "lower bound of the 90 % interval");
	is_rel(stats_pct(p.tost_hi), .0596981665895, TOL, "upper bound of the 90 % interval");
	is_rel(p.p_tost, 1.44068887102e-05, TOL, "p of equivalence");
	is_rel(p.p_signflip, .78125, TOL, "sign-flip");
	is_rel(stats_pct(p.mde), .118572827261, TOL, "mde");
	ok(paired_is_same(&p, 0.005), "the same within 0.5 %%");
	ok(!paired_is_same(&p, 0.0005), "not the same within 0.05 %%");
}

/* Count the sign patterns one by one. */
static double signflip_by_hand(const double *d, int n)
{
	double sum = 0, far = 0;

	for (int i = 0; i < n; i++)
		sum += d[i];
	for (int mask = 0; mask < 1 << n; mask++) {
		double flipped = 0;

		for (int i = 0; i < n; i++)
			flipped += mask >> i & 1 ? -d[i] : d[i];
		far += fabs(flipped) >= fabs(sum) * (1 - 1e-12) ? 1 : 0;
	}
	return far / (1 << n);
}

static void test_signflip(void)
{
	static const double ties[] = { .3, -.1, .2, .1, -.2, .3, .1 };
	static const double none[] = { .1, .2, .3, -.1, -.2, -.3 };
	uint64_t state = 7;
	double d[20];

	for (int n = 2; n <= 20; n += 3) {
		for (int i = 0; i < n; i++)
			d[i] = (double)(splitmix64_next(&state) % 2001) / 1e5 - 0.008;
		is_rel(paired_compare(d, (size_t)n, &rule).p_signflip, signflip_by_hand(d, n),
		       1e-12, "sign-flip p of random blocks equals the count of patterns");
	}
	is_rel(paired_compare(ties, 7, &rule).p_signflip, signflip_by_hand(ties, 7), 1e-12,
	       "sign-flip p of blocks with equal sums");
	is_rel(paired_compare(none, 6, &rule).p_signflip, 1, 1e-12,
	       "blocks that add up to 0 have p 1");
}

static void test_few_blocks(void)
{
	static const double d[] = { 0.01, 0.01, 0.01 };
	struct paired p = paired_compare(d, 1, &rule);

	is_rel(p.mean, 0.01, TOL, "one block has a mean");
	ok(isnan(p.sd) && isnan(p.p) && isnan(p.lo) && isnan(p.mde),
	   "one block has no spread, p or interval");
	p = paired_compare(d, 0, &rule);
	ok(isnan(p.mean), "no mean without blocks");
	p = paired_compare(d, 3, &rule);
	ok(p.p == 0.0 && p.lo == 0.01 && p.hi == 0.01, "blocks without noise");
}

static void test_mann_whitney(void)
{
	static const double x[] = { 99.744, 100.128, 99.840, 100.512, 99.936 };
	static const double y[] = { 103.328, 102.944, 103.840, 100.256, 104.128 };
	static const double tied[] = { 99.744, 100.128, 103.328 };
	struct rank_two r = rank_mann_whitney(x, 5, y, 5, 0.05);
	double lx[5], ly[5];
	struct welch w;

	is_rel(r.u, 1, TOL, "Mann-Whitney U");
	ok(r.exact, "exact");
	is_rel(r.p, 4.0 / 252.0, TOL, "p");
	is_rel(r.p_normal, .0215717479477, TOL, "asymptotic p");
	is_rel(r.shift, -3.328, TOL, "shift");
	is_rel(r.lo, -4.192, TOL, "lower bound of the shift");
	is_rel(r.hi, -.32, TOL, "upper bound of the shift");
	memcpy(lx, x, sizeof(lx));
	memcpy(ly, y, sizeof(ly));
	w = multi_welch(lx, 5, ly, 5, 0.05);
	is_rel(w.t, -4.06785548717, TOL, "Welch t");
	is_rel(w.p, .013121645334, TOL, "Welch p");
	r = rank_mann_whitney(x, 5, tied, 3, 0.05);
	ok(!r.exact && isnan(r.lo) && r.p > 0 && r.p <= 1, "ties give the asymptotic p");
	r = rank_mann_whitney(x, 0, y, 5, 0.05);
	ok(isnan(r.u) && isnan(r.p), "an empty side gives no p");
}

static void test_holm(void)
{
	static const double p[] = { .03, .0004, .2, .012 };
	static const double want[] = { .06, .0016, .2, .036 };
	static const double with_nan[] = { NAN, .02, .03 };
	double got[4];

	multi_holm(p, got, 4);
	for (int i = 0; i < 4; i++)
		is_rel(got[i], want[i], TOL, "Holm");
	multi_holm(with_nan, got, 3);
	ok(isnan(got[0]), "an absent p stays absent");
	is_rel(got[1], .04, TOL, "an absent p does not count as a test");
	is_rel(got[2], .04, TOL, "adjusted values keep their order");
}

static void test_mser(void)
{
	static const double x[] = { 640.2, 601.5, 580.1, 573.3, 570.3, 573.8,
				    572.9, 571.1, 574.6, 571.6, 574.2, 572.5 };
	static const double want[] = { 31.6760358796, 6.46371149512, .66324,	   .21037037037,
				       .259921875,    .213411078717, .267453703704 };
	static const double falling[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 0 };
	double g[7];

	is_int(window_mser(x, 12, g), 3, "MSER cut");
	for (int i = 0; i < 7; i++)
		is_rel(g[i], want[i], TOL, "MSER g");
	is_int(window_mser(falling, 10, NULL), -1, "no steady state");
	is_int(window_mser(x + 3, 4, NULL), -1, "too few values have no steady state");
}

static void test_trend(void)
{
	double step[20], y[20];

	for (int i = 0; i < 20; i++) {
		step[i] = i;
		y[i] = 0.001 * i + 0.0005 * (i % 3 - 1);
	}
	is_str(window_trends[window_trend(step, y, 20)], "slowdown", "increasing times");
	for (int i = 0; i < 20; i++)
		y[i] = -y[i];
	is_str(window_trends[window_trend(step, y, 20)], "warmup", "decreasing times");
	for (int i = 0; i < 20; i++)
		y[i] = 0.01 * y[i];
	is_str(window_trends[window_trend(step, y, 20)], "steady", "a trend too small to matter");
}

static void test_pods(void)
{
	static const double d[] = { .0181, .0339, .0252 };
	static const double sd[] = { .002, NAN, .004 }, n[] = { 3, 1, 2 };
	struct paired p = paired_compare(d, 3, &rule);
	struct pods_spread s = multi_pods(d, sd, n, 3);
	double mean = (3 * d[0] + d[1] + 2 * d[2]) / 6;
	double between = 3 * pow(d[0] - mean, 2) + pow(d[1] - mean, 2) + 2 * pow(d[2] - mean, 2);
	double within = (2 * .002 * .002 + .004 * .004) / 3;

	is_rel(p.mean, .0257333333333, TOL, "pods: mean");
	is_rel(p.se, .00456885592292, TOL, "se");
	is_rel(stats_pct(p.lo), .609362397024, TOL, "low");
	is_rel(stats_pct(p.hi), 4.64374952995, TOL, "high");
	is_rel(p.p, .0301063616462, TOL, "p");
	is_rel(s.f, between / 2 / within, TOL, "F of pods with unequal numbers of blocks");
	is_rel(s.p, pow(1 + 2 * s.f / 3, -1.5), TOL, "p of F with 2 and 3 df");
	is_rel(s.share, 1 - 1 / s.f, TOL, "share between pods");
	ok(isnan(multi_pods(d, sd, (double[]){ 1, 1, 1 }, 3).p) && isnan(multi_pods(d, sd, n, 1).p),
	   "NAN for pods with one block each, and for a single pod");
	ok(multi_pods(d, (double[]){ 0, 0, 0 }, n, 3).p == 0.0,
	   "pods that differ without any spread within them");
}

static void check_schedule(uint64_t seed, size_t arms, size_t rounds, const char *want)
{
	unsigned char order[SCHEDULE_MAX_ARMS * 8];
	char text[128] = "";
	size_t k = 0;

	schedule_fill(order, arms, rounds, seed);
	for (size_t r = 0; r < rounds; r++) {
		if (r > 0)
			text[k++] = ' ';
		for (size_t i = 0; i < arms; i++)
			text[k++] = (char)('A' + order[r * arms + i]);
	}
	text[k] = '\0';
	is_str(text, want, "schedule");
}

static void test_schedule(void)
{
	uint64_t state = 42;

	ok(splitmix64_next(&state) == 0xbdd732262feb6e95U &&
		   splitmix64_next(&state) == 0x28efe333b266f103U &&
		   splitmix64_next(&state) == 0x47526757130f9f52U,
	   "splitmix64");
	check_schedule(42, 2, 6, "AB BA AB BA BA AB");
	check_schedule(42, 3, 6, "ACB BCA BCA ACB CAB BAC");
	check_schedule(7, 4, 4, "BCAD DACB ACBD DBCA");
	check_schedule(1, 1, 2, "A A");
}

/* Without interim looks and places, the power follows from the noncentral t. */
static void test_power(void)
{
	struct power_plan plan = {
		.rule = { .05, .005, .8, false }, .pods = 1, .reps = 2, .variants = 1, .sd = 1
	};

	for (size_t n = 3; n <= 10; n += 7) {
		plan.looks.planned = n;
		double size = power_detectable(&plan) * sqrt((double)n);
		is_near(dist_t_power(size, (double)n - 1.0, .025), .8, .01,
			"power at the promised difference");
	}
	plan.looks.planned = 2;
	ok(isnan(power_detectable(&plan)), "two blocks are never judged");
	plan.sd = .003;
	is_int((long long)power_blocks(&plan, .005), 6,
	       "blocks to detect 0.5 %% with 0.3 %% noise");
	plan.sd = .001;
	is_int((long long)power_blocks(&plan, .005), 3,
	       "blocks to detect 0.5 %% with 0.1 %% noise");
	plan.sd = .01;
	size_t n = power_blocks(&plan, .005);
	ok(n >= 32 && n <= 36, "blocks to detect 0.5 %% with 1 %% noise: %zu", n);
	plan.sd = 1;
	is_int((long long)power_blocks(&plan, .0001), 0,
	       "a tiny difference is not reachable with 1000 blocks");
	plan = (struct power_plan){
		.rule = plan.rule, .pods = 2, .reps = 1, .variants = 1, .sd = 1e-9, .pods_sd = .01
	};
	is_int((long long)power_blocks(&plan, .005), 0,
	       "more blocks do not reduce the difference between pods");
}

/* Five equal looks: the bounds printed by Lan and DeMets. */
static void test_levels(void)
{
	static const double z[] = { 4.8769, 3.3569, 2.6803, 2.2898, 2.0310 };
	struct looks looks = { LOOKS_OBRIEN, 1, 5 };

	for (size_t n = 1; n <= 5; n++)
		is_rel(dist_t_quantile(1.0 - looks_level(&looks, n, false, .05) / 2.0,
				       (double)INFINITY),
		       z[n - 1], 1e-4, "a bound of O'Brien and Fleming");
	ok(looks_level(&looks, 3, true, .05) > .047 && looks_level(&looks, 3, true, .05) < .05,
	   "the last look uses the remaining alpha");
	looks.first = 3;
	looks.planned = 3;
	is_rel(looks_level(&looks, 3, false, .05), .05, TOL, "a single look uses all of alpha");
	looks.planned = 60;
	ok(looks_level(&looks, 60, false, .05) < .026 && looks_level(&looks, 30, false, .05) < .002,
	   "more than 30 looks use a stricter bound");
	looks.kind = LOOKS_HAYBITTLE;
	is_rel(looks_level(&looks, 59, false, .05), LOOKS_EARLY_P, TOL, "Haybittle and Peto");
	is_rel(looks_level(&looks, 60, false, .05), .05, TOL,
	       "Haybittle and Peto at the last look");
	looks.planned = 0;
	is_rel(looks_level(&looks, 4, false, .05), .05, TOL,
	       "imported logs are judged at the full level");
}

static void test_looks(void)
{
	const struct paired_rule by = { 0.05, 0.005, 0.8, false };
	struct looks looks = { LOOKS_OBRIEN, 3, 6 };
	struct paired p = { .n = 3, .p = 0.004, .df = 2, .se = 1 };

	is_int(multi_interim(&p, 3, 0.0056, &looks, &by), INTERIM_DIFFERENCE,
	       "p below the level stops the bench");
	p.p = 0.01;
	p.se = 1e-5;
	is_int(multi_interim(&p, 3, 0.0056, &looks, &by), INTERIM_GO_ON,
	       "a likely difference does not stop the bench, however narrow the interval");
	p.p = 0.5;
	is_int(multi_interim(&p, 3, 0.0056, &looks, &by), INTERIM_PRECISION,
	       "a narrow interval around 0 stops the bench");
	is_int(multi_interim(&p, 2, 0.0056, &looks, &by), INTERIM_GO_ON,
	       "too few blocks do not stop the bench");
	is_int(multi_interim(&p, 6, 0.0056, &looks, &by), INTERIM_LAST,
	       "the planned number of blocks stops the bench");
	looks.kind = LOOKS_NONE;
	is_int(multi_interim(&p, 5, 0.0056, &looks, &by), INTERIM_GO_ON,
	       "without early stops the bench goes on");
}

/* Three blocks with an A/A arm, computed by hand; then a drift, then a noisy variant. */
static void test_fit(void)
{
	struct paired_block b[6] = {
		{ .d = .010, .aa = .002 },
		{ .d = .012, .aa = -.002 },
		{ .d = .014, .aa = .003 },
	};
	const struct paired_rule by = { 0.05, 0.005, 0.8, false };
	const double d[] = { .010, .012, .014 };
	double ss = 2 * .002 * .002 + .75 * (.001 * .001 + .003 * .003 + .002 * .002);
	struct paired p = paired_fit(b, 3, &by);

	is_rel(p.mean, .012, TOL, "the mean of both controls is used");
	is_rel(p.sd, sqrt(ss / 4), TOL, "residuals of both sides are used");
	is_rel(p.df, 4, TOL, "both sides give 2 (n - 1) degrees of freedom");
	is_rel(p.p_own, paired_compare(d, 3, &by).p, TOL, "p of the variant's own residuals");
	b[1].aa = (double)NAN;
	p = paired_fit(b, 3, &by);
	is_rel(p.df, 2, TOL, "if a block has no A/A arm, the arm is not used");
	ok(isnan(p.p_own), "no separate p without an A/A arm");
	for (size_t i = 0; i < 6; i++)
		b[i] = (struct paired_block){
			.d = .01 + (i % 2 ? .05 : -.05) + 1e-4 * (double)(i % 3),
			.aa = 2e-4 * (double)((i * 5) % 3),
			.place = i % 2 ? 1 : -1,
		};
	p = paired_fit(b, 6, &by);
	ok(fabs(p.slope - .05) < 1e-3 && p.sd < 3e-4 && p.df == 9, "places explain a drift: %g",
	   p.sd);
	for (size_t i = 0; i < 6; i++)
		b[i] = (struct paired_block){ .d = i % 2 ? .05 : -.03, .aa = i % 3 ? 1e-4 : -1e-4 };
	p = paired_fit(b, 6, &by);
	is_rel(p.df, 5, TOL, "a quiet control is not used for a noisy variant");
	for (size_t i = 0; i < 6; i++)
		b[i].aa = 0.0;
	is_rel(paired_fit(b, 6, &by).df, 5, TOL, "a control without any spread is not used");
	paired_add_variance(&p, .005 * .005, &by);
	ok(isnan(p.p_signflip) && p.df > 5, "the variance between pods is added");
}

/* A difference that is significant with the control's residuals, but not with the variant's own. */
static void test_own(void)
{
	const struct paired_rule by = { 0.05, 0.005, 0.8, false };
	const struct looks looks = { LOOKS_OBRIEN, 3, 6 };
	const double d[] = { .004, .012, .020 };
	struct paired_block b[3] = {
		{ .d = d[0], .aa = .006 },
		{ .d = d[1], .aa = -.006 },
		{ .d = d[2], .aa = 0 },
	};
	struct paired p = paired_fit(b, 3, &by), own;

	own = paired_compare(d, 3, &by);
	ok(p.df == 4 && dist_t_two_sided(p.t, p.df) < .05 && own.p > .05,
	   "p is %.3f with both residuals, %.3f with its own only", dist_t_two_sided(p.t, p.df),
	   own.p);
	is_rel(p.p, own.p * sqrt(own.p / .05), TOL, "p combines both, and nothing is shown");
	is_rel(p.lo, own.lo, TOL, "the interval is the wider one");
	is_rel(p.tost_hi, own.tost_hi, TOL,
	       "the interval of the equivalence test is the wider one");
	ok(multi_interim(&p, 3, 0.05, &looks, &by) == INTERIM_GO_ON,
	   "such a difference does not stop the bench");
	paired_set_level(&p, .01, &by);
	is_rel(p.hi - p.mean, dist_t_quantile(1 - cbrt(.01 * .01 * .05) / 2, 2) * own.se, TOL,
	       "an interim look requires more");
	paired_add_variance(&p, .004 * .004, &by);
	is_rel(p.own.se, hypot(own.se, .004), TOL,
	       "the variance between pods is added to both errors");
}

static void test_pct_text(void)
{
	is_str(stats_pct_text(1.7345, false).s, "1.73", "two decimals");
	is_str(stats_pct_text(1.7345, true).s, "+1.73", "a sign if requested");
	is_str(stats_pct_text(-0.00123, true).s, "-0.0012", "a small value is not shown as 0");
	is_str(stats_pct_text(0.0, true).s, "+0.00", "0 has a sign");
	is_str(stats_pct_text(1e32, false).s, "1e+32",
	       "large values have no more digits than are known");
}

int main(void)
{
	test_descriptive();
	test_steps();
	test_paired_by_step();
	test_steps_refuse();
	test_blocks();
	test_null_blocks();
	test_signflip();
	test_few_blocks();
	test_mann_whitney();
	test_holm();
	test_mser();
	test_trend();
	test_pods();
	test_schedule();
	test_power();
	test_levels();
	test_looks();
	test_fit();
	test_own();
	test_pct_text();
	return tap_done();
}
