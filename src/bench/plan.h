/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"
#include "bench/judge.h"
#include "parsers/json_fields.h"

/*
 * A bench as its bench.json defines it ("hgym.bench/1"), strictly read: an
 * unknown key, a wrong type or a wrong value names file, line and key path.
 * Strings are owned; what was not given is NULL or NAN.
 */
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

/* A file put into the variant's own copy of the working folder. */
struct plan_file {
	char *path;    /* there, relative */
	char *from;    /* here; NULL: an overlay */
	char *overlay; /* JSON merged over the file that is there */
};

struct plan_files {
	struct plan_file v[PLAN_MAX_FILES];
	size_t n;
};

struct plan_variant {
	char *tag;
	bool control;
	struct plan_env env; /* over the workload's */
	char *command;	     /* NULL: the workload's */
	char *patch;	     /* file here, for patch -p1; NULL: none */
	struct plan_files files;
	/* Extended expressions that must, or must not, match in its log. */
	struct plan_texts must, must_not;
	char *launch;		    /* JSON of the kernel's settings; NULL: none */
	struct plan_texts declares; /* settings that it changes, by name */
	bool numerics_changed;
	char *noise_class; /* see bench/noise.h; NULL: the workload's */
};

struct plan_pod {
	char *id;
	char *ssh;	 /* NULL: the pod of that name in the configuration */
	char *transport; /* libssh2, openssh, local; NULL: the default */
	char *identity, *known_hosts, *proxy_jump;
	struct plan_gpus {
		int *v; /* ascending */
		size_t n;
	} gpus;
	char *root;	   /* folder for benches on the pod; NULL: ~/.hgym-bench */
	char *lock_dir;	   /* of the GPU locks; NULL: /tmp.  Without blanks */
	char *lock_clocks; /* command before the first run; NULL: none */
	char *stop_cmd;	   /* NULL: none */
	double usd_per_h;
};

struct plan {
	char *file;		      /* as given */
	char sha256[SHA256_HEX_SIZE]; /* of its bytes */
	char *name, *note;	      /* note may be NULL */
	uint64_t seed;
	/* workload */
	bool kernel;			/* kind: one process times all arms; see bench/kernel.h */
	char *module, *function, *task; /* of a kernel; function may be NULL */
	double seconds;			/* of a process, over all cases */
	char *cwd, *command, *commit, *data_sha256, *log, *end_marker;
	struct plan_env env;
	double timeout_s;
	char *noise_class;	       /* NULL: by what is run; bench/noise.h */
	struct plan_texts judge_files; /* hashed before and after each run */
	struct plan_texts data;	       /* paths on the pod that data_sha256 is of */
	/* metric */
	char *key;
	struct plan_texts also; /* other metrics, each with its own verdict */
	struct judge_rule rule; /* window, tok_kind, margin, losses .. */
	/* arms: the control first, then in the order of the file */
	struct plan_variant *variants;
	size_t n_variants;
	struct plan_pod *pods;
	size_t n_pods;
	/* design */
	size_t blocks;	/* counted ones a pod */
	size_t reps;	/* rounds a block: runs of each arm in it */
	size_t burn_in; /* rounds before them */
	size_t confirm; /* fresh blocks behind them, for the best; 0: none */
	bool aa;	/* one more arm: the control again */
	double gap_s;
	/* decision */
	size_t min_blocks;
	enum looks_kind early;
	/* guards */
	bool refuse_foreign, throttle_drops;
	/* budget */
	double usd, minutes;
	int64_t deadline_ms; /* wall clock; 0: none */
	bool stop_pods;	     /* at the end; else it is asked */
};

/* The keys of one object of bench.json. */
struct plan_section {
	const char *name; /* "" the whole, "pods", "metric.window" */
	const struct json_field *keys;
};

/* All of them, ended by a NULL name. */
extern const struct plan_section plan_sections[];

/* Read a file; -1 with err (ERR_CONFIG: "file:line: key path: ..."). */
int plan_load(struct plan *plan, const char *path, struct err *err)
	__attribute__((warn_unused_result));
/* The same from text; file names it in errors. */
int plan_parse(struct plan *plan, const char *file, struct str text, struct err *err)
	__attribute__((warn_unused_result));
void plan_release(struct plan *plan);

/* Pods whose price is not given: no sum of money counts them. */
size_t plan_n_unpriced(const struct plan *plan);
/* Arms that run in a round: the variants, and the A/A arm behind them. */
size_t plan_n_arms(const struct plan *plan);
/* The variant that an arm runs (the A/A arm runs the control). */
const struct plan_variant *plan_arm(const struct plan *plan, size_t arm);
/* Its tag; the A/A arm's is the control's with "~aa" behind it. */
#define PLAN_TAG_SIZE 48
void plan_arm_tag(const struct plan *plan, size_t arm, char out[PLAN_TAG_SIZE]);

/* Rounds of each pod, burn-in counted; each arm runs once in a round. */
size_t plan_n_rounds(const struct plan *plan);
/* Runs of the whole bench at most, burn-in counted, over all pods; of three
 * arms in fresh blocks. */
size_t plan_n_runs(const struct plan *plan);

/* The arms of every round of a pod, burn-in rounds first; caller frees. */
unsigned char *plan_schedule(const struct plan *plan, size_t pod);

/* When it is looked at. */
struct looks plan_looks(const struct plan *plan);

/* Does any variant need a copy of the working folder of its own? */
bool plan_needs_copies(const struct plan *plan);

/* The name that what a job prints is fetched to: the log of its run, or what
 * the logs of its runs are made of. */
const char *plan_output(const struct plan *plan);

/* Its GPUs, "0,3"; with a blank as the glue "0 3". */
void plan_gpus_text(const struct plan_gpus *gpus, char glue, struct buf *out);

/*
 * The exact shell command of an arm on a pod, as it runs there: environment,
 * GPUs, then the command.
 */
void plan_command(const struct plan *plan, size_t arm, size_t pod, struct buf *out);
