/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* Step time of one training run from its printed rows.  The run's number is 1000 (T(hi) - T(lo)) /
 * (hi - lo), where T(k) is the time at step k.  Trainers print that time in several ways: as the
 * training time, as the time of each step, as tok/s.  Parameter-golf trainers print tok/s as an
 * average since step 1, from a clock that they read before the GPU has finished; T(k) is computed
 * back from it, and a constant lag of that clock cancels in the difference. */

/* A training row as printed; NAN: the log has no such value. */
struct step_row {
	double step;
	double train_loss;
	double train_ms;    /* time since the start of training, exact */
	double train_min;   /* train_ms in minutes, with one decimal */
	double step_avg_ms; /* train_ms divided by the number of steps, as printed */
	double step_ms;	    /* time of one step, or the mean since the previous row */
	double tok_s;
	double day_s;	/* time of day that the row starts with, in seconds since 1970 */
	double stamp_s; /* when the row appeared, by the steady clock of the pod */
	uint64_t line;
	bool after_val; /* a validation was printed after the previous row */
};

/* Meaning of the printed tok/s. */
enum tok_kind {
	TOK_BY_FORMAT,	/* see run_log_rates */
	TOK_CUMULATIVE, /* batch * steps / time, since the start */
	TOK_INTERVAL,	/* batch * steps / time, since the previous row */
};

/* Where the time of a row comes from.  The first one that all rows of the window have is used. */
#define STEP_CLOCK_LIST(X)                                     \
	X(TRAIN_MS, "training time")                           \
	X(STEP_AVG, "mean step time since the start")          \
	X(STEP_MS, "step times")                               \
	X(TOK_CUMULATIVE, "tok/s since the start")             \
	X(TOK_INTERVAL, "tok/s since the previous row")        \
	X(DAY, "time of day at which rows were printed")       \
	X(STAMPS, "pod's clock when rows appeared in the log") \
	X(DAY_SECONDS, "time of day in whole seconds")

#define STEP_CLOCK_ID(id, words) STEP_CLOCK_##id,
enum step_clock { STEP_CLOCK_LIST(STEP_CLOCK_ID) STEP_CLOCKS };

extern const char *const step_clocks[]; /* in words; NULL-terminated */

/* Time of a run at each of its rows. */
struct step_times {
	size_t n;
	double *step; /* owned */
	/* Owned; ascending from row `first` to row `last`, which include the window, times of day
	 * not strictly.  NAN for rows outside: some trainers set their clock back once warm. */
	double *t_s;
	size_t first, last;
	enum step_clock clock;
};

/* The meaning of tok/s in rows. */
struct step_rates {
	enum tok_kind kind;
	double batch_tokens; /* per step; NAN: unknown */
};

/* Fill *times so that the rows from step lo to step hi have times.  -1 with err if there are no
 * such rows, or if they contradict each other: steps or times that do not increase, no clock that
 * all of them have, or a computed time that differs from the printed minutes by more than 0.1. */
int step_times_init(struct step_times *times, const struct step_row *rows, size_t n_rows,
		    const struct step_rates *rates, double lo, double hi, struct err *err) MUST_USE;
void step_times_release(struct step_times *times);

/* Steps lo..hi of a run as one measurement. */
struct step_window {
	double lo, hi; /* steps */
	size_t n_rows; /* rows from lo to hi, both included */
	double y_ms;   /* step time of the run */
	double interval_median_ms, interval_mad_ms;
	double slope_ms;  /* per step, from the least-squares line of T over steps */
	double lag_s;	  /* T = slope * step - lag */
	double lag_steps; /* lag / slope */
};

/* The window of a run that has none. */
extern const struct step_window step_window_none;

/* Measure the window from lo to hi.  -1 with err if the row at lo or at hi is missing. */
int step_window_measure(struct step_window *window, const struct step_times *times, double lo,
			double hi, struct err *err) MUST_USE;

/* The resolution of a log's clock, in units of 1e-6 ms or tok/s: the largest unit of which all
 * times between rows (or all printed step times or tok/s) are whole multiples.  `unit` is the
 * result for other runs of the same program, 0 for none. */
uint64_t step_unit(const struct step_times *times, const struct step_row *rows, uint64_t unit);
/* Length of a window in ticks of that unit; NAN: unknown. */
double step_ticks(const struct step_times *times, const struct step_row *rows, double lo, double hi,
		  uint64_t unit);

/* Length of a window in the longest interval of its rows, if many rows share a time, as they do
 * if they were flushed together; NAN: few do. */
double step_moments(const struct step_times *times, double lo, double hi);

/* Index of the row of that step; times->n if there is none. */
size_t step_find(const struct step_times *times, double step);

/* Write step times in ms between the rows within lo..hi, or between every n-th of them, and the
 * step in the middle of each (unless NULL). Arrays of times->n. Returns their number. */
size_t step_intervals(const struct step_times *times, double lo, double hi, size_t every,
		      double *out_ms, double *out_mid_step);

/* Does the clock print times since the start, and not durations or rates? */
bool step_clock_is_total(enum step_clock clock);

/* Mean of the printed tok/s of rows lo..hi, which published tables call throughput; NAN: none.  The
 * lag of the clock biases it by (lag / slope) * mean(1 / k). */
double step_legacy(const struct step_row *rows, size_t n_rows, double lo, double hi);

/* Clocks of two arms differ if one is more steps ahead than this. */
#define STEP_LAG_TOLERANCE 0.25

/* Where the steady part of a run starts, and whether there is one. */

/* MSER: how many of the first n interval times to cut. The first m in 0..n/2 that minimizes
 * sum_{i>=m} (x_i - mean)^2 / (n - m)^2. -1: no steady state (the minimum is at the last cut, or
 * fewer than 5 values would remain). If g is not NULL, it gets the n/2 + 1 values. */
int window_mser(const double *x, size_t n, double *g);

enum window_trend { WINDOW_STEADY, WINDOW_SLOWDOWN, WINDOW_WARMUP };

/* Trend of a series of log time ratios (variant to control at the same steps) over the window, in
 * Barrett's terms. It counts with p < 0.01 and a fitted change above 0.5 %. */
enum window_trend window_trend(const double *step, const double *log_ratio, size_t n);

extern const char *const window_trends[]; /* NULL-terminated */
