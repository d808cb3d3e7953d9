/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/sha256.h"
#include "bench/guard.h"
#include "parsers/format.h"
#include "parsers/score_json.h"

/* Where the value of a metric comes from. */
enum run_log_kind {
	RUN_LOG_TRAINING, /* the rows of a training run */
	RUN_LOG_SCORE,	  /* a JSON object in the output */
	RUN_LOG_WALL,	  /* the time of the whole run, whatever it prints */
};

struct bench_metric {
	const char *key; /* name in bench.json; NULL: any other name */
	enum run_log_kind kind;
	const char *parser; /* its name in bench.json */
	bool only_lower;    /* higher cannot be better */
};

/* The metric of that name, never NULL. */
const struct bench_metric *bench_metric_find(const char *key);
/* The names of all parsers; ends with NULL. */
extern const char *const bench_metric_parsers[];

/* Does this look like the name of a rate ("tok_s", "tflops", "samples_per_s"), where higher is
 * better?  For such a metric bench.json must set the direction. */
bool bench_metric_is_rate(const char *key);

/* The settings that a training log prints before its first row: words "key:value" and "key=value",
 * and lines "key: value".  Some of them are not settings; the judge compares only those that all
 * runs of an arm print with the same value. */
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

/* The value of a key; "" if it was printed with several values, NULL if it was not printed. */
const char *run_settings_get(const struct run_settings *settings, const char *key);

/* A log with more train rows is an error. */
#define RUN_LOG_MAX_ROWS 1000000
/* Only this many bytes at the start of the output are searched for a score. */
#define RUN_LOG_MAX_SCORE_BYTES (4U * 1024 * 1024)

/* The log of one run: the rows of a training run, or a score. */
struct run_log {
	char *path; /* owned */
	enum run_log_kind kind;
	struct step_row *rows; /* owned; of the last run in the file */
	size_t n_rows, cap_rows;
	double val_loss, val_step; /* of the last validation; NAN: none */
	double grad_accum;
	struct run_settings settings; /* printed before the first row */
	struct run run;		      /* the last run in the file */
	unsigned int n_runs;	      /* in the file */
	struct score_json score;      /* of RUN_LOG_SCORE */
	double wall_s;		      /* of RUN_LOG_WALL; set by the caller */
	const char *score_key;	      /* of the rule; borrowed */
	enum tok_kind tok_kind;	      /* what tok/s mean in its format */
	char sha256[SHA256_HEX_SIZE]; /* of the whole log */
	/* Versions and GPU as printed before the first row: "torch 2.9.1; gpu NVIDIA H100". */
	char runtime[256];
};

/* What tok/s of a log mean: `kind`, or for TOK_BY_FORMAT what its format implies. */
struct step_rates run_log_rates(const struct run_log *log, enum tok_kind kind);

/* How to read a log. */
struct run_log_rule {
	const struct format_set *formats; /* borrowed */
	const char *score_key;		  /* NULL: the first known key; outlives the log */
	bool force; /* the log is read as `kind`; false: the kind is detected */
	enum run_log_kind kind;
};

/* Read a file.  -1 with err if it cannot be read.  A run that failed, or a log without a train row
 * (n_rows 0) and without a score, is not an error here: run_log_guards reports it. */
int run_log_read(struct run_log *log, const char *path, const struct run_log_rule *rule,
		 struct err *err) MUST_USE;

/* The same for a text; path is only its name. */
int run_log_parse(struct run_log *log, const char *path, struct str text,
		  const struct run_log_rule *rule, struct err *err) MUST_USE;

void run_log_release(struct run_log *log);

/* Run the validity checks that need only this log: exit, NaN, a failed score. */
void run_log_guards(const struct run_log *log, struct guard_hits *hits);

/* Add a hard hit if settings of the work differ: batch, seed, mode, device, cases. */
void run_log_same_work(const struct run_log *control, const struct run_log *variant,
		       struct guard_hits *hits);
