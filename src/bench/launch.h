/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bench/plan.h"
#include "conf/conf.h"

/*
 * What a bench says to a pod, and what it hears: scripts for `sh -s` (made of
 * launch.sh) and the parsing of their answers.  Pure, but for the files that
 * a variant ships.
 */
#define LAUNCH_COMMAND	 "exec sh -s"
#define LAUNCH_CHUNK	 (1024U * 1024)
#define LAUNCH_REPLY_CAP (4U * 1024 * 1024)
#define LAUNCH_GRACE_S	 10

enum launch_op {
	LAUNCH_PREFLIGHT,
	LAUNCH_SHIP,
	LAUNCH_START,
	LAUNCH_STATE,
	LAUNCH_CUT, /* end one job */
	LAUNCH_GPU,
	LAUNCH_ABORT,
	LAUNCH_CLEAN,
	LAUNCH_FINISH,
	LAUNCH_LOCK, /* the pod's lock_clocks */
	LAUNCH_STOP, /* the pod's stop_cmd */
};

struct launch {
	const struct plan *plan;
	const char *bench; /* id */
	size_t pod, arm;
	const char *job; /* name below the bench's folder; START, STATE, GPU */
	uint64_t offset; /* of the log; STATE */
	/* Its pod is a login node, all but STOP a step of an allocation. */
	const struct conf_slurm *slurm; /* NULL: it is not */
	bool ask;			/* look for the allocation first: it may be gone */
};

/* -1 with err when a file that an arm ships cannot be read here. */
int launch_check_files(const struct plan *plan, struct err *err);

/* -1 with err when a file that the variant ships cannot be read. */
int launch_script(struct buf *out, enum launch_op op, const struct launch *l, struct err *err)
	__attribute__((warn_unused_result));

enum launch_state {
	LAUNCH_NONE, /* there is no such job */
	LAUNCH_BUSY, /* somebody else holds the GPUs */
	LAUNCH_FULL, /* the pod's disk is full */
	LAUNCH_RUNNING,
	LAUNCH_DONE,
	LAUNCH_LOST, /* gone without an exit status */
};

struct launch_reply {
	bool understood; /* at least one line of ours */
	bool existed, shipped, cleaned;
	int exit_status; /* of the shell; set by who ran it */
	enum launch_state state;
	int rc;
	double t0_s, t1_s;  /* the pod's wall clock, since 1970 */
	double up_s;	    /* how long it took by the pod's steady clock */
	double pod_up_s;    /* that clock when it answered; NAN: not said */
	uint64_t size;	    /* bytes of the log */
	bool files_changed; /* judge files before and after differ */
	char hash[65];	    /* of the judge files' hashes */
	char work[128];	    /* its sources: commit, hash of what differs */
	char runtime[512];  /* "python /usr/bin/python3.11; torch 2.9.1" */
	char error[256];    /* "" or what the pod lacks */
	char foreign[128];  /* pids on our GPUs */
	char running[128];  /* of CLEAN: what still runs */
	long left;	    /* of ABORT: processes left; -1: not said */
	char names[128];    /* of those: "12 (sh) 13 (python3)" */
	char stray[128];    /* of ABORT: what runs may have left, the same */
	char held[256];	    /* of ABORT: a lock file, and who has it open */
	char queued[200];   /* why there is no allocation yet */
	char alloc[128];    /* "17.0 node": job of Slurm, restarts, where */
	char moved[128];    /* the same, where Slurm ended it with the run */
	struct buf env;	    /* lines "key value" of PREFLIGHT */
	struct str data;    /* borrowed of output: bytes of a log or gpu.csv */
	struct str host;    /* the same: host.csv */
	struct str stamps;  /* the same: stamps */
};

/* Parse all that the pod printed; output is borrowed by reply->data. */
void launch_reply_init(struct launch_reply *reply, struct str output);
void launch_reply_release(struct launch_reply *reply);
