/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/stats.h"

/* Predict what a bench will show, for the plan, the noise register and "blocks to margin".  The
 * bench is simulated with the looks, levels and tests of the verdict.  The simulation has a fixed
 * seed, so equal plans give equal results. */

/* The design of a bench, and the noise it will meet. */
struct power_plan {
	struct paired_rule rule;
	struct looks looks; /* planned: blocks of all pods together */
	size_t pods, reps;
	size_t variants; /* that Holm adjusts for; all but one are assumed to equal the control */
	bool aa;	 /* a second control in each block */
	double sd;	 /* of the difference of two arms in a block, ln units */
	double pods_sd;	 /* of the difference between two pods */
};

/* The smallest difference (ln units) that the bench shows with rule.power; NAN: too few blocks. */
double power_detectable(const struct power_plan *plan);

/* Blocks (3..1000) that show `delta` (ln units) with rule.power; 0 if more than 1000. */
size_t power_blocks(const struct power_plan *plan, double delta);
