/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/launch.h"
#include "bench/runs.h"
#include "bench/session.h"
#include "bench/waits.h"

/* What the files of a session share: session*.c and worker.c. */

_Static_assert(WAITS_MAX >= PLAN_MAX_PODS, "each pod may wait");

/* What a worker does next, or waits to have done. */
enum worker_step {
	WORKER_PREFLIGHT,
	WORKER_SHIP,
	WORKER_LOCK,
	WORKER_WAIT, /* for the other pods: then the best is known */
	WORKER_START,
	WORKER_WATCH,
	WORKER_CUT,
	WORKER_GPU,
	WORKER_ABORT,
	WORKER_FINISH,
	WORKER_STOP,
	WORKER_CLEAN,
	WORKER_ENDED,
};

/*
 * The pod's steady clock against ours: each answer tells that the pod's time
 * lay between our sending and our hearing.  Without drift all these intervals
 * have a moment in common, however slow the way was.
 */
struct worker_clock {
	double low_s, high_s; /* ours - the pod's: no less, no more than */
};

/* Who works on one pod: one command at a time, one run after the other. */
struct worker {
	struct session *session;
	size_t pod;
	enum worker_step step;
	size_t next; /* index into its own runs */
	size_t ship_arm;
	struct bench_run *run; /* under way, or NULL */
	struct stream *stream; /* in flight, or NULL */
	struct buf out;
	struct loop_timer *timer;
	double first_s;		   /* boot clock, of the first answer; 0: none */
	int64_t sent_ms;	   /* boot clock, of the command in flight */
	struct worker_clock all;   /* of the whole bench */
	struct worker_clock clock; /* of the run */
	unsigned int tries;	   /* of the command in a row */
	struct pod_wait wait;	   /* what it keeps the bench waiting for */
	int64_t tell_ms;	   /* of waiting, when it is told of again */
	bool reached;		   /* it has answered */
	bool begun;		   /* a run of ours began there */
	bool failed;
};

struct session {
	struct session_setup setup;
	struct session_cb cb;
	const struct plan *plan;
	struct bench_runs runs;
	struct worker *workers; /* one a pod; NULL: none is driven */
	char data[65];		/* hash of the first pod's; "": not known */
	struct loop_timer *tick;
	struct judge_arm arms[SCHEDULE_MAX_ARMS];
	const char **declared[SCHEDULE_MAX_ARMS]; /* owned; names borrowed */
	bool arm_stopped[SCHEDULE_MAX_ARMS];
	/* The blocks that choose were ended early; the best is chosen; the
	 * arms of the fresh blocks. */
	bool shown, chosen, in_fresh[SCHEDULE_MAX_ARMS];
	/* The judgement as it stands. */
	struct judge judge;
	struct judge_run *judge_runs; /* owned; room for all */
	struct folder_state state;
	/* When this session began, by the wall and by the boot clock. */
	int64_t wall0_ms, boot0_ms;
	const char *stopped; /* why, NULL: it goes on */
	bool leaving, ended;
	struct err why; /* of the last pod that failed */
};

/* session.c */
void session_note(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A run of a worker is over. */
void session_on_run(struct session *s, struct bench_run *run);
/* A worker waits for the others, or has ended. */
void session_on_worker(struct session *s);
/* Is the run one that is to be made, as far as is known? */
bool session_is_due(const struct session *s, const struct bench_run *run);
/* Judge what is over as it stands. */
void session_judge_now(struct session *s);

/* session_run.c: what the files of a run tell, and its steps.csv. */
/* Read the log of a run that is over, and all that tells of it. */
void session_load_run(struct session *s, struct bench_run *run);
/*
 * Look at the log of a run under way: true when a hard guard fired already
 * (run->cut says why), so that the rest of it would be money for nothing.
 */
bool session_should_cut(struct session *s, struct bench_run *run);
int session_write_steps(struct session *s, const struct judge_run *run, struct err *err)
	__attribute__((warn_unused_result));

/* worker.c: the way of one pod. */
void worker_begin(struct worker *worker);
void worker_release(struct worker *worker);
/* The bench is over: end what runs, give the locks back. */
void worker_stop(struct worker *worker);
/* The next run after the gap, or the end. */
void worker_go_on(struct worker *worker, int64_t gap_ms);
/* Once a second: notice a command that is not answered, tell it again. */
void worker_wait_tick(struct worker *worker);
/* To those who look into the folder; the bench goes on without. */
void session_tell_waits(struct session *s);
