/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/folder.h"
#include "bench/judge.h"
#include "bench/plan.h"
#include "bench/verdict_json.h"

/*
 * The runs of a bench: which there are, by its plan; which of them are over,
 * by the run.json that the results folder keeps of each.
 */
#define RUN_ID_SIZE 160

/* How a run ended, as its run.json says. */
enum run_end { RUN_END_NONE, RUN_END_EXITED, RUN_END_LOST };

struct bench_run {
	/* By the plan. */
	size_t pod, round, pos, arm;
	bool counted;
	size_t block, rep;	/* counted from 0; its round in that block */
	bool fresh;		/* its block confirms the best */
	char id[RUN_ID_SIZE];	/* "0_pod-a_B", repeated "0_pod-a_B.b1" */
	size_t repeat, attempt; /* of its block; 1 after it vanished once */
	/* What became of it; NAN and "" where that is not known. */
	enum run_end end;   /* NONE: it is not over */
	double rc;	    /* exit status */
	double t0_s, t1_s;  /* by the pod's wall clock */
	double up_s;	    /* by its steady clock, from begin to end */
	double drift_s;	    /* of that clock against ours, at least */
	bool files_changed; /* those of the judge */
	char hash[65];	    /* of the judge's files */
	char work[128];	    /* its sources; see launch_reply */
	char runtime[512];  /* see launch_reply */
	char alloc[128];    /* the same */
	char cut[160];	    /* why it was ended early */
	enum guard cut_by;  /* of cut */
	/* What its files say, once they were read; see session_load_run. */
	char t0[32], t1[32]; /* RFC 3339 */
	bool watched;	     /* its first steps are those of the control */
	bool has_log, has_health;
	struct run_log log;
	struct health_sum health;
	struct guard_hits hits; /* what the log itself does not tell */
};

struct bench_runs {
	const struct plan *plan; /* borrowed */
	const char *path;	 /* of the results folder; borrowed */
	size_t n_arms, per_pod;
	char (*tags)[PLAN_TAG_SIZE]; /* owned; of the arms */
	struct bench_run *v;	     /* owned; per_pod of each pod, in their order */
	size_t n;
	struct verdict_repeat *repeats; /* owned, with their reasons */
	size_t n_repeats, cap_repeats;
};

/* All runs of the plan, and what the folder keeps of them. */
void bench_runs_init(struct bench_runs *runs, const struct plan *plan, const char *path);
void bench_runs_release(struct bench_runs *runs);

/* "<folder>/runs/<id>/<name>", and the same below the folder, in out. */
void bench_run_path(const struct bench_runs *runs, const struct bench_run *run, const char *name,
		    char out[FOLDER_PATH_SIZE]);
void bench_run_file(const struct bench_run *run, const char *name, char out[FOLDER_PATH_SIZE]);

/* The place that run.json beside a log tells of its run; JUDGE_ANY: none. */
size_t bench_run_place(const char *log);

/* Write run.json: the run is over, and counts as it is. */
int bench_run_record(const struct bench_runs *runs, const struct bench_run *run, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Has the pod done something to this run, by evidence other than its value,
 * so that its whole block is to be begun again?  The reason is in out.
 */
bool bench_run_wants_repeat(const struct bench_runs *runs, const struct bench_run *run, char *out,
			    size_t size);
/* Begin its block again: what was measured of it is put aside. */
int bench_runs_repeat(struct bench_runs *runs, const struct bench_run *run, const char *reason,
		      struct err *err) __attribute__((warn_unused_result));

/*
 * Seconds until those runs that are due (by their place in runs->v) are over,
 * on the pod that is last: as its runs took until now, the first of each arm
 * apart.  0: none is due, or nothing is known.
 */
double bench_runs_left_s(const struct bench_runs *runs, const bool *due);
