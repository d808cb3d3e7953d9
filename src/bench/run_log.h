/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_RUN_LOG_H
#define HGYM_BENCH_RUN_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"
#include "bench/guard.h"
#include "bench/metric.h"
#include "bench/run_settings.h"
#include "bench/steps.h"
#include "parsers/format.h"
#include "parsers/run.h"
#include "parsers/score_json.h"

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
};

/* How logs are read. */
struct run_log_rule {
	const struct format_set *formats; /* borrowed */
	const char *score_key;		  /* NULL: the first known one */
	bool force; /* kind below is asked for, else it is looked at */
	enum run_log_kind kind;
};

/*
 * Read a file.  -1 with err when it cannot be read.  A run that failed, or a
 * log that holds neither a train row nor a score (n_rows 0), is no error: its
 * guards say so.
 */
int run_log_read(struct run_log *log, const char *path,
		 const struct run_log_rule *rule, struct err *err)
	__attribute__((warn_unused_result));

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
void run_log_same_work(const struct run_log *control,
		       const struct run_log *variant, struct guard_hits *hits);

#endif
