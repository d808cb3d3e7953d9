/* SPDX-License-Identifier: MIT */
/* JSON held against the keys it may have; errors name file, line and key. */
#include "config.h"

#include "parsers/json.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "parsers/json_scan.h"

/* Where a scan for a path stands. */
struct finder {
	struct str text;
	size_t i;
};

static void
skip_blank(struct finder *f)
{
	while (f->i < f->text.len && isspace((unsigned char)f->text.p[f->i]))
		f->i++;
}

/* Step over the value at f->i, whatever it is. */
static void
skip_value(struct finder *f)
{
	size_t depth = 0;

	for (; f->i < f->text.len; f->i++) {
		char c = f->text.p[f->i];

		if (c == '"') {
			f->i = json_skip_string(f->text, f->i);
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				return;
			if (--depth == 0) {
				f->i++;
				return;
			}
			continue;
		} else if (c == ',' && depth == 0) {
			return;
		}
	}
}

/* Enter the container at f->i; false when it is none. */
static bool
enter(struct finder *f, char open)
{
	skip_blank(f);
	if (f->i >= f->text.len || f->text.p[f->i] != open)
		return false;
	f->i++;
	skip_blank(f);
	return true;
}

/* Past the comma to the next element; false at the end of the container. */
static bool
next_element(struct finder *f)
{
	skip_value(f);
	skip_blank(f);
	if (f->i >= f->text.len || f->text.p[f->i] != ',')
		return false;
	f->i++;
	skip_blank(f);
	return true;
}

static bool
find_member(struct finder *f, struct str name)
{
	if (!enter(f, '{'))
		return false;
	do {
		size_t start = f->i + 1, end;

		if (f->i >= f->text.len || f->text.p[f->i] != '"')
			return false;
		end = json_skip_string(f->text, f->i);
		f->i = end + 1;
		skip_blank(f);
		if (f->i >= f->text.len || f->text.p[f->i] != ':')
			return false;
		f->i++;
		skip_blank(f);
		if (end <= f->text.len &&
		    str_eq(name,
			   (struct str){ f->text.p + start, end - start })) {
			f->i = start - 1; /* point at the key itself */
			return true;
		}
	} while (next_element(f));
	return false;
}

static bool
find_index(struct finder *f, size_t index)
{
	if (!enter(f, '['))
		return false;
	for (; index > 0; index--)
		if (!next_element(f))
			return false;
	return true;
}

/* From a key to its value. */
static void
key_to_value(struct finder *f)
{
	if (f->i < f->text.len && f->text.p[f->i] == '"') {
		f->i = json_skip_string(f->text, f->i) + 1;
		skip_blank(f);
		f->i++;
	}
	skip_blank(f);
}

unsigned int
json_line_of(struct str text, const char *path)
{
	struct finder f = { text, 0 };
	bool on_key = false;

	while (*path != '\0') {
		if (on_key)
			key_to_value(&f);
		if (*path == '.')
			path++;
		if (*path == '[') {
			if (!find_index(&f, strtoul(path + 1, NULL, 10)))
				return 0;
			path += strcspn(path, "]");
			path += *path == ']';
			on_key = false;
		} else {
			size_t n = strcspn(path, ".[");

			if (!find_member(&f, (struct str){ path, n }))
				return 0;
			path += n;
			on_key = true;
		}
	}
	skip_blank(&f);
	return json_line_at(text, f.i);
}

int
json_fail(const struct json_at *at, const char *path, struct err *err,
	  const char *fmt, ...)
{
	unsigned int line = json_line_of(at->text, path);
	char message[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return err_set(err, at->code, "%s:%u: %s%s%s", at->file,
		       line > 0 ? line : 1, path, *path != '\0' ? ": " : "",
		       message);
}

static bool
is_integer(const cJSON *node)
{
	return cJSON_IsNumber(node) &&
	       fabs(node->valuedouble) < 9007199254740992.0 &&
	       floor(node->valuedouble) == node->valuedouble;
}

bool
json_has_type(const cJSON *node, unsigned int types)
{
	return ((types & JSON_STRING) && cJSON_IsString(node)) ||
	       ((types & JSON_NUMBER) && cJSON_IsNumber(node)) ||
	       ((types & JSON_INTEGER) && is_integer(node)) ||
	       ((types & JSON_BOOL) && cJSON_IsBool(node)) ||
	       ((types & JSON_OBJECT) && cJSON_IsObject(node)) ||
	       ((types & JSON_ARRAY) && cJSON_IsArray(node)) ||
	       ((types & JSON_NULL) && cJSON_IsNull(node));
}

/* "a string or null" for a set of types. */
static void
type_words(unsigned int types, char *out, size_t size)
{
	static const struct {
		unsigned int type;
		const char *word;
	} words[] = {
		{ JSON_STRING, "a string" },	{ JSON_NUMBER, "a number" },
		{ JSON_INTEGER, "an integer" }, { JSON_BOOL, "true or false" },
		{ JSON_OBJECT, "an object" },	{ JSON_ARRAY, "an array" },
		{ JSON_NULL, "null" },
	};
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((types & words[i].type) && used < size)
			used += (size_t)snprintf(out + used, size - used,
						 "%s%s", used > 0 ? " or " : "",
						 words[i].word);
}

static const struct json_key *
find_key(const struct json_key *keys, const char *name)
{
	for (; keys->name != NULL; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

static int
check_member(const struct json_at *at, const cJSON *object, const cJSON *member,
	     const char *path, const struct json_key *keys, struct err *err)
{
	const struct json_key *key = find_key(keys, member->string);
	char full[256], words[128];

	(void)snprintf(full, sizeof(full), "%s%s%s", path,
		       *path != '\0' ? "." : "", member->string);
	if (key == NULL)
		return json_fail(at, full, err, "unknown key");
	if (cJSON_GetObjectItemCaseSensitive(object, member->string) != member)
		return json_fail(at, full, err, "this key stands twice");
	if (!json_has_type(member, key->types)) {
		type_words(key->types, words, sizeof(words));
		return json_fail(at, full, err, "expected %s", words);
	}
	return 0;
}

int
json_check_keys(const struct json_at *at, const cJSON *object, const char *path,
		const struct json_key *keys, struct err *err)
{
	const cJSON *member;

	if (!cJSON_IsObject(object))
		return json_fail(at, path, err, "expected an object");
	cJSON_ArrayForEach(member, object)
	{
		if (strcmp(member->string, "//") == 0)
			continue;
		if (check_member(at, object, member, path, keys, err) != 0)
			return -1;
	}
	for (; keys->name != NULL; keys++)
		if ((keys->types & JSON_REQUIRED) &&
		    !cJSON_HasObjectItem(object, keys->name))
			return json_fail(at, path, err,
					 "the key \"%s\" is missing",
					 keys->name);
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* A name that two of an object's members have, or NULL. */
static const char *
twin_of(const cJSON *object)
{
	size_t n = 0, room = (size_t)cJSON_GetArraySize(object);
	const char **names = xcalloc(room + 1, sizeof(*names)), *twin = NULL;
	const cJSON *member;

	cJSON_ArrayForEach(member, object) names[n++] = member->string;
	qsort((void *)names, n, sizeof(*names), by_name);
	for (size_t i = 1; i < n && twin == NULL; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			twin = names[i];
	free((void *)names);
	return twin;
}

const char *
json_duplicate_key(const cJSON *node)
{
	const char *twin = cJSON_IsObject(node) ? twin_of(node) : NULL;

	for (const cJSON *c = node != NULL ? node->child : NULL;
	     twin == NULL && c != NULL; c = c->next)
		if (c->child != NULL)
			twin = json_duplicate_key(c);
	return twin;
}

const char *
json_get_string(const cJSON *object, const char *key, const char *fallback)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(node) ? node->valuestring : fallback;
}

double
json_get_number(const cJSON *object, const char *key, double fallback)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(node) ? node->valuedouble : fallback;
}

bool
json_get_bool(const cJSON *object, const char *key, bool fallback)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsBool(node) ? cJSON_IsTrue(node) : fallback;
}
