/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/*
 * Whether a run that is behind is worth its end: by its last validation, those
 * of the reference's group at the same step, and how earlier runs of its own
 * group ended that were behind there too, by that much or less: those that were
 * further behind would make it look worse than it is.
 *
 * Lower is better.  A finished run counts that has a validation at that step
 * and a final score, and that was not planned to be of another length: one a
 * seed, and one that was told twice once.  Where the run is of the reference's
 * group, or there is no reference, each earlier run is held against the mean
 * of all others.
 */
#define ADVICE_LEAST 5 /* earlier runs that were behind */

struct advice {
	double step; /* of that validation */
	double gap;  /* above the mean of the reference's, > 0 */
	const char *unit;
	double final;	 /* mean of the reference's ends: ahead is below it */
	size_t n_behind; /* earlier runs that were behind, by that or less */
	size_t n_ahead;	 /* of these, those that ended ahead of the mean */
	/* The part that ends ahead is no more than that: 95 of 100 times. */
	double error;
};

/*
 * False: it is not behind, or fewer than ADVICE_LEAST earlier ones were, or
 * series that it takes are still on their way.  reference may be NULL.
 */
bool advice_of(const struct model *model, const struct model_run *mr,
	       const struct model_run *reference, struct advice *out);

/* The upper end of a one-sided 95 % interval (Clopper-Pearson) of k of n. */
double advice_at_most(size_t k, size_t n);
