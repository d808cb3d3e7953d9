/* SPDX-License-Identifier: MIT */
#pragma once

#include "store/store.h"

/* A bench in the database; texts are borrowed, NULL or 0: unknown. */
struct stored_bench {
	const char *id, *name;
	const char *file;  /* path of its bench.json */
	const char *dir;   /* its results directory */
	const char *state; /* running, done, aborted, failed */
	const char *sha256;
	const char *definition, *verdict; /* JSON texts */
	int64_t started_ms, ended_ms;
};

/* A run of a bench; numbers NAN: unknown. */
struct stored_bench_run {
	const char *run; /* "0_pod_tag" */
	const char *pod, *tag, *state;
	const char *detail; /* JSON text with everything that is known about it */
	double block, pos, rc, y_ms;
	int64_t started_ms, ended_ms;
};

/* Add or replace a bench and its runs, in one transaction on a separate connection.  Also allowed
 * while another process writes logs; waits a little if the database is locked. */
int store_put_bench(const char *db_path, const struct stored_bench *bench,
		    const struct stored_bench_run *runs, size_t n_runs, struct err *err) MUST_USE;

/* Pass the benches with this state (NULL: all) to fn, in the order of their start; see query.h. */
int store_each_bench(struct store *store, const char *state,
		     int (*fn)(void *user, const struct stored_bench *bench), void *user,
		     struct err *err);

/* How much repeated runs of the same code differ on one pod.  In ln units of the measured time;
 * NAN: not defined (one run, no complete block). */
struct noise {
	double n_runs;	 /* measured runs */
	double n_blocks; /* blocks with all runs of both arms */
	double mean;	 /* mean of ln y */
	double sd, df;	 /* sd of ln y between runs; df is n_runs - 1 */
	/* Spread of a block's difference of ln y (of its runs' medians); df is n_blocks - 1. */
	double sd_block;
	double drift;	/* change of ln y from the first to the last run, by a linear fit */
	double drift_p; /* p of the slope against 0 */
	double span_s;	/* seconds from the first start to the last */
	double run_s;	/* seconds per run with its setup, without the gap */
};

/* The noise register: a row per pod of each bench with A/A. Texts are borrowed; NULL: unknown. */
struct stored_noise {
	const char *bench_id, *pod;
	const char *gpus; /* "0,1"; "": not named */
	const char *gpu, *gpu_id, *driver, *image;
	const char *class_name; /* see bench/noise.h */
	const char *what;	/* the command, for people */
	const char *metric;
	struct noise noise;
	int64_t when_ms; /* end of the bench, or its start */
};

/* Replace the rows of a bench, like store_put_bench(). */
int store_put_noise(const char *db_path, const char *bench_id, const struct stored_noise *rows,
		    size_t n, struct err *err) MUST_USE;

/* Pass the rows of the noise register to fn, oldest first; see query.h. */
int store_each_noise(struct store *store, int (*fn)(void *user, const struct stored_noise *row),
		     void *user, struct err *err);
