/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_JUDGE_PARTS_H
#define HGYM_BENCH_JUDGE_PARTS_H

#include "bench/judge.h"

/* What judge.c and judge_measure.c share; nobody else includes it. */

/* Guards of each log, its clock, the common window, and y. */
void judge_measure(struct judge *judge);

/* Is the variant's time, step by step against the control's, steady? */
enum window_trend judge_trend(const struct judge *judge, size_t arm);

#endif
