/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/folder.h"
#include "model/bench_live.h"

/* Prepare a bench for the screen: its plan, the runs in its results folder and its verdict.json
 * (NULL: none yet).  Owned by the caller.  Call bench_show_clock() for times and costs. */
struct bench_live *bench_show(const struct plan *plan, const char *path,
			      const struct folder_state *state, const cJSON *verdict);

/* Set why pods keep the bench waiting; live->driven decides whether the reasons still apply. */
void bench_show_waits(struct bench_live *live, const char *path, int64_t now_ms);

/* Set what changes with time: seconds, costs, time left. */
void bench_show_clock(struct bench_live *live, const struct folder_state *state, int64_t now_ms);
