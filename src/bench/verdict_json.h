/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_VERDICT_JSON_H
#define HGYM_BENCH_VERDICT_JSON_H

#include <stdint.h>

#include "bench/judge.h"
#include "parsers/json.h"

#define VERDICT_SCHEMA "hgym.verdict/1"

/* What the runs themselves do not know; NULL or NAN where unknown. */
struct verdict_run_info {
	const char *id;	  /* "0_pod-a_A" */
	const char *path; /* of its log */
	double rc;
	const char *t0, *t1; /* RFC 3339 */
	double drift_s;	     /* of the pod's clock against ours, at least */
};

/* A block that was begun again, and why. */
struct verdict_repeat {
	size_t pod, block;
	const char *reason;
};

struct verdict_info {
	const char *name;
	const char *bench_sha256;
	bool has_seed;
	uint64_t seed;
	const char *const *schedule; /* "AB", "BA"; n_schedule of them */
	size_t n_schedule;
	const char *const *pods;	     /* names; NULL: imported logs */
	const char *metric;		     /* "step_ms" or a score's key */
	const struct verdict_run_info *runs; /* as many as judged, or NULL */
	const struct verdict_repeat *repeats;
	size_t n_repeats;
	double cost_usd;
	const char *stopped; /* n_max, early, budget, guard, imported */
};

/* The object of verdict.json; owned by the caller. */
cJSON *verdict_to_json(const struct judge *judge,
		       const struct verdict_info *info);

/*
 * The summary that older readers of throughput benches know: an object a
 * tag, of the first counted run of each arm with a training log that no
 * guard took; nulls for an arm that has none, or is INVALID.
 */
cJSON *verdict_summary_json(const struct judge *judge);

#endif
