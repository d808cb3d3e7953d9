/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "context.h"
#include "model/model.h"

/*
 * Note a bench in the database as its results folder has it now: bench.json,
 * state.json and, once it is there, verdict.json with its runs.
 */
int bench_record(const char *db_path, const char *id, const char *path, struct err *err)
	__attribute__((warn_unused_result));

/* Somebody drives the bench of this results folder just now. */
bool bench_is_driven(const char *path);

/* The log here of the run that it makes on that pod now; owned; NULL: none. */
char *bench_running_log(const char *path, const char *pod);

/*
 * Benches that only the database remembers, newest first: those of it whose
 * id is none of ids.  Fills out, at most max; how many.  A database that
 * cannot be read: none.
 */
size_t bench_stored_list(struct context *context, char *const *ids, size_t n_ids,
			 struct model_bench *out, size_t max);
