/* SPDX-License-Identifier: MIT */
/* Structs to JSON objects and back by tables; for all files of ours. */
#include "config.h"

#include "parsers/json_fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"

#define PATH_SIZE  512
#define WHY_SIZE   200
#define MAX_FIELDS 64

static const struct {
	unsigned int types; /* enum json_type */
	size_t size;	    /* of the member; 0: as the field says */
} kinds[] = {
	[JSON_AS_NUMBER] = { JSON_NUMBER, sizeof(double) },
	[JSON_AS_COUNT] = { JSON_INTEGER, sizeof(size_t) },
	[JSON_AS_SOME] = { JSON_INTEGER, sizeof(size_t) },
	[JSON_AS_WHOLE] = { JSON_INTEGER, sizeof(int64_t) },
	[JSON_AS_BOOL] = { JSON_BOOL, sizeof(bool) },
	[JSON_AS_WORD] = { JSON_STRING, sizeof(int) },
	[JSON_AS_CHARS] = { JSON_STRING, 0 },
	[JSON_AS_TEXT] = { JSON_STRING, sizeof(char *) },
	[JSON_AS_NAME] = { JSON_STRING, sizeof(const char *) },
	[JSON_AS_TEXTS] = { JSON_ARRAY, sizeof(struct json_texts) },
	[JSON_AS_PAIR] = { JSON_ARRAY, 2 * sizeof(double) },
	[JSON_AS_PART] = { JSON_OBJECT, 0 },
	[JSON_AS_ANY] = { 0, 0 },
};

/* A member of one of the kinds above, copied out or in. */
union member {
	double number;
	double pair[2];
	size_t count;
	int64_t whole;
	bool is;
	int word;
	char *text;
	struct json_texts texts;
};

int
json_wrong(const struct json_place *place, const char *key, const char *fmt,
	   ...)
{
	char path[PATH_SIZE], message[320];
	va_list ap;

	(void)snprintf(path, sizeof(path), "%s%s%s", place->path,
		       key != NULL && *place->path != '\0' ? "." : "",
		       key != NULL ? key : "");
	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return json_fail(place->at, path, place->err, "%s", message);
}

static double
convert(double (*with)(double), double value)
{
	return with != NULL ? with(value) : value;
}

static void
add_field(cJSON *object, const struct json_field *field, const char *from)
{
	const char *key = field->key, *text;
	union member m;
	cJSON *array;

	memcpy(&m, from, kinds[field->as].size);
	switch (field->as) {
	case JSON_AS_NUMBER:
		json_add_number(object, key, convert(field->out, m.number));
		break;
	case JSON_AS_COUNT:
	case JSON_AS_SOME:
		json_add_number(object, key,
				m.count == 0 && field->as == JSON_AS_SOME
					? (double)NAN
					: (double)m.count);
		break;
	case JSON_AS_WHOLE:
		json_add_number(object, key,
				m.whole != 0 ? (double)m.whole : (double)NAN);
		break;
	case JSON_AS_BOOL:
		if (field->words != NULL)
			json_add_string(object, key, field->words[m.is]);
		else
			cJSON_AddBoolToObject(object, key, m.is);
		break;
	case JSON_AS_WORD:
	case JSON_AS_CHARS:
		text = field->as == JSON_AS_WORD ? field->words[m.word] : from;
		json_add_clean(object, key, text[0] != '\0' ? text : NULL);
		break;
	case JSON_AS_TEXT:
	case JSON_AS_NAME:
		json_add_clean(object, key, m.text);
		break;
	case JSON_AS_PART:
		json_add_fields(cJSON_AddObjectToObject(object, key),
				field->fields, from);
		break;
	case JSON_AS_PAIR:
		array = cJSON_AddArrayToObject(object, key);
		for (int i = 0; i < 2; i++) {
			double v = convert(field->out, m.pair[i]);

			cJSON_AddItemToArray(array,
					     isfinite(v) ? cJSON_CreateNumber(v)
							 : cJSON_CreateNull());
		}
		break;
	case JSON_AS_TEXTS:
	case JSON_AS_ANY:
		break;
	}
}

void
json_add_fields(cJSON *object, const struct json_field *fields,
		const void *from)
{
	for (; fields->key != NULL; fields++)
		add_field(object, fields, (const char *)from + fields->at);
}

void
json_add_list(cJSON *object, const char *key, const void *first, size_t n,
	      size_t size, const struct json_field *fields)
{
	cJSON *array = cJSON_AddArrayToObject(object, key);

	for (size_t i = 0; i < n; i++) {
		cJSON *row = cJSON_CreateObject();

		json_add_fields(row, fields, (const char *)first + i * size);
		cJSON_AddItemToArray(array, row);
	}
}

static int
word_of(const struct json_field *field, const char *text)
{
	for (int i = 0; field->words[i] != NULL; i++)
		if (*text != '\0' && strcmp(text, field->words[i]) == 0)
			return i;
	return -1;
}

/* "expected one of fixed, auto". */
static void
list_words(const struct json_field *field, char why[WHY_SIZE])
{
	const char *glue = "expected one of ";

	for (int i = 0; field->words[i] != NULL; i++) {
		size_t len = strlen(why);

		if (field->words[i][0] == '\0')
			continue;
		(void)snprintf(why + len, WHY_SIZE - len, "%s%s", glue,
			       field->words[i]);
		glue = ", ";
	}
}

static void
check_texts(const struct json_field *field, const cJSON *array,
	    char why[WHY_SIZE])
{
	const cJSON *node;
	size_t n = 0;

	cJSON_ArrayForEach(node, array)
	{
		const char *fault = NULL;

		if (!cJSON_IsString(node) || ++n > field->size)
			(void)snprintf(why, WHY_SIZE,
				       "expected at most %zu strings",
				       field->size);
		else if (field->fault != NULL)
			fault = field->fault(node->valuestring);
		if (fault != NULL)
			(void)snprintf(why, WHY_SIZE, "\"%.60s\" %s",
				       node->valuestring, fault);
	}
}

/* Is it a value that the member takes, its type apart?  Else why not. */
static bool
is_good(const struct json_field *field, const cJSON *node, char why[WHY_SIZE])
{
	const char *fault;

	why[0] = '\0';
	if (cJSON_IsNumber(node) && field->high > field->low &&
	    !(node->valuedouble >= field->low &&
	      node->valuedouble <= field->high)) {
		(void)snprintf(why, WHY_SIZE, "expected a number from %g to %g",
			       field->low, field->high);
	} else if (field->words != NULL) {
		if (word_of(field, node->valuestring) < 0)
			list_words(field, why);
	} else if (field->as == JSON_AS_TEXTS) {
		check_texts(field, node, why);
	} else if (field->fault != NULL) {
		fault = field->fault(node->valuestring);
		(void)snprintf(why, WHY_SIZE, "%s", fault != NULL ? fault : "");
	}
	return why[0] == '\0';
}

static void
free_texts(struct json_texts *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		free(texts->v[i]);
	free(texts->v);
	*texts = (struct json_texts){ NULL, 0 };
}

static void
put_texts(struct json_texts *texts, const cJSON *array)
{
	const cJSON *node;

	free_texts(texts);
	texts->v = xcalloc((size_t)cJSON_GetArraySize(array) + 1,
			   sizeof(*texts->v));
	cJSON_ArrayForEach(node, array) texts->v[texts->n++] =
		xstrdup(node->valuestring);
}

/* Put a good value into its member. */
static void
put(const struct json_field *field, const cJSON *node, char *to)
{
	union member m;

	memcpy(&m, to, kinds[field->as].size);
	switch (field->as) {
	case JSON_AS_NUMBER:
		m.number = convert(field->in, node->valuedouble);
		break;
	case JSON_AS_COUNT:
	case JSON_AS_SOME:
		m.count = (size_t)node->valuedouble;
		break;
	case JSON_AS_WHOLE:
		m.whole = (int64_t)node->valuedouble;
		break;
	case JSON_AS_BOOL:
		m.is = field->words != NULL
			       ? word_of(field, node->valuestring) == 1
			       : cJSON_IsTrue(node);
		break;
	case JSON_AS_WORD:
		m.word = word_of(field, node->valuestring);
		break;
	case JSON_AS_CHARS:
		(void)snprintf(to, field->size, "%s", node->valuestring);
		return;
	case JSON_AS_TEXT:
		free(m.text);
		m.text = xstrdup(node->valuestring);
		break;
	case JSON_AS_NAME:
		m.text = node->valuestring;
		break;
	case JSON_AS_PART:
		json_take_fields(node, field->fields, to);
		return;
	case JSON_AS_TEXTS:
		put_texts(&m.texts, node);
		break;
	case JSON_AS_PAIR:
		for (int i = 0; i < 2; i++)
			if (cJSON_IsNumber(cJSON_GetArrayItem(node, i)))
				m.pair[i] = convert(field->in,
						    cJSON_GetArrayItem(node, i)
							    ->valuedouble);
		break;
	case JSON_AS_ANY:
		return;
	}
	memcpy(to, &m, kinds[field->as].size);
}

static unsigned int
types_of(const struct json_field *field)
{
	if (field->as == JSON_AS_BOOL && field->words != NULL)
		return JSON_STRING;
	return kinds[field->as].types | field->types;
}

static int
read_member(const struct json_place *place, const struct json_field *field,
	    const cJSON *node, void *to)
{
	char path[PATH_SIZE], why[WHY_SIZE];
	struct json_place own = { place->at, path, place->err };

	if (field->as == JSON_AS_ANY) {
		(void)snprintf(path, sizeof(path), "%s%s%s", place->path,
			       *place->path != '\0' ? "." : "", field->key);
		return field->read(&own, node, to);
	}
	if (!is_good(field, node, why))
		return json_wrong(place, field->key, "%s", why);
	put(field, node, to);
	return 0;
}

int
json_read_fields(const struct json_place *place, const cJSON *object,
		 const struct json_field *fields, void *to)
{
	struct json_key keys[MAX_FIELDS + 1] = { { NULL, 0 } };

	for (size_t i = 0; i < MAX_FIELDS && fields[i].key != NULL; i++)
		keys[i] = (struct json_key){
			fields[i].key,
			types_of(&fields[i]) |
				(fields[i].required ? JSON_REQUIRED : JSON_NULL)
		};
	if (json_check_keys(place->at, object, place->path, keys, place->err) !=
	    0)
		return -1;
	for (; fields->key != NULL; fields++) {
		const cJSON *node =
			cJSON_GetObjectItemCaseSensitive(object, fields->key);

		if (node != NULL && !cJSON_IsNull(node) &&
		    read_member(place, fields, node, (char *)to + fields->at))
			return -1;
	}
	return 0;
}

void
json_take_fields(const cJSON *object, const struct json_field *fields, void *to)
{
	char why[WHY_SIZE];

	for (; fields->key != NULL; fields++) {
		const cJSON *node =
			cJSON_GetObjectItemCaseSensitive(object, fields->key);

		if (fields->as != JSON_AS_ANY &&
		    !(fields->out != NULL && fields->in == NULL) &&
		    json_has_type(node, types_of(fields)) &&
		    !(cJSON_IsNumber(node) && node->valuedouble < 0 &&
		      kinds[fields->as].types == JSON_INTEGER) &&
		    is_good(fields, node, why))
			put(fields, node, (char *)to + fields->at);
	}
}

size_t
json_take_list(const cJSON *object, const char *key, void *first, size_t most,
	       size_t size, const struct json_field *fields)
{
	const cJSON *node,
		*array = cJSON_GetObjectItemCaseSensitive(object, key);
	size_t n = 0;

	cJSON_ArrayForEach(node, array) if (n < most)
		json_take_fields(node, fields, (char *)first + n++ * size);
	return n;
}

void
json_free_fields(const struct json_field *fields, void *of)
{
	for (; fields->key != NULL; fields++) {
		char *member = (char *)of + fields->at, *text;
		struct json_texts texts;

		if (fields->as == JSON_AS_TEXT) {
			memcpy(&text, member, sizeof(text));
			free(text);
		} else if (fields->as == JSON_AS_TEXTS) {
			memcpy(&texts, member, sizeof(texts));
			free_texts(&texts);
		}
	}
}
