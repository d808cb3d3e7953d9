/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* A HarnessGym workspace generated from the figures of one published experiment (RMSNorm on an
 * H100, times in us, lower is better): baseline 142.848; verified 104.832, 107.488, 99.744;
 * iteration 4 has no score because the pod refused SSH, although the agent's tool measured 97.664;
 * an earlier run had 103.328. The output is always the same. For tests and the demo. */
struct harness_gen {
	const char *dir;  /* borrowed; the workspace, created if missing */
	int64_t start_ms; /* start of the run; 0: a fixed day */
	/* Imitate a live writer: leave each file empty for this time, then half written for the
	 * same time, and do not set file times. 0: each file gets the time of its step. */
	unsigned int torn_us;
};

/* Number of steps of a run; the last one writes its summary. */
size_t harness_gen_steps(void);
/* Time of a step, in ms from the start of the run. */
int64_t harness_gen_step_at_ms(size_t step);
/* Write the files of one step (from 0): truncated and rewritten in place. */
int harness_gen_step(const struct harness_gen *gen, size_t step, struct err *err) MUST_USE;
/* Write the first `upto` steps (or all, if there are fewer) to dir. */
int harness_gen_write(const char *dir, size_t upto, struct err *err) MUST_USE;
