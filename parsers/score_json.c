/* SPDX-License-Identifier: MIT */
/*
 * The JSON of a verifier or benchmark to one score that does or does not
 * count; called by the benches, `bench judge` and the HarnessGym readers.
 */
#include "config.h"

#include "parsers/score_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Objects tried from the end of the text before giving up. */
#define MAX_TRIES 64

bool
score_status_passes(const char *status)
{
	static const char *const words[] = { "passed", "pass", "ok", "success",
					     "solved" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(status, words[i]) == 0)
			return true;
	return false;
}

bool
score_json_counts(const struct score_json *score)
{
	return score->passed && isfinite(score->value);
}

/* The length of the object that text begins with, or 0 when it has no end. */
static size_t
object_length(struct str text)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c == '"') {
			for (i++; i < text.len && text.p[i] != '"'; i++)
				i += text.p[i] == '\\';
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

/* The last object of text that begins a line. */
static cJSON *
find_object(struct str text)
{
	size_t tries = 0;

	for (size_t i = text.len; i-- > 0 && tries < MAX_TRIES;) {
		struct str rest = { text.p + i, text.len - i };
		cJSON *root;

		if (text.p[i] != '{' || (i > 0 && text.p[i - 1] != '\n'))
			continue;
		tries++;
		rest.len = object_length(rest);
		root = rest.len > 0 ? json_parse(rest, JSON_BARE_NULL, NULL)
				    : NULL;
		if (cJSON_IsObject(root))
			return root;
		cJSON_Delete(root);
	}
	return NULL;
}

static cJSON *
parse_object(struct str text, struct err *err)
{
	cJSON *root;

	text = str_trim(text);
	if (text.len > 0 && text.p[0] == '{') {
		root = json_parse(text, JSON_BARE_NULL, err);
		if (root != NULL)
			return root;
	}
	root = find_object(text);
	if (root == NULL)
		err_set(err, ERR_NODATA, "no JSON object in it");
	return root;
}

static void
copy_text(char *out, size_t size, const cJSON *root, const char *key)
{
	(void)snprintf(out, size, "%s", json_get_string(root, key, ""));
}

/* The member by which the object says that something went wrong, or NULL. */
static const char *
find_denial(const cJSON *root)
{
	static const char *const keys[] = { "correct", "passed", "valid",
					    "success", "ok" };
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(root, "error");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const cJSON *node =
			cJSON_GetObjectItemCaseSensitive(root, keys[i]);

		if (cJSON_IsFalse(node))
			return node->string;
	}
	if (cJSON_IsString(error) && error->valuestring[0] != '\0')
		return error->string;
	return NULL;
}

/* A time of nothing is no measurement; a bare score may be any number. */
static bool
is_possible(const char *key, double value)
{
	return isfinite(value) && (value > 0 || strncmp(key, "best_", 5) != 0);
}

static void
pick_value(struct score_json *score, const char *key)
{
	static const char *const keys[] = { "best_us", "best_cycles", "score" };
	const cJSON *node = NULL;

	if (key != NULL)
		node = cJSON_GetObjectItemCaseSensitive(score->root, key);
	for (size_t i = 0; key == NULL && node == NULL && i < 3; i++)
		node = cJSON_GetObjectItemCaseSensitive(score->root, keys[i]);
	score->key = node != NULL ? node->string : NULL;
	score->value =
		node != NULL && cJSON_IsNumber(node) &&
				is_possible(score->key, node->valuedouble)
			? node->valuedouble
			: (double)NAN;
}

static bool
has_number(const struct score_json *score)
{
	const cJSON *node =
		cJSON_GetObjectItemCaseSensitive(score->root, score->key);

	return cJSON_IsNumber(node) && isfinite(node->valuedouble);
}

static void
explain(struct score_json *score, const char *key)
{
	const char *name = key != NULL ? key : "score";

	score->why[0] = '\0';
	if (score->has_status && !score_status_passes(score->status))
		(void)snprintf(score->why, sizeof(score->why),
			       "status is \"%s\"", score->status);
	else if (score->denied != NULL)
		(void)snprintf(score->why, sizeof(score->why),
			       "its \"%s\" says that it failed", score->denied);
	else if (!score->passed)
		(void)snprintf(score->why, sizeof(score->why),
			       "it says verified: false");
	else if (score->key == NULL)
		(void)snprintf(score->why, sizeof(score->why),
			       "it has no \"%s\"", name);
	else if (!isfinite(score->value))
		(void)snprintf(score->why, sizeof(score->why),
			       "\"%s\" is not %s", score->key,
			       has_number(score) ? "above 0"
						 : "a finite number");
}

int
score_json_read(struct score_json *score, struct str text, const char *key,
		struct err *err)
{
	const cJSON *verified;

	*score = (struct score_json){ .value = (double)NAN };
	score->root = parse_object(text, err);
	if (score->root == NULL)
		return -1;
	score->has_status =
		cJSON_GetObjectItemCaseSensitive(score->root, "status") != NULL;
	copy_text(score->status, sizeof(score->status), score->root, "status");
	copy_text(score->mode, sizeof(score->mode), score->root, "mode");
	verified = cJSON_GetObjectItemCaseSensitive(score->root, "verified");
	score->verified = cJSON_IsTrue(verified);
	score->denied = find_denial(score->root);
	score->passed =
		(!score->has_status || score_status_passes(score->status)) &&
		(verified == NULL || score->verified) && score->denied == NULL;
	pick_value(score, key);
	explain(score, key);
	return 0;
}

void
score_json_release(struct score_json *score)
{
	cJSON_Delete(score->root);
	score->root = NULL;
	score->key = NULL;
}

/* Both lack the member, or both have it and it is equal. */
static bool
same_member(const cJSON *a, const cJSON *b, const char *key)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(a, key);
	const cJSON *y = cJSON_GetObjectItemCaseSensitive(b, key);

	if (x == NULL || y == NULL)
		return x == y;
	return cJSON_Compare(x, y, 1);
}

/* The first of keys in which the objects differ, or NULL. */
static const char *
first_difference(const cJSON *a, const cJSON *b, const char *const *keys)
{
	for (; *keys != NULL; keys++)
		if (!same_member(a, b, *keys))
			return *keys;
	return NULL;
}

/* What makes a case the same case; never what was measured of it. */
static const char *
case_difference(const cJSON *a, const cJSON *b)
{
	static const char *const keys[] = {
		"name",	    "rows",	 "dim",		  "numel",
		"seed",	    "tolerance", "tokens",	  "d_model",
		"d_hidden", "experts",	 "route_profile", NULL,
	};

	return first_difference(a, b, keys);
}

bool
score_json_same_work(const struct score_json *a, const struct score_json *b,
		     char *why, size_t why_size)
{
	static const char *const keys[] = { "mode",    "tolerance", "device",
					    "torch",   "cuda",	    "compiler",
					    "repeats", "warmup",    NULL };
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(a->root, "cases");
	const cJSON *y = cJSON_GetObjectItemCaseSensitive(b->root, "cases");
	const char *key = first_difference(a->root, b->root, keys);

	if (key != NULL) {
		(void)snprintf(why, why_size, "\"%s\" differs", key);
		return false;
	}
	if (!cJSON_IsArray(x) || !cJSON_IsArray(y))
		return true;
	if (cJSON_GetArraySize(x) != cJSON_GetArraySize(y)) {
		(void)snprintf(why, why_size, "%d cases against %d",
			       cJSON_GetArraySize(x), cJSON_GetArraySize(y));
		return false;
	}
	x = x->child;
	y = y->child;
	for (int i = 0; x != NULL && y != NULL; i++, x = x->next, y = y->next) {
		key = case_difference(x, y);
		if (key != NULL) {
			(void)snprintf(why, why_size,
				       "\"%s\" of cases[%d] differs", key, i);
			return false;
		}
	}
	return true;
}
