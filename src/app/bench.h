/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"
#include "context.h"
#include "loop/loop.h"
#include "model/model.h"

/*
 * Benches that the dashboard starts and stops: by the command of this same
 * program, each a process in a session of its own, that goes on when the
 * dashboard is left.  One that fails while it is watched becomes an event.
 */
struct app_bench;

/* All borrowed for its life. */
struct app_bench *app_bench_new(struct loop *loop, struct model *model,
				const struct context *context);
/* What was started goes on, unwatched. */
void app_bench_free(struct app_bench *bench);
/* End what was started last, at once. */
void app_bench_kill(struct app_bench *bench);

/* Start a plan; or, where that is NULL, abort the bench with that id. */
int app_bench_launch(struct app_bench *bench, const char *plan, const char *stop_id,
		     struct err *err) __attribute__((warn_unused_result));

/*
 * The definition that a command of the dashboard asks for (an audit, a form,
 * a plan on other pods, a HarnessGym run), checked as bench.json is, in a
 * file below $XDG_STATE_HOME/hgym-tui/plans.
 */
struct bench_compose {
	const struct conf *conf;
	const struct model *model;
	const char *lock_root; /* a lock folder a pod below it; NULL: /tmp */
};

/* The path of the file, given; NULL with err. */
char *bench_compose(const struct bench_compose *with, const struct command *command,
		    struct err *err) __attribute__((warn_unused_result));
