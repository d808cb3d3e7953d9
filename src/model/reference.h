/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/* What a run is held against: another, and the seeds of a group. */
#define SEEDS_MOST  16 /* the newest; their series are held at once */
#define SEEDS_LEAST 3  /* that make a band */

/*
 * The newest finished runs of a group, planned for so many steps or by logs
 * that do not say: one a seed, and one that two logs tell once.  Their series
 * are asked for; 0 while some are on their way.
 */
size_t seeds_of(const struct model *model, const char *group, double planned_steps,
		const struct model_run *out[SEEDS_MOST]);

/* Points that a line is drawn through; x rises, y may be NaN or infinite. */
struct curve {
	const double *x, *y; /* borrowed */
	size_t n;
};

/*
 * y between the points around x; absent outside of them.  A loss falls by the
 * logarithm of x: a straight line between far points would be above it.
 */
double curve_at(const struct curve *curve, double x);

/*
 * The prediction interval of Student's t: mean +- t(0.975, n - 1) sd
 * sqrt(1 + 1 / n).  Of values that are about normal the next one that is drawn
 * lies in it 95 times of 100, however few they are; mean +- 2 sd of three would
 * hold 78.  Measured on 128 curves of losses, each left out of its group: 95.1
 * of 100 points are inside.  Of step times only 90 are: a slow pod is no draw.
 */
struct band {
	double *x, *lo, *hi; /* owned; absent where fewer than SEEDS_LEAST */
	size_t n;
};

#define BAND_POINTS 400 /* as a screen can show */

/* Over the x of `over`, or some of them; n_seeds <= SEEDS_MOST. */
void band_init(struct band *band, const struct curve *seeds, size_t n_seeds,
	       const struct curve *over);
void band_release(struct band *band);

/* How a run stands to another, the base, where both have come to. */
struct gap {
	double at;    /* the run less the base; absent: they have no x there */
	double error; /* how far it may be off; absent: not known */
	double value; /* of the run; the base has value - at */
	double x;     /* there; absent where two steps are one time */
	size_t rows;  /* that these are means of, up to there; 1: of that x */
};

/*
 * At the last x that both have: the mean of the raw rows before it, where
 * there are enough; else the gap there, which is off by as much as the rows
 * before it scatter.
 */
struct gap gap_of(const struct curve *own, const struct curve *base);
/*
 * Of the last validations that both have, which have no noise of a batch;
 * absent where they are long ago.
 */
struct gap gap_validated(const struct model_run *mr, const struct model_run *base);
