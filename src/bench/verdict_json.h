/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "bench/judge.h"
#include "parsers/json.h"
#include "report/facts.h"

#define VERDICT_SCHEMA "hgym.verdict/1"

/* A block that was begun again, and why. */
struct verdict_repeat {
	size_t pod, block;
	char *reason;
};

/* What the judge does not know of a bench; NULL or NAN where unknown. */
struct verdict_info {
	const char *name;
	const char *bench_sha256;
	bool has_seed;
	uint64_t seed;
	const char *const *schedule; /* "AB", "BA"; n_schedule of them */
	size_t n_schedule;
	const char *const *pods; /* names; NULL: imported logs */
	size_t n_unpriced;	 /* pods that cost_usd leaves out */
	const char *metric;	 /* "step_ms" or a score's key */
	const struct verdict_repeat *repeats;
	size_t n_repeats;
	double cost_usd;
	const char *stopped; /* n_max, early, budget, guard, imported */
};

/*
 * The document of a judgement, verdict.json: all that is printed or drawn of
 * it comes from here.  Owned by the caller.
 */
cJSON *verdict_to_json(const struct judge *judge, const struct verdict_info *info);

/*
 * The summary that older readers of throughput benches know, an object a tag:
 * tok/s over the runs of each arm that no guard took, by their step times;
 * nulls for an arm that has none, or is INVALID.
 */
cJSON *verdict_summary_json(const struct judge *judge);

/* Reading.  A member of a document; NULL, NAN, false and "" where it is null.
 * What older documents do not have is null. */
const cJSON *verdict_list(const cJSON *node, const char *key);
double verdict_number(const cJSON *node, const char *key);
size_t verdict_count(const cJSON *node, const char *key);
/* The lower (0) or the upper (1) bound of an interval; NAN: unknown. */
double verdict_bound(const cJSON *node, const char *key, int i);
bool verdict_is(const cJSON *node, const char *key);
const char *verdict_text(const cJSON *node, const char *key);
/* Does the run have a hard guard, so that it does not count? */
bool verdict_has_hard_guard(const cJSON *run);
/* Did outliers widen the interval of the contrast?  Does that outlier do so? */
bool verdict_is_widened(const cJSON *contrast);
bool verdict_widens_interval(const cJSON *outlier);

/* A key that was asked for and is not there at all, not even as null: of a
 * document of this program a slip.  For tests; NULL: none. */
extern const char *verdict_missing;

/*
 * The facts of a verdict.json, whoever prints them: of each variant the
 * verdict first, then the numbers, then why.  Borrows of the tree.
 */
void report_facts(struct facts *facts, const cJSON *verdict);

/* "B: FASTER by ..; C: .."; of an audit what it would show.  "": no verdict. */
void report_line(struct buf *out, const cJSON *verdict);
