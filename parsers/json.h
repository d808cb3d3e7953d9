/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * cJSON with bounds.  All JSON of ours comes in through json_parse and goes
 * out through json_print; this header is the one home of cJSON's.
 */

#define JSON_MAX_BYTES (16U * 1024 * 1024)
#define JSON_MAX_DEPTH 32

/*
 * What becomes of the bare tokens NaN, Infinity and -Infinity, which are not
 * JSON but are what Python writes.  The lenient two (false and true of a bool
 * are the first two) also make U+FFFD of half a surrogate pair (\ud83d).
 */
enum json_bare {
	JSON_BARE_REFUSED, /* an error */
	JSON_BARE_NULL,	   /* null */
	JSON_BARE_TEXT,	   /* the strings "NaN", "Infinity", "-Infinity" */
};

/*
 * Parse the whole of text (UTF-8, at most JSON_MAX_BYTES, nested at most
 * JSON_MAX_DEPTH).  Returns a tree the caller frees with cJSON_Delete, or
 * NULL with err: "line 3: ...".
 */
cJSON *json_parse(struct str text, enum json_bare bare, struct err *err)
	__attribute__((warn_unused_result));

/* Read and parse a file (at most JSON_MAX_BYTES, a regular file); strict. */
cJSON *json_parse_file(const char *path, struct buf *text, struct err *err)
	__attribute__((warn_unused_result));

/* A local tree that is freed where its block ends: AUTO_JSON root = ..; */
void json_free(cJSON **tree);
#define AUTO_JSON __attribute__((cleanup(json_free))) cJSON *

/* Append the tree as one line without blanks; non-finite numbers as null. */
void json_print(struct buf *out, const cJSON *node);

/* A member for output: NaN and infinities become null. */
void json_add_number(cJSON *object, const char *key, double value);
void json_add_string(cJSON *object, const char *key, const char *value);
/* Milliseconds since 1970 UTC as RFC 3339; null for 0, which is never. */
void json_add_time(cJSON *object, const char *key, int64_t wall_ms);
/* Text from outside (a log, a file name): made valid UTF-8 and harmless. */
void json_add_clean(cJSON *object, const char *key, const char *text);

/*
 * Members for output in one call, which returns the object:
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
/* Null where it is not above 0. */
#define JSOME(key, n)	   JNUM(key, (n) > 0 ? (double)(n) : (double)NAN)
#define JTEXT(key, value)  JSON_MEMBER(key, JSON_PUT_TEXT, .text = (value))
#define JCLEAN(key, value) JSON_MEMBER(key, JSON_PUT_CLEAN, .text = (value))
#define JBOOL(key, value)  JSON_MEMBER(key, JSON_PUT_BOOL, .truth = (value))
#define JNODE(key, value)  JSON_MEMBER(key, JSON_PUT_NODE, .node = (value))
/* Milliseconds since 1970 UTC; null for 0. */
#define JTIME(key, t) JSON_MEMBER(key, JSON_PUT_TIME, .number = (double)(t))

/* A new object at the end of an array; borrowed of it. */
cJSON *json_add_row(cJSON *array);
/* An array of one; item is given to it. */
cJSON *json_list_of(cJSON *item);
/* A number at the end of an array, null where it is not finite. */
void json_push_number(cJSON *array, double value);

/* The line (1..) where the value at path ("pods[1].gpus") begins; 0: none. */
unsigned int json_line_of(struct str text, const char *path);

enum json_type {
	JSON_STRING = 1 << 0,
	JSON_NUMBER = 1 << 1,
	JSON_INTEGER = 1 << 2, /* a number without a fraction, |n| < 2^53 */
	JSON_BOOL = 1 << 3,
	JSON_OBJECT = 1 << 4,
	JSON_ARRAY = 1 << 5,
	JSON_NULL = 1 << 6,
	JSON_REQUIRED = 1 << 7, /* of a key: it must be there */
};

/* Is it of one of those types?  NULL is of none. */
bool json_has_type(const cJSON *node, unsigned int types);

/*
 * A key that stands twice in one object of the tree, the first found, or
 * NULL; borrowed of the tree.  Readers differ in which of the two they take.
 */
const char *json_duplicate_key(const cJSON *node);

/* The member of an object; NULL: it has none, or is no object. */
static inline const cJSON *json_get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Each element of an array, or member of an object (NULL: none). */
#define json_each(item, array) \
	for (const cJSON *item = json_first(array); (item) != NULL; (item) = (item)->next)

static inline const cJSON *json_first(const cJSON *array)
{
	return array != NULL ? array->child : NULL;
}

/* Getters for members of the right type, or the fallback. */
const char *json_get_string(const cJSON *object, const char *key, const char *fallback);
double json_get_number(const cJSON *object, const char *key, double fallback);
bool json_get_bool(const cJSON *object, const char *key, bool fallback);
