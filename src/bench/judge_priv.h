/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/judge.h"

/* judge_same.c: did the arms do the same work in the same environment?  Compare each run with the
 * control's in its block, before there are contrasts. */
void judge_compare_runs(struct judge *judge);
/* Compare all runs of an arm with the control's. */
void judge_compare_arms(const struct judge *judge, struct judge_contrast *c);

/* Does the run's y count in its block? */
bool judge_is_usable(const struct judge_run *run);
/* Is it a counted run of the main blocks, not of the extra ones? */
bool judge_is_main(const struct judge_run *run);
/* The run of that arm with the same pod, block and rep as `like`, or NULL. */
struct judge_run *judge_find_run(const struct judge *judge, size_t arm,
				 const struct judge_run *like);
/* Read the double at that offset of a struct health_sum. */
double judge_get_health(const struct health_sum *health, size_t offset);
/* An array with room for one double per run.  Owned by the caller. */
double *judge_new_array(const struct judge *judge);

/* Why a contrast cannot be judged. */
struct refusal {
	enum verdict_reason reason;
	char details[160];
};

/* Refuse the contrast if neither the arrival of its rows nor whole runs confirm the difference. */
void judge_refuse_late_rows(const struct judge *judge, const struct judge_contrast *c,
			    struct refusal *why);
