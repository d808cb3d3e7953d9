/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"
#include "bench/guard.h"
#include "bench/steps.h"
#include "parsers/format.h"
#include "parsers/run.h"
#include "parsers/score_json.h"

/* What a bench may measure, and where that is read. */
enum run_log_kind {
	RUN_LOG_TRAINING, /* the rows of a training run */
	RUN_LOG_SCORE,	  /* the JSON object that a verifier prints */
};

struct bench_metric {
	const char *key; /* of bench.json; NULL: any other */
	enum run_log_kind kind;
	const char *parser; /* the word for it in bench.json */
	bool only_lower;    /* no other direction makes sense */
};

/* The metric of that name, never NULL. */
const struct bench_metric *bench_metric_find(const char *key);
/* The words of all parsers, ended by NULL. */
extern const char *const bench_metric_parsers[];

/*
 * Is that the name of a rate ("tok_s", "tflops", "samples_per_s"), of which
 * more is better?  Such a one is never judged as a time unless it is said.
 */
bool bench_metric_is_rate(const char *key);

/*
 * What a training log prints of its settings before its first row: words
 * "key:value" and "key=value", and lines "key: value".  Which of them are
 * settings nobody knows; what is the same in all runs of an arm is taken for
 * one.
 */
#define RUN_SETTING_KEY	  48
#define RUN_SETTING_VALUE 80
#define RUN_SETTINGS_MAX  256

struct run_setting {
	char key[RUN_SETTING_KEY], value[RUN_SETTING_VALUE];
	uint64_t line;
};

struct run_settings {
	struct run_setting *v; /* owned */
	size_t n, cap;
};

/* The value of a key, or NULL; also where it was printed differently twice. */
const char *run_settings_get(const struct run_settings *settings, const char *key);
/* Was it printed with more than one value? */
bool run_settings_wavers(const struct run_settings *settings, const char *key);

/*
 * What one log of one run of a bench says: the rows of a training run, or
 * the score of a verifier.
 */
/* Train rows kept of one log; a longer one is an error. */
#define RUN_LOG_MAX_ROWS 1000000
/* Bytes of a verifier's output that are looked at. */
#define RUN_LOG_MAX_SCORE_BYTES (4U * 1024 * 1024)

struct run_log {
	char *path; /* owned */
	enum run_log_kind kind;
	struct step_row *rows; /* owned; of the last run in the file */
	size_t n_rows, cap_rows;
	double val_loss, val_step; /* the last validation; NAN: none */
	double grad_accum;
	struct run_settings settings; /* printed before the first row */
	struct run run;		      /* the last run in the file */
	unsigned int n_runs;	      /* in the file */
	struct score_json score;      /* of RUN_LOG_SCORE */
	char sha256[SHA256_HEX_SIZE]; /* of the whole log */
	/* What it says that it ran with, before its first row: "torch 2.9.1;
	 * gpu NVIDIA H100 80GB HBM3". */
	char runtime[256];
};

/* How logs are read. */
struct run_log_rule {
	const struct format_set *formats; /* borrowed */
	const char *score_key;		  /* NULL: the first known one */
	bool force;			  /* kind below is asked for, else it is looked at */
	enum run_log_kind kind;
};

/*
 * Read a file.  -1 with err when it cannot be read.  A run that failed, or a
 * log that holds neither a train row nor a score (n_rows 0), is no error: its
 * guards say so.
 */
int run_log_read(struct run_log *log, const char *path, const struct run_log_rule *rule,
		 struct err *err) __attribute__((warn_unused_result));

/* The same from bytes; path names it only. */
int run_log_parse(struct run_log *log, const char *path, struct str text,
		  const struct run_log_rule *rule, struct err *err)
	__attribute__((warn_unused_result));

void run_log_release(struct run_log *log);

/* The guards that this log fires by itself: exit, NaN, a failed score. */
void run_log_guards(const struct run_log *log, struct guard_hits *hits);

/*
 * Settings that must be equal to the control's (batch, seed, world size,
 * accumulation; mode, device and cases of a score) and are not: a hard hit.
 */
void run_log_same_work(const struct run_log *control, const struct run_log *variant,
		       struct guard_hits *hits);
