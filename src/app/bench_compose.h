/* SPDX-License-Identifier: MIT */
#ifndef HGYM_APP_BENCH_COMPOSE_H
#define HGYM_APP_BENCH_COMPOSE_H

#include "command.h"
#include "conf/conf.h"
#include "model/model.h"

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
char *bench_compose(const struct bench_compose *with,
		    const struct command *command, struct err *err)
	__attribute__((warn_unused_result));

#endif
