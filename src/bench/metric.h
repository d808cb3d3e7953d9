/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_METRIC_H
#define HGYM_BENCH_METRIC_H

#include <stdbool.h>

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

#endif
