/* SPDX-License-Identifier: MIT */
/* A session's runs, one by one, for the screen. */
#include "config.h"

#include "bench/session_peek.h"

#include "bench/session_priv.h"

bool
session_peek(const struct session *s, size_t i, struct session_peek *out)
{
	const struct session_run *run;

	if (i >= s->n_runs)
		return false;
	run = &s->runs[i];
	*out = (struct session_peek){
		.arm = run->arm,
		.pod = run->pod,
		.block = run->block,
		.counted = run->counted,
		.over = run->recorded,
		.skipped = (run->recorded && run->end == RUN_END_SKIPPED) ||
			   (!run->recorded && s->arm_stopped[run->arm]),
		.hits = &run->hits,
	};
	return true;
}
