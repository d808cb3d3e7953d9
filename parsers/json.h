/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_JSON_H
#define HGYM_PARSERS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

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
 * A strict reader: names file, line and key path in each error
 * ("config.json:12: pods[1].gpus: expected an array of integers").  The text
 * is the one that was parsed; both are borrowed.
 */
struct json_at {
	const char *file;
	struct str text;
	enum err_code code; /* of the errors it gives; ERR_CONFIG usually */
};

/* The line (1..) where the value at path ("pods[1].gpus") begins; 0: none. */
unsigned int json_line_of(struct str text, const char *path);

/* Set err to "<file>:<line>: <path>: <message>", return -1. */
int json_fail(const struct json_at *at, const char *path, struct err *err,
	      const char *fmt, ...) __attribute__((format(printf, 4, 5)));

enum json_type {
	JSON_STRING = 1 << 0,
	JSON_NUMBER = 1 << 1,
	JSON_INTEGER = 1 << 2, /* a number without a fraction, |n| < 2^53 */
	JSON_BOOL = 1 << 3,
	JSON_OBJECT = 1 << 4,
	JSON_ARRAY = 1 << 5,
	JSON_NULL = 1 << 6,
	JSON_REQUIRED = 1 << 7, /* in a json_key: must be there */
};

/* A key that an object may have; types is a set of enum json_type. */
struct json_key {
	const char *name;
	unsigned int types;
};

/* Is it of one of those types?  NULL is of none. */
bool json_has_type(const cJSON *node, unsigned int types);

/*
 * Hold object against its list of keys (ended by a NULL name): an unknown
 * key, a key twice, a missing one or a wrong type is an error.  "//" is
 * always allowed.  path is the object's own ("" at the top).
 */
int json_check_keys(const struct json_at *at, const cJSON *object,
		    const char *path, const struct json_key *keys,
		    struct err *err) __attribute__((warn_unused_result));

/*
 * A key that stands twice in one object of the tree, the first found, or
 * NULL; borrowed of the tree.  Readers differ in which of the two they take.
 */
const char *json_duplicate_key(const cJSON *node);

/* Getters for members that json_check_keys has let through. */
const char *json_get_string(const cJSON *object, const char *key,
			    const char *fallback);
double json_get_number(const cJSON *object, const char *key, double fallback);
bool json_get_bool(const cJSON *object, const char *key, bool fallback);

#endif
