/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CONF_READ_H
#define HGYM_CONF_READ_H

#include "conf/conf.h"
#include "parsers/json.h"

/*
 * What the readers of the configuration's parts share; for conf*.c alone.
 * path is always the whole key path ("pods[1].logs"); the key to take is its
 * last word.  Functions that return int return -1 with the error set.
 */
struct conf_reader {
	struct json_at at;
	struct conf *conf;
	const char *dir; /* folder of the file */
	struct err *err;
};

const cJSON *conf_member(const cJSON *object, const char *key);

/* "pods[1].logs" of "pods[1]" and "logs", in a buffer of the caller's. */
const char *conf_join(char out[256], const char *path, const char *key);

/* The member as an owned string, NULL when it is absent or null. */
char *conf_take_string(const cJSON *object, const char *key);

/* The same as a path of this machine: absolute, `~` expanded. */
char *conf_take_path(const struct conf_reader *l, const cJSON *object,
		     const char *key);

/* An array of non-empty strings; with `local` they are paths of here. */
int conf_take_strings(const struct conf_reader *l, const cJSON *array,
		      const char *path, bool local, struct conf_strings *out);

/* An array of numbers above 0. */
int conf_take_doubles(const struct conf_reader *l, const cJSON *array,
		      const char *path, double **out, size_t *n_out);

/* Index of the value in names, fallback when it is absent, -1 when wrong. */
int conf_take_choice(const struct conf_reader *l, const cJSON *object,
		     const char *path, const char *const *names, int fallback);

/* A number in range[0]..range[1]; absent: *out stays. */
int conf_take_number(const struct conf_reader *l, const cJSON *object,
		     const char *path, const double range[2], double *out);

/* The parts (conf_pod.c, conf_parts.c); node may be NULL: nothing given. */
int conf_take_pods(struct conf_reader *l, const cJSON *array);
int conf_take_groups(struct conf_reader *l, const cJSON *node);
int conf_take_baseline(struct conf_reader *l, const cJSON *node);
int conf_take_alerts(struct conf_reader *l, const cJSON *node);
int conf_take_keys(struct conf_reader *l, const cJSON *node);
int conf_take_ui(struct conf_reader *l, const cJSON *node);

#endif
