/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "model/model.h"

/* Store a results folder in the database: bench.json, state.json and verdict.json, if any. */
int bench_record(const char *db_path, const char *id, const char *path, struct err *err) MUST_USE;

/* Fill out with up to max benches of the database, newest first, without those in ids. */
size_t bench_stored_list(struct context *context, char *const *ids, size_t n_ids,
			 struct model_bench *out, size_t max);
