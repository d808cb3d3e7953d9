/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "bench/plan.h"
#include "bench/runs.h"
#include "parsers/json.h"

/*
 * Kernel benches: one process on the pod (kernel_probe.py) times all arms of a
 * round, and prints an object for each.  The process is the first run of its
 * round; the others ride in it.  Its means are the runs that are judged.
 */

/* The probe, a Python program. */
const char *kernel_probe(void);

/* The command of a plan that has workload.kind kernel; owned. */
char *kernel_command(const struct plan *plan);

/*
 * The end of the process of `run`, as that of a run that rode in it: its
 * record, its telemetry, and a log of what was printed of its arm.  rider may
 * be run itself.  -1 with err where a file cannot be written.
 */
int kernel_share(const struct bench_runs *runs, const struct bench_run *run,
		 struct bench_run *rider, struct err *err) __attribute__((warn_unused_result));

/* What the probe said of an arm beside its time, as a soft guard. */
void kernel_guards(struct bench_run *run);

/* An array for verdict.json: what the probe said of each arm; given. */
cJSON *kernel_json(const struct bench_runs *runs);
