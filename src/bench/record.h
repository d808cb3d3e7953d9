/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "model/model.h"

/* Store a results folder in the database: bench.json, state.json and verdict.json, if any. */
int bench_record(const char *db_path, const char *id, const char *path, struct err *err) MUST_USE;

/* Fill out with the benches in the database whose id is not in ids, newest first, at most max.
 * Returns their number; 0 if the database cannot be read. */
size_t bench_stored_list(struct context *context, char *const *ids, size_t n_ids,
			 struct model_bench *out, size_t max);
