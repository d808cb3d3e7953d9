/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_PLAN_PRIV_H
#define HGYM_BENCH_PLAN_PRIV_H

#include "bench/plan.h"
#include "parsers/json.h"

/* What plan_read.c and plan_parts.c share; nobody else includes it. */

#define PLAN_TEXT	      (JSON_STRING | JSON_NULL)
#define PLAN_AT_SIZE	      512
#define PLAN_RANGE(low, high) ((double[2]){ (low), (high) })

/* What every reader of a part works with. */
struct plan_reading {
	struct plan *plan;
	const struct json_at *at;
	struct err *err;
};

/* A member that is neither absent nor null. */
const cJSON *plan_member(const cJSON *object, const char *key);
/* An owned copy of a text member, or NULL. */
char *plan_copy_text(const cJSON *object, const char *key);
bool plan_is_name(const char *text);
int plan_check_name(const struct plan_reading *r, const cJSON *object,
		    const char *path, const char *key);
/* A number within range; *out is left alone where the key is absent. */
int plan_number(const struct plan_reading *r, const cJSON *object,
		const char *path, const char *key, double range[2],
		double *out);
/* With key and *out as they are, the same for a count. */
int plan_count(const struct plan_reading *r, const cJSON *object,
	       const char *path, const char *key, double range[2], size_t *out);
/* The index of a word in words (ended by NULL), 0 where absent, or -1. */
int plan_word(const struct plan_reading *r, const cJSON *object,
	      const char *path, const char *key, const char *const *words);

int plan_read_workload(const struct plan_reading *r, const cJSON *object);
int plan_read_metric(const struct plan_reading *r, const cJSON *object);
int plan_read_variants(const struct plan_reading *r, const cJSON *array);
int plan_read_pods(const struct plan_reading *r, const cJSON *array);

#endif
