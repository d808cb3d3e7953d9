/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_JUDGE_PRIV_H
#define HGYM_BENCH_JUDGE_PRIV_H

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
struct judge_run *judge_beside(const struct judge *judge, size_t arm,
			       const struct judge_run *like);
/* Room for a double of each run. */
double *judge_room(const struct judge *judge);

#endif
