/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/* Values from untrusted JSON have the expected type, or are absent. Text is copied with
 * utf8_sanitize into a pool, which frees it. */

/* A number that may be absent; a present one may be infinite or NaN. */
struct harness_number {
	bool present;
	double value;
};

enum harness_tri { HARNESS_UNKNOWN = -1, HARNESS_NO, HARNESS_YES };
#define HARNESS_TRI(is_true) ((is_true) ? HARNESS_YES : HARNESS_NO)

/* Memory blocks that are freed together. */
struct harness_pool {
	void **blocks; /* owned */
	size_t n, cap;
};

void harness_pool_release(struct harness_pool *pool);
/* Allocate n zeroed elements; NULL if n is 0. */
void *harness_pool_alloc(struct harness_pool *pool, size_t n, size_t size);
/* Make a sanitized copy of the first max bytes. */
const char *harness_pool_text(struct harness_pool *pool, struct str text, size_t max);

/* Read a number, or a string that contains one ("12.5", "inf"); a boolean is not a number. */
struct harness_number harness_number_of(const cJSON *node);
#define HARNESS_TEXT_MAX 1024U
/* Make a sanitized copy of the first HARNESS_TEXT_MAX bytes; NULL: not a string. */
const char *harness_text_of(struct harness_pool *pool, const cJSON *node);

/* The same for a member of an object. */
struct harness_number harness_number_at(const cJSON *object, const char *key);
enum harness_tri harness_bool_at(const cJSON *object, const char *key);
const char *harness_text_at(struct harness_pool *pool, const cJSON *object, const char *key);

static inline bool harness_is_finite(struct harness_number number)
{
	return number.present && isfinite(number.value);
}

#define HARNESS_ABSENT ((struct harness_number){ false, (double)NAN })

static inline struct harness_number harness_number(double value)
{
	return (struct harness_number){ true, value };
}

/* A member for json_new(): the number, or null. */
#define JVAL(key, n) JNUM(key, (n).present ? (n).value : (double)NAN)

/* Find the first object in list whose "iteration" is this number; NULL: none. */
const cJSON *harness_find_row(const cJSON *list, unsigned int number);

/* Look up a score in HarnessGym's order: key (NULL: none), then "score", at the top, then in
 * "metrics", "objective", "verification". A number in quotes is NaN unless `quoted`. */
struct harness_number harness_score_of(const cJSON *object, const char *key, bool quoted);

/* Parse "2026-11-20T16:09:36+00:00", the same with "Z" and up to 9 decimals, or
 * a run id "20261120T160936Z-..". Returns ms since 1970, or 0. */
int64_t harness_time_of(struct str text);
/* The same for a member of an object, which may also be a number of seconds. */
int64_t harness_time_at(const cJSON *object, const char *key);

static inline bool harness_is_better(enum harness_tri higher_is_better, double a, double b)
{
	return higher_is_better == HARNESS_YES ? a > b : a < b;
}

/* Return the gain from one score to another in percent; > 0: better. */
struct harness_number harness_gain_pct(double from, double to, enum harness_tri higher_is_better);
