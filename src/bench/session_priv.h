/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_SESSION_PRIV_H
#define HGYM_BENCH_SESSION_PRIV_H

#include "bench/launch.h"
#include "bench/session.h"
#include "bench/waits.h"

/* What session.c, session_runs.c and session_part.c share. */

_Static_assert(WAITS_MAX >= PLAN_MAX_PODS, "each pod may wait");

#define SESSION_ID_SIZE 160

/* How a run ended, as its run.json says. */
#define RUN_END_LIST(X)                                                        \
	X(EXITED, "exited")                                                    \
	X(LOST, "lost")                                                        \
	X(SKIPPED, "skipped")

enum run_end {
#define X(id, name) RUN_END_##id,
	RUN_END_LIST(X)
#undef X
};

/* How often a block is repeated for what its pod did to it. */
#define SESSION_MAX_REPEATS 2

/* A block that was given up and begun again, and why. */
struct session_repeat {
	size_t pod, block;
	char reason[256];
};

/* One run of the plan, in the order of its pod's schedule. */
struct session_run {
	size_t pod, round, pos, arm;
	bool counted;
	size_t block, rep;	  /* counted from 0; its round in that block */
	bool fresh;		  /* its block confirms the best */
	char id[SESSION_ID_SIZE]; /* "0_pod-a_B", repeated "0_pod-a_B.b1" */
	unsigned int repeat;	  /* of its block */
	unsigned int attempt;	  /* 0, or 1 after infrastructure failed */
	bool recorded;		  /* it is over: run.json is written */
	enum run_end end;
	int rc;
	double t0_s, t1_s, up_s; /* by the pod's clocks */
	double drift_s;		 /* of the pod's clock against ours; at least */
	bool files_changed;
	char hash[65], work[128];
	char runtime[512]; /* as launch_reply's; "" nothing was seen */
	bool watched;	   /* its first steps are those of the control */
	enum guard cut_by; /* of cut */
	char cut[160];	   /* why it was ended early; "": it was not */
	bool has_log;
	struct run_log log;
	struct guard_hits hits; /* what the log itself does not tell */
	bool has_health;
	struct health_sum health;
	char t0[32], t1[32];
	char log_path[FOLDER_PATH_SIZE];
};

enum part_step {
	PART_PREFLIGHT,
	PART_SHIP,
	PART_LOCK,
	PART_WAIT, /* for the other pods: then the best is known */
	PART_START,
	PART_WATCH,
	PART_CUT,
	PART_GPU,
	PART_ABORT,
	PART_FINISH,
	PART_STOP,
	PART_CLEAN,
	PART_ENDED,
};

/*
 * The pod's steady clock against ours: each answer tells that the pod's time
 * lay between our sending and our hearing.  Without drift all these intervals
 * have a moment in common, however slow the way was.
 */
struct part_clock {
	double low_s, high_s; /* ours - the pod's: no less, no more than */
};

/* A pod's part of the bench: one command at a time. */
struct part {
	struct session *session;
	size_t pod;
	enum part_step step;
	size_t next; /* index into its own runs */
	size_t ship_arm;
	struct session_run *run; /* under way, or NULL */
	struct stream *stream;	 /* in flight, or NULL */
	struct buf out;
	struct loop_timer *timer;
	int64_t started_ms;	 /* mono, of the run */
	double first_s;		 /* boot clock, of the first answer; 0: none */
	int64_t sent_ms;	 /* boot clock, of the command in flight */
	struct part_clock all;	 /* the same of the whole bench */
	struct part_clock clock; /* of the run */
	unsigned int tries;	 /* of the command in a row */
	struct pod_wait wait;	 /* what it keeps the bench waiting for */
	int64_t tell_ms;	 /* of waiting, when it is told of again */
	bool reached;		 /* it has answered */
	bool begun;		 /* a run of ours began there */
	bool failed;
};

struct session {
	struct session_setup setup;
	struct session_cb cb;
	const struct plan *plan;
	size_t n_arms, rounds, per_pod;
	struct session_run *runs; /* per_pod of each pod */
	size_t n_runs;
	struct session_repeat *repeats; /* owned */
	size_t n_repeats, cap_repeats;
	struct verdict_repeat *repeat_infos; /* owned; as many */
	struct part *parts;
	char data[65]; /* hash of the first pod's; "": not known */
	struct loop_timer *tick;
	char (*tags)[64];
	struct judge_arm arms[SCHEDULE_MAX_ARMS];
	const char **declared[SCHEDULE_MAX_ARMS]; /* owned; names borrowed */
	bool arm_stopped[SCHEDULE_MAX_ARMS];
	/* The blocks that choose were cut short by a look; the best is chosen;
	 * arms of the fresh blocks. */
	bool looked, chosen, in_fresh[SCHEDULE_MAX_ARMS];
	const char **pod_names, **schedule;
	char *schedule_text;
	/* The judgement as it stands. */
	struct judge judge;
	bool judged;
	struct judge_run *judge_runs;
	struct verdict_run_info *infos;
	struct folder_state state;
	/* When this session began, by the wall and by the boot clock. */
	int64_t wall0_ms, boot0_ms;
	const char *stopped; /* why, NULL: it goes on */
	bool leaving, ended;
	struct err why; /* of the last pod that failed */
};

/* session_runs.c: the runs and their order. */
void session_runs_init(struct session *s);
void session_runs_release(struct session *s);
/* The run's name, and the path of its log. */
void session_name_run(struct session *s, struct session_run *run);

/* session_record.c: run.json, and what the guards make of a run. */
void session_read_record(struct session *s, struct session_run *run);
struct run_log_rule session_log_rule(const struct session *s);
/* Read the log of a run that is over, and all that tells of it. */
void session_load_run(struct session *s, struct session_run *run);
/* Write run.json: the run is over, and counts as it is. */
int session_record(struct session *s, struct session_run *run, struct err *err);

/* session_repeat.c: blocks that are begun again. */
void session_repeats_read(struct session *s);
/*
 * Has the pod done something to this run, by evidence other than its value,
 * so that its whole block is to be begun again?  The reason is in out.
 */
bool session_wants_repeat(const struct session *s,
			  const struct session_run *run, char *out,
			  size_t size);
/* Begin its block again: what was measured of it is put aside. */
int session_repeat_block(struct session *s, const struct session_run *run,
			 const char *reason, struct err *err);

/* session_fresh.c: blocks that had no part in choosing the best. */
/* Where a session was left in them, it goes on there. */
void session_fresh_resume(struct session *s);
/* Is the run one that is to be made, as far as is known? */
bool session_is_due(const struct session *s, const struct session_run *run);
/* A pod has no more to do before the best is known. */
void session_on_wait(struct session *s);

/* session_watch.c */
/*
 * Look at the log of a run under way: true when a hard guard fired already
 * (run->cut says why), so that the rest of it would be money for nothing.
 */
bool session_should_cut(struct session *s, struct session_run *run);

/* session_steps.c: telemetry of a run, and its steps. */
void session_load_health(struct session *s, struct session_run *run);
int session_write_steps(struct session *s, const struct judge_run *run,
			const char *id, struct err *err);

/* A file below the folder as text; false when it is not there. */
bool session_read_text(struct session *s, const char *name, struct buf *out);

/* session_judge.c: judgement and results. */
void session_judge_now(struct session *s);
/* Files of the results, at the end and after each block. */
int session_write_results(struct session *s, struct err *err);
/* "runs/<id>/<name>" in out. */
void session_run_file(const struct session_run *run, const char *name,
		      char *out, size_t size);

/* session_part.c: the way of one pod. */
void part_begin(struct part *part);
void part_release(struct part *part);
/* The bench is over: end what runs, give the locks back. */
void part_stop(struct part *part);

/* The next step, after a while. */
void part_next(struct part *part, enum part_step step, int64_t delay_ms);
/* The next run after the gap, or the end. */
void part_go_on(struct part *part, int64_t gap_ms);
/* This pod cannot go on; the others do.  Where the bench is to stop its pods
 * at the end and has run something there, it is stopped now. */
void part_fail(struct part *part, const char *why);
/* The same, but the pod is left as it is: somebody else works there. */
void part_give_up(struct part *part, const char *why);
const char *part_pod_id(const struct part *part);

/* session_drive.c: answers about runs. */
void part_on_start(struct part *part, const struct launch_reply *reply);
void part_on_state(struct part *part, const struct launch_reply *reply);
void part_on_gpu(struct part *part, const struct launch_reply *reply);

/* session_wait.c: what the pods keep the bench waiting for. */
/* Since so long (ms) it waits; a note is the caller's to make. */
void part_wait_for(struct part *part, enum wait_kind kind, const char *why,
		   int64_t since_ms);
/* The way to it failed; the part tries again after delay_ms. */
void part_wait_unreachable(struct part *part, const char *why,
			   int64_t delay_ms);
/* It answered; what was given up stays so. */
void part_wait_over(struct part *part);
/* Once a second: notice a command that is not answered, tell it again. */
void part_wait_tick(struct part *part);
/* To those who look into the folder; the bench goes on without. */
void session_tell_waits(struct session *s);

/* session_log.c */
/* Our clock that stands against the pods': suspend counts. */
int64_t part_boot_ms(const struct part *part);
/* The name of the run's job on the pod. */
void part_job_name(const struct part *part, char *out, size_t size);
/* Keep the bytes of the log that came; -1 when they cannot be kept. */
int part_take_log(struct part *part, const struct launch_reply *reply);
/* Note one answer's clock; the drift that all of a run's prove (s). */
void part_clock_add(struct part *part, double pod_up_s);
double part_clock_drift(const struct part *part);
/* Say how well the pod's clock went with ours, over the whole bench. */
void part_clock_tell(struct part *part);
/* Bytes of the log that are here. */
uint64_t part_log_offset(const struct part *part);
/* The command of a step. */
enum launch_op part_op(enum part_step step);

/* session.c */
void session_note(struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Have the looks shown all that they will? */
bool session_looks_done(struct session *s);
/* A run of the part is over, or the part itself is. */
void session_on_run(struct session *s, struct session_run *run);
void session_on_part_end(struct session *s);

#endif
