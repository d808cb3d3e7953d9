/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"

/* Is a run that is behind worth finishing? Its last validation is compared with the mean of the
 * reference's group at the same step. We take the earlier runs of the run's group that were behind
 * at that step by the same amount or less, and count how many still finished ahead of that mean.
 * Runs that were further behind are not counted, because they would make this run look worse than
 * it is.
 *
 * Lower is better. A finished run is used if it has a validation at that step and a final score and
 * was planned for the same length. Each seed is used once. If the run belongs to the reference's
 * group, or without a reference, each earlier run is compared with the mean of all others. */
#define ADVICE_LEAST 5 /* least number of earlier runs that were behind */

struct advice {
	double step; /* step of the last validation */
	double gap;  /* distance to the mean of the reference's group, > 0 */
	const char *unit;
	double final;	 /* mean final score of the reference's group; a run that ends below it is
			    ahead */
	size_t n_behind; /* earlier runs that were behind by this gap or less */
	size_t n_ahead;	 /* those of them that finished ahead of the mean */
	/* Upper bound of the share that finishes ahead, with 95 % confidence. */
	double error;
};

/* Returns false if the run is not behind, if fewer than ADVICE_LEAST earlier runs were, or if a
 * series that it needs is not loaded yet. reference may be NULL. */
bool find_advice(const struct model *model, const struct model_run *mr,
		 const struct model_run *reference, struct advice *out);

/* Upper end of the one-sided 95 % Clopper-Pearson interval for k of n. */
double advice_at_most(size_t k, size_t n);
