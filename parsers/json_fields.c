/* SPDX-License-Identifier: MIT */
/* JSON objects into structs by tables; the files of a user, and our own. */
#include "config.h"

#include "parsers/json_fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

#define MAX_KEYS 32 /* of one object */

/* JSON_AS_CHOICE writes any enum as one. */
_Static_assert(sizeof(enum json_kind) == sizeof(unsigned int), "enum");

/* What the value of each kind may be. */
static const unsigned int json_types[] = {
	[JSON_AS_TEXT] = JSON_STRING,	[JSON_AS_PATH] = JSON_STRING,
	[JSON_AS_CHARS] = JSON_STRING,	[JSON_AS_SIZE] = JSON_INTEGER,
	[JSON_AS_WORD] = JSON_STRING,	[JSON_AS_CHOICE] = JSON_STRING,
	[JSON_AS_NUMBER] = JSON_NUMBER, [JSON_AS_INTEGER] = JSON_INTEGER,
	[JSON_AS_COUNT] = JSON_INTEGER, [JSON_AS_BOOL] = JSON_BOOL,
	[JSON_AS_TEXTS] = JSON_ARRAY,	[JSON_AS_PATHS] = JSON_ARRAY,
	[JSON_AS_NUMBERS] = JSON_ARRAY, [JSON_AS_INDEXES] = JSON_ARRAY,
	[JSON_AS_OBJECT] = JSON_OBJECT, [JSON_AS_OTHER] = 0,
};

static unsigned int
types_of(const struct json_field *f)
{
	return f->kind == JSON_AS_BOOL && f->words != NULL
		       ? JSON_STRING
		       : json_types[f->kind];
}

int
json_refuse(const struct json_reader *r, const char *path, const char *fmt, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return json_fail(&r->at, path, r->err, "%s", why);
}

const char *
json_join(char out[JSON_PATH_SIZE], const char *path, const char *key)
{
	(void)snprintf(out, JSON_PATH_SIZE, "%s%s%s", path,
		       path[0] != '\0' ? "." : "", key);
	return out;
}

/* The index of a word, or -1 with the error that lists them all; "" is none. */
static int
find_word(const struct json_reader *r, const struct json_field *f,
	  const char *value, const char *path)
{
	const char *const *words = f->words;
	const char *glue = "";
	char list[200];
	size_t used = 0;

	for (int i = 0; words[i] != NULL; i++)
		if (value[0] != '\0' && strcmp(value, words[i]) == 0)
			return i;
	for (; *words != NULL && used < sizeof(list); words++) {
		if (**words == '\0')
			continue;
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 "%s\"%s\"", glue, *words);
		glue = words[1] != NULL && words[2] != NULL ? ", " : " or ";
	}
	return json_refuse(r, path, "expected %s", list);
}

static int
check_number(const struct json_reader *r, const struct json_field *f,
	     double value, const char *path)
{
	bool is_positive = f->low == 0 && f->high == 0;

	if (is_positive ? value > 0 : value >= f->low && value <= f->high)
		return 0;
	return is_positive
		       ? json_refuse(r, path, "expected a number above 0")
		       : json_refuse(r, path,
				     "expected a number from %.15g to %.15g",
				     f->low, f->high);
}

/* One entry of a list into place i of it. */
static int
take_entry(const struct json_reader *r, const struct json_field *f,
	   const cJSON *item, const char *path, void *v, size_t i)
{
	const char *text = cJSON_IsString(item) ? item->valuestring : "";
	double number = cJSON_IsNumber(item) ? item->valuedouble : -1;
	int *indexes = v;

	if (f->kind == JSON_AS_NUMBERS) {
		((double *)v)[i] = number;
		return number > 0 ? 0
				  : json_refuse(r, path,
						"expected a number above 0");
	}
	if (f->kind != JSON_AS_INDEXES) {
		if (text[0] == '\0')
			return json_refuse(r, path,
					   "expected a string that is not "
					   "empty");
		if (f->fault != NULL && f->fault(text) != NULL)
			return json_refuse(r, path, "%s", f->fault(text));
		((char **)v)[i] = f->kind == JSON_AS_PATHS ? r->path(r, text)
							   : xstrdup(text);
		return 0;
	}
	if (!(number >= 0) || number > f->high || floor(number) != number)
		return json_refuse(r, path,
				   "expected the index of a %s, 0 to %.0f",
				   f->what, f->high);
	indexes[i] = (int)number;
	for (size_t k = 0; k < i; k++)
		if (indexes[k] == indexes[i])
			return json_refuse(r, path, "%s %d stands twice",
					   f->what, indexes[i]);
	return 0;
}

static int
take_list(const struct json_reader *r, const struct json_field *f,
	  const cJSON *array, const char *path, void *base)
{
	size_t n = (size_t)cJSON_GetArraySize(array);
	size_t size = f->kind == JSON_AS_NUMBERS   ? sizeof(double)
		      : f->kind == JSON_AS_INDEXES ? sizeof(int)
						   : sizeof(char *);
	size_t *taken = (size_t *)((char *)base + f->at_n);
	char at[JSON_PATH_SIZE + 24];
	const cJSON *item;
	void *v;

	if (n > f->most)
		return json_refuse(r, path, "more than %zu entries", f->most);
	v = xcalloc(n + 1, size);
	memcpy((char *)base + f->at, &v, sizeof(v));
	cJSON_ArrayForEach(item, array)
	{
		(void)snprintf(at, sizeof(at), "%s[%zu]", path, *taken);
		if (take_entry(r, f, item, at, v, *taken) != 0)
			return -1;
		++*taken;
	}
	return 0;
}

/* One value into its member of base. */
static int
take_value(const struct json_reader *r, const struct json_field *f,
	   const cJSON *node, const char *path, void *base)
{
	void *to = (char *)base + f->at;
	int index;

	if (f->fault != NULL && cJSON_IsString(node) &&
	    f->fault(node->valuestring) != NULL)
		return json_refuse(r, path, "%s", f->fault(node->valuestring));
	switch (f->kind) {
	case JSON_AS_TEXT:
		*(char **)to = xstrdup(node->valuestring);
		return 0;
	case JSON_AS_CHARS:
		if (f->words != NULL &&
		    find_word(r, f, node->valuestring, path) < 0)
			return -1;
		(void)snprintf(to, f->most, "%s", node->valuestring);
		return 0;
	case JSON_AS_PATH:
		*(char **)to = r->path(r, node->valuestring);
		return 0;
	case JSON_AS_WORD:
	case JSON_AS_CHOICE:
		index = find_word(r, f, node->valuestring, path);
		if (index >= 0 && f->kind == JSON_AS_CHOICE)
			*(unsigned int *)to = (unsigned int)index;
		else if (index >= 0)
			*(char **)to = xstrdup(node->valuestring);
		return index >= 0 ? 0 : -1;
	case JSON_AS_NUMBER:
	case JSON_AS_INTEGER:
	case JSON_AS_COUNT:
	case JSON_AS_SIZE:
		if (check_number(r, f, node->valuedouble, path) != 0)
			return -1;
		if (f->kind == JSON_AS_NUMBER)
			*(double *)to = node->valuedouble;
		else if (f->kind == JSON_AS_INTEGER)
			*(int64_t *)to = (int64_t)node->valuedouble;
		else if (f->kind == JSON_AS_SIZE)
			*(size_t *)to = (size_t)node->valuedouble;
		else
			*(unsigned int *)to = (unsigned int)node->valuedouble;
		return 0;
	case JSON_AS_BOOL:
		index = f->words != NULL
				? find_word(r, f, node->valuestring, path)
				: cJSON_IsTrue(node);
		*(bool *)to = index == 1;
		return index < 0 ? -1 : 0;
	case JSON_AS_TEXTS:
	case JSON_AS_PATHS:
	case JSON_AS_NUMBERS:
	case JSON_AS_INDEXES:
		return take_list(r, f, node, path, base);
	case JSON_AS_OBJECT:
		if (json_take(r, f->fields, node, path, to) != 0)
			return -1;
		return f->take != NULL ? f->take(r, node, path, to) : 0;
	case JSON_AS_OTHER:
		return f->take(r, node, path, to);
	}
	return 0;
}

int
json_take(const struct json_reader *r, const struct json_field *fields,
	  const cJSON *object, const char *path, void *base)
{
	struct json_key keys[MAX_KEYS] = { { NULL, 0 } };
	char at[JSON_PATH_SIZE];

	for (size_t i = 0; fields[i].name != NULL && i + 1 < MAX_KEYS; i++)
		keys[i] = (struct json_key){
			fields[i].name, fields[i].types | types_of(&fields[i])
		};
	if (json_check_keys(&r->at, object, path, keys, r->err) != 0)
		return -1;
	for (const struct json_field *f = fields; f->name != NULL; f++) {
		const cJSON *value =
			cJSON_GetObjectItemCaseSensitive(object, f->name);

		/* null is as good as nothing, where it may stand. */
		if (value == NULL ||
		    (cJSON_IsNull(value) && f->kind != JSON_AS_OTHER))
			continue;
		if (take_value(r, f, value, json_join(at, path, f->name),
			       base) != 0)
			return -1;
	}
	return 0;
}

/* A tree that was parsed (NULL: was not, why says so), and is freed here. */
static int
take_root(struct json_reader *r, cJSON *root, const char *why,
	  const struct json_field *fields, void *base)
{
	int rc;

	if (root == NULL) {
		/* "line 3: .." becomes "file:3: ..". */
		bool has_line = strncmp(why, "line ", 5) == 0;

		return err_set(r->err, r->at.code, "%s:%s%s", r->at.file,
			       has_line ? "" : " ", why + (has_line ? 5 : 0));
	}
	rc = cJSON_IsObject(root) ? json_take(r, fields, root, "", base)
				  : json_refuse(r, "", "expected an object");
	cJSON_Delete(root);
	return rc;
}

int
json_take_text(struct json_reader *r, const char *file, struct str text,
	       const struct json_field *fields, void *base)
{
	struct err bad = { ERR_NONE, "" };
	cJSON *root = json_parse(text, JSON_BARE_REFUSED, &bad);

	r->at.file = file;
	r->at.text = text;
	return take_root(r, root, bad.text, fields, base);
}

int
json_take_file(struct json_reader *r, const char *file,
	       const struct json_field *fields, void *base)
{
	struct err bad = { ERR_NONE, "" };
	struct buf text;
	cJSON *root;
	int rc;

	buf_init(&text, JSON_MAX_BYTES);
	root = json_parse_file(file, &text, &bad);
	r->at.file = file;
	r->at.text = (struct str){ text.data, text.len };
	/* What could be read is named once, behind it comes the line. */
	if (root == NULL && bad.code != ERR_PARSE)
		rc = err_set(r->err, r->at.code, "%s", bad.text);
	else
		rc = take_root(r, root, bad.text + strlen(file) + 2, fields,
			       base);
	buf_release(&text);
	return rc;
}

void
json_put(cJSON *object, const struct json_field *fields, const void *base)
{
	for (const struct json_field *f = fields; f->name != NULL; f++) {
		const void *from = (const char *)base + f->at;
		const char *text = from;

		if (f->kind == JSON_AS_CHOICE)
			text = f->words[*(const unsigned int *)from];
		if (f->kind == JSON_AS_CHOICE || f->kind == JSON_AS_CHARS)
			json_add_clean(object, f->name,
				       text[0] != '\0' ? text : NULL);
		else if (f->kind == JSON_AS_NUMBER)
			json_add_number(object, f->name, *(const double *)from);
		else if (f->kind == JSON_AS_SIZE)
			json_add_number(object, f->name,
					(double)*(const size_t *)from);
		else if (f->kind == JSON_AS_BOOL)
			cJSON_AddBoolToObject(object, f->name,
					      *(const bool *)from);
		else if (*(const int64_t *)from == 0)
			cJSON_AddNullToObject(object, f->name);
		else
			json_add_number(object, f->name,
					(double)*(const int64_t *)from);
	}
}

void
json_take_known(const struct json_field *fields, const cJSON *object,
		void *base)
{
	const struct json_reader quiet = { .err = NULL };

	for (const struct json_field *f = fields; f->name != NULL; f++) {
		const cJSON *value =
			cJSON_GetObjectItemCaseSensitive(object, f->name);

		if (json_has_type(value, types_of(f)))
			(void)take_value(&quiet, f, value, "", base);
	}
}

void
json_give_back(const struct json_field *fields, void *base)
{
	for (const struct json_field *f = fields; f->name != NULL; f++) {
		void *at = (char *)base + f->at, *v;

		if (f->kind == JSON_AS_OBJECT) {
			json_give_back(f->fields, at);
			continue;
		}
		if (f->kind == JSON_AS_OTHER || f->kind == JSON_AS_CHOICE ||
		    f->kind == JSON_AS_NUMBER || f->kind == JSON_AS_INTEGER ||
		    f->kind == JSON_AS_COUNT || f->kind == JSON_AS_SIZE ||
		    f->kind == JSON_AS_CHARS || f->kind == JSON_AS_BOOL)
			continue;
		memcpy(&v, at, sizeof(v));
		if (f->kind == JSON_AS_TEXTS || f->kind == JSON_AS_PATHS)
			for (size_t i = 0;
			     i < *(size_t *)((char *)base + f->at_n); i++)
				free(((char **)v)[i]);
		free(v);
	}
}
