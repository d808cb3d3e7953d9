/* SPDX-License-Identifier: MIT */
/* Read typed values from untrusted JSON, for the readers of HarnessGym's files. */
#include "parsers/harness/value.h"

#include "base/utf8.h"
#include "parsers/line_prefix.h"

void harness_pool_release(struct harness_pool *pool)
{
	for (size_t i = 0; i < pool->n; i++)
		free(pool->blocks[i]);
	free(pool->blocks);
	*pool = (struct harness_pool){ NULL, 0, 0 };
}

static void own_block(struct harness_pool *pool, void *block)
{
	pool->blocks = xgrow(pool->blocks, pool->n, &pool->cap, sizeof(void *));
	pool->blocks[pool->n++] = block;
}

void *harness_pool_alloc(struct harness_pool *pool, size_t n, size_t size)
{
	if (n == 0)
		return NULL;
	void *block = xcalloc(n, size);
	own_block(pool, block);
	return block;
}

const char *harness_pool_text(struct harness_pool *pool, struct str text, size_t max)
{
	struct buf clean;

	if (text.len > max)
		text.len = max;
	buf_init(&clean, text.len * 3 + 1);
	utf8_sanitize(&clean, text);
	char *copy = buf_detach(&clean);
	own_block(pool, copy);
	return copy;
}

struct harness_number harness_number_of(const cJSON *node)
{
	struct harness_number number = HARNESS_ABSENT;

	if (cJSON_IsNumber(node))
		number = harness_number(node->valuedouble);
	else if (cJSON_IsString(node))
		number.present =
			str_to_double(str_trim(str_from(node->valuestring)), &number.value);
	return number;
}

struct harness_number harness_number_at(const cJSON *object, const char *key)
{
	return harness_number_of(json_get(object, key));
}

enum harness_tri harness_bool_at(const cJSON *object, const char *key)
{
	const cJSON *node = json_get(object, key);

	if (!cJSON_IsBool(node))
		return HARNESS_UNKNOWN;
	return HARNESS_TRI(cJSON_IsTrue(node));
}

const char *harness_text_of(struct harness_pool *pool, const cJSON *node)
{
	return cJSON_IsString(node)
		       ? harness_pool_text(pool, str_from(node->valuestring), HARNESS_TEXT_MAX)
		       : NULL;
}

const char *harness_text_at(struct harness_pool *pool, const cJSON *object, const char *key)
{
	return harness_text_of(pool, json_get(object, key));
}

const cJSON *harness_find_row(const cJSON *list, unsigned int number)
{
	json_each (node, list) {
		struct harness_number of = harness_number_at(node, "iteration");

		if (of.present && of.value == number)
			return node;
	}
	return NULL;
}

struct harness_number harness_score_of(const cJSON *object, const char *key, bool quoted)
{
	static const char *const places[] = { NULL, "metrics", "objective", "verification" };
	const char *const keys[] = { key != NULL ? key : "score", "score" };
	struct harness_number number = HARNESS_ABSENT;

	for (size_t i = 0; !number.present && i < LENGTH(places) * LENGTH(keys); i++) {
		const char *place = places[i / LENGTH(keys)];
		const cJSON *node = json_get(place != NULL ? json_get(object, place) : object,
					     keys[i % LENGTH(keys)]);

		number = harness_number_of(node);
		/* In JSON an infinite number needs quotes; a finite number must not have any. */
		if (!quoted && cJSON_IsString(node) && isfinite(number.value))
			number.value = (double)NAN;
	}
	return number;
}

int64_t harness_time_of(struct str text)
{
	bool has_zone;
	size_t n;
	int64_t ms = line_prefix_time(text, &n, &has_zone);

	return has_zone && (n == text.len || text.p[n] == '-') ? ms : 0;
}

int64_t harness_time_at(const cJSON *object, const char *key)
{
	const cJSON *node = json_get(object, key);

	if (cJSON_IsString(node))
		return harness_time_of(str_from(node->valuestring));
	if (cJSON_IsNumber(node) && node->valuedouble > 0 && node->valuedouble < 1e11)
		return (int64_t)(node->valuedouble * 1000.0);
	return 0;
}

struct harness_number harness_gain_pct(double from, double to, enum harness_tri higher_is_better)
{
	double gain = higher_is_better == HARNESS_YES ? to - from : from - to;

	if (from == 0 || !isfinite(from) || !isfinite(to))
		return HARNESS_ABSENT;
	return harness_number(100.0 * gain / fabs(from));
}
