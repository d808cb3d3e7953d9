/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness_files.h"
#include "parsers/harness_value.h"

/*
 * HarnessGym's runs as their files tell them, judged anew.  Its own summary
 * counts numbers of failed verifiers and of the agent itself; here
 *	verified	the run has a post-attempt command, and what that
 *			printed after the attempt's end passes and holds a
 *			finite score; nobody changed it or the judge since;
 *	invalid		it printed a number and did not pass;
 *	claimed		only the agent wrote the number;
 *	in session	the agent's own tool measured it while it worked.
 * All text is clean and owned by the workspace's pool.
 */

/*
 * Why a command that should measure gave no verdict on the kernel: name is of
 * infrastructure (NULL: it is none), class in a word.
 */
#define HARNESS_FAILURE_LIST(X)                                                            \
	X(NONE, NULL, NULL, "")                                                            \
	X(SSH, "ssh", "ssh", "the pod could not be reached by SSH")                        \
	X(SSH_MASKED, "ssh_masked_by_tar", "ssh", "SSH was refused (tar hid the message)") \
	X(GPU, "gpu", "gpu", "no usable GPU")                                              \
	X(DISK, "disk", "disk", "the disk is full")                                        \
	X(ENVIRONMENT, "environment", "environment", "a program or module is missing")     \
	X(TIMEOUT, NULL, "timeout", "it took too long")

enum harness_failure {
#define X(id, name, class, text) HARNESS_FAILURE_##id,
	HARNESS_FAILURE_LIST(X)
#undef X
};

/* Of infrastructure; NULL for NONE and for a verifier that hung. */
const char *harness_failure_name(enum harness_failure failure);
const char *harness_failure_text(enum harness_failure failure);
/* ssh, gpu, disk, environment, timeout; NULL for NONE. */
const char *harness_failure_class(enum harness_failure failure);

/* One case of a verifier's output. */
struct harness_case {
	const char *name, *status; /* NULL: absent */
	struct harness_number best, median, max_abs, tolerance;
};

#define HARNESS_MAX_CASES 256

/* A run of the post-attempt command (baseline, attempt, restore, trial). */
struct harness_post {
	bool present;
	const char *status, *command;
	const char *json_status, *mode;	   /* of the verifier's JSON, or NULL */
	const char *device, *torch, *cuda; /* what it measured on; likewise */
	struct harness_number return_code, duration_s, score;
	struct harness_number elapsed_s; /* as it says itself */
	enum harness_tri timed_out;
	bool has_json;
	enum harness_tri passed; /* UNKNOWN only of a baseline without rc */
	enum harness_failure failure;
	/* Why its number counts for nothing though it passed; NULL: nothing
	 * is wrong with it. */
	const char *doubt;
	bool said;	 /* HarnessGym has recorded its end */
	bool is_empty;	 /* it printed nothing */
	bool has_output; /* what it printed is there; score is of that */
	/* result.json's own word; absent where it says nothing. */
	struct harness_number said_score;
	/* The score was printed among other text: HarnessGym takes none. */
	struct harness_number stray_score;
	struct harness_case *cases;
	size_t n_cases;
	const char *config; /* what it printed as "config", JSON; or NULL */
};

struct harness_phase {
	const char *name, *status; /* status NULL: absent */
	struct harness_number return_code, duration_s;
	struct harness_number limit_s; /* of its kind; absent: not told */
	enum harness_tri timed_out;
};

/*
 * What the agent's program says that it has used, of the phases that tell it;
 * each is absent where none does.  Tokens are counted as they are told.
 */
struct harness_usage {
	struct harness_number cost_usd, turns;
	struct harness_number input_tokens, cached_tokens, output_tokens;
};

/* Names of one kind, clean and sorted. */
struct harness_names {
	const char **v;
	size_t n;
};

#define HARNESS_MAX_ATTEMPTS 32

struct harness_qualification {
	bool present;
	const char **attempts; /* status of each, NULL: not told */
	size_t n_attempts;
	struct harness_number active_mcps, active_tools;
	struct harness_names quarantined; /* paths */
	const char *why;		  /* first warning of a failed one, or NULL */
};

/* What the number of an iteration rests on. */
#define HARNESS_PROOF_LIST(X)                                                  \
	X(NONE, "none")		    /* nothing was printed */                  \
	X(NO_COMMAND, "no_command") /* the run has nothing that measures */    \
	X(NO_OUTPUT, "no_output")   /* result.json tells it alone */           \
	X(LOGGED, "run_log")	    /* the agent's log has printed it too */   \
	X(EARLY, "early")	    /* older than the attempt's end */         \
	X(DOUBT, "doubt")	    /* changed: see the doubt of the post */   \
	X(COPIED, "copied")	    /* printed; a copy has no order in time */ \
	X(PRINTED, "printed")	    /* after the attempt, and not touched */

enum harness_proof {
#define X(id, name) HARNESS_PROOF_##id,
	HARNESS_PROOF_LIST(X)
#undef X
};

const char *harness_proof_name(enum harness_proof proof);

struct harness_score {
	bool present;
	double value;
	unsigned int iteration; /* 0: the baseline */
	const char *source;	/* static; of an unverified one */
};

struct harness_iteration {
	unsigned int number; /* 1.. */
	enum harness_proof proof;
	const char *status;		/* NULL: not told */
	enum harness_tri verified;	/* as the file says */
	int64_t created_ms, updated_ms; /* 0: unknown */
	struct harness_phase *phases;	/* by name */
	size_t n_phases;
	const struct harness_phase *attempt; /* one of phases, or NULL */
	struct harness_number attempt_limit_s;
	struct harness_number active_tools, active_mcps; /* at its start */
	struct harness_number calls, calls_delta;	 /* cumulative, its own */
	struct harness_post post;
	struct harness_number verified_score, invalid_score, claimed_score;
	struct harness_number session_score; /* best of its own tool */
	enum harness_tri better_than_baseline, better_than_previous;
	struct harness_number baseline_pct, previous_pct; /* > 0: better */
	struct harness_qualification qualification;
	struct harness_usage usage;
	struct harness_names skills, tools, called; /* active; used of them */
	struct harness_names blockers;		    /* as it writes them */
	const char *note; /* first line of what it says of itself, or NULL */
	/* Of a row of a table: what the agent claims of it. */
	bool kept;
	struct harness_number claimed_pct; /* on the best kept before it */
	enum harness_tri within_noise;	   /* UNKNOWN: not kept, or no floor */
};

/* The experiments that an agent tells of in a results.tsv of its own. */
struct harness_table {
	unsigned int rows, broken;	/* broken: lines that are no rows */
	unsigned int outcomes[4];	/* kept, discarded, crashed, none of it */
	struct harness_score baseline;	/* the first with a score */
	unsigned int baselines;		/* measurements of that one */
	struct harness_number noise;	/* range of these; absent of one */
	struct harness_number best_pct; /* of the best kept on the baseline */
	struct harness_number logged;	/* what run.log printed last */
	unsigned int logged_row;	/* the row that says the same; 0: none */
	bool log_is_newer;		/* of an experiment that is not in the table yet */
};

struct harness_restore {
	bool present; /* the summary tells of it */
	enum harness_tri restored;
	struct harness_number iteration, score;
	struct harness_post post;
	enum harness_tri post_passed;
	const char *reason;
};

struct harness_checkpoint {
	bool present;
	struct harness_number iteration, score;
	const char *reason;
	const char *told; /* its kernel_config.json as it is; NULL: none */
	bool has_task;	  /* it has a task.py */
};

#define HARNESS_STATE_LIST(X)   \
	X(FINISHED, "finished") \
	X(RUNNING, "running")   \
	X(STALE, "stale")       \
	X(ABORTED, "aborted")

enum harness_state {
#define X(id, name) HARNESS_STATE_##id,
	HARNESS_STATE_LIST(X)
#undef X
};

const char *harness_state_name(enum harness_state state);

/* What a run without a summary is doing, and whether it still lives. */
struct harness_life {
	enum harness_state state;
	const char *phase;	      /* static: "attempt", ..; NULL of a finished run */
	struct harness_number left_s; /* of the phase; < 0: over its time */
	int64_t seen_ms;	      /* last sign of life, 0: unknown */
	struct harness_number silent_s;
	enum harness_tri process; /* HarnessGym runs there now */
};

struct harness_run {
	const char *dir; /* its folder's name below runs/, raw bytes */
	const char *id;
	const char *runner, *model, *task_file, *command;
	const char *score_key, *post_score_key;
	struct harness_number planned, stop_score;
	enum harness_tri higher_is_better, optimization;
	const char *mode;		       /* "dev", "final"; NULL: not told */
	struct harness_number warmup, repeats; /* of the command line */
	struct harness_number attempt_s, reflection_s, build_s, post_s;

	bool has_config, has_summary;
	bool ordered;		   /* the times of its files tell which came first */
	int64_t first_ms, last_ms; /* of its files, by ctime; 0: unknown */
	const char *final_status;  /* NULL without a summary */
	enum harness_tri solved;
	struct harness_number said_best; /* what HarnessGym itself says */
	enum harness_tri said_improved;

	bool has_baseline;
	struct harness_post baseline;
	struct harness_iteration *iterations; /* by number */
	size_t n_iterations;
	struct harness_score best, best_unverified;
	struct harness_score previous; /* the verified best before `best` */
	struct harness_score earlier;  /* of earlier runs of this workspace */
	const char *earlier_run;
	struct harness_number baseline_pct, previous_pct, earlier_pct;
	enum harness_tri stop_reached;
	struct harness_checkpoint checkpoint;
	const char *template_told; /* the template's, as the checkpoint's */
	struct harness_restore restore;
	/* Sources that say another thing than the verifier printed. */
	const char **disputes;
	size_t n_disputes;
	bool has_judge;	   /* its files can be compared */
	const char *judge; /* the first that was changed, or NULL */

	struct harness_usage usage; /* of all iterations */
	int64_t start_ms, end_ms;   /* as recorded; 0: unknown */
	struct harness_life life;
	struct harness_table *table; /* NULL: HarnessGym's own run */
	size_t torn;		     /* files of it whose last read was not whole */
	const char *torn_path;	     /* one of them, below runs/; NULL: none */
};

/* Calls of one tool of an MCP server, or those that ended in one way. */
struct harness_tool {
	const char *name;
	unsigned int calls, failed;
	double total_ms;
};

/* All tools/call lines of a workspace; they name no run. */
struct harness_calls {
	bool known; /* false: the file is too long to count all of it */
	unsigned int total;
	struct harness_tool *tools; /* by name */
	size_t n_tools;
	struct harness_tool *statuses; /* by name; calls alone */
	size_t n_statuses;
	int64_t last_ms;
	unsigned int broken; /* lines that are no JSON object */
};

struct harness_artifact {
	const char *kind, *path;
	struct harness_number iteration;
	const char *qualified; /* status word, or NULL */
	bool quarantined;
	const char *why; /* of a quarantine, or NULL */
};

#define HARNESS_MAX_RUNS       256
#define HARNESS_MAX_ITERATIONS 1000

struct harness_workspace {
	struct harness_pool pool;
	struct harness_run *runs; /* oldest first */
	size_t n_runs;
	struct harness_calls calls;
	struct harness_artifact *artifacts;
	size_t n_artifacts;
};

/*
 * Read and judge what files hold.  now_ms is the wall clock of the machine
 * that runs HarnessGym, for the state of runs without a summary.  Every part
 * that is missing or malformed is absent in the result.
 */
void harness_workspace_read(struct harness_workspace *ws, const struct harness_files *files,
			    int64_t now_ms);
void harness_workspace_release(struct harness_workspace *ws);

/* The run with that id; NULL takes the newest; NULL when there is none. */
const struct harness_run *harness_workspace_run(const struct harness_workspace *ws, const char *id);

/* How a number stands to another, in percent, > 0 when it is better. */
struct harness_number harness_gain_pct(double from, double to, bool higher_is_better);
