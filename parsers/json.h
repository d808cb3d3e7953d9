/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/err.h"

/* cJSON with limits. The program reads all JSON with json_parse and writes it with json_print; no
 * other header includes the header of cJSON. */

#define JSON_MAX_BYTES (16U * 1024 * 1024)
#define JSON_MAX_DEPTH 32

/* How to treat NaN and Infinity, which Python writes and JSON lacks. NULL and TEXT also replace
 * half a surrogate pair (\ud83d) with U+FFFD. The first two are false and true. */
enum json_bare {
	JSON_BARE_REFUSED, /* an error */
	JSON_BARE_NULL,	   /* null */
	JSON_BARE_TEXT,	   /* the strings "NaN", "Infinity", "-Infinity" */
};

/* Parse text (UTF-8, at most JSON_MAX_BYTES, nested at most JSON_MAX_DEPTH). Returns a tree that
 * the caller frees with cJSON_Delete, or NULL with err: "line 3: ...". */
cJSON *json_parse(struct str text, enum json_bare bare, struct err *err) MUST_USE;

/* Read and parse a regular file of at most JSON_MAX_BYTES; bare tokens are errors. */
cJSON *json_parse_file(const char *path, struct buf *text, struct err *err) MUST_USE;

/* A local tree that is freed at the end of its block: AUTO_JSON root = ..; */
void json_free(cJSON **tree);
#define AUTO_JSON __attribute__((cleanup(json_free))) cJSON *

/* Append the tree as one line without spaces; non-finite numbers become null. */
void json_print(struct buf *out, const cJSON *node);

/* Add a member for output: NaN and infinities become null. */
void json_add_number(cJSON *object, const char *key, double value);
void json_add_string(cJSON *object, const char *key, const char *value);
/* The same for text from outside (a log, a file name), sanitized to valid UTF-8. */
void json_add_clean(cJSON *object, const char *key, const char *text);

/*
 * Add several members for output; returns the object:
 *	json_add(row, JTEXT("tag", tag), JNUM("n", n), JBOOL("aa", aa));
 */
enum json_put {
	JSON_PUT_NUMBER,
	JSON_PUT_TIME,
	JSON_PUT_TEXT,
	JSON_PUT_CLEAN,
	JSON_PUT_BOOL,
	JSON_PUT_NODE,
};

struct json_member {
	const char *key;
	enum json_put kind;
	double number;
	const char *text;
	bool truth;
	cJSON *node; /* NULL: null */
};

cJSON *json_add_all(cJSON *object, const struct json_member *members);

#define json_add(object, ...) \
	json_add_all(object, (const struct json_member[]){ __VA_ARGS__, { .key = NULL } })
#define json_new(...) json_add(cJSON_CreateObject(), __VA_ARGS__)
#define JSON_MEMBER(key_, ...)             \
	{                                  \
		.key = (key_), __VA_ARGS__ \
	}
#define JNUM(key, value) JSON_MEMBER(key, .number = (double)(value))
/* A number, or null unless n is above 0. */
#define JSOME(key, n)	   JNUM(key, (n) > 0 ? (double)(n) : (double)NAN)
#define JTEXT(key, value)  JSON_MEMBER(key, JSON_PUT_TEXT, .text = (value))
#define JCLEAN(key, value) JSON_MEMBER(key, JSON_PUT_CLEAN, .text = (value))
#define JBOOL(key, value)  JSON_MEMBER(key, JSON_PUT_BOOL, .truth = (value))
#define JNODE(key, value)  JSON_MEMBER(key, JSON_PUT_NODE, .node = (value))
/* A time in milliseconds since 1970 UTC; 0 becomes null. */
#define JTIME(key, t) JSON_MEMBER(key, JSON_PUT_TIME, .number = (double)(t))

/* Append a new object to an array, which owns it. */
cJSON *json_add_row(cJSON *array);
/* Make an array that owns one item. */
cJSON *json_list_of(cJSON *item);
/* Append a number to an array; null if it is not finite. */
void json_push_number(cJSON *array, double value);

/* Find the line (1..) on which the value at path ("pods[1].gpus") starts; 0: not found. */
unsigned int json_line_of(struct str text, const char *path);

enum json_type {
	JSON_STRING = 1 << 0,
	JSON_NUMBER = 1 << 1,
	JSON_INTEGER = 1 << 2, /* a number without a fraction, |n| < 2^53 */
	JSON_BOOL = 1 << 3,
	JSON_OBJECT = 1 << 4,
	JSON_ARRAY = 1 << 5,
	JSON_NULL = 1 << 6,
	JSON_REQUIRED = 1 << 7, /* the key must be present */
};

/* Does node have one of these types? NULL has none. */
bool json_has_type(const cJSON *node, unsigned int types);

/* Find the first duplicate key in an object of the tree, borrowed from the tree; NULL: none. JSON
 * readers differ in which of the two values they take. */
const char *json_duplicate_key(const cJSON *node);

/* Return the member of an object; NULL if it is missing or object is not an object. */
static inline const cJSON *json_get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Loop over the elements of an array or the members of an object (NULL: none). */
#define json_each(item, array) \
	for (const cJSON *item = json_first(array); (item) != NULL; (item) = (item)->next)

static inline const cJSON *json_first(const cJSON *array)
{
	return array != NULL ? array->child : NULL;
}

/* Return the value of a member; the fallback if it is missing or has another type. */
const char *json_get_string(const cJSON *object, const char *key, const char *fallback);
double json_get_number(const cJSON *object, const char *key, double fallback);
bool json_get_bool(const cJSON *object, const char *key, bool fallback);
