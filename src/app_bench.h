/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_APP_BENCH_H
#define HGYM_SRC_APP_BENCH_H

#include "cmd.h"
#include "loop/loop.h"

/*
 * Start the plan (or stop the bench) by the command of this same program, as
 * a process of its own: it goes on when the dashboard is left.
 */
int app_bench_launch(struct loop *loop, const struct cmd_env *env,
		     const char *plan, const char *stop_id, struct err *err)
	__attribute__((warn_unused_result));

#endif
