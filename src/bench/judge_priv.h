/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_JUDGE_PRIV_H
#define HGYM_BENCH_JUDGE_PRIV_H

#include "bench/judge.h"

/* The steps of judge_init that have files of their own. */

/* judge_measure.c: guards of each log, its clock, the common window, y. */
void judge_measure(struct judge *judge);
/* The variant's time, interval by interval against the control's: is it
 * steady, and do the intervals say what their sum does? */
void judge_look_inside(const struct judge *judge, struct judge_contrast *c);
/* Runs far from their arm's median, what was seen in them, and what they did
 * to a contrast. */
void judge_mark_outliers(struct judge *judge);
void judge_weigh_outliers(const struct judge *judge, struct judge_contrast *c);

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
/* The d of the blocks that count, of one pod or with JUDGE_ANY of all. */
size_t judge_collect_d(const struct judge_contrast *c, size_t pod, double *d);
/* What its blocks spread by, for what more of them would show. */
struct paired_noise judge_noise(const struct judge_contrast *c);
/* Room for a double of each run. */
double *judge_room(const struct judge *judge);

#endif
