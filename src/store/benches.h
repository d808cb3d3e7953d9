/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_BENCHES_H
#define HGYM_STORE_BENCHES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

/* A bench as the database knows it; texts borrowed, NULL or 0: unknown. */
struct stored_bench {
	const char *id, *name;
	const char *file;  /* its bench.json */
	const char *dir;   /* its results folder */
	const char *state; /* running, done, aborted, failed */
	const char *sha256;
	const char *definition, *verdict; /* JSON texts */
	int64_t started_ms, ended_ms;
};

/* One run of it; numbers NAN: unknown. */
struct stored_bench_run {
	const char *run; /* "0_pod_tag" */
	const char *pod, *tag, *state;
	const char *detail; /* JSON text: all that is known of it */
	double block, pos, rc, y_ms;
	int64_t started_ms, ended_ms;
};

/*
 * Write a bench and its runs over what was known of them, in one transaction
 * on a connection of its own.  Any program may, also beside the one that
 * writes logs; waits a little where the database is locked.
 */
int store_put_bench(const char *db_path, const struct stored_bench *bench,
		    const struct stored_bench_run *runs, size_t n_runs,
		    struct err *err) __attribute__((warn_unused_result));

/* In the order of their start; state NULL: all.  See store/query.h. */
int store_each_bench(struct store *store, const char *state,
		     int (*fn)(void *user, const struct stored_bench *bench),
		     void *user, struct err *err);

#endif
