/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_KEPT_H
#define HGYM_BENCH_KEPT_H

#include <stdbool.h>

#include "bench/folder.h"
#include "bench/plan.h"

/* The results folders of this machine: where they lie, and how each stands. */

/* The folder of all of them; owned. */
char *bench_base(void);

/*
 * The folder of the bench that `word` names: an id, or its beginning when
 * only one begins so.  -1 with err (ERR_NODATA).
 */
int bench_find(const char *word, char id[FOLDER_ID_SIZE],
	       char path[FOLDER_PATH_SIZE], struct err *err)
	__attribute__((warn_unused_result));

/* The plan that a results folder keeps. */
int bench_load_plan(struct plan *plan, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* Is the bench of that id over?  Then its pods stop, else it is aborted. */
bool bench_is_over(const char *id);

/*
 * Pods that a bench which is over has left up (on_end "ask"): "p1 (2.00 USD
 * an hour), p2", owned; NULL: none, or the bench still runs.
 */
char *bench_still_up(const struct plan *plan, const char *path);
/* They were stopped: nothing is left to ask. */
int bench_note_stopped(const char *path, struct err *err)
	__attribute__((warn_unused_result));

#endif
