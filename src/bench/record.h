/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_RECORD_H
#define HGYM_BENCH_RECORD_H

#include <stdbool.h>

#include "base/err.h"

/*
 * Note a bench in the database as its results folder has it now: bench.json,
 * state.json and, once it is there, verdict.json with its runs.
 */
int bench_record(const char *db_path, const char *id, const char *path,
		 struct err *err) __attribute__((warn_unused_result));

/* Somebody drives the bench of this results folder just now. */
bool bench_is_driven(const char *path);

#endif
