/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_JSON_FIELDS_H
#define HGYM_PARSERS_JSON_FIELDS_H

#include <stddef.h>

#include "parsers/json.h"

/*
 * Members of a struct as members of a JSON object, and back, by one table.
 * Absent is null both ways: NAN, "" and NULL.
 */
enum json_as {
	JSON_AS_NUMBER, /* double */
	JSON_AS_COUNT,	/* size_t */
	JSON_AS_SOME,	/* the same, but 0 is null */
	JSON_AS_WHOLE,	/* int64_t below 2^53; 0 is null */
	JSON_AS_BOOL,	/* with words a text: is it the second of them? */
	JSON_AS_WORD,	/* an enum: the index of a word; "" is null */
	JSON_AS_CHARS,	/* char[size] */
	JSON_AS_TEXT,	/* char *, owned */
	JSON_AS_NAME,	/* const char *; when read borrowed of the tree */
	JSON_AS_TEXTS,	/* struct json_texts, at most .size */
	JSON_AS_PAIR,	/* double[2], an array */
	JSON_AS_PART,	/* a struct with .fields of its own, an object */
	JSON_AS_ANY,	/* of the JSON types in .types; .read takes it */
};

/* A list of texts, owned. */
struct json_texts {
	char **v;
	size_t n;
};

/* Where a value stands that is read strictly. */
struct json_place {
	const struct json_at *at;
	const char *path; /* "pods[1].gpus" */
	struct err *err;
};

struct json_field {
	const char *key;
	enum json_as as;
	size_t at; /* of the member in its struct */
	bool required;
	size_t size;	  /* of CHARS, TEXTS */
	double low, high; /* of numbers as they are written; both 0: any */
	const char *const *words; /* of WORD, BOOL; ended by NULL */
	/* Of a NUMBER or a PAIR: from the struct to JSON, and back. */
	double (*out)(double), (*in)(double); /* out alone: only written */
	/* What is wrong with a text, or NULL. */
	const char *(*fault)(const char *text);
	const struct json_field *fields; /* of PART */
	unsigned int types;		 /* of ANY: enum json_type */
	/* -1 with an error of json_wrong. */
	int (*read)(const struct json_place *place, const cJSON *node,
		    void *member);
};

/* JSON_FIELD(TEXT, "name", offsetof(..), .required = true), in a table that
 * ends with JSON_FIELDS_END. */
#define JSON_FIELD(as_, key_, ...)                                             \
	{                                                                      \
		.key = (key_), .as = JSON_AS_##as_, .at = __VA_ARGS__          \
	}
#define JSON_FIELDS_END                                                        \
	{                                                                      \
		.key = NULL                                                    \
	}

void json_add_fields(cJSON *object, const struct json_field *fields,
		     const void *from);
/*
 * Strictly, as json_check_keys: an unknown key, a wrong type or a wrong value
 * is an error.  A key that is absent or null leaves its member as it is.
 */
int json_read_fields(const struct json_place *place, const cJSON *object,
		     const struct json_field *fields, void *to)
	__attribute__((warn_unused_result));
/* Leniently: what is absent, or no such value, leaves its member as it is. */
void json_take_fields(const cJSON *object, const struct json_field *fields,
		      void *to);

/* Free the members that are owned. */
void json_free_fields(const struct json_field *fields, void *of);

/* "<file>:<line>: <place>[.<key>]: <message>"; key may be NULL.  -1. */
int json_wrong(const struct json_place *place, const char *key, const char *fmt,
	       ...) __attribute__((format(printf, 3, 4)));

/* The n elements of an array of structs, size bytes each, as objects. */
void json_add_list(cJSON *object, const char *key, const void *first, size_t n,
		   size_t size, const struct json_field *fields);
/* Leniently into at most `most` of them, which are as they are to be where
 * nothing is said; how many there were. */
size_t json_take_list(const cJSON *object, const char *key, void *first,
		      size_t most, size_t size,
		      const struct json_field *fields);

#endif
