/* SPDX-License-Identifier: MIT */
/* Find change points of the step time, for the charts of a run. */
#include "model/step_change.h"

#include "base/xalloc.h"

/* Choose the series that shows step times best, or NULL. */
static const struct series *find_pace_series(const struct model_run *mr)
{
	const struct series *series = mr->series[METRIC_MS_PER_STEP];

	if (series == NULL)
		series = mr->series[METRIC_STEP_MS];
	return series != NULL && series_count(series) > 1 &&
			       (run_has(series_last(series)->train_ms) ||
				model_run_has_all(mr, series))
		       ? series
		       : NULL;
}

/* Fill ms with step times and at with the row before each step time; returns how many there are.
 * With a training clock, a step time is the difference between two rows, at most CHANGE_POINTS of
 * them. If the clock stops or goes back, continue from that row. */
static size_t fill_paces(const struct series *series, double *ms, const struct series_point **at)
{
	bool clock = run_has(series_last(series)->train_ms);
	size_t last = series_count(series) - 1, n = 0;
	size_t parts = clock && last > CHANGE_POINTS ? CHANGE_POINTS : last;
	const struct series_point *from = series_at(series, 0);

	for (size_t i = 1; i <= parts; i++) {
		const struct series_point *to = series_at(series, i * last / parts);
		bool stands = clock && to->train_ms == from->train_ms;

		ms[n] = clock ? (to->train_ms - from->train_ms) / (to->step - from->step)
			      : to->value;
		at[n] = from;
		n += isfinite(ms[n]) && ms[n] > 0;
		from = stands ? from : to;
	}
	return n;
}

void step_changes_update(struct step_changes *changes, const struct model_run *mr)
{
	const struct series *series = find_pace_series(mr);
	struct step_changes now = { .mr = mr };
	size_t most = changes->count;

	if (series != NULL) {
		now.count = series_count(series);
		now.last = *series_last(series);
	}
	if (mr->run.status == RUN_RUNNING)
		most += changes->count / 32;
	if (changes->mr == mr && now.count >= changes->count && now.count <= most &&
	    (now.count > changes->count ||
	     (now.last.step == changes->last.step && now.last.value == changes->last.value)))
		return;
	*changes = now;
	if (series == NULL)
		return;
	AUTO_FREE const struct series_point **at = xcalloc(now.count, sizeof(*at));
	AUTO_FREE double *ms = xcalloc(now.count, sizeof(*ms));
	struct change found[CHANGE_MOST];
	size_t n = change_find(ms, fill_paces(series, ms, at), found);
	for (size_t i = 0; i < n; i++)
		if (fabs(found[i].after / found[i].before - 1) >= STEP_CHANGE_LEAST)
			changes->v[changes->n++] =
				(struct step_change){ *at[found[i].at], found[i].before,
						      found[i].after };
}
