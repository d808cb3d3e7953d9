/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/folder.h"
#include "bench/noise_register.h"

/* Append a description of the plan as sanitised plain text: commands, pods, order, duration, cost,
 * and the smallest difference it can detect.  reg: known noise; may be NULL. */
void bench_describe(struct buf *out, const struct plan *plan, const struct noise_register *reg);
/* Remove the A/A arm from a definition if the register has the control's noise on all pods. */
void bench_use_known_noise(cJSON *definition, const struct noise_register *reg);
/* Like bench_describe(), with the database's noise. -1 with err if a shipped file is unreadable. */
int bench_outline(struct buf *out, struct context *context, const struct plan *plan,
		  struct err *err);
/* The command that starts the plan in a file, and the description of that plan; owned.  NULL with
 * err if the file, or a file that it ships, is missing or wrong. */
char *bench_preview(struct context *context, const char *file, struct err *err);

/* The key of the only number in the JSON that the first run of a bench printed; owned.  NULL if
 * there is no such number, and NULL with err if there are several. */
char *bench_find_number(const struct plan *plan, const char *path, struct err *err);
/* Write another metric into the bench.json of a results folder; `chosen` is the reason. */
int bench_set_metric(const char *path, const char *key, const char *chosen,
		     struct err *err) MUST_USE;

/* Create and lock a bench's results folder. Its bench.json is `given`, or a copy of plan->file. */
int bench_create(const struct plan *plan, const char *given, char id[FOLDER_ID_SIZE],
		 char path[FOLDER_PATH_SIZE], int *lock, struct err *err) MUST_USE;
