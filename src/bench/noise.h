/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/plan.h"
#include "store/benches.h"

/* Noise is measured by the A/A arm of a bench or by an audit. */

/* The noise of a class is used only if it was measured with at least this many runs. */
#define NOISE_MIN_RUNS 3
/* Cap of a pause between two runs, in seconds: during a longer one the pod was unreachable. */
#define NOISE_MOST_BETWEEN_S 10.0

/* One run of the control or of the A/A arm. */
struct noise_run {
	double y;    /* > 0 */
	double t0_s; /* start; NAN: unknown */
	size_t block;
	bool again; /* of the A/A arm */
};

/* Measure the noise of n runs, in any order. */
void noise_measure(struct noise *noise, const struct noise_run *runs, size_t n);

/* Sd of a block's difference of ln y: measured with three blocks, else sd * sqrt(2). */
double noise_sd_of_block(const struct noise *noise);

/* Smallest difference (ln units) that N blocks detect by default, without A/A arm. */
double noise_mde(const struct noise *noise, size_t blocks);

/* Combine two measurements of one class on one pod: variances are pooled by their degrees of
 * freedom, drift and times come from the newer one, `more`. */
void noise_pool(struct noise *total, const struct noise *more);

/* Two-sided p of the F test for equal spreads; NAN: unknown. */
double noise_compare(const struct noise *a, const struct noise *b);

#define NOISE_CLASS_SIZE 56

/* The class of runs that an arm belongs to: the "noise_class" of the bench file, otherwise
 * "<metric>-<12 digits>", a hash of command, folder, environment, metric and window.  Blocks with
 * several runs per arm have less spread, so their class is "<name>-x3". */
void noise_class(const struct plan *plan, size_t arm, char out[NOISE_CLASS_SIZE]);

/* Does the control's noise apply to the arm? Not with an own noise class, command or numerics. */
bool noise_is_shared(const struct plan *plan, size_t arm);

/* The noise of one pod of a bench, and the hardware it was measured on. */
struct noise_of_pod {
	const char *pod;  /* borrowed from the plan */
	char gpus[80];	  /* "0,1"; "": none given */
	char gpu[160];	  /* "NVIDIA H100 80GB HBM3"; "" unknown */
	char gpu_id[400]; /* UUIDs of those GPUs; "" unknown */
	char driver[64];
	char image[128]; /* "torch 2.9.1, triton 3.5.1, Linux 6.1" */
	struct noise noise;
};

/* Measure noise on pod i from the A/A runs of a verdict.json, or from the control's runs if there
 * is no A/A arm. env: the text of env.<pod>.txt. False if no run on that pod was measured. */
bool noise_from_verdict(struct noise_of_pod *out, const struct plan *plan, size_t pod,
			const cJSON *verdict, struct str env);

/* Fill all fields but the noise from env.<pod>.txt. */
void noise_read_env(struct noise_of_pod *out, const struct plan_pod *pod, struct str env);
