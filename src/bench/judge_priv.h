/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/judge.h"

/* judge_same.c: did the arms do the same work, in the same surroundings?
 * Each run against the control's beside it, before there are blocks. */
void judge_compare_runs(struct judge *judge);
/* Each arm against the control, over all its runs. */
void judge_compare_arms(const struct judge *judge, struct judge_contrast *c);

/* Does the run lend its y to its block? */
bool judge_is_usable(const struct judge_run *run);
/* Is it one of the runs that choose, not of the fresh blocks? */
bool judge_is_main(const struct judge_run *run);
/* The run of that arm beside `like`: same pod, block and rep; NULL: none. */
struct judge_run *judge_beside(const struct judge *judge, size_t arm, const struct judge_run *like);
/* Room for a double of each run. */
double *judge_room(const struct judge *judge);

/* Why a contrast has no verdict, where rows came too late to bear witness to
 * its times and whole runs do not do so either; else why stays as it is. */
void judge_refuse_unseen(const struct judge *judge, const struct judge_contrast *c, char *why,
			 size_t size);
