/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_STOP_H
#define HGYM_BENCH_STOP_H

#include <stdbool.h>

#include "base/err.h"
#include "bench/plan.h"

/* Pods that a bench which is over has left up (on_end "ask"). */

/* "p1 (2.00 USD an hour), p2", owned; NULL: none, or the bench still runs. */
char *bench_still_up(const struct plan *plan, const char *path);
/* They were stopped: nothing is left to ask. */
int bench_note_stopped(const char *path, struct err *err)
	__attribute__((warn_unused_result));
/* Is the bench of that id over?  Then its pods stop, else it is aborted. */
bool bench_is_over(const char *id);

#endif
