/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/judge.h"
#include "parsers/json_fields.h"

/* The definition of a bench, read from bench.json ("hgym.bench/1").  Reading is strict: the error
 * for an unknown key, a wrong type or a wrong value names file, line and key path.  Strings are
 * owned; a key that is absent is NULL or NAN. */
#define PLAN_SCHEMA	"hgym.bench/1"
#define PLAN_MAX_ENV	256
#define PLAN_MAX_PODS	64
#define PLAN_MAX_GPUS	16
#define PLAN_MAX_TEXTS	16
#define PLAN_MAX_FILES	32
#define PLAN_MAX_ROUNDS 100

struct plan_texts {
	char **v;
	size_t n;
};

struct plan_env {
	struct plan_variable {
		char *name, *value;
	} * v;
	size_t n;
};

/* A file that is written into the variant's copy of the working folder. */
struct plan_file {
	char *path;    /* on the pod, relative to the copy */
	char *from;    /* local file; NULL: an overlay */
	char *overlay; /* JSON object to merge into the file on the pod */
};

struct plan_files {
	struct plan_file v[PLAN_MAX_FILES];
	size_t n;
};

struct plan_variant {
	char *tag;
	bool control;
	struct plan_env env; /* overrides the workload's */
	char *command;	     /* NULL: the workload's */
	char *patch;	     /* local file, for patch -p1; NULL: none */
	struct plan_files files;
	/* Extended regular expressions that must, or must not, match a line of its log. */
	struct plan_texts must, must_not;
	char *launch;		    /* JSON object of a kernel's settings; NULL: none */
	struct plan_texts declares; /* names of the settings that it changes */
	bool numerics_changed;
	char *noise_class; /* see bench/noise.h; NULL: the workload's */
};

struct plan_pod {
	char *id;
	char *ssh;	 /* NULL: see the pod of that name in the configuration */
	char *transport; /* libssh2, openssh, local; NULL: the default */
	char *identity, *known_hosts, *proxy_jump;
	struct plan_gpus {
		int *v; /* ascending */
		size_t n;
	} gpus;
	char *root;	   /* folder for benches on the pod; NULL: ~/.hgym-bench */
	char *lock_dir;	   /* for GPU locks, without blanks; NULL: /tmp */
	char *lock_clocks; /* command before the first run; NULL: none */
	char *stop_cmd;	   /* NULL: none */
	double usd_per_h;
};

struct plan {
	char *file;		      /* path as given */
	char sha256[SHA256_HEX_SIZE]; /* of the file */
	char *name, *note;	      /* note may be NULL */
	uint64_t seed;
	/* workload */
	bool kernel;			/* see bench/kernel.h */
	char *module, *function, *task; /* of a kernel; function may be NULL */
	double seconds;			/* per process, for all cases */
	char *prepare; /* shell command before each run, not part of its time; NULL: none */
	char *cwd, *command, *commit, *data_sha256, *log, *end_marker;
	struct plan_env env;
	double timeout_s;
	char *noise_class;	       /* NULL: derived, see bench/noise.h */
	struct plan_texts judge_files; /* hashed before and after each run */
	struct plan_texts data;	       /* paths on the pod; data_sha256 is their hash */
	/* metric */
	char *key;
	char *chosen;		/* how the key was chosen if the user did not name it; else NULL */
	struct plan_texts also; /* more metrics; each gets its own verdict */
	struct judge_rule rule; /* window, tok_kind, margin, losses and so on */
	/* the control first, the others in the order of the file */
	struct plan_variant *variants;
	size_t n_variants;
	struct plan_pod *pods;
	size_t n_pods;
	/* design */
	size_t blocks;	/* per pod */
	size_t reps;	/* rounds per block: runs of each arm */
	size_t burn_in; /* rounds before the first block; not judged */
	size_t confirm; /* extra blocks to confirm the best variant; 0: none */
	bool aa;	/* run the control a second time as the A/A arm */
	double gap_s;	/* between two runs; NAN: see plan_usual_gap_s */
	/* decision */
	size_t min_blocks;
	enum looks_kind early;
	/* guards */
	bool refuse_foreign, throttle_drops;
	/* budget */
	double usd, minutes;
	int64_t deadline_ms; /* wall clock; 0: none */
	bool stop_pods;	     /* run stop_cmd when the bench ends; false: ask the user */
};

/* Read a plan from a file.  -1 with err (ERR_CONFIG): "file:line: key path: message". */
int plan_load(struct plan *plan, const char *path, struct err *err) MUST_USE;
/* The same for a text; file is its name in errors. */
int plan_parse(struct plan *plan, const char *file, struct str text, struct err *err) MUST_USE;
void plan_release(struct plan *plan);
/* A local plan that is released at the end of its block: AUTO_PLAN plan = { .file = NULL }; */
#define AUTO_PLAN __attribute__((cleanup(plan_release))) struct plan

/* The names of benches, arms and pods: safe in paths and shell words. */
bool plan_is_name(const char *text);
#define PLAN_NAME_WORDS "1 to 40 letters, digits, _ . - (not . or - first)"

/* Number of pods without a price; sums of money leave them out. */
size_t plan_n_unpriced(const struct plan *plan);
/* Sum of the known prices of the pods. */
double plan_usd_per_h(const struct plan *plan);
/* Number of arms: the variants, then the A/A arm. */
size_t plan_n_arms(const struct plan *plan);
/* The variant that an arm runs; the A/A arm runs the control. */
const struct plan_variant *plan_arm(const struct plan *plan, size_t arm);
/* The tag of an arm; the A/A arm has the tag of the control plus "~aa". */
#define PLAN_TAG_SIZE 48
void plan_arm_tag(const struct plan *plan, size_t arm, char out[PLAN_TAG_SIZE]);

/* Rounds per pod, including burn-in; each arm runs once per round. */
size_t plan_n_rounds(const struct plan *plan);
/* Maximum number of runs, with burn-in; at most three arms run to confirm the best. */
size_t plan_n_runs(const struct plan *plan);

/* The arms of every round of a pod in order, burn-in first; the caller frees it. */
unsigned char *plan_schedule(const struct plan *plan, size_t pod);

/* The interim looks that may end the bench early. */
struct looks plan_looks(const struct plan *plan);

/* Does each variant need its own copy of the working folder? */
bool plan_needs_copies(const struct plan *plan);

/* File name of the local copy of a job's output: the log of the run or, of a kernel bench, the
 * output from which the logs of all its runs are made. */
const char *plan_output(const struct plan *plan);

/* Append the numbers of the GPUs with `glue` in between: "0,3". */
void plan_gpus_text(const struct plan_gpus *gpus, const char *glue, struct buf *out);

/* Append the exact shell command of an arm on a pod: environment, GPUs, then the command. */
void plan_command(const struct plan *plan, size_t arm, size_t pod, struct buf *out);
/* Append the command that prepares a run of the arm, or nothing if the plan has none. */
void plan_prepare_command(const struct plan *plan, size_t arm, size_t pod, struct buf *out);

/* The default of gap_s; none follows a run of less than PLAN_SHORT_S without a GPU. */
#define PLAN_GAP_S   10.0
#define PLAN_SHORT_S 10.0
/* The longest gap between two runs. */
double plan_usual_gap_s(const struct plan *plan);
