/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/* Compare a run with another one and with the seeds of a group. */
#define SEEDS_MOST  16 /* newest seeds; all their series are in memory at once */
#define SEEDS_LEAST 3  /* seeds needed for a band */

/* The newest finished runs of a group with this number of planned steps (or unknown), one per seed,
 * without copies. Requests their series; returns 0 while some are not loaded. */
size_t find_seeds(const struct model *model, const char *group, double planned_steps,
		  const struct model_run *out[SEEDS_MOST]);

/* Points of a line; x rises, y may be NaN or infinite. */
struct curve {
	const double *x, *y; /* borrowed */
	size_t n;
};

/* y at x, interpolated between neighbours; absent outside. Linear in log(x), because a loss falls
 * that way: a straight line between distant points would be above it. */
double curve_at(const struct curve *curve, double x);

/* Prediction interval by Student's t: mean +- t(0.975, n - 1) sd sqrt(1 + 1 / n). If values are
 * about normal, it contains the next one 95 times out of 100, however few there are; mean +- 2 sd
 * of three values would contain 78. Measured on 128 loss curves, each left out of its group: 95.1 %
 * of the points are inside. For step times only 90 %, because a slow pod is not a random draw. */
struct band {
	double *x, *lo, *hi; /* owned; absent with fewer than SEEDS_LEAST seeds */
	size_t n;
};

#define BAND_POINTS 400 /* about as many as a screen can show */

/* Compute a band at the x of `over`, or at every few of them; n_seeds <= SEEDS_MOST. */
void band_init(struct band *band, const struct curve *seeds, size_t n_seeds,
	       const struct curve *over);
void band_release(struct band *band);

/* The difference between a run and a base run at the last point that both have reached. */
struct gap {
	double at;    /* run minus base; absent: no common x */
	double error; /* possible error; absent: unknown */
	double value; /* value of the run; the base's is value - at */
	double x;     /* step of the gap; absent: same time at different steps */
	size_t rows;  /* rows averaged; 1: a single point */
};

/* The gap at the last x that both curves have: the mean over the newest rows if there are enough,
 * else the gap at that x, with the scatter of the rows before it as its error. */
struct gap find_gap(const struct curve *own, const struct curve *base);
/* Estimate a single gap's noise from differences between neighbours of the last rows up to x. */
double find_gap_noise(const struct curve *own, const struct curve *base, double x);
/* The gap at the last validations of both runs, without batch noise; absent if they are old. */
struct gap find_validation_gap(const struct model_run *mr, const struct model_run *base);
