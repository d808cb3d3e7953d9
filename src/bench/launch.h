/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/plan.h"
#include "conf/conf.h"

/* The protocol between a bench and a pod: scripts for `sh -s`, made from launch.sh, and the parser
 * of their answers.  The only local files read here are those that a variant ships. */
#define LAUNCH_COMMAND	 "exec sh -s"
#define LAUNCH_CHUNK	 (1024U * 1024)
#define LAUNCH_REPLY_CAP (4U * 1024 * 1024)
#define LAUNCH_GRACE_S	 10

enum launch_op {
	LAUNCH_PREFLIGHT,
	LAUNCH_SHIP,
	LAUNCH_START,
	LAUNCH_STATE,
	LAUNCH_CUT, /* stop one job */
	LAUNCH_GPU,
	LAUNCH_ABORT,
	LAUNCH_CLEAN,
	LAUNCH_FINISH,
	LAUNCH_LOCK, /* run the pod's lock_clocks */
	LAUNCH_STOP, /* run the pod's stop_cmd */
};

struct launch {
	const struct plan *plan;
	const char *bench; /* id */
	size_t pod, arm;
	const char *job; /* name of the job's folder, for operations on one job */
	uint64_t offset; /* for STATE: size of the local copy of the log */
	/* On a login node of Slurm, all except STOP run in this allocation; else NULL. */
	const struct conf_slurm *slurm;
	bool ask; /* check first whether the allocation has ended */
};

/* Check that the files that arms ship can be read; -1 with err. */
int launch_check_files(const struct plan *plan, struct err *err);

/* Append the script of an operation.  -1 with err if a file that the arm ships cannot be read. */
int launch_script(struct buf *out, enum launch_op op, const struct launch *l,
		  struct err *err) MUST_USE;

enum launch_state {
	LAUNCH_NONE, /* no such job */
	LAUNCH_BUSY, /* another bench has locked the GPUs */
	LAUNCH_FULL, /* the pod's disk is full */
	LAUNCH_RUNNING,
	LAUNCH_DONE,
	LAUNCH_LOST, /* no process and no exit status */
};

/* The result of a run, as recorded on its pod. */
struct run_result {
	double rc;	    /* exit status */
	double t0_s, t1_s;  /* the pod's wall clock, since 1970 */
	double up_s;	    /* duration by the pod's steady clock */
	bool files_changed; /* judge files changed during the run */
	char hash[65];	    /* of all judge files */
	char work[128];	    /* the sources: commit, hash of the changes */
	/* A file that all arms read, which changed during the run; of the control: those that its
	 * runs have written and any run has changed.  See reply_shared() in launch.sh. */
	char shared[512];
	char runtime[512]; /* "python /usr/bin/python3.11; torch 2.9.1" */
	char alloc[128];   /* "17.0 node": job of Slurm, restarts, node */
};

struct launch_reply {
	bool understood; /* at least one line of the protocol */
	bool existed, shipped, cleaned;
	int exit_status; /* of the shell; set by the caller */
	enum launch_state state;
	struct run_result result;
	double pod_up_s;   /* the steady clock at the time of the answer; NAN: unknown */
	uint64_t size;	   /* bytes of the log */
	char error[256];   /* "" or why the pod cannot be used */
	char foreign[128]; /* pids of other programs on its GPUs */
	char running[128]; /* of CLEAN: jobs that still run */
	long left;	   /* of ABORT: number of processes left; -1: unknown */
	char names[128];   /* of these processes: "12 (sh) 13 (python3)" */
	char stray[128];   /* of ABORT: processes that runs may have left behind */
	char held[256];	   /* of ABORT: a lock file and the processes that have it open */
	char queued[200];  /* why the allocation does not run yet */
	char moved[128];   /* result.alloc if Slurm ended the allocation during the run */
	struct buf env;	   /* lines "key value" of PREFLIGHT */
	/* Borrowed from the output: */
	struct str data; /* of a log, or gpu.csv */
	struct str host, stamps;
};

/* Parse the output of a script; the reply borrows from it. */
void launch_reply_init(struct launch_reply *reply, struct str output);
void launch_reply_release(struct launch_reply *reply);
