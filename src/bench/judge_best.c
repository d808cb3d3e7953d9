/* SPDX-License-Identifier: MIT */
/* Which of several variants is the best, and is it confirmed; for judge.c. */
#include "config.h"

#include "bench/judge_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/stats.h"

#define MAX_PAIRS (SCHEDULE_MAX_ARMS * (SCHEDULE_MAX_ARMS - 1) / 2)

/* Two arms held against each other in the blocks that choose. */
struct pair {
	size_t a, b;
	struct paired paired; /* mean > 0: b is faster */
	bool agree;	      /* no pods that contradict each other */
};

static void __attribute__((format(printf, 2, 3)))
say(struct judge_best *best, const char *format, ...)
{
	size_t len = strlen(best->text);
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(best->text + len, sizeof(best->text) - len, format, ap);
	va_end(ap);
}

/* Are all runs of the arm of a kind that is ranked? */
static bool
is_ranked(const struct judge *judge, size_t arm)
{
	bool any = false;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != arm || !judge_is_main(run) ||
		    !judge_is_usable(run))
			continue;
		if (run->state < RUN_STATE_VERIFIED)
			return false;
		any = true;
	}
	return any;
}

static bool
is_claimed(const struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++)
		if (judge->runs[i].state == RUN_STATE_CLAIMED)
			return true;
	return false;
}

static bool
pods_agree(const struct judge_contrast *c)
{
	bool up = false, down = false;

	for (size_t i = 0; i < c->n_pods; i++) {
		up |= c->pods[i].paired.mean > 0.0;
		down |= c->pods[i].paired.mean < 0.0;
	}
	return !(up && down && c->pods_differ);
}

/* Hold b against a in the blocks that choose, or in the fresh ones. */
static struct pair
hold(const struct judge *judge, size_t a, size_t b, bool fresh)
{
	struct judge_contrast c = { .arm = b, .base = a };
	struct pair pair = { .a = a, .b = b };

	judge_gather(judge, &c, fresh);
	pair.paired = c.paired;
	pair.agree = pods_agree(&c);
	/* What decides is the number of blocks, also with pods as units. */
	pair.paired.n = c.n_blocks;
	free(c.d);
	free(c.pods);
	return pair;
}

/* The mean by which `arm` is faster than the pair's other arm. */
static double
lead_of(const struct pair *pair, size_t arm)
{
	return pair->b == arm ? pair->paired.mean : -pair->paired.mean;
}

/* Is the arm faster than all others?  Its weakest pair goes to best. */
static bool
leads(const struct judge *judge, const struct pair *pairs, const double *holm,
      size_t arm, struct judge_best *best)
{
	double least = (double)INFINITY, p = 0.0;

	for (size_t i = 0; i < best->n_pairs; i++) {
		double lead = lead_of(&pairs[i], arm);

		if (pairs[i].a != arm && pairs[i].b != arm)
			continue;
		if (!(lead > 0.0) || !pairs[i].agree ||
		    pairs[i].paired.n < judge->rule.need ||
		    !(holm[i] < judge->rule.paired.alpha))
			return false;
		p = fmax(p, holm[i]);
		if (lead >= least)
			continue;
		least = lead;
		best->rival = pairs[i].a == arm ? pairs[i].b : pairs[i].a;
	}
	best->arm = arm;
	best->p_pairs = p;
	return true;
}

static bool
is_faster(const struct judge *judge, const struct pair *pair)
{
	return pair->paired.n >= VERDICT_MIN_BLOCKS && pair->agree &&
	       pair->paired.mean > 0.0 &&
	       pair->paired.p < judge->rule.paired.alpha;
}

/* What the blocks say that had no part in choosing. */
static void
confirm(const struct judge *judge, struct judge_best *best)
{
	struct pair control = hold(judge, 0, best->arm, true);
	struct pair rival = hold(judge, best->rival, best->arm, true);

	best->n_fresh = control.paired.n;
	best->over_control = control.paired;
	best->over_rival = rival.paired;
	if (best->arm == 0) {
		control = rival;
		best->n_fresh = rival.paired.n;
	}
	if (is_faster(judge, &control) && is_faster(judge, &rival))
		best->state = BEST_CONFIRMED;
}

static void
tell(const struct judge *judge, struct judge_best *best)
{
	const char *rival = judge->arms[best->rival].tag;

	say(best, "BEST %s", judge->arms[best->arm].tag);
	if (best->state == BEST_CONFIRMED)
		say(best, ", confirmed in %zu fresh blocks", best->n_fresh);
	else if (best->n_fresh > 0 && best->n_fresh < VERDICT_MIN_BLOCKS)
		say(best, " so far: not confirmed (%zu fresh block%s, need %d)",
		    best->n_fresh, best->n_fresh == 1 ? "" : "s",
		    VERDICT_MIN_BLOCKS);
	else if (best->n_fresh == 0)
		say(best, " so far: not confirmed, for want of fresh blocks");
	else
		say(best, " so far: %zu fresh blocks did not confirm it",
		    best->n_fresh);
	if (best->n_fresh > 0)
		say(best, ": %+.2f%% over %s", stats_pct(best->over_rival.mean),
		    rival);
	if (best->n_fresh > 0 && best->rival != 0 && best->arm != 0)
		say(best, ", %+.2f%% over %s",
		    stats_pct(best->over_control.mean), judge->arms[0].tag);
	say(best, " (Holm over %zu pairs p %.2g)", best->n_pairs,
	    best->p_pairs);
}

/* Other numerics are no win before their quality is proven. */
static bool
may_win(const struct judge *judge, size_t arm)
{
	return !judge->arms[arm].aa && !judge->arms[arm].numerics_changed &&
	       !judge_is_invalid(judge, arm);
}

/* All pairs of the arms that can be ranked. */
static size_t
hold_all(const struct judge *judge, struct pair *pairs)
{
	size_t n = 0;

	for (size_t a = 0; a < judge->n_arms; a++)
		for (size_t b = a + 1; b < judge->n_arms; b++)
			if (may_win(judge, a) && may_win(judge, b))
				pairs[n++] = hold(judge, a, b, false);
	return n;
}

void
judge_find_best(struct judge *judge)
{
	struct judge_best *best = &judge->best;
	struct pair pairs[MAX_PAIRS];
	double p[MAX_PAIRS], holm[MAX_PAIRS];
	size_t variants = 0;

	*best = (struct judge_best){ .p_pairs = (double)NAN };
	for (size_t arm = 1; arm < judge->n_arms; arm++)
		variants += judge->arms[arm].aa ? 0 : 1;
	if (variants < 2 || is_claimed(judge))
		return;
	best->state = BEST_NONE;
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		if (may_win(judge, arm) && !is_ranked(judge, arm)) {
			say(best, "none: not all runs of %s are verified",
			    judge->arms[arm].tag);
			return;
		}
	best->n_pairs = hold_all(judge, pairs);
	for (size_t i = 0; i < best->n_pairs; i++)
		p[i] = pairs[i].paired.p;
	multi_holm(p, holm, best->n_pairs);
	for (size_t arm = 0; arm < judge->n_arms; arm++)
		if (may_win(judge, arm) && best->n_pairs > 0 &&
		    leads(judge, pairs, holm, arm, best)) {
			best->state = BEST_LEADS;
			break;
		}
	if (best->state == BEST_NONE) {
		say(best,
		    "none: no arm is faster than every other (Holm over "
		    "%zu pairs)",
		    best->n_pairs);
		return;
	}
	confirm(judge, best);
	tell(judge, best);
}
