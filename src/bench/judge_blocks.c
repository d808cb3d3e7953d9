/* SPDX-License-Identifier: MIT */
/* Runs to blocks, blocks to contrasts; called by judge.c. */
#include "config.h"

#include "bench/judge_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "bench/stats.h"

/* Pods from which their means, not their blocks, are what is compared. */
#define PODS_AS_UNITS 3
/* Blocks of a pod from which it is held against the other pods. */
#define PODS_LEAST_BLOCKS 3
/* Their spread is more than chance. */
#define POD_P 0.05

bool
judge_is_usable(const struct judge_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);

	/* Work that differs is shown, but makes its variant INVALID. */
	return run->counted && run->y > 0.0 && isfinite(run->y) &&
	       (hit == NULL || hit->guard == GUARD_WORK ||
		hit->guard == GUARD_SAME);
}

bool
judge_is_main(const struct judge_run *run)
{
	return run->counted && !run->fresh;
}

static void
drop(struct judge *judge, const struct judge_run *run, const char *why)
{
	struct judge_dropped *dropped;

	if (judge->n_dropped == JUDGE_MAX_DROPPED)
		return;
	judge->dropped = xgrow(judge->dropped, judge->n_dropped,
			       &judge->cap_dropped, sizeof(*judge->dropped));
	dropped = &judge->dropped[judge->n_dropped++];
	dropped->pod = run->pod;
	dropped->block = run->block;
	dropped->arm = run->arm;
	(void)snprintf(dropped->reason, sizeof(dropped->reason), "%s: %s",
		       judge->arms[run->arm].tag, why);
}

void
judge_drop(struct judge *judge, const struct judge_run *run)
{
	const struct guard_hit *hit = guard_hard(&run->hits);
	char why[200];

	if (hit == NULL) {
		drop(judge, run, "no measurement");
		return;
	}
	(void)snprintf(why, sizeof(why), "%s: %s", guard_word(hit->guard),
		       hit->text);
	drop(judge, run, why);
}

void
judge_summarize(struct judge *judge, size_t arm)
{
	struct judge_summary *s = &judge->summary[arm];
	double *y = xmalloc((judge->n_runs + 1) * sizeof(*y));
	double *legacy = xmalloc((judge->n_runs + 1) * sizeof(*y));
	size_t n_legacy = 0;

	*s = (struct judge_summary){ 0 };
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != arm || !judge_is_main(run))
			continue;
		if (judge_is_usable(run))
			y[s->n++] = run->y;
		else
			s->n_invalid++;
		if (!isnan(run->legacy.mean))
			legacy[n_legacy++] = run->legacy.mean;
	}
	s->min = stats_min(y, s->n);
	s->median = stats_median(y, s->n);
	s->max = stats_max(y, s->n);
	s->mad = stats_mad(y, s->n);
	s->spread_pct = 100.0 * (s->max - s->min) / s->median;
	s->legacy_mean = stats_mean(legacy, n_legacy);
	free(legacy);
	free(y);
}

/* The y of all usable runs of an arm. */
static size_t
collect(const struct judge *judge, size_t arm, double *y, bool as_log)
{
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++)
		if (judge->runs[i].arm == arm &&
		    judge_is_main(&judge->runs[i]) &&
		    judge_is_usable(&judge->runs[i]))
			y[n++] = as_log ? log(judge->runs[i].y)
					: judge->runs[i].y;
	return n;
}

void
judge_compare_unblocked(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_summary *a = &judge->summary[0];
	const struct judge_summary *b = &judge->summary[c->arm];
	double *x = xmalloc((judge->n_runs + 1) * sizeof(*x));
	double *y = xmalloc((judge->n_runs + 1) * sizeof(*y));
	double alpha = judge->rule.paired.alpha;
	size_t n = collect(judge, 0, x, true);
	size_t m = collect(judge, c->arm, y, true);

	c->welch = multi_welch(x, n, y, m, alpha);
	n = collect(judge, 0, x, false);
	m = collect(judge, c->arm, y, false);
	c->rank = rank_mann_whitney(x, n, y, m, alpha);
	c->median_delta_pct = 100.0 * (b->median / a->median - 1.0);
	c->min_delta_pct = 100.0 * (b->min / a->min - 1.0);
	c->legacy_pct = 100.0 * (b->legacy_mean / a->legacy_mean - 1.0);
	free(x);
	free(y);
}

/* The pod's entry in the contrast, made when it is new. */
static size_t
pod_entry(struct judge_contrast *c, size_t pod)
{
	for (size_t i = 0; i < c->n_pods; i++)
		if (c->pods[i].pod == pod)
			return i;
	c->pods = xreallocarray(c->pods, c->n_pods + 1, sizeof(*c->pods));
	c->pods[c->n_pods] = (struct judge_pod){ .pod = pod };
	return c->n_pods++;
}

/* The pods' own results, and how far they agree. */
static void
compare_pods(const struct judge *judge, struct judge_contrast *c,
	     const size_t *pod_of)
{
	double *d = xmalloc((c->n_blocks + 1) * sizeof(*d));
	double *means = xmalloc((c->n_pods + 1) * sizeof(*d));
	double *ses = xmalloc((c->n_pods + 1) * sizeof(*d));

	for (size_t p = 0; p < c->n_pods; p++) {
		size_t n = 0;

		for (size_t i = 0; i < c->n_blocks; i++)
			if (pod_of[i] == c->pods[p].pod)
				d[n++] = c->d[i];
		c->pods[p].paired = paired_compare(d, n, &judge->rule.paired);
		means[p] = c->pods[p].paired.mean;
		/* A spread of two values says nothing of a spread. */
		ses[p] = n >= PODS_LEAST_BLOCKS ? c->pods[p].paired.se
						: (double)NAN;
	}
	c->spread = multi_pods(means, ses, c->n_pods);
	c->pods_differ = c->spread.p_q < POD_P;
	c->across_pods = c->n_pods >= PODS_AS_UNITS;
	c->paired = c->across_pods ? paired_compare(means, c->n_pods,
						    &judge->rule.paired)
				   : paired_compare(c->d, c->n_blocks,
						    &judge->rule.paired);
	free(d);
	free(means);
	free(ses);
}

bool
judge_is_first(const struct judge *judge, const struct judge_run *run)
{
	for (const struct judge_run *other = judge->runs; other < run; other++)
		if (other->counted && other->arm == run->arm &&
		    other->pod == run->pod && other->block == run->block)
			return false;
	return true;
}

double
judge_block_y(const struct judge *judge, size_t arm, size_t pod, size_t block)
{
	double y[JUDGE_MAX_REPS];
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != arm || run->pod != pod || run->block != block ||
		    !run->counted)
			continue;
		if (!judge_is_usable(run) || n == JUDGE_MAX_REPS)
			return (double)NAN;
		y[n++] = run->y;
	}
	return stats_median(y, n);
}

/* Has the arm any run in that block? */
static bool
has_runs(const struct judge *judge, size_t arm, const struct judge_run *like)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm == arm && run->counted && run->pod == like->pod &&
		    run->block == like->block)
			return true;
	}
	return false;
}

/* Did the pod do something in that block that is nobody's speed?  Then it
 * goes for all arms. */
static bool
is_spoiled(const struct judge *judge, const struct judge_run *like)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		const struct guard_hit *hit = guard_hard(&run->hits);

		if (hit != NULL && run->counted && run->pod == like->pod &&
		    run->block == like->block &&
		    (hit->guard == GUARD_THROTTLED ||
		     hit->guard == GUARD_FOREIGN || hit->guard == GUARD_CLOCK ||
		     hit->guard == GUARD_LOST))
			return true;
	}
	return false;
}

void
judge_gather(const struct judge *judge, struct judge_contrast *c, bool fresh)
{
	size_t *pod_of = xmalloc((judge->n_runs + 1) * sizeof(*pod_of));

	c->d = xmalloc((judge->n_runs + 1) * sizeof(*c->d));
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		double a, b;

		if (run->arm != c->arm || !run->counted ||
		    run->fresh != fresh || !judge_is_first(judge, run) ||
		    is_spoiled(judge, run))
			continue;
		a = judge_block_y(judge, c->base, run->pod, run->block);
		b = judge_block_y(judge, c->arm, run->pod, run->block);
		if (isnan(a) || isnan(b))
			continue;
		pod_of[c->n_blocks] = run->pod;
		c->d[c->n_blocks++] = log(a) - log(b);
		pod_entry(c, run->pod);
	}
	compare_pods(judge, c, pod_of);
	free(pod_of);
}

/* Blocks of the control that stand alone, in logs that somebody brought. */
static void
drop_lonely(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		bool lonely = run->arm == 0 && judge_is_main(run) &&
			      run->state == RUN_STATE_CLAIMED &&
			      judge_is_usable(run) &&
			      judge_is_first(judge, run);

		for (size_t arm = 1; lonely && arm < judge->n_arms; arm++)
			lonely = !has_runs(judge, arm, run);
		if (lonely)
			drop(judge, run, "no other arm has a run in its block");
	}
}

/* All blocks in which both the control and the variant can be used. */
void
judge_collect_blocks(struct judge *judge, struct judge_contrast *c)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != c->arm || !run->counted)
			continue;
		if (!judge_is_usable(run))
			judge_drop(judge, run);
		else if (judge_is_first(judge, run) && !has_runs(judge, 0, run))
			drop(judge, run, "the control has no run in its block");
	}
	if (c->arm == 1)
		drop_lonely(judge);
	judge_gather(judge, c, false);
}

void
judge_block_means(const struct judge *judge, const struct judge_contrast *c,
		  double *control, double *variant)
{
	double a = 0.0, b = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		double of_control, of_variant;

		if (run->arm != c->arm || !judge_is_main(run) ||
		    !judge_is_first(judge, run) || is_spoiled(judge, run))
			continue;
		of_control = judge_block_y(judge, 0, run->pod, run->block);
		of_variant = judge_block_y(judge, c->arm, run->pod, run->block);
		if (isnan(of_control) || isnan(of_variant))
			continue;
		a += log(of_control);
		b += log(of_variant);
		n++;
	}
	*control = n > 0 ? exp(a / (double)n) : (double)NAN;
	*variant = n > 0 ? exp(b / (double)n) : (double)NAN;
	if (judge->rule.higher) {
		*control = 1.0 / *control;
		*variant = 1.0 / *variant;
	}
}
