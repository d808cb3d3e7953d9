/* SPDX-License-Identifier: MIT */
/* What follows from all that a run said: times, status, score. */
#include "config.h"

#include "parsers/run_apply.h"

#include <math.h>

double
run_state_interval_tok_s(const struct run_state *s)
{
	return s->run.train_batch_tokens * s->interval.step / s->interval.ms *
	       1000;
}

bool
run_state_is_loss_only(const struct run_state *s)
{
	return run_has(s->val_step) && !s->has_bpb;
}

/*
 * Whether the clock began at zero with the first step: a resumed run may
 * count the steps on, but not the time.
 */
static bool
clock_is_whole(const struct run_state *s)
{
	struct row_time first = s->first_exact;
	double rate = (s->exact.ms - first.ms) / (s->exact.step - first.step);

	if (s->clock_restarted)
		return false;
	return !(first.step >= RUN_CLOCK_FREE_STEPS && isfinite(rate) &&
		 first.ms < rate * first.step / 5);
}

/*
 * Whether a stop line without a step tells of a time that is not known to be
 * that of the last row: nobody can say at which step it was.
 */
static bool
trained_past_rows(const struct run_state *s)
{
	bool at_end = s->exact.step == s->run.last_step &&
		      s->stop_ms <= s->exact.ms * (1 + 1.5 / s->exact.step);

	return run_has(s->stop_ms) && !s->stop_has_step && !at_end;
}

/* Steps, times and rates that follow from the rows. */
static void
derive_times(struct run_state *s)
{
	struct run *run = &s->run;

	run->steps = trained_past_rows(s) ? RUN_ABSENT : run->last_step;
	if (run_has(s->stop_ms))
		run->train_ms = s->stop_ms;
	else if (run_has(s->exact.ms) && s->exact.step == run->steps)
		run->train_ms = s->exact.ms;
	else
		run->train_ms = RUN_ABSENT;
	if (!clock_is_whole(s) || run->train_ms <= 0)
		run->train_ms = RUN_ABSENT;
	run->ms_per_step = RUN_ABSENT;
	run->tok_s_derived = RUN_ABSENT;
	run->tok_s_interval = run_state_interval_tok_s(s);
	if (run_has(run->train_ms) && run->steps > 0 && run->train_ms > 0) {
		run->ms_per_step = run->train_ms / run->steps;
		run->tok_s_derived = run->train_batch_tokens * run->steps /
				     run->train_ms * 1000;
	}
	if (s->tok_s_n > 0)
		run->tok_s_mean = s->tok_s_sum / (double)s->tok_s_n;
}

/* Whether the rows reach the planned step, its validation included. */
static bool
reached_plan(const struct run_state *s)
{
	const struct run *run = &s->run;

	return run_has(run->planned_steps) && run->steps > 0 &&
	       run->steps >= run->planned_steps &&
	       (!run_has(s->val_step) || s->val_step == run->steps);
}

/* An evaluation that the settings name, and that did not come; test-time
 * training comes last, so behind its result nothing is awaited. */
static bool
awaits_result(const struct run_state *s)
{
	const struct run_results *all = &s->results;

	if (run_results_any_of(all, STAGE_UNKNOWN))
		return false; /* it may be that one, in other words */
	if (run_results_any_of(all, STAGE_TTT))
		return false;
	return s->wants_ttt ||
	       (s->wants_sliding && !run_results_any_of(all, STAGE_SLIDING));
}

static enum run_status
final_status(const struct run_state *s)
{
	bool any = run_state_is_loss_only(s)
			   ? run_results_any_known_post(&s->results)
			   : run_results_any_post(&s->results);
	bool scored = any && !run_has(s->run.eval_total) && !awaits_result(s);

	if (s->fatal_oom)
		return RUN_OOM;
	if (s->fatal)
		return RUN_CRASHED;
	if (s->not_finite)
		return RUN_DIVERGED;
	if (scored || s->ended)
		return RUN_FINISHED;
	if (s->packed || (s->stopped && s->has_bpb))
		return RUN_TRUNCATED; /* the evaluation never ended */
	if (s->stopped || reached_plan(s))
		return RUN_FINISHED;
	if (run_has(s->run.steps) && !run_has(s->run.planned_steps))
		return RUN_UNKNOWN; /* nothing says how long it should be */
	return RUN_TRUNCATED;
}

/* What is known while it runs: a failure or a divergence, else running. */
static enum run_status
live_status(const struct run_state *s)
{
	if (s->fatal_oom)
		return RUN_OOM;
	if (s->fatal)
		return RUN_CRASHED;
	return s->not_finite ? RUN_DIVERGED : RUN_RUNNING;
}

/* Where a recipe has no BPB its last validation is the score. */
static void
derive_loss_score(struct run_state *s)
{
	struct run *run = &s->run;

	if (s->has_bpb || s->results.n > 0 || run->status != RUN_FINISHED ||
	    !run_has(run->last_val_loss) || s->val_step != run->steps)
		return;
	run->final_val_loss = run->last_val_loss;
	run->final_line = s->val_line;
}

void
run_state_derive(struct run_state *s, bool final)
{
	struct run *run = &s->run;
	bool quantized =
		run_results_any_known_post(&s->results) || run_has(s->artifact);

	derive_times(s);
	run_results_apply(&s->results, run);
	if (!run_has(run->prequant_bpb) && quantized && s->val_step > 0 &&
	    s->val_step == run->steps && !run_results_odd_first(&s->results))
		run->prequant_bpb = run->last_val_bpb;
	run->status = final ? final_status(s) : live_status(s);
	if (final && run->status != RUN_FINISHED)
		run_results_withhold(run);
	derive_loss_score(s);
}

void
run_state_at_end(const struct run_state *state, struct run *out)
{
	struct run_state copy = *state;

	/* The strings of the copy's run must be its own. */
	run_copy(&copy.run, &state->run);
	run_state_derive(&copy, true);
	*out = copy.run;
}
