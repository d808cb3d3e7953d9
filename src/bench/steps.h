/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Step time of one training run from its printed rows.  The run's number is 1000 (T(hi) - T(lo)) /
 * (hi - lo), where T(k) is the time at step k.  Parameter-golf trainers print tok/s as an average
 * since step 1, from a clock that they read before the GPU has finished; T(k) is computed back from
 * it, and a constant lag of that clock cancels in the difference.
 */

/* A training row as printed; NAN: the log has no such value. */
struct step_row {
	double step;
	double train_loss;
	double train_ms;  /* time since the start of training, exact */
	double train_min; /* train_ms in minutes, with one decimal */
	double tok_s;
	uint64_t line;
	double step_avg_ms; /* train_ms divided by the number of steps, as printed */
	bool after_val;	    /* a validation was printed after the previous row */
};

/* Meaning of the printed tok/s; always given, never guessed. */
enum tok_kind {
	TOK_CUMULATIVE, /* batch * steps / time, since the start */
	TOK_INTERVAL,	/* batch * steps / time, since the previous row */
};

/* Time of a run at each of its rows. */
struct step_times {
	size_t n;
	double *step;	 /* owned, ascending */
	double *t_s;	 /* owned, strictly ascending */
	bool from_tok_s; /* computed from tok_s; otherwise train_ms as printed */
};

/*
 * Fill *times from train_ms if all rows have it, otherwise from tok_s and batch_tokens. -1 with err
 * if the rows contradict each other: steps or times that do not increase, tok/s that is not finite
 * and positive, or a computed time that differs from the printed minutes by more than 0.1.
 */
int step_times_init(struct step_times *times, const struct step_row *rows, size_t n_rows,
		    enum tok_kind kind, double batch_tokens, struct err *err)
	__attribute__((warn_unused_result));
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

/* -1 with err if the row at lo or at hi is missing. */
int step_window_measure(struct step_window *window, const struct step_times *times, double lo,
			double hi, struct err *err) __attribute__((warn_unused_result));

/*
 * The resolution of a log's clock: the largest unit of which all times between rows (with
 * from_tok_s, all tok/s) are whole multiples.  `unit` is the result for other runs of the same
 * program, 0 for none.  In units of 1e-6 ms or tok/s.
 */
uint64_t step_unit(const struct step_times *times, const struct step_row *rows, uint64_t unit);
/* Length of a window in ticks of that unit; NAN: unknown. */
double step_ticks(const struct step_times *times, const struct step_row *rows, double lo, double hi,
		  uint64_t unit);

/* Index of the row of that step; times->n if there is none. */
size_t step_find(const struct step_times *times, double step);

/* Step times in ms between the rows within lo..hi, and optionally the step in the middle of each.
 * Room for times->n values.  Returns how many. */
size_t step_intervals(const struct step_times *times, double lo, double hi, double *out_ms,
		      double *out_mid_step);

/* Mean of the printed tok/s of rows lo..hi, which published tables call throughput; NAN: none.  The
 * lag of the clock biases it by (lag / slope) * mean(1 / k). */
double step_legacy(const struct step_row *rows, size_t n_rows, double lo, double hi);

/* Clocks of two arms differ if one is more steps ahead than this. */
#define STEP_LAG_TOLERANCE 0.25

/* Where the steady part of a run starts, and whether there is one. */

/*
 * MSER: how many of the first n interval times to cut.  The minimum over m = 0..n/2 of sum_{i>=m}
 * (x_i - mean)^2 / (n - m)^2, the first if several are equal. -1: no steady state (the minimum is
 * at the last allowed cut, or fewer than 5 values would remain).  If g is not NULL, it gets the n/2
 * + 1 values.
 */
int window_mser(const double *x, size_t n, double *g);

enum window_trend { WINDOW_STEADY, WINDOW_SLOWDOWN, WINDOW_WARMUP };

/*
 * Trend of a series of log time ratios (variant to control at the same steps) over the window, in
 * Barrett's terms.  It counts if its slope has p < 0.01 and the fitted change across the window
 * exceeds 0.5 %.
 */
enum window_trend window_trend(const double *step, const double *log_ratio, size_t n);

extern const char *const window_trends[]; /* NULL-terminated */
