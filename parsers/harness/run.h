/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/harness/files.h"

/*
 * HarnessGym's runs, read from their files and checked again. HarnessGym's own
 * summary also counts scores of failed verifiers and claims of the agent; here
 * a score is
 *	verified	if the run has a post-attempt command whose output was
 *			printed after the end of the attempt, passes and contains
 *			a finite score, and neither the output nor the judge was
 *			changed since;
 *	invalid		if the command printed it but did not pass;
 *	claimed		if only the agent wrote it;
 *	in session	if the agent's own tool measured it during the attempt.
 * All text is sanitized and owned by the workspace's pool.
 */

/* Reasons why a measuring command gave no verdict on the kernel: id, name (NULL: not an
 * infrastructure failure), class, text. */
#define HARNESS_FAILURE_LIST(X)                                                            \
	X(NONE, NULL, NULL, "")                                                            \
	X(SSH, "ssh", "ssh", "the pod could not be reached by SSH")                        \
	X(SSH_MASKED, "ssh_masked_by_tar", "ssh", "SSH was refused (tar hid the message)") \
	X(GPU, "gpu", "gpu", "no usable GPU")                                              \
	X(DISK, "disk", "disk", "the disk is full")                                        \
	X(ENVIRONMENT, "environment", "environment", "a program or module is missing")     \
	X(TIMEOUT, NULL, "timeout", "the time limit was reached")

#define HARNESS_FAILURE_ID(id, name, class, text) HARNESS_FAILURE_##id,
enum harness_failure { HARNESS_FAILURE_LIST(HARNESS_FAILURE_ID) };

extern const struct harness_failure_words {
	const char *name, *class, *text;
} harness_failures[];

/* One case of a verifier's output. */
struct harness_case {
	const char *name, *status; /* NULL: absent */
	struct harness_number best, median, max_abs, tolerance;
};

#define HARNESS_MAX_CASES 256

/* One execution of the post-attempt command (for baseline, attempt, restore or trial). */
struct harness_post {
	bool present;
	const char *status, *command;
	const char *json_status, *mode;	   /* from the verifier's JSON, or NULL */
	const char *device, *torch, *cuda; /* also from this JSON */
	struct harness_number return_code, duration_s, score;
	struct harness_number elapsed_s; /* as the verifier reports it */
	enum harness_tri timed_out;
	bool has_json;
	enum harness_tri passed; /* UNKNOWN only for a baseline without return code */
	enum harness_failure failure;
	/* Why the score does not count although the command passed; NULL: it counts. */
	const char *doubt;
	bool said;	 /* HarnessGym recorded its end */
	bool is_empty;	 /* printed nothing */
	bool has_output; /* the output file exists, and score comes from it */
	/* The score that HarnessGym recorded; absent: none. */
	struct harness_number said_score;
	/* A score printed within other text, which HarnessGym ignores. */
	struct harness_number stray_score;
	struct harness_case *cases;
	size_t n_cases;
	const char *config;		     /* the printed "config", JSON; or NULL */
	struct harness_number gb_s, tflop_s; /* the highest rate of its cases */
};

struct harness_phase {
	const char *name, *status; /* status NULL: absent */
	const char *why;	   /* why it failed; NULL: unknown */
	struct harness_number return_code, duration_s;
	struct harness_number limit_s; /* absent: unknown */
	enum harness_tri timed_out;
};

/* The usage that the agent's program reports, summed over the phases; absent: not reported. */
union harness_usage {
	struct {
		struct harness_number cost_usd, turns, input_tokens, cached_tokens, output_tokens;
		struct harness_number all_tokens; /* of a program that reports only the total */
	};
	struct harness_number all[6];
};

/* A sorted list of sanitized names. */
struct harness_names {
	const char **v;
	size_t n;
};

#define HARNESS_MAX_ATTEMPTS 32

struct harness_qualification {
	bool present;
	const char **attempts; /* status of each, NULL: unknown */
	size_t n_attempts;
	struct harness_number active_mcps, active_tools;
	struct harness_names quarantined; /* paths */
	const char *why;		  /* first warning if it failed, or NULL */
};

/* Evidence for the score of an iteration. */
#define HARNESS_PROOF_LIST(X)                                      \
	X(NONE, "none")		    /* nothing was printed */      \
	X(NO_COMMAND, "no_command") /* no measuring command */     \
	X(NO_OUTPUT, "no_output")   /* only in result.json */      \
	X(LOGGED, "run_log")	    /* in the agent's log too */   \
	X(REWRITTEN, "rewritten")   /* judge's content unknown */  \
	X(EARLY, "early")	    /* before the attempt's end */ \
	X(DOUBT, "doubt")	    /* see harness_post.doubt */   \
	X(COPIED, "copied")	    /* copied, without order */    \
	X(PRINTED, "printed")	    /* after the attempt */

#define HARNESS_PROOF_ID(id, name) HARNESS_PROOF_##id,
enum harness_proof { HARNESS_PROOF_LIST(HARNESS_PROOF_ID) };

extern const char *const harness_proof_names[];

struct harness_score {
	bool present;
	double value;
	unsigned int iteration; /* 0: the baseline */
	const char *source;	/* static; set for an unverified score */
};

struct harness_iteration {
	unsigned int number; /* 1.. */
	enum harness_proof proof;
	const char *status;		/* NULL: unknown */
	enum harness_tri verified;	/* as result.json has it */
	int64_t created_ms, updated_ms; /* 0: unknown */
	struct harness_phase *phases;	/* by name */
	size_t n_phases;
	const struct harness_phase *attempt; /* one of phases, or NULL */
	struct harness_number attempt_limit_s;
	struct harness_number active_tools, active_mcps; /* their numbers when it started */
	struct harness_number calls, calls_delta;	 /* cumulative; in the iteration */
	struct harness_post post;
	struct harness_number verified_score, invalid_score, claimed_score;
	/* Why a person should read the diff before believing the verified score; or NULL. */
	const char *mark;
	struct harness_number session_score; /* best score of the agent's tool */
	enum harness_tri better_than_baseline, better_than_previous;
	struct harness_number baseline_pct, previous_pct; /* > 0: better */
	struct harness_qualification qualification;
	union harness_usage usage;
	struct harness_names skills, tools, called; /* active skills and tools; called tools */
	struct harness_names blockers;
	const char *note; /* first line of its summary, or NULL */
	/* The agent's claims, for a row of a table. */
	bool kept;
	struct harness_number claimed_pct; /* gain over the best row kept before it */
	enum harness_tri within_noise;	   /* UNKNOWN: not kept, or noise unknown */
};

/* The experiments in the results.tsv of an agent, or of another optimization loop. */
struct harness_table {
	bool is_loop;			/* measured by a loop, and not by its agent */
	unsigned int rows, broken;	/* broken: lines that are not rows */
	const char *kind;		/* of the last row; best and gains use only this kind */
	unsigned int outcomes[4];	/* kept, discarded, crashed, other */
	struct harness_score baseline;	/* the first row with a score */
	unsigned int baselines;		/* how often the baseline was measured */
	struct harness_number noise;	/* range of the baseline's scores; absent for one score */
	struct harness_number best_pct; /* gain of the best kept row over the baseline */
	unsigned int since_best;	/* number of rows after the best one */
	const char *trend;	      /* "improving", "plateau" or "crashing"; NULL: no score yet */
	struct harness_number logged; /* last score in run.log */
	unsigned int logged_row;      /* the row with that score; 0: none */
	bool log_is_newer;	      /* run.log belongs to an experiment not in the table */
};

struct harness_restore {
	bool present;
	enum harness_tri restored;
	struct harness_number iteration, score;
	struct harness_post post;
	enum harness_tri post_passed;
	const char *reason;
};

/* A file that differs between the template and the best checkpoint, or the workspace. */
struct harness_change {
	/* "judge"; "candidate": task.md lets the agent edit it; "product": by the judge; "named":
	 * an operand of the command; "unclear": used by the judge, not named in task.md; "other" */
	const char *part;
	const char *change; /* "changed", "added", "removed"; NULL: differs */
	const char *name;
};

struct harness_changes {
	bool present; /* the files were compared */
	struct harness_change *v;
	size_t n;
};

struct harness_checkpoint {
	bool present;
	bool is_refused; /* the manifest names no iteration of this run */
	struct harness_number iteration, score;
	const char *reason;
	const char *settings; /* content of its kernel_config.json; NULL: none */
	bool has_task;	      /* has a task.py */
};

enum harness_state {
	HARNESS_STATE_FINISHED,
	HARNESS_STATE_RUNNING,
	HARNESS_STATE_STALE,
	HARNESS_STATE_ABORTED,
};

extern const char *const harness_state_names[];

/* What a run without a summary is doing, and whether it is still active. */
struct harness_life {
	enum harness_state state;
	const char *phase;	      /* static: "attempt", ..; NULL: run is finished */
	struct harness_number left_s; /* of the phase; < 0: limit exceeded */
	int64_t seen_ms;	      /* last sign of activity, 0: unknown */
	struct harness_number silent_s;
	enum harness_tri process; /* is HarnessGym running on the run's machine? */
};

struct harness_run {
	const char *dir; /* name of its folder below runs/, raw bytes */
	const char *id;
	const char *runner, *model, *task_file, *command;
	const char *score_key, *post_score_key;
	struct harness_number planned, stop_score;
	enum harness_tri higher_is_better, optimization;
	const char *mode;		       /* "dev", "final"; NULL: unknown */
	struct harness_number warmup, repeats; /* from the command line */
	struct harness_number attempt_s, reflection_s, build_s, post_s;

	bool has_config, has_summary;
	bool ordered;		   /* ctimes show which file was written first */
	int64_t first_ms, last_ms; /* ctimes of its files; 0: unknown */
	const char *final_status;  /* NULL without a summary */
	enum harness_tri solved;
	struct harness_number said_best; /* HarnessGym's own summary */
	enum harness_tri said_improved;

	bool has_baseline;
	struct harness_post baseline;
	struct harness_iteration *iterations; /* by number */
	size_t n_iterations;
	struct harness_score best, best_unverified;
	struct harness_score previous; /* the verified best before `best` */
	struct harness_score earlier;  /* best of earlier runs in this workspace */
	const char *earlier_run;
	struct harness_number baseline_pct, previous_pct, earlier_pct;
	enum harness_tri stop_reached;
	struct harness_checkpoint checkpoint;
	const char *template_settings; /* kernel_config.json of the template */
	struct harness_restore restore;
	/* Sentences about files that contradict the output of the verifier. */
	const char **disputes;
	size_t n_disputes;
	bool has_judge;		       /* judge files were compared */
	const char *judge;	       /* the first changed judge file, or NULL */
	bool has_report;	       /* the machine of the run has searched for judge files */
	bool has_template;	       /* HarnessGym made a copy of the task's files */
	enum harness_tri work_differs; /* do files of the workspace differ from the checkpoint's? */
	struct harness_names compared, unresolved; /* judge files; uses that were not followed */
	/* How the candidate's files interfere with the verifier; what a person should read. */
	struct harness_names tampers, hints;
	/* Files that the template lacks, but would be judge files; files with another layout. */
	struct harness_names added, formatted;
	/* Changed files that the judge uses, but that may belong to the candidate. */
	struct harness_changes used;
	struct harness_changes changes; /* from the template to the best checkpoint */

	union harness_usage usage; /* of all iterations */
	int64_t start_ms, end_ms;  /* as recorded; 0: unknown */
	struct harness_life life;
	struct harness_table *table; /* NULL: a HarnessGym run */
	size_t torn;		     /* number of torn files */
	const char *torn_path;	     /* a torn file, below runs/; NULL: none */
};

/* Counts of calls of one MCP tool, or of calls with one status. */
struct harness_tool {
	const char *name;
	unsigned int calls, failed;
	double total_ms;
};

/* Counts over all tools/call lines of a workspace; these lines do not name a run. */
struct harness_calls {
	bool known; /* false: the file is too long to count all calls */
	unsigned int total;
	struct harness_tool *tools; /* by name */
	size_t n_tools;
	struct harness_tool *statuses; /* by name; only calls is set */
	size_t n_statuses;
	int64_t last_ms;
	unsigned int broken; /* lines that are not JSON objects */
};

struct harness_artifact {
	const char *kind, *path;
	struct harness_number iteration;
	const char *qualified; /* status, or NULL */
	bool quarantined;
	const char *why; /* reason of the quarantine, or NULL */
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

/* Read all runs from files. now_ms is the wall clock of the machine that runs HarnessGym, for the
 * state of runs without a summary. Parts that are missing or malformed are absent in the result. */
void harness_workspace_read(struct harness_workspace *ws, const struct harness_files *files,
			    int64_t now_ms);
void harness_workspace_release(struct harness_workspace *ws);

/* Use this score as the best of earlier runs. */
void harness_workspace_refer(struct harness_workspace *ws, double score);

/* Did the task's own judge measure? UNKNOWN: some files of the judge could not be compared. */
enum harness_tri harness_judge_unchanged(const struct harness_run *run);

/* Find a run by its id (NULL: the newest), or NULL. */
const struct harness_run *harness_workspace_run(const struct harness_workspace *ws, const char *id);
