/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/map.h"
#include "parsers/harness/value.h"

/* The files of one HarnessGym workspace (paths relative to its .harnessgym) or
 * of one comparison (relative to its output directory), each with its last
 * complete content. HarnessGym truncates and rewrites files in place, so a
 * reader can see an empty or torn file: such a read only sets `torn`. */

/* How a file is stored, and which part of it. */
enum harness_form {
	HARNESS_JSON,  /* the last complete object, parsed */
	HARNESS_LINES, /* text, one JSON object per line, grows at the end */
	HARNESS_TEXT,  /* the last HARNESS_TEXT_KEEP bytes */
	HARNESS_MARK,  /* only that it exists */
	HARNESS_TABLE, /* the first HARNESS_TABLE_KEEP bytes, one row per line */
	HARNESS_END,   /* the last HARNESS_END_KEEP bytes */
};

/* X(id, pattern, form) for every file that is read; pattern is for fnmatch, and '*' does not match
 * '/'. Other files are ignored, such as copies of the workspace with their own .harnessgym. The
 * last two belong to a folder without HarnessGym, with an agent's table of experiments. */
#define HARNESS_RUN_	      "runs/*/"
#define HARNESS_IT_	      "runs/*/iterations/[0-9]*/"
#define HARNESS_TRIAL_	      "*/trial_[0-9]*/"
#define HARNESS_TRIAL_INSIDE_ HARNESS_TRIAL_ "workspace/.harnessgym/runs/*/"
#define HARNESS_BEST_	      "runs/*/checkpoints/best/"
#define HARNESS_TEMPLATE_DIR  "qualification/workspace_template"
#define HARNESS_TASK_	      "runs/*/" HARNESS_TEMPLATE_DIR "/"
#define HARNESS_SETTINGS      "kernel_config.json"
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
	X(JUDGE_REPORT, HARNESS_RUN_ "judge.report", JSON)                                    \
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
	X(COMPARE_JUDGE, "judge.report", JSON)                                                \
	X(TRIAL, HARNESS_TRIAL_ "trial.json", JSON)                                           \
	X(TRIAL_ERR, HARNESS_TRIAL_ "post.stderr.txt", TEXT)                                  \
	X(TRIAL_OUT, HARNESS_TRIAL_ "post.stdout.txt", TEXT)                                  \
	X(TRIAL_BEGUN, HARNESS_TRIAL_INSIDE_ "run_config.json", MARK)                         \
	X(TRIAL_PHASE, HARNESS_TRIAL_INSIDE_ "iterations/[0-9]*/*.txt", MARK)                 \
	X(LOOP, "loop.report", JSON)                                                          \
	X(RESULTS, "results.tsv", TABLE)                                                      \
	X(RUN_LOG, "run.log", END)

#define HARNESS_KIND_ID(id, pattern, form) HARNESS_##id,
enum harness_kind { HARNESS_KIND_LIST(HARNESS_KIND_ID) HARNESS_KIND_COUNT };

#define HARNESS_TEXT_KEEP  (256U * 1024)
#define HARNESS_LINES_MAX  (8U * 1024 * 1024)
#define HARNESS_TABLE_KEEP (1024U * 1024)
#define HARNESS_END_KEEP   (64U * 1024)
#define HARNESS_MAX_FILES  8192
#define HARNESS_MAX_NUMBER 999999U

/* What a path names: a kind of file, and the run or trial that the file belongs to. */
struct harness_path {
	enum harness_kind kind;
	struct str run;	     /* run id or group of trials, a slice of the path; empty: none */
	unsigned int number; /* iteration, or trial of a comparison; 0: none */
	unsigned int try;    /* qualification attempt or repair; 0: none */
};

/* Split a path; false if the file is ignored. out->run is a slice of path. */
bool harness_path_read(const char *path, struct harness_path *out);

struct harness_file {
	char *path; /* owned */
	enum harness_kind kind;
	char *run; /* owned; its run, or the group of its trial; "": none */
	unsigned int number, try;
	cJSON *json; /* owned; HARNESS_JSON only; NULL: never complete yet */
	char *text;  /* owned, never NULL; empty for JSON and MARK */
	size_t len;
	/* HARNESS_TABLE only, owned: the first version of each row. */
	char *seen;
	size_t seen_len;
	uint64_t hash;	  /* of the last complete content */
	int64_t mtime_ms; /* 0: unknown */
	int64_t ctime_ms; /* cannot be set back by programs; 0: unknown */
	/* ctime_ms of the previous content, unless the new content only added to it. */
	int64_t replaced_ms;
	unsigned int walk; /* the last walk that found this file */
	bool torn;	   /* the last read was empty or torn */
	bool cut;	   /* only part of the file is stored; for LINES its end */
};

/* The copies of a judge file: in the template, which HarnessGym makes when the run starts, in the
 * best checkpoint, and in the current workspace. */
enum harness_place_of { HARNESS_TEMPLATE, HARNESS_BEST, HARNESS_WORK };

struct harness_judge_copy {
	/* SHA-256; "none": not a regular file; "": not read */
	char sum[65];
	int64_t ctime_ms; /* 0: unknown */
};

struct harness_judge {
	char *run;			     /* owned; folder below runs/ */
	char *name;			     /* owned; path in the workspace */
	struct harness_judge_copy copies[3]; /* by enum harness_place_of */
};

#define HARNESS_MAX_JUDGES 4096

struct harness_files {
	struct harness_file **all;    /* owned, in the order in which they were found */
	struct harness_judge *judges; /* owned */
	size_t n_judges, cap_judges;
	size_t n, cap;
	struct map by_path;
	uint64_t generation; /* increases with every change */
	unsigned int walk;
	/* Is HarnessGym running on the machine of the files? UNKNOWN: not checked. */
	enum harness_tri process;
	bool full; /* files were skipped because of HARNESS_MAX_FILES */
};

/* Loop over all files. */
#define harness_each(file, files)                                       \
	for (struct harness_file **file##_at = (files)->all, *file;     \
	     (files)->n > 0 && file##_at < (files)->all + (files)->n && \
	     (file = *file##_at) != NULL;                               \
	     file##_at++)

void harness_files_init(struct harness_files *files);
void harness_files_release(struct harness_files *files);

/* Store the content of a file, or with `cut` the part of it that was sent. Returns whether anything
 * changed. If the content is empty or torn, keep the last complete one with its ctime and set
 * `torn`. Ignored files and files beyond HARNESS_MAX_FILES are dropped. */
bool harness_files_put(struct harness_files *files, const char *path, struct str text, bool cut,
		       int64_t mtime_ms);
/* Set the ctime of a file that harness_files_put() has stored. */
void harness_files_changed(struct harness_files *files, const char *path, int64_t ctime_ms);
/* Store the copies of a judge file (by enum harness_place_of), up to HARNESS_MAX_JUDGES files. */
void harness_files_judge(struct harness_files *files, const char *run, const char *name,
			 const struct harness_judge_copy copies[3]);
/* Drop a file that was deleted. */
void harness_files_gone(struct harness_files *files, struct str path);
/* End a walk over all files; files that two walks in a row did not find are dropped. */
void harness_files_walked(struct harness_files *files);

/* Find a file by its path, or NULL. */
const struct harness_file *harness_files_get(const struct harness_files *files, const char *path);
/* Find the JSON object of the file at path, or NULL. */
const cJSON *harness_files_json(const struct harness_files *files, const char *path);
/* Find a file by its kind, its run's folder ("": none) and its numbers, or NULL. Does not work for
 * kinds with several files (calls of other servers, history). */
const struct harness_file *harness_files_find(const struct harness_files *files,
					      enum harness_kind kind, const char *run,
					      unsigned int number, unsigned int try);
