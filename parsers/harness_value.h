/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "parsers/json.h"

/*
 * Values out of JSON that anybody may have written: of the right type, or
 * absent.  Text is copied clean (utf8_sanitize) into a pool that frees it.
 */

/* A number that may be absent; a present one may be infinite or NaN. */
struct harness_number {
	bool present;
	double value;
};

enum harness_tri { HARNESS_UNKNOWN = -1, HARNESS_NO, HARNESS_YES };

/* Memory that is freed all at once. */
struct harness_pool {
	void **blocks; /* owned */
	size_t n, cap;
};

void harness_pool_release(struct harness_pool *pool);
/* n zeroed elements; NULL for none. */
void *harness_pool_alloc(struct harness_pool *pool, size_t n, size_t size);
/* A clean copy of at most max bytes. */
const char *harness_pool_text(struct harness_pool *pool, struct str text, size_t max);

/* A number or a text that is one ("12.5", "inf"); true is no number. */
struct harness_number harness_number_of(const cJSON *node);
/* A clean copy of at most max bytes; NULL when the node is no string. */
const char *harness_text_of(struct harness_pool *pool, const cJSON *node, size_t max);

/* The same of a member of an object. */
struct harness_number harness_number_at(const cJSON *object, const char *key);
enum harness_tri harness_bool_at(const cJSON *object, const char *key);
const char *harness_text_at(struct harness_pool *pool, const cJSON *object, const char *key,
			    size_t max);

static inline bool harness_is_finite(struct harness_number number)
{
	return number.present && isfinite(number.value);
}

static inline struct harness_number harness_number(double value)
{
	return (struct harness_number){ true, value };
}

/*
 * A score as HarnessGym looks it up: key, then "score", at the top, then in
 * "metrics", "objective", "verification"; NaN for a number in quotes, unless
 * these count as well.
 */
struct harness_number harness_score_of(const cJSON *object, const char *key, bool quoted);

/*
 * Milliseconds since 1970 of "2026-11-20T16:09:36+00:00", of the same with
 * "Z" and up to 9 digits of a fraction, of a run id "20261120T160936Z-..";
 * 0 when the text is none of these.
 */
int64_t harness_time_of(struct str text);
/* The same of a JSON member, which may also be a number of seconds. */
int64_t harness_time_at(const cJSON *object, const char *key);

/* For qsort of structs whose first member is their name. */
int harness_by_name(const void *a, const void *b);
