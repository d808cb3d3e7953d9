/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * A HarnessGym workspace made up from the figures of one published
 * experiment (RMSNorm on an H100, times in us, lower is better): baseline
 * 142.848; verified 104.832, 107.488, 99.744; iteration 4 without a score as
 * the pod refused SSH, though the agent's tool saw 97.664; an earlier run
 * with 103.328.  The same bytes each time.  For tests and the demo.
 */
struct harness_gen {
	const char *dir;  /* borrowed; the workspace, made where missing */
	int64_t start_ms; /* when the run begins; 0: a fixed day */
	/*
	 * As a live writer: leave a file empty for so long, then half
	 * written for as long, before it is whole; and leave file times
	 * alone.  0: each file gets the time of its step.
	 */
	unsigned int torn_us;
};

/* How many steps a run has; after the last one its summary stands. */
size_t harness_gen_steps(void);
/* What happens in a step, in ms from the start of the run. */
int64_t harness_gen_step_at_ms(size_t step);
/* Write the files of one step (0..): truncated and rewritten in place. */
int harness_gen_step(const struct harness_gen *gen, size_t step, struct err *err)
	__attribute__((warn_unused_result));
/* The first `upto` steps (or all that there are) into dir. */
int harness_gen_write(const char *dir, size_t upto, struct err *err)
	__attribute__((warn_unused_result));
