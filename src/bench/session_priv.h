/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/runs.h"
#include "bench/session.h"
#include "bench/waits.h"

/* Shared by session.c, session_run.c and worker.c. */

_Static_assert(WAITS_MAX >= PLAN_MAX_PODS, "each pod may wait");

/* The command that a worker sends next, or whose answer it waits for. */
enum worker_step {
	WORKER_PREFLIGHT,
	WORKER_SHIP,
	WORKER_LOCK,
	WORKER_WAIT, /* no command: the other pods must finish before the best is known */
	WORKER_START,
	WORKER_WATCH,
	WORKER_CUT,
	WORKER_GPU,
	WORKER_ABORT,
	WORKER_FINISH,
	WORKER_STOP,
	WORKER_CLEAN,
	WORKER_ENDED, /* no command any more */
};

/* Bounds for the difference between this machine's steady clock and the pod's. Each answer contains
 * the pod's time, which lies between the times of sending and receiving here. Without drift, all
 * these intervals overlap; low_s > high_s proves a drift of the difference. */
struct worker_clock {
	double low_s, high_s; /* this machine's time minus the pod's */
};

/* Drives one pod: one command at a time, one run after the other. */
struct worker {
	struct session *session;
	size_t pod;
	enum worker_step step;
	size_t next; /* index of its next run, among the runs of the pod */
	size_t ship_arm;
	struct bench_run *run; /* in progress, or NULL */
	struct stream *stream; /* of the command in flight, or NULL */
	struct buf out;
	struct loop_timer *timer;
	double first_s;		   /* boot clock at the first answer; 0: none */
	int64_t sent_ms;	   /* boot clock when the command was sent */
	struct worker_clock all;   /* over the whole bench */
	struct worker_clock clock; /* over the run */
	unsigned int tries;	   /* consecutive attempts at this command */
	struct pod_wait wait;	   /* why the bench waits for this pod */
	int64_t note_ms;	   /* length of the wait at which it is reported again */
	bool is_reached;	   /* it has answered */
	bool has_gpu;		   /* by its preflight */
	bool has_started;	   /* a run was started on it */
	bool has_failed;
};

struct session {
	struct session_setup setup;
	struct session_cb cb;
	const struct plan *plan;
	struct bench_runs runs;
	struct worker *workers; /* one per pod; NULL: without pods */
	char data[65];		/* hash of the first pod's data; "": unknown */
	struct loop_timer *tick;
	struct judge_arm arms[SCHEDULE_MAX_ARMS];
	const char **declared[SCHEDULE_MAX_ARMS]; /* owned; the names are borrowed */
	bool arm_stopped[SCHEDULE_MAX_ARMS];
	/* With confirm_blocks: ended early; best chosen; the arm runs in extra blocks. */
	bool ended_early, chosen, in_fresh[SCHEDULE_MAX_ARMS];
	struct judge judge;	      /* the current judgement */
	struct judge_run *judge_runs; /* owned; space for all runs */
	struct folder_state state;
	/* Start of this session, by the wall clock and by the boot clock. */
	int64_t wall0_ms, boot0_ms;
	const char *stopped; /* reason; NULL: not stopped */
	bool leaving, ended;
	bool has_no_value; /* the control's first run has no value; see why */
	struct err why;	   /* of the last pod that failed */
};

/* session.c */
void session_note(struct session *s, const char *fmt, ...) LIKE_PRINTF(2, 3);
/* Handle the end of a worker's run. */
void session_on_run(struct session *s, struct bench_run *run);
/* Handle a worker that waits for the others, or has ended. */
void session_on_worker(struct session *s);
/* Must this run still be made? */
bool session_is_due(const struct session *s, const struct bench_run *run);
/* Judge the runs that have ended. */
void session_judge_now(struct session *s);

/* session_run.c: the results of runs from their files, and steps.csv. */
/* Read the log and the other files of a run that has ended, and apply the validity checks. */
void session_load_run(struct session *s, struct bench_run *run);
/* Check the log of a run in progress.  Returns true, with the reason in run->cut, if the run is
 * already invalid, so that finishing it would waste time and money. */
bool session_should_cut(struct session *s, struct bench_run *run);
int session_write_steps(struct session *s, const struct judge_run *run, struct err *err) MUST_USE;

/* worker.c: one pod. */
void worker_start(struct worker *worker);
/* The bench has ended: stop the jobs, release the locks. */
void worker_stop(struct worker *worker);
/* Start the next run after the gap, or finish. */
void worker_continue(struct worker *worker, int64_t gap_ms);
/* Called once per second: report a command without an answer, and long waits. */
void worker_wait_tick(struct worker *worker);
/* Write waits.json; a failure is only reported. */
void session_write_waits(struct session *s);
