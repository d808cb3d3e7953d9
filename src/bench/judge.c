/* SPDX-License-Identifier: MIT */
/* Runs to verdicts; called by `bench judge` and after each block of a run. */
#include "config.h"

#include "bench/judge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/judge_parts.h"
#include "bench/stats.h"

/* A variant this much faster is held up to a person. */
#define IMPLAUSIBLE 0.5
/* Rows with a time from which two logs of the same ones are one log. */
#define LEAST_COPIED 8

const char *
run_state_name(enum run_state state)
{
	static const char *const names[] = {
#define X(id, name) name,
		RUN_STATE_LIST(X)
#undef X
	};

	return names[state];
}

/* The control of its block; of an A/A run without one, the first there is. */
static const struct judge_run *
control_of(const struct judge *judge, const struct judge_run *run)
{
	const struct judge_run *first = NULL;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *other = &judge->runs[i];

		if (other->arm == 0 && other->counted &&
		    other->pod == run->pod && other->block == run->block &&
		    other->rep == run->rep)
			return other;
		if (first == NULL && other->arm == 0 && other->counted)
			first = other;
	}
	return judge->arms[run->arm].aa ? first : NULL;
}

/* What only the pair of runs can tell. */
static void
check_pair(struct judge *judge, struct judge_run *run,
	   const struct judge_run *control)
{
	const struct judge_arm *arm = &judge->arms[run->arm];

	if (run->log == NULL || control->log == NULL)
		return;
	run_log_same_work(control->log, run->log, &run->hits);
	if (run->log->kind == RUN_LOG_TRAINING && run->log->n_rows > 0 &&
	    control->log->n_rows > 0) {
		struct guard_losses a = { control->log->rows,
					  control->log->n_rows,
					  control->log->val_loss, judge->hi };
		struct guard_losses b = { run->log->rows, run->log->n_rows,
					  run->log->val_loss, judge->hi };

		guard_check_losses(&run->hits, &a, &b, &judge->rule.losses,
				   arm->numerics_changed);
	}
	if (run->has_window && control->has_window && run->times.from_tok_s &&
	    control->times.from_tok_s &&
	    guard_clock_lag(control->window.lag_steps, run->window.lag_steps))
		guard_add(&run->hits, GUARD_CLOCK_LAG, false,
			  "its clock runs %.2f steps ahead of the GPU, the "
			  "control's %.2f: means of the printed tok/s do not "
			  "compare",
			  run->window.lag_steps, control->window.lag_steps);
	if (run->y < IMPLAUSIBLE * control->y)
		guard_add(&run->hits, GUARD_IMPLAUSIBLE, false,
			  "%.4g against %.4g: look at it before believing it",
			  run->y, control->y);
}

/* Values as printed; absent on both sides is the same. */
static bool
same_value(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* So many rows of times do not repeat by chance, whatever else was edited. */
static bool
has_same_rows(const struct run_log *a, const struct run_log *b)
{
	size_t timed = 0;

	if (a->kind != RUN_LOG_TRAINING || b->kind != RUN_LOG_TRAINING ||
	    a->n_rows != b->n_rows)
		return false;
	for (size_t i = 0; i < a->n_rows; i++) {
		const struct step_row *x = &a->rows[i], *y = &b->rows[i];

		if (x->step != y->step || !same_value(x->train_ms, y->train_ms))
			return false;
		if (!same_value(x->tok_s, y->tok_s))
			return false;
		timed += !isnan(x->train_ms) || !isnan(x->tok_s) ? 1 : 0;
	}
	return timed >= LEAST_COPIED;
}

/* A log that stands for two runs is one run: it would fake precision. */
static void
check_copies(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];

		/* Runs that we started ourselves are what they are. */
		if (run->state != RUN_STATE_CLAIMED || run->log == NULL)
			continue;
		for (size_t k = 0; k < i; k++) {
			const struct run_log *other = judge->runs[k].log;

			if (other == NULL)
				continue;
			if (has_same_rows(other, run->log) &&
			    strcmp(other->sha256, run->log->sha256) != 0) {
				guard_add(&run->hits, GUARD_COPY, true,
					  "row by row the times of another "
					  "run's log");
				break;
			}
			if (strcmp(other->sha256, run->log->sha256) != 0)
				continue;
			/* Scores of a cost model repeat to the byte. */
			guard_add(&run->hits, GUARD_COPY,
				  run->log->kind == RUN_LOG_TRAINING,
				  "byte for byte the log of another run");
			break;
		}
	}
}

/* How far the control's own losses spread, where its runs share a seed. */
static void
learn_losses(struct judge *judge)
{
	double *val = xmalloc((judge->n_runs + 1) * sizeof(*val));
	double seed = (double)NAN;
	size_t n = 0;
	bool same = true;

	for (size_t i = 0; i < judge->n_runs; i++) {
		const struct judge_run *run = &judge->runs[i];

		if (run->arm != 0 || !run->counted || run->log == NULL ||
		    isnan(run->log->val_loss))
			continue;
		val[n++] = run->log->val_loss;
		if (n > 1 && run->log->run.seed != seed)
			same = false;
		seed = run->log->run.seed;
	}
	if (n >= 3 && same)
		guard_loss_widen(&judge->rule.losses, stats_sd(val, n),
				 (double)NAN);
	free(val);
}

void
judge_init(struct judge *judge, const struct judge_rule *rule,
	   const struct judge_arm *arms, size_t n_arms, struct judge_run *runs,
	   size_t n_runs)
{
	assert(n_arms >= 2 && n_arms <= SCHEDULE_MAX_ARMS);
	*judge = (struct judge){ .rule = *rule,
				 .arms = arms,
				 .n_arms = n_arms,
				 .runs = runs,
				 .n_runs = n_runs,
				 .lo = (double)NAN,
				 .hi = (double)NAN,
				 .n_contrasts = n_arms - 1 };
	judge_measure(judge);
	learn_losses(judge);
	check_copies(judge);
	for (size_t i = 0; i < n_runs; i++) {
		const struct judge_run *control = control_of(judge, &runs[i]);

		if (runs[i].arm != 0 && runs[i].counted && control != NULL)
			check_pair(judge, &runs[i], control);
	}
	for (size_t arm = 0; arm < n_arms; arm++)
		judge_summarize(judge, arm);
	judge_mark_outliers(judge);
	for (size_t i = 0; i < n_runs; i++)
		if (runs[i].arm == 0 && runs[i].counted &&
		    !judge_is_usable(&runs[i]))
			judge_drop(judge, &runs[i]);
	judge->contrasts = xcalloc(n_arms, sizeof(*judge->contrasts));
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		struct judge_contrast *c = &judge->contrasts[i];

		c->arm = i + 1;
		judge_collect_blocks(judge, c);
		judge_collect_hits(judge, c);
		judge_compare_settings(judge, c);
		judge_compare_runtime(judge, c);
		judge_compare_health(judge, c);
		judge_compare_unblocked(judge, c);
		judge_weigh_outliers(judge, c);
		c->trend = judge_trend(judge, c->arm);
	}
	judge_decide(judge);
	judge_find_best(judge);
}

void
judge_release(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_contrasts; i++) {
		free(judge->contrasts[i].d);
		free(judge->contrasts[i].pods);
	}
	free(judge->contrasts);
	free(judge->dropped);
	for (size_t i = 0; i < judge->n_runs; i++)
		step_times_release(&judge->runs[i].times);
}
