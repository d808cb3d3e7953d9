/* SPDX-License-Identifier: MIT */
/*
 * Runs that stand far out, what was seen in them, and what they did to the
 * comparison; called by judge.c.  No run is removed for its value.
 */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/judge_priv.h"
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
	const struct judge_run *other = NULL;
	double *x = judge_room(judge), median;
	size_t n = 0;

	while ((other = judge_next(judge, run->arm, other)) != NULL)
		if (other != run && other->health != NULL &&
		    judge_is_usable(other) &&
		    !isnan(value_of(other->health, trait)))
			x[n++] = value_of(other->health, trait);
	median = stats_median(x, n);
	free(x);
	return median;
}

static void __attribute__((format(printf, 2, 3)))
add_seen(struct judge_run *run, const char *format, ...)
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

/* Where its telemetry differs from its siblings'. */
static void
explain(const struct judge *judge, struct judge_run *run)
{
	const struct health_sum *health = run->health;
	size_t known = 0, i;

	if (health == NULL) {
		add_seen(run, "no telemetry of it");
		return;
	}
	if (health->reasons & HEALTH_THROTTLE)
		add_seen(run, "throttled (bits 0x%lx)",
			 health->reasons & HEALTH_THROTTLE);
	if (health->foreign[0] != '\0')
		add_seen(run, "another program on its GPUs (%s)",
			 health->foreign);
	for (i = 0; i < sizeof(traits) / sizeof(traits[0]); i++) {
		const struct trait *t = &traits[i];
		double own = value_of(health, t);
		double others = others_median(judge, run, t);
		double away = fabs(own - others);

		known += isnan(away) ? 0 : 1;
		if (away > t->least && away > t->share * others)
			add_seen(run, "%s%.*f%s (others %.*f)", t->before,
				 t->decimals, own, t->after, t->decimals,
				 others);
	}
	if (run->seen[0] == '\0')
		add_seen(run, known > 0 ? "its telemetry is like that of its "
					  "siblings"
					: "no telemetry to hold against it");
}

void
judge_mark_outliers(struct judge *judge)
{
	struct judge_run *run;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_summary *s;

		run = &judge->runs[i];
		s = &judge->summary[run->arm];
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
	for (run = NULL; (run = judge_next(judge, JUDGE_ANY, run)) != NULL;)
		if (run->outlier)
			explain(judge, run);
}

bool
judge_blows_up(const struct judge_contrast *c, const struct judge_run *run)
{
	double away = fabs(log(run->times_median));

	return run->outlier && (run->arm == 0 || run->arm == c->arm) &&
	       away > SWOLLEN * c->robust_sd && away > c->block_sd / 2.0;
}

void
judge_weigh_outliers(const struct judge *judge, struct judge_contrast *c)
{
	const struct paired_rule *rule = &judge->rule.paired;
	double *d = judge_room(judge);
	size_t n = judge_collect_d(c, JUDGE_ANY, d);
	struct paired whole = paired_compare(d, n, rule);

	c->robust_sd =
		n >= LEAST_VALUES ? MAD_TO_SD * stats_mad(d, n) : (double)NAN;
	c->block_sd = whole.sd;
	/* Without any spread chance has nothing to be held against. */
	if (n >= VERDICT_MIN_BLOCKS && whole.sd == 0.0)
		guard_add(&c->hits, GUARD_NO_SPREAD, false,
			  "all %zu blocks differ by the same: it is computed, "
			  "or measured too coarsely to spread; p says nothing",
			  n);
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if ((run->arm == 0 || run->arm == c->arm) && run->outlier)
			c->n_outliers++;
		c->n_blowing += judge_blows_up(c, run) ? 1 : 0;
	}
	for (size_t i = 0; i < n; i++)
		c->n_agree += d[i] * c->paired.hl > 0.0 ? 1 : 0;
	c->swollen = c->n_blowing > 0 && whole.sd > SWOLLEN * c->robust_sd;
	c->blocks_to_hl = paired_blocks_needed(whole.sd, fabs(whole.hl),
					       rule->alpha, rule->power);
	free(d);
}
