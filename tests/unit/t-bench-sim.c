/* SPDX-License-Identifier: MIT */
/*
 * Thousands of benches of noise like the measured one, judged as a running
 * bench is: a look after each block, early stops, the last word at 0.05.
 * How often is it wrong, and how often does it see what is there?
 */
#include "config.h"

#include "bench/schedule.h"
#include "bench/stats.h"
#include "bench/verdict.h"

#include "tests/support/tap.h"

#define N_STEPS	 80
#define STEP_MS	 100.0
#define STEP_SD	 0.003 /* of one step */
#define STEP_RHO 0.5   /* from one step to the next */

struct sim {
	uint64_t state;
	double run_sd; /* of ln y between runs */
	double delta;  /* true difference, ln units */
	size_t max_blocks;
};

/* Uniform on (0, 1). */
static double
uniform(struct sim *sim)
{
	return ((double)(splitmix64_next(&sim->state) >> 11) + 0.5) * 0x1p-53;
}

static double
normal(struct sim *sim)
{
	return sqrt(-2.0 * log(uniform(sim))) * cos(2.0 * M_PI * uniform(sim));
}

/* Step ms of one run: its own level, and steps that hang together. */
static double
run_y(struct sim *sim, double delta)
{
	double level = STEP_MS * exp(sim->run_sd * normal(sim) - delta);
	double noise = STEP_SD * normal(sim), sum = 0.0;
	double fresh = STEP_SD * sqrt(1.0 - STEP_RHO * STEP_RHO);

	for (int i = 0; i < N_STEPS; i++) {
		sum += level * (1.0 + noise);
		noise = STEP_RHO * noise + fresh * normal(sim);
	}
	return sum / N_STEPS;
}

/* One bench to its verdict; *blocks says how many it took. */
static enum verdict_word
run_bench(struct sim *sim, size_t *blocks)
{
	const struct interim_rule rule = {
		{ 0.05, 0.005, 0.8 }, 3, sim->max_blocks, true
	};
	struct verdict verdict;
	struct verdict_input input = { .alpha = 0.05,
				       .n_blocks = SIZE_MAX,
				       .margin = 0.005,
				       .register_sd = NAN };
	struct paired paired;
	double d[32];
	size_t n = 0;

	do {
		double control = run_y(sim, 0.0);

		d[n++] = log(control / run_y(sim, sim->delta));
		paired = paired_compare(d, n, &rule.rule);
	} while (multi_interim(&paired, &rule) == INTERIM_GO_ON);
	input.paired = &paired;
	input.p = paired.p;
	verdict_judge(&verdict, &input);
	*blocks = n;
	return verdict.word;
}

struct tally {
	double share[VERDICT_WORDS]; /* by verdict word, per cent */
	double blocks;
};

static struct tally
run_benches(struct sim sim, size_t n)
{
	struct tally tally = { { 0 }, 0 };

	for (size_t i = 0; i < n; i++) {
		size_t blocks;

		tally.share[run_bench(&sim, &blocks)] += 100.0 / (double)n;
		tally.blocks += (double)blocks / (double)n;
	}
	printf("# sd %.2f%%, delta %.2f%%, at most %zu blocks: faster %.2f%%, "
	       "slower %.2f%%, same %.2f%%, none %.2f%%; %.1f blocks\n",
	       100 * sim.run_sd, stats_pct(sim.delta), sim.max_blocks,
	       tally.share[VERDICT_FASTER], tally.share[VERDICT_SLOWER],
	       tally.share[VERDICT_SAME], tally.share[VERDICT_NO_DIFFERENCE],
	       tally.blocks);
	return tally;
}

static double
wrong(const struct tally *tally)
{
	return tally->share[VERDICT_FASTER] + tally->share[VERDICT_SLOWER];
}

/* No true difference: how often is one found all the same? */
static void
test_false_verdicts(void)
{
	static const double sds[] = { 0.001, 0.003, 0.01 };
	static const size_t blocks[] = { 6, 8, 12 };
	struct tally t;

	t = run_benches((struct sim){ 1, 0.003, 0.0, 6 }, 2000);
	ok(wrong(&t) <= 5.5, "A/A: %.2f %% false verdicts", wrong(&t));
	for (size_t i = 0; i < 3; i++) {
		t = run_benches((struct sim){ 7 + i, sds[i], 0.0, 6 }, 1500);
		ok(wrong(&t) <= 6.2, "A/A, another noise: %.2f %%", wrong(&t));
		t = run_benches((struct sim){ 20 + i, 0.003, 0.0, blocks[i] },
				1500);
		ok(wrong(&t) <= 6.2, "A/A, more looks: %.2f %%", wrong(&t));
	}
}

/* A true difference of twice what the bench is said to show. */
static void
test_power(void)
{
	/* d has the spread of two runs, each with its own step noise. */
	double sd = 0.003 * M_SQRT2 * 1.005;
	double mde = paired_mde(sd, 6, 0.05, 0.8);
	struct tally t;

	t = run_benches((struct sim){ 3, 0.003, 2.0 * mde, 6 }, 2000);
	ok(t.share[VERDICT_FASTER] >= 80.0, "twice the MDE: found in %.1f %%",
	   t.share[VERDICT_FASTER]);
	ok(t.share[VERDICT_SLOWER] <= 0.1, "never with the wrong sign");
	t = run_benches((struct sim){ 4, 0.003, -2.0 * mde, 6 }, 2000);
	ok(t.share[VERDICT_SLOWER] >= 80.0, "slower: found in %.1f %%",
	   t.share[VERDICT_SLOWER]);
	t = run_benches((struct sim){ 5, 0.003, mde, 6 }, 1500);
	ok(t.share[VERDICT_FASTER] >= 75.0 && t.share[VERDICT_FASTER] <= 86.0,
	   "at the MDE itself: about 80 %% (%.1f)", t.share[VERDICT_FASTER]);
}

/* A difference just beyond the margin must not be called the same. */
static void
test_false_same(void)
{
	static const double sds[] = { 0.0005, 0.001, 0.002, 0.003 };

	for (size_t i = 0; i < 4; i++) {
		struct tally t = run_benches(
			(struct sim){ 50 + i, sds[i], log1p(0.005), 6 }, 1500);

		ok(t.share[VERDICT_SAME] <= 6.0, "called the same: %.2f %%",
		   t.share[VERDICT_SAME]);
	}
}

int
main(void)
{
	test_false_verdicts();
	test_power();
	test_false_same();
	return tap_done();
}
