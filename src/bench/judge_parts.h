/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_JUDGE_PARTS_H
#define HGYM_BENCH_JUDGE_PARTS_H

#include "bench/judge.h"

/* What the judge*.c share; nobody else includes it. */

/* judge_measure.c: guards of each log, its clock, the common window, y. */
void judge_measure(struct judge *judge);
/* Is the variant's time, step by step against the control's, steady? */
enum window_trend judge_trend(const struct judge *judge, size_t arm);

/* judge_blocks.c */
/* Does the run lend its y to its block? */
bool judge_is_usable(const struct judge_run *run);
/* The y of each arm in a few numbers. */
void judge_summarize(struct judge *judge, size_t arm);
/* Note the blocks that the run takes with it, and why. */
void judge_drop(struct judge *judge, const struct judge_run *run);
/* Is it a run that contrasts are made of? */
bool judge_is_main(const struct judge_run *run);
/* The blocks of c->arm and c->base, fresh ones or the others, and their
 * comparison; pods' means where there are three or more. */
void judge_gather(const struct judge *judge, struct judge_contrast *c,
		  bool fresh);
/* All that a contrast knows from its blocks. */
void judge_collect_blocks(struct judge *judge, struct judge_contrast *c);
/* The tests that know nothing of blocks. */
void judge_compare_unblocked(const struct judge *judge,
			     struct judge_contrast *c);

/* judge_marks.c */
/* Runs far from their arm's median, and what was seen in them. */
void judge_mark_outliers(struct judge *judge);
/* What the outliers did to a contrast. */
void judge_weigh_outliers(const struct judge *judge, struct judge_contrast *c);
/* Clocks of the GPUs that differ between the arms. */
void judge_compare_health(const struct judge *judge, struct judge_contrast *c);

/* judge_settings.c */
/* Does the bench say that the arm changes what has that name? */
bool judge_is_declared(const struct judge_arm *arm, const char *key);
void judge_compare_settings(const struct judge *judge,
			    struct judge_contrast *c);
/* Python, torch and what it needs, as the runs were seen to have it. */
void judge_compare_runtime(const struct judge *judge, struct judge_contrast *c);

/* judge_decide.c */
void judge_collect_hits(const struct judge *judge, struct judge_contrast *c);
/* Holm over the contrasts, then the verdict on each. */
void judge_decide(struct judge *judge);
/* Is there a guard that makes the arm INVALID? */
bool judge_is_invalid(const struct judge *judge, size_t arm);

/* judge_best.c: after the verdicts. */
void judge_find_best(struct judge *judge);

#endif
