/* SPDX-License-Identifier: MIT */
/* Compute step times from printed rows, the warm-up cut, and the trend. */
#include "bench/steps.h"

#include <math.h>

#include "base/xalloc.h"
#include "bench/stats.h"

/* Printed minutes have one decimal; 1e-9 allows for floating-point rounding. */
#define MINUTES_TOLERANCE (0.1 + 1e-9)
/* stamp.py checks the size of the log 50 times per second. */
#define STAMP_MS 20.0

#define NONE (double)NAN

const struct step_window step_window_none = { NONE, NONE, 0, NONE, NONE, NONE, NONE, NONE, NONE };

const char *const step_clocks[] = { STEP_CLOCK_LIST(LIST_NAME) NULL };

bool step_clock_is_total(enum step_clock clock)
{
	return clock != STEP_CLOCK_STEP_MS && clock != STEP_CLOCK_TOK_INTERVAL;
}

static bool is_rate(enum step_clock clock)
{
	return clock == STEP_CLOCK_TOK_CUMULATIVE || clock == STEP_CLOCK_TOK_INTERVAL;
}

/* The time of a row by a clock, since the start or per step, in seconds; NAN: none. */
static double read_clock(const struct step_row *row, enum step_clock clock,
			 const struct step_rates *rates)
{
	const double times[STEP_CLOCKS] = {
		[STEP_CLOCK_TRAIN_MS] = row->train_ms / 1000.0,
		[STEP_CLOCK_STEP_AVG] = row->step * row->step_avg_ms / 1000.0,
		[STEP_CLOCK_STEP_MS] = row->step_ms / 1000.0,
		[STEP_CLOCK_TOK_CUMULATIVE] = row->step * rates->batch_tokens / row->tok_s,
		[STEP_CLOCK_TOK_INTERVAL] = rates->batch_tokens / row->tok_s,
		[STEP_CLOCK_DAY] = row->day_s,
		[STEP_CLOCK_DAY_SECONDS] = row->day_s,
		[STEP_CLOCK_STAMPS] = row->stamp_s,
	};

	return times[clock];
}

static bool is_allowed(enum step_clock clock, const struct step_row *rows, size_t n,
		       const struct step_rates *rates)
{
	if (is_rate(clock) && rates->kind != TOK_BY_FORMAT)
		return (clock == STEP_CLOCK_TOK_CUMULATIVE) == (rates->kind == TOK_CUMULATIVE);
	return clock != STEP_CLOCK_DAY || any_of(i, n, fmod(rows[i].day_s, 1.0) > 0.0);
}

/* Does row i follow the row before it, in step and in time?  Two rows may have one time of day. */
static bool is_after(const struct step_times *times, size_t i)
{
	return times->step[i] > times->step[i - 1] &&
	       (times->t_s[i] > times->t_s[i - 1] ||
		(times->clock >= STEP_CLOCK_DAY && times->t_s[i] == times->t_s[i - 1]));
}

/* Check that the rows a..b follow each other, and that times by tok/s agree with the minutes. */
static int check_times(const struct step_times *times, const struct step_row *rows, size_t a,
		       size_t b, struct err *err)
{
	/* Intervals give the time since row a only; both ends of it are rounded. */
	bool since_row = times->clock == STEP_CLOCK_TOK_INTERVAL;
	double from_s = since_row ? rows[a].train_min * 60.0 - times->t_s[a] : 0.0;

	for (size_t i = a; i <= b; i++) {
		unsigned long long line = rows[i].line;
		double minutes = round((times->t_s[i] + from_s) / 6.0) / 10.0;

		if (is_rate(times->clock) &&
		    fabs(minutes - rows[i].train_min) > MINUTES_TOLERANCE * (since_row ? 2 : 1))
			return err_set(err, ERR_PARSE,
				       "step %.0f: tok/s gives %.2f min, but the log prints %.1f "
				       "min; the tok/s are not %s, or the batch size is wrong",
				       rows[i].step, times->t_s[i] / 60.0, rows[i].train_min,
				       since_row ? "per interval" : "cumulative");
		if (i > a && !is_after(times, i))
			return err_set(err, ERR_PARSE,
				       "step %.0f (line %llu): step or time does not increase (%s)",
				       rows[i].step, line, step_clocks[times->clock]);
	}
	return 0;
}

/* Set the times of the rows a..b by one clock; false: a row lacks it; err: they conflict. */
static bool use_clock(struct step_times *times, enum step_clock clock, const struct step_row *rows,
		      const struct step_rates *rates, size_t a, size_t b, struct err *err)
{
	/* A duration covers the steps before its row. */
	size_t from = step_clock_is_total(clock) ? a : a + 1;
	double t_s = 0.0, step = 0.0;

	times->clock = clock;
	if (!is_allowed(clock, rows, times->n, rates))
		return false;
	for (size_t i = 0; i < times->n; i++) {
		double s = read_clock(&rows[i], times->clock, rates);

		if (!step_clock_is_total(times->clock)) {
			s = s > 0.0 && rows[i].step > step ? t_s + (rows[i].step - step) * s
							   : (double)NAN;
			t_s = isnan(s) ? t_s : s;
		}
		times->t_s[i] = isfinite(s) && s >= 0.0 ? s : (double)NAN;
		step = rows[i].step;
	}
	if (any_of(i, b + 1 - from, isnan(times->t_s[from + i])))
		return false;
	if (isnan(times->t_s[a]))
		times->t_s[a] = times->t_s[from] - (rows[from].step - rows[a].step) *
							   read_clock(&rows[from], clock, rates);
	if (check_times(times, rows, a, b, err) == 0) {
		/* Keep the times of the rows around a..b that follow each other without a break. */
		while (a > 0 && is_after(times, a))
			a--;
		while (b + 1 < times->n && is_after(times, b + 1))
			b++;
		for (size_t i = 0; i < times->n; i++)
			if (i < a || i > b)
				times->t_s[i] = (double)NAN;
		times->first = a;
		times->last = b;
	}
	return true;
}

int step_times_init(struct step_times *times, const struct step_row *rows, size_t n_rows,
		    const struct step_rates *rates, double lo, double hi, struct err *err)
{
	struct err why = { ERR_NONE, "" };
	int clock = 0;

	*times = (struct step_times){
		.n = n_rows,
		.step = xcalloc(n_rows + 1, sizeof(*times->step)),
		.t_s = xcalloc(n_rows + 1, sizeof(*times->t_s)),
	};
	for (size_t i = 0; i < n_rows; i++)
		times->step[i] = rows[i].step;
	size_t a = step_find(times, lo), b = step_find(times, hi);
	if (!(a < b && b < n_rows)) {
		err_set(&why, ERR_NODATA, "no training row at step %.0f", a == n_rows ? lo : hi);
		clock = STEP_CLOCKS;
	}
	for (size_t i = a + 1; clock == 0 && i <= b; i++)
		if (!(rows[i].step > rows[i - 1].step)) {
			err_set(&why, ERR_PARSE,
				"step %.0f (line %llu): the step does not increase", rows[i].step,
				(unsigned long long)rows[i].line);
			clock = STEP_CLOCKS;
		}
	while (clock < STEP_CLOCKS &&
	       !use_clock(times, (enum step_clock)clock, rows, rates, a, b, &why))
		clock++;
	/* The rows may print tok/s of intervals instead, which the printed minutes must confirm. */
	if (why.code != ERR_NONE && clock == STEP_CLOCK_TOK_CUMULATIVE &&
	    !isnan(rows[b].train_min)) {
		struct err other = { ERR_NONE, "" };

		if (use_clock(times, STEP_CLOCK_TOK_INTERVAL, rows, rates, a, b, &other) &&
		    other.code == ERR_NONE)
			return 0;
	}
	if (why.code == ERR_NONE && clock < STEP_CLOCKS)
		return 0;
	step_times_release(times);
	if (why.code != ERR_NONE)
		return err_set(err, why.code, "%s", why.text);
	return err_set(err, ERR_NODATA,
		       "its rows have neither times nor tok/s with a batch size (steps %.0f to "
		       "%.0f)",
		       lo, hi);
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

/* The number in a row that a clock of durations, averages or rates is based on. */
static double get_printed(const struct step_times *times, const struct step_row *row)
{
	return times->clock == STEP_CLOCK_STEP_MS    ? row->step_ms
	       : times->clock == STEP_CLOCK_STEP_AVG ? row->step_avg_ms
						     : row->tok_s;
}

uint64_t step_unit(const struct step_times *times, const struct step_row *rows, uint64_t unit)
{
	if (times->clock == STEP_CLOCK_STAMPS)
		return (uint64_t)(STAMP_MS * UNITS);
	for (size_t i = times->first; i <= times->last && i < times->n; i++) {
		double value = get_printed(times, &rows[i]);

		if (times->clock == STEP_CLOCK_TRAIN_MS || times->clock >= STEP_CLOCK_DAY)
			value = i > times->first ? 1e3 * (times->t_s[i] - times->t_s[i - 1]) : 0.0;
		/* Times of day are so large that their difference is not exact. */
		if (times->clock >= STEP_CLOCK_DAY)
			value = round(value);
		if (value > 0.0 && value < 1e12)
			unit = common_divisor(unit, (uint64_t)llround(value * UNITS));
	}
	return unit;
}

/* Rounded step times average out if they vary by more than this share of their unit. */
#define DITHER	     0.4
#define DITHER_TICKS 10.0

double step_ticks(const struct step_times *times, const struct step_row *rows, double lo, double hi,
		  uint64_t unit)
{
	size_t a = step_find(times, lo), b = step_find(times, hi);
	double tick_s = (double)unit / UNITS / 1000.0;

	if (a >= b || b >= times->n || unit == 0)
		return (double)NAN;
	double window_s = times->t_s[b] - times->t_s[a];
	if (times->clock == STEP_CLOCK_TOK_CUMULATIVE)
		tick_s = times->t_s[b] * (double)unit / UNITS / rows[b].tok_s;
	if (times->clock == STEP_CLOCK_STEP_AVG)
		tick_s *= rows[b].step;
	if (step_clock_is_total(times->clock))
		return window_s / tick_s;
	AUTO_FREE double *printed = xmalloc((b - a) * sizeof(*printed));
	for (size_t i = a; i < b; i++)
		printed[i - a] = get_printed(times, &rows[i + 1]) * UNITS / (double)unit;
	double ticks = values_median(printed, b - a);
	return stats_sd(printed, b - a) > DITHER ? DITHER_TICKS * ticks : ticks;
}

double step_moments(const struct step_times *times, double lo, double hi)
{
	size_t a = step_find(times, lo), b = step_find(times, hi);
	double longest_s = 0.0;
	size_t shared = 0;

	if (a >= b || b >= times->n)
		return (double)NAN;
	for (size_t i = a + 1; i <= b; i++) {
		shared += times->t_s[i] == times->t_s[i - 1] ? 1 : 0;
		longest_s = fmax(longest_s, times->t_s[i] - times->t_s[i - 1]);
	}
	return shared > (b - a) / 4 ? (times->t_s[b] - times->t_s[a]) / longest_s : (double)NAN;
}

size_t step_find(const struct step_times *times, double step)
{
	return index_of(i, times->n, times->step[i] == step);
}

size_t step_intervals(const struct step_times *times, double lo, double hi, size_t every,
		      double *out_ms, double *out_mid_step)
{
	size_t n = 0, a = times->first;

	while (a < times->last && times->step[a] < lo)
		a++;
	for (size_t b = a + every; b <= times->last && b < times->n && times->step[b] <= hi;
	     a = b, b += every) {
		double from = times->step[a], to = times->step[b];

		out_ms[n] = 1000.0 * (times->t_s[b] - times->t_s[a]) / (to - from);
		if (out_mid_step != NULL)
			out_mid_step[n] = (from + to) / 2.0;
		n++;
	}
	return n;
}

int step_window_measure(struct step_window *window, const struct step_times *times, double lo,
			double hi, struct err *err)
{
	size_t a = step_find(times, lo), b = step_find(times, hi);

	if (a == times->n || b == times->n || a >= b)
		return err_set(err, ERR_NODATA, "no training row at step %.0f",
			       a == times->n ? lo : hi);
	if (a < times->first || b > times->last)
		return err_set(err, ERR_NODATA, "the training row at step %.0f has no time",
			       a < times->first ? lo : hi);
	struct stats_line line = stats_fit(times->step + a, times->t_s + a, b - a + 1);
	AUTO_FREE double *ms = xmalloc(times->n * sizeof(*ms));
	size_t n = step_intervals(times, lo, hi, 1, ms, NULL);
	*window = (struct step_window){
		.lo = lo,
		.hi = hi,
		.n_rows = b - a + 1,
		.y_ms = 1000.0 * (times->t_s[b] - times->t_s[a]) / (hi - lo),
		.interval_median_ms = values_median(ms, n),
		.interval_mad_ms = stats_mad(ms, n),
		.slope_ms = 1000.0 * line.slope,
		.lag_s = -line.intercept,
		.lag_steps = -line.intercept / line.slope,
	};
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
