/* SPDX-License-Identifier: MIT */
#ifndef HGYM_APP_DEMO_BENCH_H
#define HGYM_APP_DEMO_BENCH_H

#include "app/bench_feed.h"
#include "command.h"
#include "loop/loop.h"

/*
 * The demonstration's A/B bench: a plan whose pod is this machine and whose
 * runs print the rows of a training run in a moment.  It is started by its
 * key and driven and judged as any other; all that it writes is below the
 * folder, which the caller removes.
 */
struct demo_bench;

/*
 * Writes plan and workload.  The program's folders (XDG_STATE_HOME ..) are
 * moved below the folder, so that the user's own benches are left alone.
 */
struct demo_bench *demo_bench_new(struct model *model, const char *folder,
				  struct err *err)
	__attribute__((warn_unused_result));
void demo_bench_free(struct demo_bench *bench);
/* End a bench that still runs, while the loop is there. */
void demo_bench_stop(struct demo_bench *bench);
void demo_bench_poll(struct demo_bench *bench);
/* As app_source.bench. */
int demo_bench_launch(struct demo_bench *bench, struct loop *loop,
		      const char *plan, const char *stop_id, struct err *err)
	__attribute__((warn_unused_result));
/* As app_source.plan. */
char *demo_bench_compose(struct demo_bench *bench,
			 const struct command *command, struct err *err)
	__attribute__((warn_unused_result));

#endif
