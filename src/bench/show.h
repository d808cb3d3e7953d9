/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/folder.h"
#include "bench/plan.h"
#include "model/bench_live.h"
#include "parsers/json.h"

/*
 * A bench as a screen shows it: its plan, the runs that its results folder
 * keeps, and the verdict.json of it (NULL: none yet).  Owned by the caller.
 * Times and money: see bench_show_clock.
 */
struct bench_live *bench_show(const struct plan *plan, const char *path,
			      const struct folder_state *state, const cJSON *verdict);

/*
 * Set why its pods keep it waiting, as its folder says (live->driven tells
 * whether that is still true).
 */
void bench_show_waits(struct bench_live *live, const char *path, int64_t now_ms);

/* Set what passes with time: seconds, money, what is left. */
void bench_show_clock(struct bench_live *live, const struct folder_state *state, int64_t now_ms);
