/* SPDX-License-Identifier: MIT */
#pragma once

#include "command.h"
#include "context.h"
#include "model/model.h"

/* Benches that the dashboard starts and stops. Each is a process of this program in a separate
 * session and outlives the dashboard. An event reports the failure of a watched bench. */
struct app_bench;

/* The arguments are borrowed until app_bench_free. */
struct app_bench *app_bench_new(struct loop *loop, struct model *model,
				const struct context *context);
/* Running benches continue unwatched. */
void app_bench_free(struct app_bench *bench);
/* Kill the benches that this dashboard started. */
void app_bench_kill(struct app_bench *bench);

/* Start a plan; if plan is NULL, stop the bench with this id. */
int app_bench_launch(struct app_bench *bench, const char *plan, const char *stop_id,
		     struct err *err) MUST_USE;

/* Inputs for a plan that the dashboard writes: audit, form, other pods, HarnessGym run. */
struct bench_compose {
	struct context *context; /* CONTEXT_CONF is open */
	const struct model *model;
	const char *lock_root; /* directory for the locks of the pods; NULL: /tmp */
};

/* Write the plan to a file in $XDG_STATE_HOME/hgym-tui/plans, checked like any bench.json; returns
 * its path, owned by the caller, or NULL with err. */
char *bench_compose(const struct bench_compose *with, const struct command *command,
		    struct err *err) MUST_USE;
