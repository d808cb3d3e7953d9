/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"
#include "parsers/harness_value.h"
#include "parsers/json.h"

/*
 * The files of one HarnessGym workspace (paths relative to its .harnessgym)
 * or of one comparison (relative to its output directory), each with the last
 * content that was whole.  HarnessGym truncates and rewrites in place, so a
 * reader meets empty and torn files: such a read changes nothing but `torn`.
 * Who brings the bytes, a local walk or a pod, is of no matter here.
 */

/* How a file is kept. */
enum harness_form {
	HARNESS_JSON,  /* the tree of the last whole object */
	HARNESS_LINES, /* text, JSON a line, grows at its end */
	HARNESS_TEXT,  /* the last HARNESS_TEXT_KEEP bytes of it */
	HARNESS_MARK,  /* that it is there; its content is never read */
	HARNESS_TABLE, /* the first HARNESS_TABLE_KEEP bytes, one row a line */
	HARNESS_END,   /* the last HARNESS_END_KEEP bytes */
};

/*
 * Every file that counts:  id, path pattern (fnmatch, '*' within one name),
 * form.  All else, above all the copies of the workspace that carry a
 * .harnessgym of their own, is not looked at.  The last two are of a folder
 * without HarnessGym, whose agent keeps a table of its experiments.
 */
#define HARNESS_RUN_	 "runs/*/"
#define HARNESS_IT_	 "runs/*/iterations/[0-9]*/"
#define HARNESS_BEGUN_	 "workspace/.harnessgym/runs/*/run_config.json"
#define HARNESS_PHASE_	 "workspace/.harnessgym/runs/*/iterations/[0-9]*/*.txt"
#define HARNESS_BEST_	 "runs/*/checkpoints/best/"
#define HARNESS_TASK_	 "runs/*/qualification/workspace_template/"
#define HARNESS_SETTINGS "kernel_config.json"
#define HARNESS_KIND_LIST(X)                                                                  \
	X(REGISTRY, "registry.json", JSON)                                                    \
	X(ACTIVATION, "activation.json", JSON)                                                \
	X(CALLS, "mcp_calls.jsonl", LINES)                                                    \
	X(CALLS_BESIDE, "mcp/*/.harnessgym/mcp_calls.jsonl", LINES)                           \
	X(HISTORY, "history/*.jsonl", LINES)                                                  \
	X(CONFIG, HARNESS_RUN_ "run_config.json", JSON)                                       \
	X(SUMMARY, HARNESS_RUN_ "summary.json", JSON)                                         \
	X(BASELINE_OUT, HARNESS_RUN_ "baseline/baseline.stdout.txt", TEXT)                    \
	X(BASELINE_ERR, HARNESS_RUN_ "baseline/baseline.stderr.txt", TEXT)                    \
	X(MANIFEST, HARNESS_RUN_ "checkpoints/best_manifest.json", JSON)                      \
	X(BEST_DIFF, HARNESS_RUN_ "checkpoints/best.diff", TEXT)                              \
	X(TEMPLATE_SETTINGS, HARNESS_TASK_ HARNESS_SETTINGS, END)                             \
	X(BEST_SETTINGS, HARNESS_BEST_ HARNESS_SETTINGS, END)                                 \
	X(BEST_TASK, HARNESS_BEST_ "task.py", MARK)                                           \
	X(RESTORED_OUT, HARNESS_RUN_ "checkpoints/restored_best.stdout.txt", TEXT)            \
	X(RESTORED_ERR, HARNESS_RUN_ "checkpoints/restored_best.stderr.txt", TEXT)            \
	X(RESULT, HARNESS_IT_ "result.json", JSON)                                            \
	X(STARTED, HARNESS_IT_ "activation.json", JSON)                                       \
	X(BUILT, HARNESS_IT_ "post_build_activation.json", JSON)                              \
	X(ATTEMPT_PROMPT, HARNESS_IT_ "attempt.prompt.txt", MARK)                             \
	X(ATTEMPT_OUT, HARNESS_IT_ "attempt.stdout.txt", TEXT)                                \
	X(ATTEMPT_ERR, HARNESS_IT_ "attempt.stderr.txt", TEXT)                                \
	X(ATTEMPT_SCRIPT, HARNESS_IT_ "attempt.transcript.txt", TEXT)                         \
	X(REFLECTION_PROMPT, HARNESS_IT_ "reflection.prompt.txt", MARK)                       \
	X(REFLECTION_OUT, HARNESS_IT_ "reflection.stdout.txt", TEXT)                          \
	X(REFLECTION_ERR, HARNESS_IT_ "reflection.stderr.txt", TEXT)                          \
	X(REFLECTION_SCRIPT, HARNESS_IT_ "reflection.transcript.txt", TEXT)                   \
	X(BUILD_PROMPT, HARNESS_IT_ "build.prompt.txt", MARK)                                 \
	X(BUILD_OUT, HARNESS_IT_ "build.stdout.txt", TEXT)                                    \
	X(BUILD_ERR, HARNESS_IT_ "build.stderr.txt", TEXT)                                    \
	X(BUILD_SCRIPT, HARNESS_IT_ "build.transcript.txt", TEXT)                             \
	X(POST_OUT, HARNESS_IT_ "post_attempt.stdout.txt", TEXT)                              \
	X(POST_ERR, HARNESS_IT_ "post_attempt.stderr.txt", TEXT)                              \
	X(QUALIFICATION, HARNESS_IT_ "qualification/attempt_[0-9]*/qualification.json", JSON) \
	X(REPAIR_PROMPT, HARNESS_IT_ "repair_[0-9]*/build.prompt.txt", MARK)                  \
	X(REPAIR_OUT, HARNESS_IT_ "repair_[0-9]*/build.stdout.txt", TEXT)                     \
	X(REPORT, "compare_report.json", JSON)                                                \
	X(PLAIN, "plain/trial_[0-9]*/trial.json", JSON)                                       \
	X(HARNESSED, "harnessed/trial_[0-9]*/trial.json", JSON)                               \
	X(PLAIN_ERR, "plain/trial_[0-9]*/post.stderr.txt", TEXT)                              \
	X(HARNESSED_ERR, "harnessed/trial_[0-9]*/post.stderr.txt", TEXT)                      \
	X(PLAIN_OUT, "plain/trial_[0-9]*/post.stdout.txt", TEXT)                              \
	X(HARNESSED_OUT, "harnessed/trial_[0-9]*/post.stdout.txt", TEXT)                      \
	X(PLAIN_BEGUN, "plain/trial_[0-9]*/" HARNESS_BEGUN_, MARK)                            \
	X(HARNESSED_BEGUN, "harnessed/trial_[0-9]*/" HARNESS_BEGUN_, MARK)                    \
	X(PLAIN_PHASE, "plain/trial_[0-9]*/" HARNESS_PHASE_, MARK)                            \
	X(HARNESSED_PHASE, "harnessed/trial_[0-9]*/" HARNESS_PHASE_, MARK)                    \
	X(RESULTS, "results.tsv", TABLE)                                                      \
	X(RUN_LOG, "run.log", END)

enum harness_kind {
#define X(id, pattern, form) HARNESS_##id,
	HARNESS_KIND_LIST(X)
#undef X
		HARNESS_KIND_COUNT
};

#define HARNESS_TEXT_KEEP  (256U * 1024)
#define HARNESS_JSON_MAX   (4U * 1024 * 1024)
#define HARNESS_LINES_MAX  (8U * 1024 * 1024)
#define HARNESS_TABLE_KEEP (1024U * 1024)
#define HARNESS_END_KEEP   (64U * 1024)
#define HARNESS_MAX_FILES  8192
#define HARNESS_MAX_NUMBER 999999U

/* What a path says of itself. */
struct harness_path {
	enum harness_kind kind;
	struct str run;	     /* run id, a slice of the path; empty: none */
	unsigned int number; /* iteration, or trial of a comparison; 0: none */
	unsigned int try;    /* qualification attempt or repair; 0: none */
};

/* False when the file does not count.  The slices borrow path. */
bool harness_path_read(const char *path, struct harness_path *out);
enum harness_form harness_kind_form(enum harness_kind kind);

struct harness_file {
	char *path; /* owned */
	enum harness_kind kind;
	char *run; /* owned; "" when of no run */
	unsigned int number, try;
	cJSON *json; /* owned; of HARNESS_JSON, NULL: never whole yet */
	char *text;  /* owned; never NULL, of JSON and MARK empty */
	size_t len;
	/* Of TABLE, owned: what was read as long as rows were only added. */
	char *seen;
	size_t seen_len;
	uint64_t hash;	  /* of the last whole content */
	int64_t mtime_ms; /* of the last put; 0: unknown */
	int64_t ctime_ms; /* nobody can set that back; 0: unknown */
	/* Of TEXT: ctime_ms of the content that another took the place of. */
	int64_t replaced_ms;
	unsigned int walk; /* the walk that saw it last */
	bool torn;	   /* the last read was empty or torn */
	bool cut;	   /* longer than what is kept; LINES lost its start */
};

/*
 * A file of the judge, as it lies in the template that HarnessGym copied when
 * the run began, in the best checkpoint and in the workspace now.
 */
enum harness_place_of { HARNESS_TEMPLATE, HARNESS_BEST, HARNESS_WORK };

struct harness_judge_copy {
	/* SHA-256; "none": no plain file is there; "": nobody looked */
	char sum[65];
	int64_t ctime_ms; /* 0: unknown */
};

struct harness_judge {
	char *run;			     /* owned; its folder below runs/ */
	char *name;			     /* owned; below the workspace */
	struct harness_judge_copy copies[3]; /* by enum harness_place_of */
};

#define HARNESS_MAX_JUDGES 256

struct harness_files {
	struct harness_file **all;    /* owned, by path */
	struct harness_judge *judges; /* owned */
	size_t n_judges, cap_judges;
	size_t n, cap;
	struct map by_path;
	uint64_t generation; /* grows whenever a value changed */
	unsigned int walk;
	/* Whether HarnessGym runs there now; UNKNOWN: nobody looked. */
	enum harness_tri process;
	bool full; /* a file was left out: HARNESS_MAX_FILES */
};

void harness_files_init(struct harness_files *files);
void harness_files_release(struct harness_files *files);

/*
 * Take over the content of a file: whole, or with `cut` the part of it
 * that was sent.  Returns whether a value changed.  An empty or torn content of
 * a file that was whole before keeps the value and sets `torn`; a file that
 * does not count is ignored, as is all beyond HARNESS_MAX_FILES.
 */
bool harness_files_put(struct harness_files *files, const char *path, struct str text, bool cut,
		       int64_t mtime_ms);
/* When the inode of a file that was put changed last. */
void harness_files_changed(struct harness_files *files, const char *path, int64_t ctime_ms);
/*
 * Take over a file of a run's judge; copies are as in struct harness_judge.
 * Nothing is taken beyond HARNESS_MAX_JUDGES.
 */
void harness_files_judge(struct harness_files *files, const char *run, const char *name,
			 const struct harness_judge_copy copies[3]);
/* A file is not there any more. */
void harness_files_gone(struct harness_files *files, struct str path);
/* End a whole walk: what two walks in a row did not see is dropped. */
void harness_files_walked(struct harness_files *files);

/* The file at path, or NULL. */
const struct harness_file *harness_files_get(const struct harness_files *files, const char *path);
/*
 * The file of that kind, of that run's folder ("" where it is of none), number
 * and try; or NULL.  Not for the kinds that may stand in many places (calls
 * beside a server, history).
 */
const struct harness_file *harness_files_find(const struct harness_files *files,
					      enum harness_kind kind, const char *run,
					      unsigned int number, unsigned int try);
