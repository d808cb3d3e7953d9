/* SPDX-License-Identifier: MIT */
/* Values out of the configuration's JSON, each with its error; see conf.c. */
#include "config.h"

#include "conf/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

const cJSON *
conf_member(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* "pods[1].logs" of "pods[1]" and "logs", in a buffer of the caller's. */
const char *
conf_join(char out[256], const char *path, const char *key)
{
	(void)snprintf(out, 256, "%s%s%s", path, *path != '\0' ? "." : "", key);
	return out;
}

/* The member as an owned string, NULL when it is absent or null. */
char *
conf_take_string(const cJSON *object, const char *key)
{
	const char *value = json_get_string(object, key, NULL);

	return xstrdup_null(value);
}

/* A path of this machine: `~` expanded, relative ones below the file. */
static char *
conf_local_path(const struct conf_reader *l, const char *value)
{
	char *path = conf_expand_home(value), *full;

	if (path[0] == '/')
		return path;
	full = xasprintf("%s/%s", l->dir, path);
	free(path);
	return full;
}

char *
conf_take_path(const struct conf_reader *l, const cJSON *object,
	       const char *key)
{
	const char *value = json_get_string(object, key, NULL);

	return value != NULL ? conf_local_path(l, value) : NULL;
}

/* An array of non-empty strings; with `local` they are paths of here. */
int
conf_take_strings(const struct conf_reader *l, const cJSON *array,
		  const char *path, bool local, struct conf_strings *out)
{
	const cJSON *item;
	char at[300];
	size_t n = array != NULL ? (size_t)cJSON_GetArraySize(array) : 0;

	if (n > CONF_MAX_LIST)
		return json_fail(&l->at, path, l->err, "more than %d entries",
				 CONF_MAX_LIST);
	out->v = xcalloc(n + 1, sizeof(*out->v));
	cJSON_ArrayForEach(item, array)
	{
		(void)snprintf(at, sizeof(at), "%s[%zu]", path, out->n);
		if (!cJSON_IsString(item) || item->valuestring[0] == '\0')
			return json_fail(&l->at, at, l->err,
					 "expected a string that is not "
					 "empty");
		out->v[out->n++] = local ? conf_local_path(l, item->valuestring)
					 : xstrdup(item->valuestring);
	}
	return 0;
}

int
conf_take_doubles(const struct conf_reader *l, const cJSON *array,
		  const char *path, double **out, size_t *n_out)
{
	const cJSON *item;
	char at[300];
	size_t n = array != NULL ? (size_t)cJSON_GetArraySize(array) : 0;

	if (n == 0)
		return 0;
	if (n > CONF_MAX_LIST)
		return json_fail(&l->at, path, l->err, "more than %d entries",
				 CONF_MAX_LIST);
	*out = xcalloc(n, sizeof(**out));
	cJSON_ArrayForEach(item, array)
	{
		(void)snprintf(at, sizeof(at), "%s[%zu]", path, *n_out);
		if (!cJSON_IsNumber(item) || !(item->valuedouble > 0))
			return json_fail(&l->at, at, l->err,
					 "expected a number above 0");
		(*out)[(*n_out)++] = item->valuedouble;
	}
	return 0;
}

/* Index of the member's value in names, or fallback when it is absent. */
int
conf_take_choice(const struct conf_reader *l, const cJSON *object,
		 const char *path, const char *const *names, int fallback)
{
	const char *key = strrchr(path, '.');
	const char *value = json_get_string(object, key ? key + 1 : path, NULL);
	char words[128];
	size_t used = 0;

	if (value == NULL)
		return fallback;
	for (int i = 0; names[i] != NULL; i++)
		if (strcmp(value, names[i]) == 0)
			return i;
	for (int i = 0; names[i] != NULL && used < sizeof(words); i++)
		used += (size_t)snprintf(words + used, sizeof(words) - used,
					 "%s\"%s\"",
					 i == 0		? ""
					 : names[i + 1] ? ", "
							: " or ",
					 names[i]);
	return json_fail(&l->at, path, l->err, "expected %s", words);
}

/* A number in low..high; absent: *out stays. */
int
conf_take_number(const struct conf_reader *l, const cJSON *object,
		 const char *path, const double range[2], double *out)
{
	const char *key = strrchr(path, '.');
	const cJSON *node = conf_member(object, key ? key + 1 : path);

	if (!cJSON_IsNumber(node))
		return 0;
	if (!(node->valuedouble >= range[0] && node->valuedouble <= range[1]))
		return json_fail(&l->at, path, l->err,
				 "expected a number from %.15g to %.15g",
				 range[0], range[1]);
	*out = node->valuedouble;
	return 0;
}
