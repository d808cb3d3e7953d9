/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/* Read a JSON object into a struct by a table, which has the type of each key's value and the
 * member that stores it. Reading is strict: an unknown, duplicate or missing key or a wrong type is
 * an error that names file, line and key path ("config.json:12: pods[1].gpus: expected an array of
 * integers"). "//" is always allowed. If a key is absent, its member keeps its value, so set
 * defaults first. The program's own files are written with the same tables, and read leniently. */
enum json_kind {
	JSON_AS_TEXT,	 /* char *, owned */
	JSON_AS_PATH,	 /* char *, owned: converted by json_reader.path */
	JSON_AS_CHARS,	 /* char[most] */
	JSON_AS_WORD,	 /* char *, owned: one of words */
	JSON_AS_CHOICE,	 /* enum: index in words */
	JSON_AS_EITHER,	 /* bool: is it the second of two words? */
	JSON_AS_FIXED,	 /* one of words, not stored */
	JSON_AS_NUMBER,	 /* double, low..high; both 0: above 0 */
	JSON_AS_INTEGER, /* int64_t, low..high */
	JSON_AS_COUNT,	 /* size_t, low..high */
	JSON_AS_BOOL,
	JSON_AS_TEXTS,	 /* list of char *, none empty */
	JSON_AS_PATHS,	 /* list of paths */
	JSON_AS_NUMBERS, /* list of double, each above 0 */
	JSON_AS_INDEXES, /* list of int, 0..high, without duplicates */
	JSON_AS_OBJECT,	 /* struct with its own table */
	JSON_AS_OTHER,	 /* read by json_field.take; NULL: not stored */
};

struct json_reader;

struct json_field {
	const char *name;
	enum json_kind kind;
	size_t at;	    /* offset of the member; for a list: of its array */
	size_t at_n;	    /* for a list: offset of its length, a size_t */
	unsigned int types; /* enum json_type, in addition to the kind's;
			     * NUMBER with JSON_INTEGER: must be whole */
	double low, high;
	double scale; /* factor for a NUMBER; 0: none */
	size_t most;  /* maximum number of entries of a list */
	/* Check a TEXT or each of TEXTS; NULL: every text is valid. */
	bool (*is_right)(const char *text);
	/* Name of the value in errors: "a path" (texts), "GPU" (INDEXES), "kind" (words). */
	const char *what;
	/* Wrong names between blanks, for which an error suggests this key and `what` it is. */
	const char *also;
	const char *const *words; /* ended by NULL; "" is not a word */
	const struct json_field *fields;
	/* OTHER: store the value in `to`, the member at `at` (0: the struct that has the key).
	 * OBJECT: check combinations of its members; `to` is its struct. */
	int (*take)(const struct json_reader *r, const cJSON *node, const char *path, void *to);
};

#define JSON_AT(type, member) .at = offsetof(struct type, member)
#define JSON_LIST(type, member, n) \
	.at = offsetof(struct type, member), .at_n = offsetof(struct type, n)

/* A row of a table of keys, and such a row for the kind CHARS. */
#define JSON_ROW(name_, kind_, type, member, ...)                                              \
	{                                                                                      \
		.name = (name_), .kind = JSON_AS_##kind_, .at = offsetof(struct type, member), \
		__VA_ARGS__                                                                    \
	}
#define JSON_CHARS(name, type, member) \
	JSON_ROW(name, CHARS, type, member, .most = sizeof(((struct type *)0)->member))

/* The parsed text (borrowed), and the file name and code for errors. */
struct json_at {
	const char *file;
	struct str text;
	enum err_code code; /* usually ERR_CONFIG */
};

struct json_reader {
	struct json_at at; /* json_read_text and _file set file and text */
	struct err *err;
	bool nulls; /* null is allowed for optional keys, like a missing key */
	/* Convert a path; result is owned. NULL if the table has no paths. */
	char *(*path)(const struct json_reader *r, const char *value);
	void *user;
};

#define JSON_PATH_SIZE 300 /* for "pods[1].logs[2]"; longer paths are cut */

/* Set the error "<file>:<line>: <path>: <message>"; returns -1. */
int json_refuse(const struct json_reader *r, const char *path, const char *fmt, ...)
	LIKE_PRINTF(3, 4);

/* Join "pods[1]" and "logs" to "pods[1].logs"; returns out. */
const char *json_join(char out[JSON_PATH_SIZE], const char *path, const char *key);

/* Read the members of object into base, in the order of the table (ended by a NULL name).
 * -1 with err; base is then half filled. */
int json_read_object(const struct json_reader *r, const struct json_field *fields,
		     const cJSON *object, const char *path, void *base) MUST_USE;

/* The same for a whole text (file is its name in errors), and for a file. */
int json_read_text(struct json_reader *r, const char *file, struct str text,
		   const struct json_field *fields, void *base) MUST_USE;
int json_read_file(struct json_reader *r, const char *file, const struct json_field *fields,
		   void *base) MUST_USE;

/* Free everything that json_read_object stored in base. */
void json_release_object(const struct json_field *fields, void *base);

/* Add the members of base to object; NAN, "" and an INTEGER (a time) of 0 become
 * null. For the kinds CHARS, CHOICE, NUMBER, INTEGER, COUNT and BOOL. */
void json_write_object(cJSON *object, const struct json_field *fields, const void *base);
/* Read members that json_write_object wrote; skip unknown keys, and absent or invalid values. */
void json_read_known(const struct json_field *fields, const cJSON *object, void *base);
