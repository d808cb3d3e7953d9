/* SPDX-License-Identifier: MIT */
/*
 * Which of a run's numbers are verified, which is the best, and how it stands
 * to the baseline; HarnessGym's own summary has no say in it.
 */
#include "config.h"

#include "parsers/harness_parts.h"
#include "parsers/score_json.h"

struct harness_number
harness_gain_pct(double from, double to, bool higher_is_better)
{
	double gain = higher_is_better ? to - from : from - to;

	if (from == 0 || !isfinite(from) || !isfinite(to))
		return (struct harness_number){ false, (double)NAN };
	return harness_number(100.0 * gain / fabs(from));
}

static bool
is_better(const struct harness_run *run, double a, double b)
{
	return run->higher_is_better == HARNESS_YES ? a > b : a < b;
}

static enum harness_tri
better_than(const struct harness_run *run, struct harness_number a,
	    const struct harness_score *b)
{
	if (!a.present || !b->present)
		return HARNESS_UNKNOWN;
	return is_better(run, a.value, b->value) ? HARNESS_YES : HARNESS_NO;
}

static struct harness_number
gain_over(const struct harness_run *run, struct harness_number a,
	  const struct harness_score *b)
{
	if (!a.present || !b->present)
		return (struct harness_number){ false, (double)NAN };
	return harness_gain_pct(b->value, a.value,
				run->higher_is_better == HARNESS_YES);
}

/*
 * Sort an iteration's number into verified, invalid and claimed.  HarnessGym
 * measures when it has recorded the attempt's end; a measurement that stands
 * in the file before that was put there by the agent.
 */
static void
judge_score(struct harness_iteration *it)
{
	if (harness_is_finite(it->post.score)) {
		if (it->attempt == NULL)
			it->claimed_score = it->post.score;
		else if (it->post.passed == HARNESS_YES)
			it->verified_score = it->post.score;
		else
			it->invalid_score = it->post.score;
	}
	if (!score_is_measurable(it->claimed_score.value))
		it->claimed_score.present = false;
}

/*
 * Strictly better wins, so the earlier one wins a tie; where the direction is
 * not told nothing is the best.
 */
static void
offer(const struct harness_run *run, struct harness_score *best,
      struct harness_number number, unsigned int iteration, const char *source)
{
	if (!number.present || !score_is_measurable(number.value) ||
	    run->higher_is_better == HARNESS_UNKNOWN ||
	    (best->present && !is_better(run, number.value, best->value)))
		return;
	*best = (struct harness_score){ true, number.value, iteration, source };
}

static void
judge_iterations(struct harness_run *run, const struct harness_score *baseline)
{
	for (size_t i = 0; i < run->n_iterations; i++) {
		struct harness_iteration *it = &run->iterations[i];
		struct harness_score before = run->best;

		judge_score(it);
		it->better_than_baseline =
			better_than(run, it->verified_score, baseline);
		it->better_than_previous =
			better_than(run, it->verified_score, &before);
		it->baseline_pct = gain_over(run, it->verified_score, baseline);
		it->previous_pct = gain_over(run, it->verified_score, &before);
		offer(run, &run->best, it->verified_score, it->number, NULL);
		if (run->best.iteration == it->number)
			run->previous = before;
	}
}

/* The best number that nobody verified, if it would beat the best. */
static void
judge_unverified(struct harness_run *run)
{
	struct harness_score best = run->best;

	for (size_t i = 0; i < run->n_iterations; i++) {
		const struct harness_iteration *it = &run->iterations[i];

		if (it->post.doubt == NULL)
			offer(run, &best, it->invalid_score, it->number,
			      "failed_verifier");
		offer(run, &best, it->claimed_score, it->number, "claimed");
		offer(run, &best, it->session_score, it->number, "in_session");
	}
	if (best.present && best.source != NULL)
		run->best_unverified = best;
}

/* Cumulative counts of the workspace to each iteration's own. */
static void
judge_calls(struct harness_run *run, unsigned int calls_before)
{
	struct harness_number before = harness_number(calls_before);

	for (size_t i = 0; i < run->n_iterations; i++) {
		struct harness_iteration *it = &run->iterations[i];

		if (it->calls.present && before.present &&
		    it->calls.value >= before.value)
			it->calls_delta =
				harness_number(it->calls.value - before.value);
		before = it->calls;
	}
}

void
harness_run_judge(struct harness_run *run, unsigned int calls_before)
{
	struct harness_score baseline = { .present = false };
	struct harness_number best;

	if (run->has_baseline && run->baseline.passed == HARNESS_YES)
		offer(run, &baseline, run->baseline.score, 0, NULL);
	run->best = baseline;
	judge_calls(run, calls_before);
	judge_iterations(run, &baseline);
	judge_unverified(run);
	best = (struct harness_number){ run->best.present, run->best.value };
	run->baseline_pct = gain_over(run, best, &baseline);
	run->previous_pct = gain_over(run, best, &run->previous);
	run->stop_reached = HARNESS_UNKNOWN;
	if (harness_is_finite(run->stop_score))
		run->stop_reached =
			run->best.present &&
					!is_better(run, run->stop_score.value,
						   run->best.value)
				? HARNESS_YES
				: HARNESS_NO;
}
