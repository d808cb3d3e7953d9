/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/board_stats.h"
#include "model/track.h"

/* Does the mean of runs show the target? `a` is never negated. Undefined results are NAN. */
struct board_target_test {
	double margin_root_n; /* (target - mean) * sqrt(n); positive: reached */
	double p;	      /* one-sided: of the t test, or of z if the rule needs no t test */
	bool is_reached;      /* the mean reaches the target */
	bool is_shown;
};

struct board_target_test board_target_test(const struct track *track, const struct board_stats *a);

/* The first step at which the target is shown. The step is the same for all runs: choosing the best
 * step of each run would be p-hacking. */
struct board_steps {
	double step;	/* at which the values are compared; absent: no run has a validation */
	double lower;	/* the last common step before it; absent: none */
	size_t n;	/* runs with a validation at the step */
	size_t n_live;	/* runs in progress without it: the result is provisional */
	size_t n_short; /* ended runs without it: they count against the group */
	struct board_stats stats;
	struct board_target_test test;
	bool is_shown; /* false while n_short > 0 */
};

/* Runs that have neither a validation nor a step are left out. */
void board_steps_find(struct board_steps *found, const struct track *track, const char *metric,
		      const struct run *const *runs, size_t n);

/* The value of the metric at the step; absent: none. */
double board_steps_value(const struct run *run, const char *metric, double step);
