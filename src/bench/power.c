/* SPDX-License-Identifier: MIT */
/* Simulate a planned bench to find what it will show. */
#include "bench/power.h"

#include "base/dist.h"
#include "base/sort.h"
#include "bench/schedule.h"
#include "bench/verdict.h"

/* Longer benches are extrapolated from this many blocks. */
#define MOST_SIMULATED 24
#define MOST_BLOCKS    1000
/* Number of blocks of one variant that are simulated for one answer, in at most MOST_TRIALS
 * benches. The power at the answer is then within about 1 % of rule.power. */
#define WORK	    48000
#define MOST_TRIALS 8000

/* Quantiles of t at 1/df = i / GRID, for df from 1 to infinity; interpolated in between. */
#define GRID 64

struct quantiles {
	double level; /* two-sided */
	double ln[GRID + 1];
};

static double get_ln_quantile(struct quantiles *q, size_t i)
{
	double df = i == 0 ? (double)INFINITY : (double)GRID / (double)i;

	if (q->ln[i] == 0.0)
		q->ln[i] = log(dist_t_quantile(1.0 - q->level / 2.0, df));
	return q->ln[i];
}

static double get_quantile(struct quantiles *q, double df)
{
	double at = fmin(GRID / df, GRID), share = at - floor(at);
	double ln = get_ln_quantile(q, (size_t)at);

	if (share > 0.0)
		ln += share * (get_ln_quantile(q, (size_t)at + 1) - ln);
	return exp(ln);
}

/* The mean beyond which p is below the level. */
static double find_bar(const struct paired_error *all, const struct paired_error *own,
		       struct quantiles *level, struct quantiles *own_level)
{
	double bar = all->se * get_quantile(level, all->df);

	return isnan(own->se) ? bar : fmax(bar, own->se * get_quantile(own_level, own->df));
}

struct simulation {
	struct power_plan plan;
	uint64_t state;
	struct quantiles level[MOST_SIMULATED + 1], own[MOST_SIMULATED + 1]; /* per look */
	struct quantiles alpha;
	struct paired_block blocks[SCHEDULE_MAX_ARMS][MOST_SIMULATED]; /* of each variant */
};

static double draw_normal(struct simulation *s)
{
	double u = ((double)(splitmix64_next(&s->state) >> 11) + 0.5) * 0x1p-53;
	double angle = 2.0 * M_PI * ((double)(splitmix64_next(&s->state) >> 11) * 0x1p-53);

	return sqrt(-2.0 * log(u)) * cos(angle);
}

/* Draw all blocks of one pod.  Each arm's runs take their places in the schedule. */
static void draw_pod(struct simulation *s, size_t pod)
{
	const struct power_plan *plan = &s->plan;
	size_t n_arms = 1 + plan->variants + (plan->aa ? 1 : 0), n = plan->looks.planned;
	unsigned char order[SCHEDULE_MAX_ARMS * SCHEDULE_MAX_ROUNDS];
	double effect[SCHEDULE_MAX_ARMS] = { 0 };
	const unsigned char *at = order;

	schedule_fill(order, n_arms, (n / plan->pods + 1) * plan->reps, splitmix64_next(&s->state));
	for (size_t v = 1; v <= plan->variants && plan->pods > 1; v++)
		effect[v] = plan->pods_sd * draw_normal(s);
	for (size_t i = pod; i < n; i += plan->pods) {
		double y[SCHEDULE_MAX_ARMS] = { 0 }, place[SCHEDULE_MAX_ARMS] = { 0 };

		for (size_t k = 0; k < n_arms * plan->reps; k++)
			place[*at++] += (double)k / (double)plan->reps;
		for (size_t arm = 0; arm < n_arms; arm++)
			y[arm] = plan->sd * M_SQRT1_2 * draw_normal(s);
		double aa = plan->aa ? y[0] - y[n_arms - 1] : (double)NAN;
		double aa_place = plan->aa ? place[0] - place[n_arms - 1] : 0.0;
		for (size_t v = 1; v <= plan->variants; v++)
			s->blocks[v - 1][i] = (struct paired_block){
				.d = y[0] - y[v] + effect[v] - (plan->aa ? aa / 2.0 : 0.0),
				.aa = aa,
				.place = place[0] - place[v] - aa_place / 2.0,
				.aa_place = aa_place,
			};
	}
}

struct look {
	double mean, bar, half; /* p is below the level if |mean| > bar, below alpha if > half */
	bool is_precise;	/* the interval is narrow enough to stop */
};

static bool are_pods_apart(const struct simulation *s, size_t variant, size_t n, struct paired *p)
{
	struct paired_block part[2][MOST_SIMULATED], means[2];
	double mean[2], sd[2], blocks[2] = { 0.0, 0.0 };

	for (size_t i = 0; i < n; i++)
		part[i % 2][(size_t)blocks[i % 2]++] = s->blocks[variant][i];
	for (int pod = 0; pod < 2; pod++) {
		struct paired own = paired_estimate(part[pod], (size_t)blocks[pod], &s->plan.rule);

		mean[pod] = own.mean;
		sd[pod] = own.sd;
		means[pod] = (struct paired_block){ .d = own.mean, .aa = (double)NAN };
	}
	if (!(multi_pods(mean, sd, blocks, 2).p < PODS_DIFFER_P))
		return false;
	*p = paired_estimate(means, 2, &s->plan.rule);
	return true;
}

static struct look take_look(struct simulation *s, size_t variant, size_t n)
{
	const struct power_plan *plan = &s->plan;
	double between = plan->pods == 2 ? plan->pods_sd * plan->pods_sd / 2.0 : 0.0;
	struct paired p = paired_estimate(s->blocks[variant], n, &plan->rule);

	if (plan->pods == 2 && are_pods_apart(s, variant, n, &p))
		between = 0.0;
	struct paired_error all = { p.se, p.df };
	paired_error_add(&all, between);
	paired_error_add(&p.own, between);
	struct look look = {
		.mean = p.mean,
		.bar = find_bar(&all, &p.own, &s->level[n], &s->own[n]),
		.half = find_bar(&all, &p.own, &s->alpha, &s->alpha),
	};
	look.is_precise = look.half <= log1p(plan->rule.margin) / 2.0;
	return look;
}

/* Are all variants that equal the control decided, so that the bench ends? */
static bool are_others_decided(struct simulation *s, size_t n)
{
	for (size_t v = 1; v < s->plan.variants; v++) {
		struct look look = take_look(s, v, n);

		if (fabs(look.mean) <= look.bar &&
		    !(look.is_precise && fabs(look.mean) <= look.half))
			return false;
	}
	return true;
}

/* Simulate one bench with random noise, and return the smallest true difference it would show. */
static double run_bench(struct simulation *s)
{
	const struct looks *looks = &s->plan.looks;
	double least = (double)INFINITY, floor = -(double)INFINITY;

	for (size_t pod = 0; pod < s->plan.pods; pod++)
		draw_pod(s, pod);
	for (size_t n = looks->first; n <= looks->planned; n++) {
		if (n < looks->planned && (looks->kind == LOOKS_NONE || !are_others_decided(s, n)))
			continue;
		struct look look = take_look(s, 0, n);
		least = fmin(least, fmax(floor, look.bar - look.mean));
		/* With a smaller true difference, the bench stops here and shows none. */
		if (look.is_precise)
			floor = fmax(floor, look.half - look.mean);
	}
	return least;
}

/* The textbook formula, without looks and places.  Only ratios of it are used. */
static double by_formula(const struct power_plan *plan, size_t n)
{
	double between = plan->pods == 2 ? plan->pods_sd * plan->pods_sd / 2.0 : 0.0;
	double df = (double)n - 1.0, var = plan->sd * plan->sd * (plan->aa ? 0.75 : 1.0);

	return (dist_t_quantile(1.0 - plan->rule.alpha / 2.0, df) +
		dist_t_quantile(plan->rule.power, df)) *
	       sqrt(var / (double)n + between);
}

static double simulate(const struct power_plan *plan, size_t work)
{
	AUTO_FREE struct simulation *s = xcalloc(1, sizeof(*s));
	size_t n = plan->looks.planned, trials = work / (n * plan->variants);
	double alpha = plan->rule.alpha;

	trials = trials < MOST_TRIALS ? trials : MOST_TRIALS;
	AUTO_FREE double *least = xcalloc(trials, sizeof(*least));
	s->plan = *plan;
	s->state = 1;
	s->alpha.level = alpha;
	for (size_t k = plan->looks.first; k <= n; k++) {
		s->level[k].level =
			looks_level(&plan->looks, k, k == n, alpha / (double)plan->variants);
		s->own[k].level = paired_own_level(s->level[k].level, alpha);
	}
	for (size_t i = 0; i < trials; i++)
		least[i] = run_bench(s);
	sort_doubles(least, trials);
	return least[(size_t)(plan->rule.power * (double)trials)];
}

static double detect(const struct power_plan *given, size_t work)
{
	struct power_plan plan = *given;
	size_t n = plan.looks.planned;

	/* The means of three pods or more are compared instead of blocks. */
	if (plan.pods > 2) {
		plan.sd /= sqrt((double)n / (double)plan.pods);
		plan.looks = (struct looks){ LOOKS_NONE, VERDICT_MIN_BLOCKS, plan.pods };
		plan.aa = false;
		n = plan.pods;
		plan.pods = 1;
	}
	if (n < VERDICT_MIN_BLOCKS || isnan(plan.sd))
		return (double)NAN;
	plan.looks.planned = n < MOST_SIMULATED ? n : MOST_SIMULATED;
	if (plan.looks.first > plan.looks.planned)
		plan.looks.first = plan.looks.planned;
	if (n <= MOST_SIMULATED)
		return simulate(&plan, work);
	return simulate(&plan, work) * by_formula(&plan, n) / by_formula(&plan, MOST_SIMULATED);
}

double power_detectable(const struct power_plan *plan)
{
	return detect(plan, WORK);
}

size_t power_blocks(const struct power_plan *given, double delta)
{
	struct power_plan plan = *given;
	size_t low = VERDICT_MIN_BLOCKS;

	if (!(plan.sd >= 0.0) || !(delta > 0.0))
		return 0;
	/* Few blocks are simulated, from about the number that the formula gives. */
	while (low < MOST_SIMULATED && by_formula(&plan, low) > 1.2 * delta)
		low++;
	for (; low < MOST_SIMULATED; low++) {
		plan.looks.planned = low;
		if (detect(&plan, WORK / 8) <= delta)
			return low;
	}
	plan.looks.planned = MOST_SIMULATED;
	delta *= by_formula(&plan, MOST_SIMULATED) / detect(&plan, WORK / 8);
	low += bisect(MOST_BLOCKS + 1 - low, i, !(by_formula(&plan, low + i) <= delta));
	return low <= MOST_BLOCKS ? low : 0;
}
