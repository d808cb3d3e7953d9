/* SPDX-License-Identifier: MIT */
/* Contrasts to verdicts; called by judge.c. */
#include "config.h"

#include "bench/judge_parts.h"

#include <math.h>

#define POD_P 0.05

/* Is this a fault of the pod at that moment rather than of the variant? */
static bool
is_transient(enum guard guard)
{
	return guard == GUARD_FOREIGN || guard == GUARD_CLOCK ||
	       guard == GUARD_LOST;
}

/* The hits of a contrast: the hard ones of its runs first. */
/* A control that began twice makes a difference just as a variant does. */
static void
collect_restarts(const struct judge *judge, struct judge_contrast *c)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		for (size_t k = 0;
		     run->arm == c->base && run->counted && k < run->hits.n;
		     k++)
			if (run->hits.hit[k].guard == GUARD_RESTARTED)
				guard_add(&c->hits, GUARD_RESTARTED, false,
					  "the control: %s",
					  run->hits.hit[k].text);
	}
}

void
judge_collect_hits(const struct judge *judge, struct judge_contrast *c)
{
	for (int hard = 1; hard >= 0; hard--)
		for (size_t i = 0; i < judge->n_runs; i++) {
			const struct judge_run *run = &judge->runs[i];

			if (run->arm != c->arm || !run->counted)
				continue;
			for (size_t k = 0; k < run->hits.n; k++)
				if (run->hits.hit[k].hard == (hard == 1))
					guard_add(&c->hits,
						  run->hits.hit[k].guard,
						  hard == 1, "%s",
						  run->hits.hit[k].text);
		}
	collect_restarts(judge, c);
}

/* The guard that makes the variant INVALID, or NULL. */
static const char *
invalid_by(const struct judge_contrast *c)
{
	for (size_t i = 0; i < c->hits.n; i++)
		if (c->hits.hit[i].hard && !is_transient(c->hits.hit[i].guard))
			return guard_word(c->hits.hit[i].guard);
	return NULL;
}

bool
judge_is_invalid(const struct judge *judge, size_t arm)
{
	return arm > 0 && invalid_by(&judge->contrasts[arm - 1]) != NULL;
}

static bool
has_hit(const struct judge_contrast *c, enum guard guard)
{
	for (size_t i = 0; i < c->hits.n; i++)
		if (c->hits.hit[i].guard == guard)
			return true;
	return false;
}

/* Do the pods contradict each other so that there is no common winner? */
static bool
has_no_winner(const struct judge_contrast *c, double alpha)
{
	bool up = false, down = false, all_shown = true;

	for (size_t i = 0; i < c->n_pods; i++) {
		up |= c->pods[i].paired.mean > 0.0;
		down |= c->pods[i].paired.mean < 0.0;
		all_shown &= c->pods[i].paired.p < alpha;
	}
	if (up && down && (c->spread.p_q < POD_P || c->across_pods))
		return true;
	return c->pods_differ && !c->across_pods && !all_shown;
}

static unsigned int
suffixes_of(const struct judge *judge, const struct judge_contrast *c)
{
	unsigned int suffixes = 0;

	if (c->trend != WINDOW_STEADY)
		suffixes |= 1U << VERDICT_NOT_STEADY;
	if (c->pods_differ)
		suffixes |= 1U << VERDICT_PODS_DIFFER;
	if (has_hit(c, GUARD_OUTPUTS))
		suffixes |= 1U << VERDICT_OUTPUTS_CHANGED;
	if (judge->training && has_hit(c, GUARD_UNCHECKED))
		suffixes |= 1U << VERDICT_OUTPUTS_UNCHECKED;
	if (judge->arms[c->arm].numerics_changed)
		suffixes |= 1U << VERDICT_UNPROVEN;
	if (has_hit(c, GUARD_RUNTIME))
		suffixes |= 1U << VERDICT_OTHER_RUNTIME;
	if (has_hit(c, GUARD_AA))
		suffixes |= 1U << VERDICT_AA_DIFFERS;
	return suffixes;
}

static void
decide(const struct judge *judge, struct judge_contrast *c)
{
	const struct judge_rule *rule = &judge->rule;
	struct verdict_input input = {
		.invalid = invalid_by(c),
		.need = rule->need,
		.n_blocks = c->n_blocks,
		.planned = rule->planned,
		.paired = &c->paired,
		.p = isnan(c->p_holm) ? c->paired.p : c->p_holm,
		.alpha = rule->paired.alpha,
		.margin = rule->paired.margin,
		.register_sd = rule->register_sd,
		.register_df = rule->register_df,
		.suffixes = suffixes_of(judge, c),
	};

	if (judge->arms[c->arm].other_noise)
		input.register_sd = input.register_df = (double)NAN;
	input.no_winner = has_no_winner(c, rule->paired.alpha);
	if (input.no_winner)
		input.suffixes |= 1U << VERDICT_PODS_DIFFER;
	c->blocks_to_margin =
		paired_blocks_needed(c->paired.sd, log1p(rule->paired.margin),
				     rule->paired.alpha, rule->paired.power);
	verdict_judge(&c->verdict, &input);
	input.invalid = NULL;
	verdict_judge(&c->if_valid, &input);
}

/*
 * Intervals at the level of Holm's step that decided on each: those of what
 * is shown leave out 0, the others hold it, as the words say.
 */
static void
widen(struct judge *judge, const double *p, const double *holm, size_t m)
{
	double alpha = judge->rule.paired.alpha;
	size_t n_shown = 0;

	for (size_t i = 0; i < judge->n_contrasts; i++)
		n_shown += holm[i] < alpha ? 1 : 0;
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		struct paired *paired = &judge->contrasts[i].paired;
		size_t before = 0;

		for (size_t k = 0; k < judge->n_contrasts; k++)
			before += p[k] < p[i] || (p[k] == p[i] && k < i);
		if (isnan(p[i]))
			continue;
		if (!(holm[i] < alpha))
			before = n_shown;
		paired_widen(paired, alpha / (double)(m - before));
		/* What it could have shown, had it been the first. */
		paired->mde =
			paired_mde(paired->sd, paired->n, alpha / (double)m,
				   judge->rule.paired.power);
	}
}

/* Holm over the variants (not the A/A arm). */
static void
adjust(struct judge *judge)
{
	double p[SCHEDULE_MAX_ARMS] = { 0 };
	double holm[SCHEDULE_MAX_ARMS] = { 0 };
	size_t m = 0;

	for (size_t i = 0; i < judge->n_contrasts; i++) {
		const struct judge_contrast *c = &judge->contrasts[i];
		bool counts = !judge->arms[c->arm].aa && invalid_by(c) == NULL;

		p[i] = counts ? c->paired.p : (double)NAN;
		m += counts ? 1 : 0;
	}
	multi_holm(p, holm, judge->n_contrasts);
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		struct judge_contrast *c = &judge->contrasts[i];

		c->p_holm = judge->rule.holm ? holm[i] : p[i];
	}
	if (judge->rule.holm && m > 1)
		widen(judge, p, holm, m);
}

/*
 * Is what the control showed against itself of a size that matters to that
 * contrast: more than the margin, or over half of its difference?
 */
static bool
is_spoiled_by(const struct judge_contrast *c, const struct judge_contrast *aa)
{
	return (aa->verdict.word == VERDICT_FASTER ||
		aa->verdict.word == VERDICT_SLOWER) &&
	       (!aa->verdict.below_margin ||
		2.0 * fabs(aa->paired.mean) > fabs(c->paired.mean));
}

/* Judge the A/A arm first: the others are held against what it showed. */
static void
mark_aa(struct judge *judge, struct judge_contrast *c)
{
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		const struct judge_contrast *aa = &judge->contrasts[i];

		if (judge->arms[aa->arm].aa && is_spoiled_by(c, aa))
			guard_add(&c->hits, GUARD_AA, false,
				  "the control against itself is %.90s: an "
				  "order or a place may favour an arm",
				  aa->verdict.text);
	}
}

void
judge_decide(struct judge *judge)
{
	adjust(judge);
	for (int aa = 1; aa >= 0; aa--)
		for (size_t i = 0; i < judge->n_contrasts; i++) {
			struct judge_contrast *c = &judge->contrasts[i];

			if (judge->arms[c->arm].aa != (aa == 1))
				continue;
			if (aa == 0)
				mark_aa(judge, c);
			decide(judge, c);
		}
}

void
judge_confirm(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];
		const struct judge_contrast *c =
			run->arm > 0 ? &judge->contrasts[run->arm - 1] : NULL;

		if (run->state != RUN_STATE_VERIFIED)
			continue;
		if (guard_hard(&run->hits) != NULL)
			run->state = RUN_STATE_MEASURED;
		else if (c != NULL && c->verdict.word == VERDICT_FASTER &&
			 !has_hit(c, GUARD_AA) &&
			 c->n_blocks >= VERDICT_MIN_BLOCKS)
			run->state = RUN_STATE_CONFIRMED;
	}
}
