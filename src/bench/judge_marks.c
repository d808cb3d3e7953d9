/* SPDX-License-Identifier: MIT */
/*
 * Runs that stand far out, what was seen in them, and what they did to the
 * comparison; called by judge.c.  No run is removed for its value.
 */
#include "config.h"

#include "bench/judge_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/stats.h"

/* Marks in shape of a modified z score. */
#define OUTLIER_Z    3.5
#define MAD_TO_SD    1.4826
#define LEAST_VALUES 4
/* Where over half of an arm's runs are equal, the mad is 0 and says nothing:
 * a run is far out when it is away by this share. */
#define TIED_SHARE 0.01
/* An interval this much wider than the middle of the blocks is swollen. */
#define SWOLLEN 3.0
/* Rows that appear faster than that were written in a heap. */
#define TIMELY_SHARE 0.9
/* What a clock may be off before it is told of. */
#define LOG_CLOCK_SHARE 0.05
/* Where neither a pause nor a buffer can be in it. */
#define LOG_CLOCK_PACED_SHARE 0.01
#define LOG_CLOCK_PACED_S     1.0
/* Soft marks between arms: mean SM clock, share of power-capped samples. */
#define SM_CLOCK_SHARE	0.01
#define POWER_CAP_SHARE 0.10

/* A number of the health of a run that may explain it. */
struct trait {
	size_t offset; /* of a double in struct health_sum */
	double least;  /* a difference smaller than this says nothing */
	double share;  /* nor one smaller than this share of the others' */
	const char *before;
	int decimals;
	const char *after;
};

#define AT(field) offsetof(struct health_sum, field)

static const struct trait traits[] = {
	{ AT(sm_mhz), 20.0, 0.02, "SM clock ", 0, " MHz" },
	{ AT(util_pct), 15.0, 0.2, "GPU utilised ", 0, "%" },
	{ AT(temp_c), 10.0, 0.1, "GPU at ", 0, " C" },
	{ AT(power_w), 30.0, 0.15, "power ", 0, " W" },
	{ AT(power_cap_share), 0.2, 0.2, "power cap in ", 2, " of samples" },
	{ AT(wait_s), 0.05, 1.0, "waited for a CPU ", 2, " s" },
	{ AT(quota_s), 0.05, 1.0, "held by the CPU quota ", 2, " s" },
	{ AT(steal_s), 0.1, 1.0, "CPU stolen ", 2, " s" },
	{ AT(busy_cores), 0.5, 0.25, "cores busy on the host ", 1, "" },
};

static double
value_of(const struct health_sum *health, const struct trait *trait)
{
	double value;

	memcpy(&value, (const char *)health + trait->offset, sizeof(value));
	return value;
}

/* The median of a trait over the arm's other runs; NAN: unknown. */
static double
others_median(const struct judge *judge, const struct judge_run *run,
	      const struct trait *trait)
{
	double *x = xmalloc((judge->n_runs + 1) * sizeof(*x)), median;
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *other = &judge->runs[i];
		double value;

		if (other == run || other->arm != run->arm ||
		    other->health == NULL || !judge_is_usable(other))
			continue;
		value = value_of(other->health, trait);
		if (!isnan(value))
			x[n++] = value;
	}
	median = stats_median(x, n);
	free(x);
	return median;
}

static void __attribute__((format(printf, 2, 3)))
say(struct judge_run *run, const char *format, ...)
{
	size_t len = strlen(run->seen);
	va_list ap;

	if (len > 0 && len + 3 < sizeof(run->seen)) {
		memcpy(run->seen + len, "; ", 3);
		len += 2;
	}
	va_start(ap, format);
	(void)vsnprintf(run->seen + len, sizeof(run->seen) - len, format, ap);
	va_end(ap);
}

/* A nearer look: where its telemetry differs from its siblings'. */
static void
explain(const struct judge *judge, struct judge_run *run)
{
	const struct health_sum *health = run->health;
	size_t known = 0, i;

	run->seen[0] = '\0';
	if (health == NULL) {
		say(run, "no telemetry of it");
		return;
	}
	if (health->reasons & HEALTH_THROTTLE)
		say(run, "throttled (bits 0x%lx)",
		    health->reasons & HEALTH_THROTTLE);
	if (health->foreign[0] != '\0')
		say(run, "another program on its GPUs (%s)", health->foreign);
	for (i = 0; i < sizeof(traits) / sizeof(traits[0]); i++) {
		double own = value_of(health, &traits[i]);
		double others = others_median(judge, run, &traits[i]);
		double away = fabs(own - others);

		known += isnan(away) ? 0 : 1;
		if (away > traits[i].least && away > traits[i].share * others)
			say(run, "%s%.*f%s (others %.*f)", traits[i].before,
			    traits[i].decimals, own, traits[i].after,
			    traits[i].decimals, others);
	}
	if (run->seen[0] == '\0')
		say(run, known > 0 ? "its telemetry is like that of its "
				     "siblings"
				   : "no telemetry to hold against it");
}

void
judge_mark_outliers(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];
		const struct judge_summary *s = &judge->summary[run->arm];

		run->z = run->times_median = (double)NAN;
		run->seen[0] = '\0';
		if (!judge_is_usable(run))
			continue;
		run->times_median = run->y / s->median;
		if (s->n < LEAST_VALUES)
			continue;
		if (s->mad > 0.0)
			run->z = (run->y - s->median) / (MAD_TO_SD * s->mad);
		run->outlier = s->mad > 0.0 ? fabs(run->z) > OUTLIER_Z
					    : fabs(run->times_median - 1.0) >
						      TIED_SHARE;
		if (run->outlier)
			guard_add(&run->hits, GUARD_HELD, false,
				  "%.4g, the arm's median is %.4g", run->y,
				  s->median);
	}
	for (size_t i = 0; i < judge->n_runs; i++)
		if (judge->runs[i].outlier)
			explain(judge, &judge->runs[i]);
}

bool
judge_blows_up(const struct judge_contrast *c, const struct judge_run *run)
{
	double away = fabs(log(run->times_median));

	return run->outlier && (run->arm == 0 || run->arm == c->arm) &&
	       away > SWOLLEN * c->robust_sd && away > c->block_sd / 2.0;
}

/* Blocks without any spread leave chance nothing to be held against. */
static void
mark_no_spread(struct judge_contrast *c)
{
	if (c->n_blocks >= VERDICT_MIN_BLOCKS && c->block_sd == 0.0)
		guard_add(&c->hits, GUARD_NO_SPREAD, false,
			  "all %zu blocks differ by the same: it is computed, "
			  "or measured too coarsely to spread; p says nothing",
			  c->n_blocks);
}

void
judge_weigh_outliers(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_rule *rule = &judge->rule;
	struct paired whole = paired_compare(c->d, c->n_blocks, &rule->paired);

	c->robust_sd = c->n_blocks >= LEAST_VALUES
			       ? MAD_TO_SD * stats_mad(c->d, c->n_blocks)
			       : (double)NAN;
	c->block_sd = whole.sd;
	mark_no_spread(c);
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if ((run->arm == 0 || run->arm == c->arm) && run->outlier)
			c->n_outliers++;
		c->n_blowing += judge_blows_up(c, run) ? 1 : 0;
	}
	for (size_t i = 0; i < c->n_blocks; i++)
		if (c->d[i] * c->paired.hl > 0.0)
			c->n_agree++;
	c->swollen = c->n_blowing > 0 && whole.sd > SWOLLEN * c->robust_sd;
	c->blocks_to_hl =
		paired_blocks_needed(whole.sd, fabs(whole.hl),
				     rule->paired.alpha, rule->paired.power);
}

/* The mean of a trait over an arm's usable runs; NAN: unknown. */
static double
arm_mean(const struct judge *judge, size_t arm, size_t offset)
{
	const struct trait trait = { .offset = offset };
	double sum = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		double value;

		if (run->arm != arm || run->health == NULL ||
		    !judge_is_usable(run))
			continue;
		value = value_of(run->health, &trait);
		if (isnan(value))
			continue;
		sum += value;
		n++;
	}
	return n > 0 ? sum / (double)n : (double)NAN;
}

/* Did the rows appear as fast as the log's clock says they were made? */
static bool
is_timely(const struct health_sum *h)
{
	return h->printed_s > 0.0 &&
	       h->shown_most_s > TIMELY_SHARE * h->printed_s;
}

/*
 * A log's clock that is slower or faster than the pod's in one arm alone: more
 * time passed between its rows than it says, by more than what passed between
 * the control's.  Pauses that both make (a validation) are in both; where rows
 * came one by one and nothing was between them, less is enough.
 */
static void
compare_log_clocks(const struct judge *judge, struct judge_contrast *c)
{
	size_t printed = offsetof(struct health_sum, printed_s);
	size_t least = offsetof(struct health_sum, shown_least_s);
	size_t most = offsetof(struct health_sum, shown_most_s);
	double a = arm_mean(judge, 0, printed), b, margin;
	bool paced = true;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if ((run->arm != 0 && run->arm != c->arm) ||
		    !judge_is_usable(run))
			continue;
		if (run->health == NULL || !is_timely(run->health))
			return;
		paced &= run->health->paced;
	}
	margin = paced ? LOG_CLOCK_PACED_S + LOG_CLOCK_PACED_SHARE * a
		       : LOG_CLOCK_SHARE * a;
	margin = fmin(margin, LOG_CLOCK_SHARE * a);
	b = arm_mean(judge, c->arm, printed);
	if (arm_mean(judge, c->arm, least) - b >
	    arm_mean(judge, 0, most) - a + margin)
		guard_add(&c->hits, GUARD_LOG_CLOCK, false,
			  "its window took %.1f s by its log, %.1f s or more "
			  "by the pod's clock; the control's %.1f s, and %.1f "
			  "s at most",
			  b, arm_mean(judge, c->arm, least), a,
			  arm_mean(judge, 0, most));
}

void
judge_compare_health(const struct judge *judge, struct judge_contrast *c)
{
	size_t clock = offsetof(struct health_sum, sm_mhz);
	size_t cap = offsetof(struct health_sum, power_cap_share);
	double a = arm_mean(judge, 0, clock);
	double b = arm_mean(judge, c->arm, clock);

	if (fabs(b / a - 1.0) > SM_CLOCK_SHARE)
		guard_add(&c->hits, GUARD_SM_CLOCK, false,
			  "%.0f MHz in the mean, the control %.0f", b, a);
	a = arm_mean(judge, 0, cap);
	b = arm_mean(judge, c->arm, cap);
	if (fabs(b - a) > POWER_CAP_SHARE)
		guard_add(&c->hits, GUARD_POWER_CAP, false,
			  "in %.0f%% of its samples, in %.0f%% of the "
			  "control's",
			  100.0 * b, 100.0 * a);
	compare_log_clocks(judge, c);
}
