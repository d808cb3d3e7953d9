/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * From the printed rows of one training run to its step time.  The printed
 * tok/s of the parameter-golf trainers is an average since step 1, taken by a
 * clock that is read before the GPU has finished; so the time T(k) at step k
 * is rebuilt, and the run's one number is 1000 (T(hi) - T(lo)) / (hi - lo),
 * in which a constant lag of the clock cancels.
 */

/* A train row as printed; NAN where the log has no such value. */
struct step_row {
	double step;
	double train_loss;
	double train_ms;  /* time since the start of training, exact */
	double train_min; /* the same in minutes, one decimal */
	double tok_s;
	uint64_t line;
	double step_avg_ms; /* train_ms by the steps so far, as printed */
	bool after_val;	    /* a validation was printed since the row before */
};

/* What the printed tok/s means; never guessed. */
enum tok_kind {
	TOK_CUMULATIVE, /* batch x steps so far / time so far */
	TOK_INTERVAL,	/* batch x steps since the row before / that time */
};

/* The clock of a run: its time at each row. */
struct step_times {
	size_t n;
	double *step;	 /* owned, ascending */
	double *t_s;	 /* owned, strictly ascending */
	bool from_tok_s; /* rebuilt; else from train_ms as printed */
};

/*
 * Fill *times from the rows (train_ms where all have it, else tok_s and
 * batch_tokens).  -1 with err where the rows contradict each other: steps or
 * times that do not rise, a tok/s that is not finite and positive, or a
 * rebuilt time that is not the printed minutes within 0.1.
 */
int step_times_init(struct step_times *times, const struct step_row *rows, size_t n_rows,
		    enum tok_kind kind, double batch_tokens, struct err *err)
	__attribute__((warn_unused_result));
void step_times_release(struct step_times *times);

/* Steps lo..hi of a run, as one measurement. */
struct step_window {
	double lo, hi; /* steps */
	size_t n_rows; /* rows inside, both ends counted */
	double y_ms;   /* the run statistic */
	double interval_median_ms, interval_mad_ms;
	double slope_ms;  /* per step, by least squares of T on the step */
	double lag_s;	  /* T = slope * step - lag */
	double lag_steps; /* lag / slope: what a launch-ahead clock hides */
};

/* What is known of a run without one. */
extern const struct step_window step_window_none;

/* -1 with err when the rows at lo and at hi are not both there. */
int step_window_measure(struct step_window *window, const struct step_times *times, double lo,
			double hi, struct err *err) __attribute__((warn_unused_result));

/*
 * The largest unit of which all times between rows are whole multiples, or of
 * a rebuilt clock all its tok/s; what is printed finer than 1e-6 is no unit.
 * `unit` is that of other runs of the same program, 0: none yet.
 */
uint64_t step_unit(const struct step_times *times, const struct step_row *rows, uint64_t unit);
/* How many ticks of such a unit a window is. */
double step_ticks(const struct step_times *times, const struct step_row *rows, double lo, double hi,
		  uint64_t unit);

/* The index of the row of that step, or times->n. */
size_t step_find(const struct step_times *times, double step);

/* Interval times in ms between rows within lo..hi; out holds times->n. */
size_t step_intervals(const struct step_times *times, double lo, double hi, double *out_ms,
		      double *out_mid_step);

/*
 * The mean of the raw tok/s of rows lo..hi, which published tables call
 * throughput; NAN: none.  Biased by the lag: (lag / slope) * mean(1 / k).
 */
double step_legacy(const struct step_row *rows, size_t n_rows, double lo, double hi);

/* Is the clock of one arm further ahead than the other's? */
#define STEP_LAG_TOLERANCE 0.25

/*
 * Where the measured part of a run begins, and whether it is steady.
 */

/*
 * MSER: how many of the first n interval times to cut, the argmin over
 * m = 0..n/2 of sum_{i>=m} (x_i - mean)^2 / (n - m)^2; the first on ties.
 * -1: no steady state (the argmin is the last allowed cut, or fewer than 5
 * would be left).  g (may be NULL) takes the n/2 + 1 values.
 */
int window_mser(const double *x, size_t n, double *g);

enum window_trend { WINDOW_STEADY, WINDOW_SLOWDOWN, WINDOW_WARMUP };

/*
 * Barrett's words for a series of log time ratios (variant to control of the
 * same steps) over the window: a trend counts when its slope has p < 0.01 and
 * its fitted change across the window is above 0.5 %.
 */
enum window_trend window_trend(const double *step, const double *log_ratio, size_t n);

extern const char *const window_trends[]; /* ended by NULL */
