/* SPDX-License-Identifier: MIT */
/* Runs to blocks, blocks to contrasts; called by judge.c. */
#include "config.h"

#include "bench/judge_priv.h"

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

void
judge_summarize(struct judge *judge, size_t arm)
{
	struct judge_summary *s = &judge->summary[arm];
	double *y = judge_room(judge), *legacy = judge_room(judge);
	double *val = judge_room(judge);
	const struct judge_run *run = NULL;
	size_t n_legacy = 0, n_val = 0;
	bool higher = judge->rule.higher;

	*s = (struct judge_summary){ .batch = (double)NAN };
	while ((run = judge_next(judge, arm, run)) != NULL) {
		if (!isnan(run->val_loss))
			val[n_val++] = run->val_loss;
		if (isnan(s->batch) && run->log != NULL &&
		    run->log->run.train_batch_tokens > 0.0)
			s->batch = run->log->run.train_batch_tokens;
		if (!judge_is_main(run))
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
	s->low = higher ? 1.0 / s->max : s->min;
	s->middle = higher ? 1.0 / s->median : s->median;
	s->high = higher ? 1.0 / s->min : s->max;
	s->spread_pct = 100.0 * (s->max - s->min) / s->median;
	s->legacy_mean = stats_mean(legacy, n_legacy);
	s->val_loss = stats_mean(val, n_val);
	free(val);
	free(legacy);
	free(y);
}

/* The y of all usable runs of an arm. */
static size_t
collect_y(const struct judge *judge, size_t arm, double *y)
{
	const struct judge_run *run = NULL;
	size_t n = 0;

	while ((run = judge_next(judge, arm, run)) != NULL)
		if (judge_is_main(run) && judge_is_usable(run))
			y[n++] = run->y;
	return n;
}

void
judge_compare_unblocked(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_summary *a = &judge->summary[0];
	const struct judge_summary *b = &judge->summary[c->arm];
	double *x = judge_room(judge), *y = judge_room(judge);
	double alpha = judge->rule.paired.alpha;
	size_t n = collect_y(judge, 0, x), m = collect_y(judge, c->arm, y);

	c->rank = rank_mann_whitney(x, n, y, m, alpha);
	for (size_t i = 0; i < n; i++)
		x[i] = log(x[i]);
	for (size_t i = 0; i < m; i++)
		y[i] = log(y[i]);
	c->welch = multi_welch(x, n, y, m, alpha);
	c->median_delta_pct = 100.0 * (b->median / a->median - 1.0);
	c->min_delta_pct = 100.0 * (b->min / a->min - 1.0);
	c->legacy_pct = 100.0 * (b->legacy_mean / a->legacy_mean - 1.0);
	free(x);
	free(y);
}

/* Is it the first of its arm's runs in its block?  (To go over blocks.) */
static bool
is_first(const struct judge *judge, const struct judge_run *run)
{
	for (const struct judge_run *other = judge->runs; other < run; other++)
		if (other->counted && other->arm == run->arm &&
		    other->pod == run->pod && other->block == run->block)
			return false;
	return true;
}

static bool
is_beside(const struct judge_run *run, const struct judge_run *like)
{
	return run->counted && run->pod == like->pod &&
	       run->block == like->block;
}

/* Has the arm any run in that block? */
static bool
has_runs(const struct judge *judge, size_t arm, const struct judge_run *like)
{
	for (size_t i = 0; i < judge->n_runs; i++)
		if (judge->runs[i].arm == arm &&
		    is_beside(&judge->runs[i], like))
			return true;
	return false;
}

static void
drop_block(struct judge *judge, const struct judge_run *run, const char *why)
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

/* A block of the control that stands alone, in logs that somebody brought. */
static bool
is_lonely(const struct judge *judge, const struct judge_run *run)
{
	bool lonely = run->arm == 0 && judge_is_main(run) &&
		      run->state == RUN_STATE_CLAIMED && is_first(judge, run);

	for (size_t arm = 1; lonely && arm < judge->n_arms; arm++)
		lonely = !has_runs(judge, arm, run);
	return lonely;
}

void
judge_drop_blocks(struct judge *judge)
{
	const struct judge_run *run;
	char why[200];

	for (size_t arm = 0; arm < judge->n_arms; arm++)
		for (run = NULL; (run = judge_next(judge, arm, run)) != NULL;) {
			const struct guard_hit *hit = guard_hard(&run->hits);

			if (!judge_is_usable(run)) {
				(void)snprintf(why, sizeof(why), "%s%s%s",
					       hit != NULL
						       ? guard_words[hit->guard]
						       : "no measurement",
					       hit != NULL ? ": " : "",
					       hit != NULL ? hit->text : "");
				drop_block(judge, run, why);
			} else if (is_lonely(judge, run)) {
				drop_block(judge, run,
					   "no other arm has a run in its "
					   "block");
			} else if (arm > 0 && is_first(judge, run) &&
				   !has_runs(judge, 0, run)) {
				drop_block(judge, run,
					   "the control has no run in its "
					   "block");
			}
		}
}

/* Did the pod do something in that block that is nobody's speed?  Then it
 * goes for all arms. */
static bool
is_spoiled(const struct judge *judge, const struct judge_run *like)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];
		const struct guard_hit *hit = guard_hard(&run->hits);

		if (hit != NULL && is_beside(run, like) &&
		    (hit->guard == GUARD_THROTTLED ||
		     hit->guard == GUARD_FOREIGN || hit->guard == GUARD_CLOCK ||
		     hit->guard == GUARD_LOST))
			return true;
	}
	return false;
}

/*
 * What an arm's runs lend to a block: the median of their y, whatever their
 * guards say.  The block counts only while all of them can be used.
 */
static double
block_y(const struct judge *judge, size_t arm, const struct judge_run *like,
	struct judge_block *block)
{
	double y[JUDGE_MAX_REPS];
	size_t n = 0;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != arm || !is_beside(run, like))
			continue;
		if (!judge_is_usable(run) || n == JUDGE_MAX_REPS)
			block->counts = false;
		if (guard_hard(&run->hits) != NULL)
			block->mark = BLOCK_GUARDED;
		else if (run->outlier && block->mark == BLOCK_PLAIN)
			block->mark = BLOCK_OUTLIER;
		if (run->y > 0.0 && n < JUDGE_MAX_REPS)
			y[n++] = run->y;
	}
	return stats_median(y, n);
}

static void
collect_blocks(const struct judge *judge, struct judge_contrast *c, bool fresh)
{
	const struct judge_run *run = NULL;
	bool higher = judge->rule.higher;

	c->blocks = xcalloc(judge->n_runs + 1, sizeof(*c->blocks));
	while ((run = judge_next(judge, c->arm, run)) != NULL) {
		struct judge_block block = { .pod = run->pod,
					     .block = run->block };
		double a, b;

		if (run->fresh != fresh || !is_first(judge, run))
			continue;
		block.counts = !is_spoiled(judge, run);
		a = block_y(judge, c->base, run, &block);
		b = block_y(judge, c->arm, run, &block);
		if (isnan(a))
			continue;
		block.d = log(a) - log(b);
		block.counts &= isfinite(block.d);
		block.control = higher ? 1.0 / a : a;
		block.variant = higher ? 1.0 / b : b;
		c->n_blocks += block.counts ? 1 : 0;
		c->blocks[c->n_shown++] = block;
	}
}

size_t
judge_collect_d(const struct judge_contrast *c, size_t pod, double *d)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_shown; i++)
		if (c->blocks[i].counts &&
		    (pod == JUDGE_ANY || c->blocks[i].pod == pod))
			d[n++] = c->blocks[i].d;
	return n;
}

/* Geometric means of both sides, and the pods that have a part in them. */
static void
gather_blocks(struct judge_contrast *c)
{
	double a = 0.0, b = 0.0, n = (double)c->n_blocks;

	c->pods = xcalloc(c->n_blocks + 1, sizeof(*c->pods));
	for (size_t i = 0; i < c->n_shown; i++) {
		const struct judge_block *block = &c->blocks[i];
		size_t p = 0;

		if (!block->counts)
			continue;
		a += log(block->control);
		b += log(block->variant);
		while (p < c->n_pods && c->pods[p].pod != block->pod)
			p++;
		c->pods[p].pod = block->pod;
		c->n_pods += p == c->n_pods ? 1 : 0;
	}
	c->control = c->n_blocks > 0 ? exp(a / n) : (double)NAN;
	c->variant = c->n_blocks > 0 ? exp(b / n) : (double)NAN;
}

void
judge_compare_blocks(const struct judge *judge, struct judge_contrast *c,
		     bool fresh)
{
	const struct paired_rule *rule = &judge->rule.paired;
	double *d = judge_room(judge), *means = judge_room(judge);
	double *ses = judge_room(judge);
	size_t n;

	collect_blocks(judge, c, fresh);
	gather_blocks(c);
	for (size_t p = 0; p < c->n_pods; p++) {
		n = judge_collect_d(c, c->pods[p].pod, d);
		c->pods[p].paired = paired_compare(d, n, rule);
		means[p] = c->pods[p].paired.mean;
		/* A spread of two values says nothing of a spread. */
		ses[p] = n >= PODS_LEAST_BLOCKS ? c->pods[p].paired.se
						: (double)NAN;
	}
	c->spread = multi_pods(means, ses, c->n_pods);
	c->pods_differ = c->spread.p_q < POD_P;
	c->across_pods = c->n_pods >= PODS_AS_UNITS;
	n = judge_collect_d(c, JUDGE_ANY, d);
	c->paired = c->across_pods ? paired_compare(means, c->n_pods, rule)
				   : paired_compare(d, n, rule);
	free(ses);
	free(means);
	free(d);
}
