/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_NOISE_H
#define HGYM_STORE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

/*
 * The noise register: a row for each pod of each bench that ran the same code
 * twice.  Texts borrowed, NULL: unknown; numbers NAN: unknown.
 */
struct stored_noise {
	const char *bench_id, *pod;
	const char *gpus; /* "0,1"; "" none were named */
	const char *gpu, *gpu_id, *driver, *image;
	const char *class_name; /* see bench/noise.h */
	const char *what;	/* the command, for people */
	const char *metric;
	double n_runs, n_blocks, mean, sd, df, sd_block;
	double drift, drift_p, span_s, run_s;
	int64_t when_ms; /* the bench's end, or its begin */
};

/*
 * Replace what the register holds of that bench, in one transaction on a
 * connection of its own, as store_put_bench does.
 */
int store_put_noise(const char *db_path, const char *bench_id,
		    const struct stored_noise *rows, size_t n, struct err *err)
	__attribute__((warn_unused_result));

/* Oldest first.  See store/query.h. */
int store_each_noise(struct store *store,
		     int (*fn)(void *user, const struct stored_noise *row),
		     void *user, struct err *err);

#endif
