/* SPDX-License-Identifier: MIT */
/*
 * Simulate thousands of benches with invented noise and judge them as a running bench is judged: a
 * look after each block, early stops, the final verdict.  Counts false verdicts, coverage of the
 * interval, and how often a true difference is found.
 *
 * `t-bench-sim 4000` simulates that many benches per row, as `make check-benches` does, and prints
 * the table of docs/evidence; without an argument 100.  A second argument selects a row.
 */
#include "bench/judge.h"

#include <stdlib.h>

#include "bench/power.h"
#include "bench/schedule.h"

#include "tests/support/tap.h"

#define STEP_MS	  100.0
#define MAX_RUNS  (6 * 30)     /* arms, blocks */
#define STALL_P	  (1.0 / 24.0) /* as observed on a GPU: one process in 24 stalls */
#define STALL_BY  0.10
#define WAVE	  0.01
#define WHOLE_WAY 0.10 /* drift from the first to the last run, ln units */

/* SINE: a period of six runs.  CARRY: a run after one of the variant is slower. */
enum noise { NORMAL, T3, EXPONENTIAL, STALL, DRIFT, AR1, SINE, CARRY };

/* A row of the table: a simulation, and the limits for its results. */
struct row {
	const char *name;
	enum noise noise;
	double rho;	/* AR1 coefficient from run to run */
	double delta;	/* true difference, ln units */
	double pods_sd; /* sd of the difference between pods */
	double variant; /* the variant's spread, relative to the control's */
	size_t pods, blocks, aa, reps;
	enum looks_kind looks;
	/* Required limits, per cent; 0: none. */
	double most_wrong, least_covered, least_found;
	bool same_noise; /* the plan declares the same noise */
	/* For PROMISE: the first of this many variants truly differs by the promised difference. */
	size_t variants;
};

/* A promise of 80 % must be kept in 78 to 82 %. Two pods differ as the plan assumes. */
#define PROMISE(name, pods, blocks, aa, reps, looks, variants)                                    \
	{                                                                                         \
		name, NORMAL, 0, 0, (pods) == 2 ? .0049875 : 0, 1, pods, blocks, aa, reps, looks, \
			0, 0, 0, false, variants                                                  \
	}

#define OBRIEN LOOKS_OBRIEN
#define BOTH(name, noise, rho)                                                     \
	{ name, noise, rho, 0, 0, 1, 1, 6, 1, 1, OBRIEN, 5.5, 0, 0, false, 0 },    \
	{                                                                          \
		name, noise, rho, 0, 0, 1, 1, 6, 0, 1, OBRIEN, 5.5, 0, 0, false, 0 \
	}

#define TOLD(name, noise, aa)                                                   \
	{                                                                       \
		name, noise, 0, 0, 0, 1, 1, 6, aa, 1, OBRIEN, 0, 0, 0, false, 0 \
	}
#define NOISY(name, spread, blocks)                                                            \
	{                                                                                      \
		name, NORMAL, 0, 0, 0, spread, 1, blocks, 1, 1, OBRIEN, 5.5, 94.5, 0, false, 0 \
	}

static const struct row rows[] = {
	BOTH("normal", NORMAL, 0),
	BOTH("t3", T3, 0),
	BOTH("exponential", EXPONENTIAL, 0),
	BOTH("stall, 1 of 24", STALL, 0),
	BOTH("drift of 10 %", DRIFT, 0),
	BOTH("AR1 0.3", AR1, 0.3),
	BOTH("AR1 0.5", AR1, 0.5),
	BOTH("AR1 0.7", AR1, 0.7),
	/* Only shown, without limits: no order of the runs cures a carry-over. */
	TOLD("sine of 1 %, period of 6 runs", SINE, 1),
	TOLD("sine of 1 %, period of 6 runs", SINE, 0),
	TOLD("carry-over of 1 %", CARRY, 1),
	TOLD("carry-over of 1 %", CARRY, 0),
	{ "pods differ", NORMAL, 0, 0, .005, 1, 2, 3, 1, 1, OBRIEN, 5.5, 0, 0, false, 0 },
	{ "pods differ", NORMAL, 0, 0, .005, 1, 2, 6, 1, 1, OBRIEN, 5.5, 0, 0, false, 0 },
	{ "pods differ", NORMAL, 0, 0, .005, 1, 2, 3, 0, 1, OBRIEN, 5.5, 0, 0, false, 0 },
	{ "pods differ", NORMAL, 0, 0, .005, 1, 2, 6, 0, 1, OBRIEN, 5.5, 0, 0, false, 0 },
	NOISY("noisier variant", 2, 3),
	NOISY("noisier variant", 3, 3),
	NOISY("noisier variant", 10, 3),
	NOISY("noisier variant", 2, 6),
	NOISY("noisier variant", 3, 6),
	{ "noisier variant", NORMAL, 0, 0, 0, 10, 1, 6, 1, 1, OBRIEN, 6, 94, 0, false, 0 },
	NOISY("noisier control", 1.0 / 3, 3),
	NOISY("noisier control", 1.0 / 3, 6),
	{ "12 blocks", NORMAL, 0, 0, 0, 1, 1, 12, 1, 1, OBRIEN, 5.5, 0, 0, false, 0 },
	{ "coverage", NORMAL, 0, .003, 0, 1, 1, 6, 1, 1, OBRIEN, 0, 94.5, 0, false, 0 },
	{ "coverage", NORMAL, 0, .006, 0, 1, 1, 6, 1, 1, OBRIEN, 0, 94.5, 0, false, 0 },
	{ "coverage", NORMAL, 0, .010, 0, 1, 1, 6, 1, 1, OBRIEN, 0, 94.5, 0, false, 0 },
	{ "coverage", NORMAL, 0, .010, 0, 1, 1, 6, 0, 1, OBRIEN, 0, 94.5, 0, false, 0 },
	{ "coverage", NORMAL, 0, .020, 0, 1, 1, 12, 0, 1, OBRIEN, 0, 94.5, 0, false, 0 },
	{ "coverage", NORMAL, 0, .010, 0, 1, 1, 6, 0, 1, LOOKS_HAYBITTLE, 0, 0, 0, false, 0 },
	{ "power of 3", NORMAL, 0, .010, 0, 1, 1, 3, 1, 2, OBRIEN, 0, 94.5, 85, false, 0 },
	{ "power of 3", NORMAL, 0, .010, 0, 1, 1, 3, 1, 1, OBRIEN, 0, 94.5, 60, false, 0 },
	{ "power of 3", NORMAL, 0, .010, 0, 1, 1, 3, 1, 1, OBRIEN, 0, 94.5, 90, true, 0 },
	{ "normal", NORMAL, 0, 0, 0, 1, 1, 3, 1, 1, OBRIEN, 5.5, 94.5, 0, true, 0 },
	{ "power of 3", NORMAL, 0, .010, 0, 1, 1, 3, 0, 1, OBRIEN, 0, 0, 0, false, 0 },
	{ "power of 4", NORMAL, 0, .010, 0, 1, 1, 4, 1, 1, OBRIEN, 0, 94.5, 0, false, 0 },
	{ "differs by the margin or more on one of its pods", DRIFT, 0, .010, 0, 1, 1, 6, 1, 1,
	  OBRIEN, 0, 0, 90, false, 0 },
	{ "power, 2 pods", NORMAL, 0, .010, 0, 1, 2, 3, 1, 1, OBRIEN, 0, 0, 0, false, 0 },
	{ "pods agree", NORMAL, 0, 0, 0, 1, 2, 6, 1, 1, OBRIEN, 5.5, 0, 0, false, 0 },
	{ "pods agree", NORMAL, 0, .00499, 0, 1, 2, 6, 1, 1, OBRIEN, 0, 0, 0, false, 0 },
	PROMISE("promise", 1, 3, 1, 1, OBRIEN, 1),
	PROMISE("promise", 1, 4, 1, 1, OBRIEN, 1),
	PROMISE("promise", 1, 6, 1, 1, OBRIEN, 1),
	PROMISE("promise", 1, 3, 0, 1, OBRIEN, 1),
	PROMISE("promise", 1, 4, 0, 1, OBRIEN, 1),
	PROMISE("promise", 1, 6, 0, 1, OBRIEN, 1),
	PROMISE("promise", 1, 8, 0, 1, OBRIEN, 1),
	PROMISE("promise, four variants", 1, 6, 1, 1, OBRIEN, 4),
	PROMISE("promise, four variants", 1, 6, 0, 1, OBRIEN, 4),
	PROMISE("promise, no looks", 1, 6, 0, 1, LOOKS_NONE, 1),
	PROMISE("promise", 1, 4, 0, 2, OBRIEN, 1),
	PROMISE("promise, 2 pods", 2, 3, 0, 1, OBRIEN, 1),
	PROMISE("promise, 30 blocks", 1, 30, 0, 1, OBRIEN, 1),
};

struct sim {
	const struct row *row;
	double delta; /* true difference of the first variant */
	size_t variants;
	uint64_t state;
	const struct run_log *log;
	struct run_log logs[MAX_RUNS];
	struct judge_run runs[MAX_RUNS];
	size_t n;
	bool apart; /* on some pod the arms differ by the margin or more */
};

/* Uniform on (0, 1). */
static double uniform(struct sim *sim)
{
	return ((double)(splitmix64_next(&sim->state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct sim *sim)
{
	return sqrt(-2.0 * log(uniform(sim))) * cos(2.0 * M_PI * uniform(sim));
}

/* Noise of one run: standard deviation 1 without stalls. */
static double noise_of(struct sim *sim, double *before)
{
	double z = normal(sim), a, b, c, fresh;

	switch (sim->row->noise) {
	case T3:
		a = normal(sim);
		b = normal(sim);
		c = normal(sim);
		return z / sqrt(a * a + b * b + c * c);
	case EXPONENTIAL:
		return -log(uniform(sim)) - 1.0;
	case STALL:
		return z + (uniform(sim) < STALL_P ? STALL_BY / 0.003 : 0.0);
	case AR1:
		fresh = sqrt(1.0 - sim->row->rho * sim->row->rho);
		return *before = sim->row->rho * *before + fresh * z;
	case NORMAL:
	case DRIFT:
	case SINE:
	case CARRY:
		break;
	}
	return z;
}

/* Make the runs of a bench on one pod, in the order of its schedule. */
static void make_pod(struct sim *sim, size_t pod)
{
	const struct row *row = sim->row;
	size_t arms = 1 + sim->variants + row->aa, total = arms * row->blocks * row->reps;
	unsigned char order[MAX_RUNS];
	double before = normal(sim), phase = row->noise == SINE ? 2.0 * M_PI * uniform(sim) : 0.0;
	double effect = sim->delta + row->pods_sd * normal(sim);

	/* .00499 is ln 1.005. */
	sim->apart |= fabs(effect) > .004985;
	schedule_fill(order, arms, row->blocks * row->reps, splitmix64_next(&sim->state));
	for (size_t i = 0; i < total; i++) {
		size_t round = i / arms, arm = order[i], k;
		double ln = 0.003 * noise_of(sim, &before);

		if (arm == 1)
			ln = ln * row->variant - effect;
		if (row->noise == DRIFT)
			ln += WHOLE_WAY * (double)i / (double)total;
		if (row->noise == SINE)
			ln += WAVE * sin(2.0 * M_PI * (double)i / 6.0 + phase);
		if (row->noise == CARRY && i > 0 && order[i - 1] == 1)
			ln += WAVE;
		/* Blocks alternate between pods. */
		k = (round * row->pods + pod) * arms + i % arms;
		sim->logs[k] = *sim->log;
		sim->logs[k].score.value = STEP_MS * exp(ln);
		sim->runs[k] = (struct judge_run){
			.arm = arm,
			.pod = pod,
			.block = round / row->reps,
			.rep = round % row->reps,
			.pos = i % arms,
			.counted = true,
			.state = RUN_STATE_VERIFIED,
			.log = &sim->logs[k],
		};
	}
	sim->n += total;
}

/* Result of one bench. */
struct outcome {
	enum verdict_word word;
	double mean, lo, hi;
	size_t blocks;
	bool early;
};

static struct outcome run_bench(struct sim *sim)
{
	static const struct judge_arm all[] = {
		{ .tag = "A" }, { .tag = "B" }, { .tag = "C" },
		{ .tag = "D" }, { .tag = "E" }, { .tag = "A~aa", .aa = true },
	};
	const struct row *row = sim->row;
	struct judge_rule rule = JUDGE_RULE_DEFAULT;
	struct judge_arm arms[LENGTH(all)];
	size_t n_arms = 1 + sim->variants + row->aa, n = 3;
	struct outcome out = { 0 };
	struct judge judge;

	rule.paired.same_noise = row->same_noise;
	rule.looks = (struct looks){ row->looks, 3, row->pods * row->blocks };
	sim->n = 0;
	sim->apart = false;
	for (size_t arm = 0; arm < n_arms; arm++)
		arms[arm] = arm > sim->variants ? all[LENGTH(all) - 1] : all[arm];
	for (size_t pod = 0; pod < row->pods; pod++)
		make_pod(sim, pod);
	for (bool ends = rule.over = false; !rule.over; n += ends ? 0 : 1) {
		const struct judge_contrast *c;

		rule.over = ends;
		for (size_t i = 0; i < sim->n; i++)
			sim->runs[i].hits.n = 0;
		judge_init(&judge, &rule, arms, n_arms, sim->runs, n * n_arms * row->reps);
		c = &judge.contrasts[0];
		ends = true;
		for (size_t i = 0; i < sim->variants && n < rule.looks.planned; i++)
			ends &= multi_interim(&c[i].paired, c[i].n_blocks, c[i].level, &rule.looks,
					      &rule.paired) != INTERIM_GO_ON;
		out = (struct outcome){
			c->verdict.word,       c->paired.mean, c->paired.lo, c->paired.hi, n,
			n < rule.looks.planned
		};
		judge_release(&judge);
	}
	return out;
}

/* Per cent of all benches; covered_early and bias for benches that stopped early. */
struct tally {
	double wrong, found, same, same_wrong, covered, blocks;
	double early, covered_early, bias;
	double delta; /* true difference, ln units */
};

/* The difference that the plan of the row promises to detect. */
static double get_promise(const struct row *row)
{
	const struct judge_rule rule = JUDGE_RULE_DEFAULT;

	return power_detectable(&(struct power_plan){
		.rule = rule.paired,
		.looks = { row->looks, 3, row->pods * row->blocks },
		.pods = row->pods,
		.reps = row->reps,
		.variants = row->variants,
		.aa = row->aa,
		/* The value of an arm in a block is the median of its runs. */
		.sd = 0.003 * sqrt(2.0 / (double)row->reps),
		.pods_sd = log1p(rule.paired.margin),
	});
}

static struct tally run_row(const struct row *row, const struct run_log *log, size_t n)
{
	static struct sim sim;
	struct tally t = { 0 };

	sim.row = row;
	sim.variants = row->variants > 0 ? row->variants : 1;
	sim.delta = row->variants > 0 ? get_promise(row) : row->delta;
	sim.log = log;
	sim.state = 20261122 + (uint64_t)(row - rows);
	for (size_t i = 0; i < n; i++) {
		struct outcome out = run_bench(&sim);
		bool shown = out.word == VERDICT_FASTER || out.word == VERDICT_SLOWER;
		bool held = out.lo <= sim.delta && sim.delta <= out.hi;

		t.found += shown && out.mean * sim.delta > 0.0;
		t.wrong += shown && !(out.mean * sim.delta > 0.0);
		t.same += out.word == VERDICT_SAME;
		t.same_wrong += out.word == VERDICT_SAME && sim.apart;
		t.covered += held;
		t.blocks += (double)out.blocks;
		t.early += out.early;
		t.covered_early += out.early && held;
		t.bias += out.early ? out.mean / sim.delta - 1.0 : 0.0;
	}
	t.covered_early *= 100.0 / t.early;
	t.bias *= 100.0 / t.early;
	t.wrong *= 100.0 / (double)n;
	t.same_wrong *= 100.0 / (double)n;
	t.found *= 100.0 / (double)n;
	t.same *= 100.0 / (double)n;
	t.covered *= 100.0 / (double)n;
	t.early *= 100.0 / (double)n;
	t.blocks /= (double)n;
	t.delta = sim.delta;
	return t;
}

/* Is the share within its bound, with a tolerance that chance exceeds in one of 1000 rows? */
static bool is_within(double share, double bound, double sign, size_t n)
{
	double p = bound / 100.0;
	double chance = n >= 4000 ? 0.0 : 3.3 * sqrt(p * (1.0 - p) / (double)n);

	return sign * (share - bound) >= -100.0 * chance;
}

static void check_row(const struct row *row, const struct run_log *log, size_t n)
{
	struct tally t = run_row(row, log, n);

	printf("# | %s%s%s | %zu x %zu | %s | %.1f | %.2g | "
	       "%.2f | %.1f | %.1f | %.2f | %.1f | %.2f | %.0f | %.1f | %+.1f |\n",
	       row->name, row->looks == LOOKS_HAYBITTLE ? " (H-P)" : "",
	       row->reps > 1	 ? ", 2 runs"
	       : row->same_noise ? ", declared the same"
				 : "",
	       row->pods, row->blocks, row->aa ? "yes" : "no", 100.0 * t.delta, row->variant,
	       t.wrong, t.found, t.same, t.same_wrong, t.covered, t.blocks, t.early,
	       t.covered_early, t.bias);
	if (row->most_wrong > 0.0)
		ok(is_within(t.wrong, row->most_wrong, -1.0, n),
		   "%s, %s A/A arm: %.2f %% false verdicts", row->name,
		   row->aa ? "with" : "without", t.wrong);
	if (row->pods == 2)
		ok(is_within(t.same_wrong, 5.5, -1.0, n), "%s: %.2f %% falsely SAME", row->name,
		   t.same_wrong);
	if (row->pods == 2 && row->pods_sd + row->delta == 0.0)
		ok(is_within(t.same, 45.0, 1.0, n), "%s: the verdict is SAME in %.1f %%", row->name,
		   t.same);
	if (row->least_covered > 0.0)
		ok(is_within(t.covered, row->least_covered, 1.0, n),
		   "%s at %.1f %%: the interval covers the truth in %.1f %%", row->name,
		   100.0 * row->delta, t.covered);
	if (row->least_found > 0.0)
		ok(is_within(t.found, row->least_found, 1.0, n),
		   "%s: the difference is found in %.1f %%", row->name, t.found);
	if (row->variants > 0)
		ok(is_within(t.found, 78.0, 1.0, n) && is_within(t.found, 82.0, -1.0, n),
		   "%s, %zu blocks, %s A/A arm: a difference of %.2f %% is shown in %.1f %%",
		   row->name, row->blocks, row->aa ? "with" : "without", 100.0 * t.delta, t.found);
}

/* A sanitizer slows this down four times. */
#ifdef __SANITIZE_ADDRESS__
#define LEAST 40
#else
#define LEAST 100
#endif

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : LEAST;
	struct format_set *formats = format_set_new_builtin();
	const struct run_log_rule how = {
		.formats = formats, .force = true, .kind = RUN_LOG_SCORE, .score_key = "median_us"
	};
	struct run_log log;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (run_log_parse(&log, "x",
			  str_from("{\"status\": \"passed\", \"verified\": true, \"score\": 1, "
				   "\"median_us\": 1}"),
			  &how, NULL) != 0)
		return 1;
	printf("# | noise | pods x blocks | A/A | true %% | spread of B | false"
	       " %% | found %% | same %% | falsely same %% |"
	       " covered %% | blocks | early %% | covered, early %% | bias, early %% |\n");
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct row *r = &rows[i];
		bool is_checked = r->most_wrong + r->least_covered + r->least_found > 0.0 ||
				  r->variants > 0 || r->pods == 2;

		/* Rows with many looks take long. */
		if (argc < 3 ? n >= 1000 || (is_checked && r->blocks <= 12)
			     : strtoul(argv[2], NULL, 10) == i)
			check_row(r, &log, n);
	}
	run_log_release(&log);
	format_set_free(formats);
	return tap_done();
}
