/* SPDX-License-Identifier: MIT */
/* Do the runs of a group reach the target of their track with significance, and at which step? */
#include "model/board_target.h"

#include "base/dist.h"
#include "base/sort.h"
#include "parsers/run_series.h"

#define ROUNDING 1e-9 /* tolerance: a margin equal to the limit counts */

struct board_target_test board_target_test(const struct track *track, const struct board_stats *a)
{
	double sign = track->is_above ? -1 : 1, n = (double)a->n;
	double below = sign * (track->target - a->mean);
	struct board_stats signed_stats = *a;
	struct board_target_test test = { below * sqrt(n), (double)NAN,
					  track->is_strict ? below > 0 : below >= 0, false };

	signed_stats.mean = sign * a->mean;
	if (track->rule == TRACK_RULE_T)
		test.p = board_test_one_sample(&signed_stats, sign * track->target).p;
	else if (run_has(track->known_sd) && a->n > 0)
		test.p = dist_normal_cdf(-test.margin_root_n / track->known_sd);
	test.is_shown = test.is_reached && a->n >= track->min_seeds &&
			(track->rule == TRACK_RULE_MEAN ||
			 (track->rule == TRACK_RULE_MARGIN
				  ? test.margin_root_n >= track->margin_root_n - ROUNDING
				  : test.p < track->alpha));
	return test;
}

static const struct run_series *series_of(const struct run *run, const char *metric)
{
	const struct run_series *series = run_series_find(run, metric);

	return series != NULL && series->validations.n > 0 ? series : NULL;
}

static int compare_points(const void *a, const void *b)
{
	const struct run_point *x = a, *y = b;

	return sort_by_value(&x->step, &y->step);
}

double board_steps_value(const struct run *run, const char *metric, double step)
{
	const struct run_series *series = series_of(run, metric);
	const struct run_point key = { .step = step }, *found = NULL;

	if (series != NULL)
		found = bsearch(&key, series->validations.v, series->validations.n, sizeof(key),
				compare_points);
	return found == NULL		       ? RUN_ABSENT
	       : series->metric < METRIC_COUNT ? found->value * series->scale
					       : found->value;
}

static struct board_steps compare_at(const struct track *track, const char *metric,
				     const struct run *const *runs, size_t n, double step,
				     double *values)
{
	struct board_steps at = { .step = step, .lower = RUN_ABSENT };

	for (size_t i = 0; i < n; i++) {
		double value = board_steps_value(runs[i], metric, step);

		if (run_has(value))
			values[at.n++] = value;
		else if (runs[i]->status == RUN_RUNNING)
			at.n_live++;
		else if (series_of(runs[i], metric) != NULL || runs[i]->steps > 0)
			at.n_short++;
	}
	board_stats_of(&at.stats, values, at.n);
	at.test = board_target_test(track, &at.stats);
	at.is_shown = at.test.is_shown && at.n_short == 0;
	return at;
}

/* If no step shows the target, is step `a` a better one to report than the earlier `b`? Prefer a
 * step that most runs have; then one that would show the target without the runs that lack it, the
 * first of several; else a step that fewer runs lack, the last of several. */
static bool is_better_step(const struct board_steps *a, const struct board_steps *b)
{
	bool most_a = a->n > a->n_short, most_b = b->n > b->n_short;

	if (most_a != most_b)
		return most_a;
	if (a->test.is_shown != b->test.is_shown)
		return a->test.is_shown;
	if (!a->test.is_shown && a->n_short != b->n_short)
		return a->n_short < b->n_short;
	return !a->test.is_shown;
}

void board_steps_find(struct board_steps *found, const struct track *track, const char *metric,
		      const struct run *const *runs, size_t n)
{
	AUTO_FREE double *values = xcalloc(n + 1, sizeof(*values));
	AUTO_FREE double *steps = NULL;
	size_t n_steps = 0, cap = 0;
	double lower = RUN_ABSENT;

	*found = (struct board_steps){ .step = RUN_ABSENT, .lower = RUN_ABSENT };
	board_stats_of(&found->stats, values, 0);
	found->test = board_target_test(track, &found->stats);
	for (size_t i = 0; i < n; i++) {
		const struct run_series *series = series_of(runs[i], metric);

		for (size_t k = 0; series != NULL && k < series->validations.n; k++)
			xpush(steps, n_steps, cap, series->validations.v[k].step);
	}
	if (n_steps > 0)
		qsort(steps, n_steps, sizeof(*steps), sort_by_value);
	for (size_t i = 0; i < n_steps && !found->is_shown; i++) {
		if (i > 0 && steps[i] == steps[i - 1])
			continue;
		struct board_steps at = compare_at(track, metric, runs, n, steps[i], values);
		at.lower = lower;
		if (at.n_short == 0 && at.n_live < n)
			lower = at.step;
		if (at.is_shown || !run_has(found->step) || is_better_step(&at, found))
			*found = at;
	}
}
