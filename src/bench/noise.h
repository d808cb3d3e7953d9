/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/plan.h"
#include "parsers/json.h"

/*
 * How much the same code differs from itself on one pod: what the A/A arm of
 * a bench, or an audit, measures.  All in ln units of the measured time;
 * what is not defined (one run, no complete block) is NAN.  Pure.
 */

/* Runs of a class from which its noise may stand for a single pair. */
#define NOISE_MIN_RUNS 3
/* What lies between two runs takes no longer, or the pod was away. */
#define NOISE_MOST_BETWEEN_S 10.0

/* One run of the same code: the control, or the control again. */
struct noise_run {
	double y;    /* > 0 */
	double t0_s; /* when it began; NAN: unknown */
	size_t block;
	bool again; /* the A/A arm's */
};

struct noise {
	size_t n_runs;	 /* that were measured */
	size_t n_blocks; /* in which all of both were */
	double mean;	 /* of ln y */
	double sd, df;	 /* of ln y from run to run, and n_runs - 1 */
	/* Of a block's log-difference (of the medians of its runs), with
	 * n_blocks - 1. */
	double sd_block;
	double drift;	/* fitted change of ln y from first to last run */
	double drift_p; /* of its slope against 0 */
	double span_s;	/* from the first begin to the last */
	double run_s;	/* seconds from a run to the next, less the gap */
};

/* Runs in any order. */
void noise_measure(struct noise *noise, const struct noise_run *runs, size_t n);

/*
 * The smallest difference (ln units) that so many blocks show with that
 * noise, alpha 0.05 and power 0.8: of the blocks' own spread where three
 * were measured, else of sd * sqrt(2).
 */
double noise_mde(const struct noise *noise, size_t blocks);

/*
 * Several measurements of one class on one pod as one: variances pooled by
 * their degrees of freedom, drift and times of the newest, which is `more`.
 */
void noise_pool(struct noise *total, const struct noise *more);

/* Are two spreads told apart?  Two-sided p of the F test; NAN: unknown. */
double noise_compare(const struct noise *a, const struct noise *b);

#define NOISE_CLASS_SIZE 56

/*
 * The class of runs that an arm belongs to: the name that the bench file
 * gives ("noise_class"), else "<metric>-<12 digits>" of what is run and how
 * it is measured: command, folder, environment, metric, window.  Blocks of
 * several runs an arm spread less than those of one: they are of a class of
 * their own, "<name>-x3".
 */
void noise_class(const struct plan *plan, size_t arm, char out[NOISE_CLASS_SIZE]);

/*
 * May the control's noise stand for that arm's?  Not where the arm names a
 * class of its own, runs a command of its own, or changes the numerics.
 */
bool noise_is_shared(const struct plan *plan, size_t arm);

/* The noise of one pod of a bench, and what it was measured on. */
struct noise_of_pod {
	const char *pod;  /* borrowed of the plan */
	char gpus[80];	  /* "0,1"; "" none were named */
	char gpu[160];	  /* "NVIDIA H100 80GB HBM3"; "" unknown */
	char gpu_id[400]; /* UUIDs of those GPUs; "" unknown */
	char driver[64];
	char image[128]; /* "torch 2.9.1, triton 3.5.1, Linux 6.1" */
	struct noise noise;
};

/*
 * The A/A runs of a judged bench (the object of its verdict.json) on pod i;
 * without such an arm those of its control, in no block.  env is the text of
 * env.<pod>.txt, may be empty.  false: none on that pod was measured.
 */
bool noise_of_verdict(struct noise_of_pod *out, const struct plan *plan, size_t pod,
		      const cJSON *verdict, struct str env);

/* What env.<pod>.txt tells of the pod: the fields of out but the noise. */
void noise_read_env(struct noise_of_pod *out, const struct plan_pod *pod, struct str env);
