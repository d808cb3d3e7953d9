/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/*
 * A JSON object into a struct, by a table of its keys: what each key's value
 * must be, and in which member it goes.  Strict: an unknown key, a key twice,
 * a missing one or a wrong type is an error, which names file, line and key
 * path ("config.json:12: pods[1].gpus: expected an array of integers"); "//"
 * is always allowed.  A key that is absent leaves its member as it is: defaults
 * are put there before.  Files of our own are written by the same tables, and
 * read leniently.
 */
enum json_kind {
	JSON_AS_TEXT,	 /* char *, owned */
	JSON_AS_PATH,	 /* char *, owned: what json_reader.path makes of it */
	JSON_AS_CHARS,	 /* char[most] */
	JSON_AS_WORD,	 /* char *, owned: one of words */
	JSON_AS_CHOICE,	 /* an enum: the index in words */
	JSON_AS_EITHER,	 /* bool: is it the second of two words? */
	JSON_AS_FIXED,	 /* one of words, which is not kept */
	JSON_AS_NUMBER,	 /* double, low..high; both 0: above 0 */
	JSON_AS_INTEGER, /* int64_t, low..high */
	JSON_AS_COUNT,	 /* size_t, low..high */
	JSON_AS_BOOL,
	JSON_AS_TEXTS,	 /* list of char *, none of them empty */
	JSON_AS_PATHS,	 /* the same of paths */
	JSON_AS_NUMBERS, /* list of double, each above 0 */
	JSON_AS_INDEXES, /* list of int, 0..high, none twice */
	JSON_AS_OBJECT,	 /* a struct, by a table of its own */
	JSON_AS_OTHER,	 /* what json_field.take makes of it */
};

struct json_reader;

struct json_field {
	const char *name;
	enum json_kind kind;
	size_t at;	    /* of the member in its struct; of a list: of v */
	size_t at_n;	    /* of a list: of its length, a size_t */
	unsigned int types; /* enum json_type, beside those of the kind; a
			     * NUMBER with JSON_INTEGER is whole */
	double low, high;
	double scale; /* a NUMBER is kept multiplied by it; 0: as it is */
	size_t most;  /* entries of a list at most */
	/* Is a TEXT, or one of TEXTS, right?  NULL: any is. */
	bool (*is_right)(const char *text);
	/* "a path": then it is; of INDEXES "GPU"; of a word "kind". */
	const char *what;
	const char *const *words; /* ended by NULL; "" is none */
	const struct json_field *fields;
	/*
	 * Of OTHER: take the value, into the member at `at` (0: the struct
	 * that has the key).  Of OBJECT: hold its members against each other;
	 * to is its struct.
	 */
	int (*take)(const struct json_reader *r, const cJSON *node, const char *path, void *to);
};

#define JSON_AT(type, member) .at = offsetof(struct type, member)
#define JSON_LIST(type, member, n) \
	.at = offsetof(struct type, member), .at_n = offsetof(struct type, n)

/* A row of a table; of CHARS. */
#define JSON_ROW(name_, kind_, type, member, ...)                                              \
	{                                                                                      \
		.name = (name_), .kind = JSON_AS_##kind_, .at = offsetof(struct type, member), \
		__VA_ARGS__                                                                    \
	}
#define JSON_CHARS(name, type, member) \
	JSON_ROW(name, CHARS, type, member, .most = sizeof(((struct type *)0)->member))

/* The text that was parsed, borrowed, and how its errors begin and count. */
struct json_at {
	const char *file;
	struct str text;
	enum err_code code; /* of the errors it gives; ERR_CONFIG usually */
};

struct json_reader {
	struct json_at at; /* json_read_text and _file set file and text */
	struct err *err;
	bool nulls; /* null is as good as no key, which is not required */
	/* What is kept of a path; owned.  NULL without such fields. */
	char *(*path)(const struct json_reader *r, const char *value);
	void *user;
};

#define JSON_PATH_SIZE 300 /* of "pods[1].logs[2]"; a longer one is cut */

/* Set the error "<file>:<line>: <path>: <message>"; -1. */
int json_refuse(const struct json_reader *r, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "pods[1].logs" of "pods[1]" and "logs", in out, which is returned. */
const char *json_join(char out[JSON_PATH_SIZE], const char *path, const char *key);

/*
 * The members of object into base, in the order of the table (ended by a
 * NULL name).  -1 with the error, base being half filled.
 */
int json_read_object(const struct json_reader *r, const struct json_field *fields,
		     const cJSON *object, const char *path, void *base)
	__attribute__((warn_unused_result));

/* The same of a whole text (file names it in errors), and of a file. */
int json_read_text(struct json_reader *r, const char *file, struct str text,
		   const struct json_field *fields, void *base) __attribute__((warn_unused_result));
int json_read_file(struct json_reader *r, const char *file, const struct json_field *fields,
		   void *base) __attribute__((warn_unused_result));

/* Free all that json_read_object may have given to base. */
void json_release_object(const struct json_field *fields, void *base);

/*
 * The members of base as members of object: NAN, "" and a 0 of INTEGER (a
 * time) as null.  Of the kinds CHARS, CHOICE, NUMBER, INTEGER, COUNT and BOOL.
 */
void json_write_object(cJSON *object, const struct json_field *fields, const void *base);
/* The same back: what is absent, or no such value, leaves its member as it
 * is, and unknown keys are passed over. */
void json_read_known(const struct json_field *fields, const cJSON *object, void *base);
