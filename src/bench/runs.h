/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/folder.h"
#include "bench/launch.h"
#include "bench/verdict_json.h"

/* The runs of a bench, from its plan; each ended run has a run.json in the results folder. */
#define RUN_ID_SIZE 160

/* How a run ended, according to its run.json. */
enum run_end { RUN_END_NONE, RUN_END_EXITED, RUN_END_LOST };

struct bench_run {
	/* From the plan: */
	size_t pod, round, pos, arm;
	bool counted;
	size_t block, rep;	/* from 0; rep is its round in the block */
	bool fresh;		/* its block confirms the best variant */
	char id[RUN_ID_SIZE];	/* "0_pod-a_B"; if the block was repeated "0_pod-a_B.b1" */
	size_t repeat, attempt; /* repetitions of its block; 1 after the run was lost once */
	/* Its result; NAN and "": unknown. */
	enum run_end end; /* NONE: not yet */
	struct run_result result;
	double drift_s;	   /* least drift of the pod's steady clock from this machine's */
	char cut[160];	   /* why it was stopped early */
	enum guard cut_by; /* the check that stopped it */
	/* From its files, after session_load_run: */
	char t0[32], t1[32]; /* RFC 3339 */
	bool watched;	     /* its first steps were compared with the control's */
	bool has_log, has_health;
	struct run_log log;
	struct health_sum health;
	struct guard_hits hits; /* without those of run_log_guards() */
};

struct bench_runs {
	const struct plan *plan; /* borrowed */
	const char *path;	 /* of the results folder; borrowed */
	size_t n_arms, per_pod;
	char (*tags)[PLAN_TAG_SIZE]; /* owned; per arm */
	struct bench_run *v;	     /* owned; per_pod for each pod, in order */
	size_t n;
	struct verdict_repeat *repeats; /* owned, with their reasons */
	size_t n_repeats, cap_repeats;
};

/* Create all runs of the plan, and read their results from the folder. */
void bench_runs_init(struct bench_runs *runs, const struct plan *plan, const char *path);
void bench_runs_release(struct bench_runs *runs);

/* Set out to "<folder>/runs/<id>/<name>"; bench_run_file: to "runs/<id>/<name>". */
void bench_run_path(const struct bench_runs *runs, const struct bench_run *run, const char *name,
		    char out[FOLDER_PATH_SIZE]);
void bench_run_file(const struct bench_run *run, const char *name, char out[FOLDER_PATH_SIZE]);

/* The place of a run in its round, from the run.json next to its log; JUDGE_ANY: unknown. */
size_t bench_run_place(const char *log);

/* Write the run.json of a run that has ended and is not repeated. */
int bench_run_record(const struct bench_runs *runs, const struct bench_run *run,
		     struct err *err) MUST_USE;

/* Must this run's block be repeated for a fault of the pod (in out), whatever its value? */
bool bench_run_needs_repeat(const struct bench_runs *runs, const struct bench_run *run, char *out,
			    size_t size);
/* Repeat the block of a run: its earlier measurements are ignored. */
int bench_runs_repeat(struct bench_runs *runs, const struct bench_run *run, const char *reason,
		      struct err *err) MUST_USE;

/* Estimated seconds until the due runs (indexed as runs->v) have ended on the slowest pod, from the
 * durations of earlier runs.  0: no run is due, or nothing is known. */
double bench_runs_left_s(const struct bench_runs *runs, const bool *due);
