/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/runs.h"

/* Kernel benches.  One process on the pod (kernel_probe.py) times all arms of a round and prints
 * one JSON object per arm.  The process belongs to the first run of its round; the other runs of
 * that round share it.  The mean that it prints for an arm is the value of the arm's run. */

/* The shell command of a plan whose workload.kind is kernel; owned. */
char *kernel_command(const struct plan *plan);

/* Give `sharer`, a run of the same round, the result of the process of `run`: exit status, times,
 * telemetry, and a log with the lines that the probe printed for its arm.  sharer may be run
 * itself. -1 with err if a file cannot be written. */
int kernel_share(const struct bench_runs *runs, const struct bench_run *run,
		 struct bench_run *sharer, struct err *err) MUST_USE;

/* Add guard hits for errors and warnings that the probe reports besides the time. */
void kernel_guards(struct bench_run *run);

/* An array for verdict.json with the last object that the probe printed for each arm; owned. */
cJSON *kernel_json(const struct bench_runs *runs);
