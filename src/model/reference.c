/* SPDX-License-Identifier: MIT */
/* Compare a run with another one and with the seeds of a group. */
#include "model/reference.h"

#include "base/dist.h"
#include "base/sort.h"
#include "model/board_stats.h"
#include "model/forecast.h"

/* Shares of the common range: rows that count as current, and rows used to estimate their noise. */
#define GAP_NEAR      0.2
#define GAP_SCATTER   0.5
#define GAP_LEAST     5 /* rows needed for a mean */
#define GAP_SAME_TIME 0.005

size_t find_seeds(const struct model *model, const char *group, double planned_steps,
		  const struct model_run *out[SEEDS_MOST])
{
	size_t n = 0;

	for (size_t i = model->n_runs; i-- > 0 && n < SEEDS_MOST;) {
		const struct model_run *mr = model->runs[i];
		bool is_new = true;

		if (mr->run.status != RUN_FINISHED || strcmp(mr->group, group) != 0 ||
		    fabs(mr->run.planned_steps - planned_steps) > 0)
			continue;
		model_request_series(model, mr);
		if (mr->history != MODEL_WHOLE)
			return 0;
		/* Leave out runs with the same seed and a second log of the same run. */
		for (size_t k = 0; k < n; k++) {
			const struct run *a = &mr->run, *b = &out[k]->run;

			is_new &= a->seed != b->seed &&
				  (a->steps != b->steps || a->train_ms != b->train_ms ||
				   (a->final_bpb != b->final_bpb &&
				    a->final_val_loss != b->final_val_loss));
		}
		out[n] = mr;
		n += is_new;
	}
	return n;
}

double curve_at(const struct curve *curve, double x)
{
	if (curve->n < 2 || !(x >= curve->x[0]) || !(x <= curve->x[curve->n - 1]))
		return RUN_ABSENT;
	size_t i = bisect(curve->n - 1, k, curve->x[k] <= x);
	double a = curve->x[i - 1];
	double b = curve->x[i];
	if (b <= a || x == a)
		return curve->y[i - 1];
	double part = a > 0 ? log(x / a) / log(b / a) : (x - a) / (b - a);
	return curve->y[i - 1] + (curve->y[i] - curve->y[i - 1]) * part;
}

void band_init(struct band *band, const struct curve *seeds, size_t n_seeds,
	       const struct curve *over)
{
	double values[SEEDS_MOST], width = RUN_ABSENT;
	size_t every = over->n / BAND_POINTS + 1, n_of_width = 0;
	struct board_stats stats;

	*band = (struct band){ .n = (over->n + every - 1) / every };
	band->x = xcalloc(band->n + 1, sizeof(*band->x));
	band->lo = xcalloc(band->n + 1, sizeof(*band->lo));
	band->hi = xcalloc(band->n + 1, sizeof(*band->hi));
	for (size_t i = 0; i < band->n; i++) {
		/* Take the last point of every few, so that the end is included. */
		double x = over->x[over->n - 1 - (band->n - 1 - i) * every];
		size_t n = 0;

		for (size_t k = 0; k < n_seeds; k++) {
			values[n] = curve_at(&seeds[k], x);
			n += isfinite(values[n]);
		}
		if (n != n_of_width)
			width = n < SEEDS_LEAST ? RUN_ABSENT
						: dist_t_quantile(0.975, (double)n - 1) *
							  sqrt(1 + 1 / (double)n);
		n_of_width = n;
		board_stats_of(&stats, values, n);
		band->x[i] = x;
		band->lo[i] = stats.mean - width * stats.sd_sample;
		band->hi[i] = stats.mean + width * stats.sd_sample;
	}
}

void band_release(struct band *band)
{
	free(band->x);
	free(band->lo);
	free(band->hi);
}

/* Estimate the noise of a single row from the differences between neighbours. */
static double find_scatter(const double *gaps, size_t n)
{
	double sum = 0;

	for (size_t i = 1; i < n; i++)
		sum += (gaps[i] - gaps[i - 1]) * (gaps[i] - gaps[i - 1]);
	return n > 1 ? sqrt(sum / (double)(n - 1) / 2) : RUN_ABSENT;
}

/* Collect the gaps at the newest rows up to `last`, newest first, in the last GAP_SCATTER of the
 * common range; *near of them are in its last GAP_NEAR. Returns how many there are. */
static size_t read_gaps(const struct curve *own, const struct curve *base, double last,
			double gaps[FORECAST_GAP_ROWS], double values[FORECAST_GAP_ROWS],
			size_t *near)
{
	double range = last - (own->n > 0 && base->n > 0 ? fmax(own->x[0], base->x[0]) : last);
	size_t n = 0;

	*near = 0;
	for (size_t i = bisect(own->n, k, own->x[k] <= last); i-- > 0 && n < FORECAST_GAP_ROWS;) {
		double x = own->x[i], at = curve_at(own, x) - curve_at(base, x);

		/* Old rows do not show the current gap. */
		if (x < last - range * GAP_SCATTER)
			break;
		if (!isfinite(at))
			continue;
		gaps[n] = at;
		values[n++] = own->y[i];
		*near += x >= last - range * GAP_NEAR;
	}
	return n;
}

double find_gap_noise(const struct curve *own, const struct curve *base, double x)
{
	double gaps[FORECAST_GAP_ROWS], values[FORECAST_GAP_ROWS];
	size_t near, n = read_gaps(own, base, x, gaps, values, &near);

	return find_scatter(gaps, n);
}

struct gap find_gap(const struct curve *own, const struct curve *base)
{
	double gaps[FORECAST_GAP_ROWS], values[FORECAST_GAP_ROWS], last;
	size_t n, near;
	struct gap gap = { .at = RUN_ABSENT, .x = RUN_ABSENT };

	if (own->n == 0 || base->n == 0)
		return gap;
	last = fmin(own->x[own->n - 1], base->x[base->n - 1]);
	n = read_gaps(own, base, last, gaps, values, &near);
	gap = (struct gap){ .at = curve_at(own, last) - curve_at(base, last),
			    .error = find_scatter(gaps, n),
			    .value = curve_at(own, last),
			    .rows = 1 };
	if (near >= GAP_LEAST) { /* means over the newest rows; the error covers noise and drift */
		struct forecast_gap all = { 0 }, newer = { 0 }, value = { 0 };

		for (size_t i = 0; i < near; i++) {
			forecast_gap_add(&all, gaps[i]);
			forecast_gap_add(&value, values[i]);
			if (i < near / 2)
				forecast_gap_add(&newer, gaps[i]);
		}
		gap = (struct gap){ .at = all.mean,
				    .error = hypot(forecast_gap_error(&all), newer.mean - all.mean),
				    .value = value.mean,
				    .rows = near };
	}
	gap.x = last;
	return gap;
}

struct gap find_validation_gap(const struct model_run *mr, const struct model_run *base)
{
	const struct series *own = mr->series[METRIC_VAL_BPB];
	const struct series *ref = base->series[METRIC_VAL_BPB];
	double now = fmin(mr->run.steps, base->run.steps);
	size_t i = own != NULL ? series_count(own) : 0;
	size_t k = ref != NULL ? series_count(ref) : 0, n = 0;
	double gaps[FORECAST_GAP_ROWS];
	struct gap gap = { .at = RUN_ABSENT, .rows = 1 };

	while (i > 0 && k > 0 && n < FORECAST_GAP_ROWS) {
		const struct series_point *a = series_at(own, i - 1);
		const struct series_point *b = series_at(ref, k - 1);

		/* Compare validations of the same step or of the same training time. */
		if (a->step == b->step || fabs(a->train_ms / b->train_ms - 1) < GAP_SAME_TIME) {
			if (fmin(a->step, b->step) < now * (1 - (n == 0 ? GAP_NEAR : GAP_SCATTER)))
				break;
			gaps[n] = a->value - b->value;
			if (n++ == 0) {
				gap.at = gaps[0];
				gap.value = a->value;
				gap.x = a->step == b->step ? a->step : RUN_ABSENT;
			}
			i--;
			k--;
		} else if (a->step > b->step) {
			i--;
		} else {
			k--;
		}
	}
	gap.error = find_scatter(gaps, n);
	return gap;
}
