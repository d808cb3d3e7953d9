/* SPDX-License-Identifier: MIT */
/* Forecast where the curve of a live run will cross its target. */
#include "model/crossing.h"

#include "base/xalloc.h"
#include "model/board_target.h"
#include "parsers/run_series.h"

/* A target, and the step after which runs are compared with it. */
struct line {
	const char *metric;
	double target, sign; /* sign -1: reached by a higher value */
	double from;
};

static const struct run_points *points_of(const struct run *run, const char *metric)
{
	static const struct run_points none = { NULL, 0 };
	const struct run_series *series = run_series_find(run, metric);

	return series != NULL ? &series->validations : &none;
}

/* Find the step after line->from where the curve, moved by shift, first crosses the target. */
static double find_crossing(const struct line *line, const struct run *run, double shift)
{
	const struct run_points *points = points_of(run, line->metric);

	for (size_t i = 1; i < points->n; i++) {
		const struct run_point *a = &points->v[i - 1], *b = &points->v[i];
		double above = line->sign * (a->value + shift - line->target);
		double below = line->sign * (b->value + shift - line->target);

		if (b->step > line->from && above > 0 && below <= 0)
			return a->step + above / (above - below) * (b->step - a->step);
	}
	return RUN_ABSENT;
}

/* Forecast the crossing of a run: the mean over others except [leave]; *used: their number. */
static double forecast(const struct line *line, const struct run *run,
		       const struct run *const *others, size_t n, size_t leave, size_t *used)
{
	double value = board_steps_value(run, line->metric, line->from), sum = 0;

	*used = 0;
	for (size_t i = 0; i < n; i++) {
		double other = board_steps_value(others[i], line->metric, line->from);
		double step = find_crossing(line, others[i], value - other);

		if (i == leave || !run_has(step))
			continue;
		sum += step;
		++*used;
	}
	return *used > 0 ? sum / (double)*used : RUN_ABSENT;
}

struct crossing crossing_forecast(const struct track *track, const struct run *run,
				  const struct run *const *others, size_t n)
{
	struct crossing found = { RUN_ABSENT, RUN_ABSENT, 0 };
	double squares = 0;
	size_t errors = 0, used;

	if (!run_has(track->target) || track->metric == NULL)
		return found;
	const struct run_points *points = points_of(run, track->metric);
	struct line line = { track->metric, track->target, track->is_above ? -1 : 1, 0 };
	if (points->n == 0 || run_has(find_crossing(&line, run, 0)))
		return found;
	line.from = points->v[points->n - 1].step;
	double step = forecast(&line, run, others, n, SIZE_MAX, &found.n);
	for (size_t i = 0; i < n; i++) {
		double actual = find_crossing(&line, others[i], 0);
		double error = forecast(&line, others[i], others, n, i, &used) - actual;

		if (!run_has(error))
			continue;
		squares += error * error;
		errors++;
	}
	if (errors < CROSSING_LEAST || !(line.from >= step / 2))
		return found;
	found.step = step;
	found.error = 2 * sqrt(squares / (double)errors);
	return found;
}

struct crossing crossing_of_run(const struct track *track, const struct model *model,
				const struct model_run *mr)
{
	size_t n = 0;

	if (mr->run.status != RUN_RUNNING || !run_has(track->target))
		return (struct crossing){ RUN_ABSENT, RUN_ABSENT, 0 };
	AUTO_FREE const struct run **others = xcalloc(model->n_runs, sizeof(*others));
	pointer_each (other, model->runs, model->n_runs) {
		if (other != mr && other->run.status != RUN_RUNNING &&
		    strcmp(other->group, mr->group) == 0)
			others[n++] = &other->run;
	}
	return crossing_forecast(track, &mr->run, others, n);
}
