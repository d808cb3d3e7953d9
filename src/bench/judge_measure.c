/* SPDX-License-Identifier: MIT */
/* One number a run: clocks, the common window, y; called by judge.c. */
#include "config.h"

#include "bench/judge_priv.h"

#include <math.h>
#include <stdlib.h>

#include "base/xalloc.h"

#define DEFAULT_LO 20.0
#define DEFAULT_HI 100.0
/* A step_avg of two decimals is off by this; a clock by no such share. */
#define AVERAGE_ROUNDING  0.01
#define AVERAGE_TOLERANCE 0.02

static bool
is_healthy(const struct judge_run *run)
{
	return run->counted && guard_hard(&run->hits) == NULL &&
	       run->times.n > 0;
}

/* The clock of one training log. */
static void
read_clock(const struct judge *judge, struct judge_run *run)
{
	struct err err = { ERR_NONE, "" };

	if (run->log->n_rows == 0)
		return;
	if (step_times_init(&run->times, run->log->rows, run->log->n_rows,
			    judge->rule.tok_kind,
			    run->log->run.train_batch_tokens, &err) != 0)
		guard_add(&run->hits, GUARD_PARSE, true, "%s", err.text);
}

static bool
has_step(const struct step_times *times, double step)
{
	for (size_t i = 0; i < times->n; i++)
		if (times->step[i] == step)
			return true;
	return false;
}

/* Do all healthy runs have rows at the usual ends? */
static bool
has_default_window(const struct judge *judge)
{
	const struct judge_run *run = NULL;
	size_t n = 0;

	while ((run = judge_next(judge, JUDGE_ANY, run)) != NULL) {
		if (!is_healthy(run))
			continue;
		if (!has_step(&run->times, DEFAULT_LO) ||
		    !has_step(&run->times, DEFAULT_HI))
			return false;
		n++;
	}
	return n > 0;
}

/* The step at which one run becomes steady; NAN: it never does. */
static double
steady_from(const struct judge_run *run)
{
	double *ms = xmalloc((run->times.n + 1) * sizeof(*ms));
	size_t n = step_intervals(&run->times, 0.0, (double)INFINITY, ms, NULL);
	int cut = window_mser(ms, n, NULL);

	free(ms);
	return cut >= 0 ? run->times.step[cut] : (double)NAN;
}

/* The latest cut and the earliest end of all healthy runs. */
static void
find_auto_window(struct judge *judge)
{
	struct judge_run *run = NULL;

	while ((run = judge_next(judge, JUDGE_ANY, run)) != NULL) {
		double from;

		if (!is_healthy(run))
			continue;
		from = steady_from(run);
		if (isnan(from))
			guard_add(&run->hits, GUARD_WINDOW, true,
				  "no steady state within %zu rows",
				  run->times.n);
		judge->lo = fmax(judge->lo, from);
		judge->hi = fmin(judge->hi, run->times.step[run->times.n - 1]);
	}
	judge->window_auto = true;
}

static void
choose_window(struct judge *judge)
{
	const struct judge_rule *rule = &judge->rule;

	if (rule->window == WINDOW_FIXED) {
		judge->lo = rule->lo;
		judge->hi = rule->hi;
	} else if (rule->window == WINDOW_DEFAULT &&
		   has_default_window(judge)) {
		judge->lo = DEFAULT_LO;
		judge->hi = DEFAULT_HI;
	} else {
		find_auto_window(judge);
	}
}

/* The row of that step that prints both its time and their mean, or NULL. */
static const struct step_row *
averaged_row(const struct run_log *log, double step)
{
	for (size_t i = 0; i < log->n_rows; i++) {
		const struct step_row *row = &log->rows[i];

		if (row->step == step && row->train_ms > 0.0 &&
		    row->step_avg_ms > 0.0)
			return row;
	}
	return NULL;
}

/*
 * train_time by step_avg is the number of steps that were timed: whatever it
 * leaves out at the front, it rises by one a step, or one of the two clocks
 * is wrong.
 */
static void
check_average(struct judge_run *run, double lo, double hi)
{
	const struct step_row *a = averaged_row(run->log, lo);
	const struct step_row *b = averaged_row(run->log, hi);
	double rise, rounded;

	if (a == NULL || b == NULL)
		return;
	rise = (b->train_ms / b->step_avg_ms - a->train_ms / a->step_avg_ms) /
	       (hi - lo);
	rounded = (AVERAGE_ROUNDING / b->step_avg_ms * hi +
		   AVERAGE_ROUNDING / a->step_avg_ms * lo) /
		  (hi - lo);
	if (fabs(rise - 1.0) > AVERAGE_TOLERANCE + rounded)
		guard_add(&run->hits, GUARD_PARSE, true,
			  "its two clocks disagree: from step %.0f to %.0f "
			  "step_avg counts %.2f steps for each one in "
			  "train_time",
			  lo, hi, rise);
}

static void
measure_training(const struct judge *judge, struct judge_run *run)
{
	struct err err = { ERR_NONE, "" };

	if (run->times.n == 0 || isnan(judge->lo) || isnan(judge->hi))
		return;
	run->legacy = step_legacy(run->log->rows, run->log->n_rows, judge->lo,
				  judge->hi);
	if (step_window_measure(&run->window, &run->times, judge->lo, judge->hi,
				&err) != 0) {
		guard_add(&run->hits, GUARD_WINDOW, true, "%s", err.text);
		return;
	}
	check_average(run, judge->lo, judge->hi);
	run->has_window = true;
	run->y = run->window.y_ms;
}

static void
measure_score(const struct judge *judge, struct judge_run *run)
{
	double value = run->log->score.root != NULL ? run->log->score.value
						    : (double)NAN;

	if (value > 0.0)
		run->y = judge->rule.higher ? 1.0 / value : value;
	else if (!isnan(value))
		guard_add(&run->hits, GUARD_PARSE, true,
			  "a score of %g has no ratio", value);
}

/* Rows in the window must be those of the first healthy control. */
static void
check_rows(struct judge *judge)
{
	const struct judge_run *first = judge_next(judge, 0, NULL);

	while (first != NULL && !(first->has_window && is_healthy(first)))
		first = judge_next(judge, 0, first);
	for (size_t i = 0; i < judge->n_runs && first != NULL; i++) {
		struct judge_run *run = &judge->runs[i];

		if (run->has_window &&
		    run->window.n_rows < first->window.n_rows)
			guard_add(&run->hits, GUARD_WINDOW, true,
				  "%zu rows in the window, the control has %zu",
				  run->window.n_rows, first->window.n_rows);
	}
}

void
judge_measure(struct judge *judge)
{
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];

		run->times = (struct step_times){ 0 };
		run->has_window = run->outlier = false;
		run->y = run->value = run->val_loss = (double)NAN;
		run->window = step_window_none;
		run->legacy = step_legacy(NULL, 0, 0, 0);
		if (run->log == NULL) {
			guard_add(&run->hits, GUARD_LOST, true, "no log");
			continue;
		}
		run_log_guards(run->log, &run->hits);
		run->val_loss = run->log->val_loss;
		if (run->log->kind == RUN_LOG_TRAINING) {
			judge->training |= run->log->n_rows > 0;
			read_clock(judge, run);
		}
	}
	if (judge->training)
		choose_window(judge);
	for (size_t i = 0; i < judge->n_runs; i++) {
		struct judge_run *run = &judge->runs[i];

		if (run->log == NULL)
			continue;
		if (run->log->kind == RUN_LOG_TRAINING)
			measure_training(judge, run);
		else
			measure_score(judge, run);
		run->value = judge->rule.higher ? 1.0 / run->y : run->y;
	}
	check_rows(judge);
}

/* Log ratios of the interval times of two runs, added to sum. */
static bool
add_ratios(const struct judge *judge, const struct judge_run *control,
	   const struct judge_run *run, double *sum, double *mid)
{
	size_t room = control->times.n > run->times.n ? control->times.n
						      : run->times.n;
	double *a = xmalloc((room + 1) * sizeof(*a));
	double *b = xmalloc((room + 1) * sizeof(*b));
	size_t n =
		step_intervals(&control->times, judge->lo, judge->hi, a, mid);
	size_t m = step_intervals(&run->times, judge->lo, judge->hi, b, NULL);

	for (size_t i = 0; n == m && i < n; i++)
		sum[i] += log(b[i] / a[i]);
	free(a);
	free(b);
	return n == m;
}

enum window_trend
judge_trend(const struct judge *judge, size_t arm)
{
	const struct judge_run *control = NULL, *run;
	size_t n_intervals = 0, blocks = 0;
	double *sum = NULL, *mid = NULL;
	enum window_trend trend = WINDOW_STEADY;

	while ((control = judge_next(judge, 0, control)) != NULL) {
		run = judge_beside(judge, arm, control);
		if (!judge_is_main(control) || !control->has_window ||
		    run == NULL || !run->has_window)
			continue;
		if (sum == NULL) {
			n_intervals = control->window.n_rows - 1;
			sum = xcalloc(control->times.n + 1, sizeof(*sum));
			mid = xcalloc(control->times.n + 1, sizeof(*mid));
		}
		if (control->window.n_rows - 1 == n_intervals &&
		    control->times.n > n_intervals &&
		    add_ratios(judge, control, run, sum, mid))
			blocks++;
	}
	for (size_t i = 0; i < n_intervals && blocks > 0; i++)
		sum[i] /= (double)blocks;
	if (blocks > 0)
		trend = window_trend(mid, sum, n_intervals);
	free(sum);
	free(mid);
	return trend;
}
