/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/judge.h"
#include "report/facts.h"

#define VERDICT_SCHEMA "hgym.verdict/1"

struct plan;

/* A block that was repeated, and why. */
struct verdict_repeat {
	size_t pod, block;
	char *reason;
};

/* What the judge does not know about a bench; NULL or NAN: unknown. */
struct verdict_info {
	const struct plan *plan; /* NULL: imported logs */
	const char *metric;	 /* "step_ms", "wall_s" or the key of a score */
	const struct verdict_repeat *repeats;
	size_t n_repeats;
	double cost_usd;
	const char *stopped; /* n_max, early, budget, guard, imported */
};

/* Make verdict.json, the only source of all that is printed or drawn.  Owned by the caller. */
cJSON *verdict_to_json(const struct judge *judge, const struct verdict_info *info);

/* Make summary.json for older readers: one object per tag, with the tok/s of the arm's valid runs
 * by their step times; null for an arm without them or INVALID. Owned by the caller. */
cJSON *verdict_summary_json(const struct judge *judge);

/* Read a member of a document.  If it is null or absent: NULL, NAN, false or "". */
const cJSON *verdict_list(const cJSON *node, const char *key);
/* The first object of a list whose member `key` is that text, or NULL. */
const cJSON *verdict_find(const cJSON *node, const char *list, const char *key, const char *name);
double verdict_number(const cJSON *node, const char *key);
size_t verdict_count(const cJSON *node, const char *key);
/* The lower (0) or upper (1) bound of an interval; NAN: unknown. */
double verdict_bound(const cJSON *node, const char *key, int i);
bool verdict_is(const cJSON *node, const char *key);
const char *verdict_text(const cJSON *node, const char *key);
/* Does the run have a hard guard, so that it does not count? */
bool verdict_has_hard_guard(const cJSON *run);
/* Did outliers widen the interval of the contrast?  Does this outlier widen it? */
bool verdict_is_widened(const cJSON *contrast);
bool verdict_widens_interval(const cJSON *outlier);

/* The last key that was read but is absent from the document, which is a mistake in documents of
 * this version.  For tests; NULL: none. */
extern const char *verdict_missing;

/* Add per variant the verdict, how sure it is, what could make it wrong, and what to do next. */
void report_summary(struct facts *facts, const cJSON *verdict);
/* Add all facts of a verdict.json (borrowed from it): per variant the verdict, numbers, reasons. */
void report_facts(struct facts *facts, const cJSON *verdict);

/* Append "B: FASTER by ..; C: ..", for an audit its smallest detectable difference, or nothing. */
void report_line(struct buf *out, const cJSON *verdict);
/* Append how many times as fast each variant is, without a line end: "b ran 1.27 times as fast as a
 * (1.21 to 1.33)".  Appends nothing if there is no variant. */
void report_sentence(struct buf *out, const cJSON *verdict);
