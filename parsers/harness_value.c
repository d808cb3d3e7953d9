/* SPDX-License-Identifier: MIT */
/* Values of untrusted JSON, by type or absent; used by the harness readers. */
#include "config.h"

#include "parsers/harness_value.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "base/xalloc.h"

void
harness_pool_release(struct harness_pool *pool)
{
	for (size_t i = 0; i < pool->n; i++)
		free(pool->blocks[i]);
	free(pool->blocks);
	*pool = (struct harness_pool){ NULL, 0, 0 };
}

static void
pool_own(struct harness_pool *pool, void *block)
{
	pool->blocks = xgrow(pool->blocks, pool->n, &pool->cap, sizeof(void *));
	pool->blocks[pool->n++] = block;
}

void *
harness_pool_alloc(struct harness_pool *pool, size_t n, size_t size)
{
	void *block;

	if (n == 0)
		return NULL;
	block = xcalloc(n, size);
	pool_own(pool, block);
	return block;
}

const char *
harness_pool_text(struct harness_pool *pool, struct str text, size_t max)
{
	struct buf clean;
	char *copy;

	if (text.len > max)
		text.len = max;
	buf_init(&clean, text.len * 3 + 1);
	utf8_sanitize(&clean, text);
	copy = buf_detach(&clean);
	pool_own(pool, copy);
	return copy;
}

const cJSON *
harness_get(const cJSON *object, const char *key)
{
	return cJSON_IsObject(object)
		       ? cJSON_GetObjectItemCaseSensitive(object, key)
		       : NULL;
}

struct harness_number
harness_number_of(const cJSON *node)
{
	struct harness_number number = { false, (double)NAN };

	if (cJSON_IsNumber(node))
		number = harness_number(node->valuedouble);
	else if (cJSON_IsString(node))
		number.present = str_to_double(
			str_trim(str_from(node->valuestring)), &number.value);
	return number;
}

enum harness_tri
harness_bool_of(const cJSON *node)
{
	if (!cJSON_IsBool(node))
		return HARNESS_UNKNOWN;
	return cJSON_IsTrue(node) ? HARNESS_YES : HARNESS_NO;
}

const char *
harness_text_of(struct harness_pool *pool, const cJSON *node, size_t max)
{
	if (!cJSON_IsString(node))
		return NULL;
	return harness_pool_text(pool, str_from(node->valuestring), max);
}

struct harness_number
harness_score_of(const cJSON *object, const char *key)
{
	static const char *const places[] = { NULL, "metrics", "objective",
					      "verification" };
	struct harness_number number = { false, (double)NAN };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const cJSON *place = places[i] != NULL
					     ? harness_get(object, places[i])
					     : object;

		number = harness_number_of(harness_get(place, key));
		if (!number.present)
			number = harness_number_of(harness_get(place, "score"));
		if (number.present)
			break;
	}
	return number;
}

/* n digits at *p as a number; -1 when there are not so many. */
static int
digits(const char **p, int n)
{
	int value = 0;

	for (; n > 0; n--, (*p)++) {
		if (**p < '0' || **p > '9')
			return -1;
		value = value * 10 + (**p - '0');
	}
	return value;
}

/* Past c at *p where it is; true when it was, or when it may be left out. */
static bool
pass(const char **p, char c, bool needed)
{
	if (**p != c)
		return !needed;
	(*p)++;
	return true;
}

/* Milliseconds of the fraction at *p, which may be absent. */
static int
fraction_ms(const char **p)
{
	int ms = 0, scale = 100;

	if (**p != '.')
		return 0;
	for ((*p)++; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
		ms += (**p - '0') * scale;
	return ms;
}

/* "Z", "+hh:mm" or "-hh:mm" at *p in seconds; false when it is none. */
static bool
zone_s(const char **p, int *offset_s)
{
	int sign = **p == '-' ? -1 : 1, hour, min;

	*offset_s = 0;
	if (**p == 'Z') {
		(*p)++;
		return true;
	}
	if (**p != '+' && **p != '-')
		return false;
	(*p)++;
	hour = digits(p, 2);
	if (!pass(p, ':', false))
		return false;
	min = digits(p, 2);
	*offset_s = sign * (hour * 3600 + min * 60);
	return hour >= 0 && min >= 0;
}

int64_t
harness_time_of(struct str text)
{
	char copy[48];
	const char *p = copy;
	int year, month, day, hour, min, sec, ms, offset;

	(void)snprintf(copy, sizeof(copy), "%.*s",
		       (int)(text.len < 40 ? text.len : 40),
		       text.p != NULL ? text.p : "");
	year = digits(&p, 4);
	(void)pass(&p, '-', false);
	month = digits(&p, 2);
	(void)pass(&p, '-', false);
	day = digits(&p, 2);
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 ||
	    !pass(&p, 'T', true))
		return 0;
	hour = digits(&p, 2);
	(void)pass(&p, ':', false);
	min = digits(&p, 2);
	(void)pass(&p, ':', false);
	sec = digits(&p, 2);
	if (hour < 0 || hour > 23 || min < 0 || min > 59 || sec < 0 || sec > 60)
		return 0;
	ms = fraction_ms(&p);
	if (!zone_s(&p, &offset) || (*p != '\0' && *p != '-'))
		return 0;
	return (clock_from_civil_s(year, month, day, hour, min, sec) - offset) *
		       1000 +
	       ms;
}

int64_t
harness_time_at(const cJSON *object, const char *key)
{
	const cJSON *node = harness_get(object, key);

	if (cJSON_IsString(node))
		return harness_time_of(str_from(node->valuestring));
	if (cJSON_IsNumber(node) && node->valuedouble > 0 &&
	    node->valuedouble < 1e11)
		return (int64_t)(node->valuedouble * 1000.0);
	return 0;
}
