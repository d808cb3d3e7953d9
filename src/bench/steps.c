/* SPDX-License-Identifier: MIT */
/* Step times from printed rows, warm-up cut and trend. */
#include "bench/steps.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/xalloc.h"
#include "bench/stats.h"

/* Printed minutes have one decimal; the rest is rounding. */
#define MINUTES_TOLERANCE (0.1 + 1e-9)

const struct step_window step_window_none = {
	.lo = (double)NAN,
	.hi = (double)NAN,
	.y_ms = (double)NAN,
	.interval_median_ms = (double)NAN,
	.interval_mad_ms = (double)NAN,
	.slope_ms = (double)NAN,
	.lag_s = (double)NAN,
	.lag_steps = (double)NAN,
};

int step_times_init(struct step_times *times, const struct step_row *rows, size_t n_rows,
		    enum tok_kind kind, double batch_tokens, struct err *err)
{
	double step = 0.0, t_s = 0.0; /* of the row before */

	*times = (struct step_times){
		.step = xcalloc(n_rows + 1, sizeof(*times->step)),
		.t_s = xcalloc(n_rows + 1, sizeof(*times->t_s)),
		.from_tok_s = n_rows == 0 || any_of(i, n_rows, isnan(rows[i].train_ms)),
	};
	if (times->from_tok_s && !(batch_tokens > 0.0)) {
		err_set(err, ERR_NODATA, "the log has neither exact times nor a batch size");
		goto fail;
	}
	for (size_t i = 0; i < n_rows; i++) {
		const struct step_row *row = &rows[i];
		unsigned long long line = row->line;
		double now_s = row->train_ms / 1000.0;

		if (times->from_tok_s && kind == TOK_CUMULATIVE)
			now_s = row->step * batch_tokens / row->tok_s;
		else if (times->from_tok_s)
			now_s = t_s + (row->step - step) * batch_tokens / row->tok_s;
		if (!isfinite(now_s) || now_s < 0.0) {
			err_set(err, ERR_PARSE, "step %.0f (line %llu) has no usable time",
				row->step, line);
			goto fail;
		}
		double minutes = round(now_s / 6.0) / 10.0;
		if (times->from_tok_s && fabs(minutes - row->train_min) > MINUTES_TOLERANCE) {
			err_set(err, ERR_PARSE,
				"step %.0f: tok/s gives %.2f min, but the log prints %.1f min; the "
				"tok/s are not cumulative, or the batch size is wrong",
				row->step, now_s / 60.0, row->train_min);
			goto fail;
		}
		if (i > 0 && (row->step <= step || now_s <= t_s)) {
			err_set(err, ERR_PARSE,
				"step %.0f (line %llu): step or time does not increase", row->step,
				line);
			goto fail;
		}
		step = times->step[i] = row->step;
		t_s = times->t_s[i] = now_s;
		times->n = i + 1;
	}
	return 0;
fail:
	step_times_release(times);
	return -1;
}

void step_times_release(struct step_times *times)
{
	free(times->step);
	free(times->t_s);
	*times = (struct step_times){ 0 };
}

#define UNITS 1e6 /* per ms, or per tok/s */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

uint64_t step_unit(const struct step_times *times, const struct step_row *rows, uint64_t unit)
{
	for (size_t i = times->from_tok_s ? 0 : 1; i < times->n; i++) {
		double value =
			times->from_tok_s ? rows[i].tok_s : rows[i].train_ms - rows[i - 1].train_ms;

		if (value > 0.0 && value < 1e12)
			unit = common_divisor(unit, (uint64_t)llround(value * UNITS));
	}
	return unit;
}

double step_ticks(const struct step_times *times, const struct step_row *rows, double lo, double hi,
		  uint64_t unit)
{
	size_t a = step_find(times, lo), b = step_find(times, hi);
	double tick_s = (double)unit / UNITS / 1000.0;

	if (a >= b || b == times->n || unit == 0)
		return (double)NAN;
	if (times->from_tok_s)
		tick_s = times->t_s[b] * (double)unit / UNITS / rows[b].tok_s;
	return (times->t_s[b] - times->t_s[a]) / tick_s;
}

size_t step_find(const struct step_times *times, double step)
{
	size_t i = 0;

	while (i < times->n && times->step[i] != step)
		i++;
	return i;
}

size_t step_intervals(const struct step_times *times, double lo, double hi, double *out_ms,
		      double *out_mid_step)
{
	size_t n = 0;

	for (size_t i = 1; i < times->n; i++) {
		double from = times->step[i - 1], to = times->step[i];

		if (from < lo || to > hi)
			continue;
		out_ms[n] = 1000.0 * (times->t_s[i] - times->t_s[i - 1]) / (to - from);
		if (out_mid_step != NULL)
			out_mid_step[n] = (from + to) / 2.0;
		n++;
	}
	return n;
}

int step_window_measure(struct step_window *window, const struct step_times *times, double lo,
			double hi, struct err *err)
{
	size_t a = step_find(times, lo), b = step_find(times, hi), n;
	double *ms;

	if (a == times->n || b == times->n || a >= b)
		return err_set(err, ERR_NODATA, "no training row at step %.0f",
			       a == times->n ? lo : hi);
	struct stats_line line = stats_fit(times->step + a, times->t_s + a, b - a + 1);
	ms = xmalloc(times->n * sizeof(*ms));
	n = step_intervals(times, lo, hi, ms, NULL);
	*window = (struct step_window){
		.lo = lo,
		.hi = hi,
		.n_rows = b - a + 1,
		.y_ms = 1000.0 * (times->t_s[b] - times->t_s[a]) / (hi - lo),
		.interval_median_ms = stats_median(ms, n),
		.interval_mad_ms = stats_mad(ms, n),
		.slope_ms = 1000.0 * line.slope,
		.lag_s = -line.intercept,
		.lag_steps = -line.intercept / line.slope,
	};
	free(ms);
	return 0;
}

double step_legacy(const struct step_row *rows, size_t n_rows, double lo, double hi)
{
	double sum = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++)
		if (rows[i].step >= lo && rows[i].step <= hi && isfinite(rows[i].tok_s)) {
			sum += rows[i].tok_s;
			n++;
		}
	return n > 0 ? sum / (double)n : (double)NAN;
}

#define LEAST_KEPT   5
#define TREND_P	     0.01
#define TREND_CHANGE 0.005

const char *const window_trends[] = { "steady", "slowdown", "warmup", NULL };

int window_mser(const double *x, size_t n, double *g)
{
	double best = (double)INFINITY;
	size_t cut = 0;

	for (size_t m = 0; m <= n / 2 && m < n; m++) {
		double left = (double)(n - m);
		double sd = stats_sd_population(x + m, n - m);
		double value = sd * sd / left;

		if (g != NULL)
			g[m] = value;
		if (value < best) {
			best = value;
			cut = m;
		}
	}
	if (cut == n / 2 || n - cut < LEAST_KEPT)
		return -1;
	return (int)cut;
}

enum window_trend window_trend(const double *step, const double *log_ratio, size_t n)
{
	struct stats_line line = stats_fit(step, log_ratio, n);

	if (n < LEAST_KEPT || !(line.p < TREND_P))
		return WINDOW_STEADY;
	double change = line.slope * (step[n - 1] - step[0]);
	if (fabs(change) <= TREND_CHANGE)
		return WINDOW_STEADY;
	return change > 0.0 ? WINDOW_SLOWDOWN : WINDOW_WARMUP;
}
