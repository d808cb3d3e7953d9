/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_APP_BENCH_H
#define HGYM_SRC_APP_BENCH_H

#include "cmd.h"
#include "loop/loop.h"

struct app_bench_ask {
	const struct cmd_env *env;
	const char *plan;    /* to start; NULL: none */
	const char *stop_id; /* to abort */
};

/*
 * Start the plan (or stop the bench) by the command of this same program, as
 * a process in a session of its own: it goes on when the dashboard is left.
 * Close the child when it is of no more interest.
 */
struct loop_child *app_bench_launch(struct loop *loop,
				    const struct app_bench_ask *ask,
				    struct err *err)
	__attribute__((warn_unused_result));

#endif
