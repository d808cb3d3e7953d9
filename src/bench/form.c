/* SPDX-License-Identifier: MIT */
/* From the form of the dashboard to a bench.json. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/make.h"
#include "bench/plan.h"

static const char *
text_of(const cJSON *form, const char *key)
{
	return json_get_string(form, key, "");
}

/* "NAME=value NAME='two words'": a word as a shell would take it. */
static char *
next_word(struct str *rest)
{
	struct buf word;
	char quote = '\0';
	char *result;

	while (rest->len > 0 && isspace((unsigned char)rest->p[0])) {
		rest->p++;
		rest->len--;
	}
	if (rest->len == 0)
		return NULL;
	buf_init(&word, 65536);
	for (; rest->len > 0; rest->p++, rest->len--) {
		char c = rest->p[0];

		if (quote == '\0' && isspace((unsigned char)c))
			break;
		if (quote == '\0' && (c == '\'' || c == '"'))
			quote = c;
		else if (c == quote)
			quote = '\0';
		else
			buf_append_char(&word, c);
	}
	result = word.len > 0 ? buf_detach(&word) : xstrdup("");
	buf_release(&word);
	return result;
}

/* "TAG NAME=value .. [-- command]" as a variant; NULL with err. */
static cJSON *
make_variant(const char *text, bool control, struct err *err)
{
	struct str rest = str_from(text);
	cJSON *v = cJSON_CreateObject(), *env = NULL;
	char *word = next_word(&rest);

	json_add_string(v, "tag", word);
	free(word);
	if (control)
		cJSON_AddBoolToObject(v, "control", true);
	while ((word = next_word(&rest)) != NULL) {
		char *equals = strchr(word, '=');

		if (strcmp(word, "--") == 0) {
			char *command;

			rest = str_trim(rest);
			command = xstrndup(rest.p, rest.len);
			json_add_string(v, "command", command);
			free(command);
			free(word);
			return v;
		}
		if (equals == NULL) {
			err_set(err, ERR_USAGE,
				"\"%.60s\" is no NAME=value; a command stands "
				"behind --",
				word);
			free(word);
			cJSON_Delete(v);
			return NULL;
		}
		*equals = '\0';
		if (env == NULL)
			env = cJSON_AddObjectToObject(v, "env");
		json_add_string(env, word, equals + 1);
		free(word);
	}
	return v;
}

static int
add_variants(cJSON *root, const cJSON *form, struct err *err)
{
	static const char *const keys[] = { "control", "variant", "variant2" };
	cJSON *array = cJSON_AddArrayToObject(root, "variants");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = text_of(form, keys[i]);
		cJSON *v;

		if (str_trim(str_from(text)).len == 0)
			continue;
		v = make_variant(text, i == 0, err);
		if (v == NULL)
			return -1;
		cJSON_AddItemToArray(array, v);
	}
	return 0;
}

/* "step_ms", "best_us lower"; and the window "20:100" or "auto". */
static int
add_metric(cJSON *root, const cJSON *form, struct err *err)
{
	struct str rest = str_from(text_of(form, "metric")), lo;
	struct str window = str_trim(str_from(text_of(form, "window")));
	cJSON *metric = cJSON_AddObjectToObject(root, "metric"), *node;
	char *key = next_word(&rest), *way = next_word(&rest);
	double low, high;

	json_add_string(metric, "key", key != NULL ? key : "step_ms");
	if (way != NULL)
		json_add_string(metric, "direction", way);
	free(key);
	free(way);
	if (window.len == 0)
		return 0;
	node = cJSON_AddObjectToObject(metric, "window");
	if (window.len == 4 && memcmp(window.p, "auto", 4) == 0) {
		json_add_string(node, "mode", "auto");
		return 0;
	}
	if (!str_next(&window, ':', &lo) || !str_to_double(lo, &low) ||
	    !str_to_double(window, &high))
		return err_set(err, ERR_USAGE,
			       "window: expected first:last step, or auto");
	json_add_string(node, "mode", "fixed");
	json_add_number(node, "lo", low);
	json_add_number(node, "hi", high);
	return 0;
}

/* A number of the form into an object, where there is one. */
static int
add_number(cJSON *object, const char *key, const cJSON *form, const char *field,
	   struct err *err)
{
	struct str text = str_trim(str_from(text_of(form, field)));
	double value;

	if (text.len == 0)
		return 0;
	if (!str_to_double(text, &value))
		return err_set(err, ERR_USAGE, "%s: expected a number", field);
	json_add_number(object, key, value);
	return 0;
}

static int
fill(cJSON *root, const cJSON *form, const struct conf *conf, struct err *err)
{
	cJSON *node, *pods;

	json_add_string(root, "schema", PLAN_SCHEMA);
	json_add_string(root, "name", text_of(form, "name"));
	node = cJSON_AddObjectToObject(root, "workload");
	json_add_string(node, "cwd", text_of(form, "folder"));
	json_add_string(node, "command", text_of(form, "command"));
	if (text_of(form, "folder")[0] == '\0')
		return err_set(err, ERR_USAGE,
			       "folder: where the command runs on the pods");
	if (text_of(form, "command")[0] == '\0')
		return err_set(err, ERR_USAGE, "command: what runs there");
	if (add_metric(root, form, err) != 0 ||
	    add_variants(root, form, err) != 0)
		return -1;
	pods = bench_make_pods(NULL, text_of(form, "pods"), conf, err);
	if (pods == NULL)
		return -1;
	cJSON_AddItemToObject(root, "pods", pods);
	node = cJSON_AddObjectToObject(root, "design");
	cJSON_AddBoolToObject(node, "aa", text_of(form, "aa")[0] == 'y');
	if (add_number(node, "blocks_per_pod", form, "blocks", err) != 0)
		return -1;
	node = cJSON_AddObjectToObject(root, "budget");
	return add_number(node, "minutes", form, "minutes", err);
}

cJSON *
bench_make_form(const cJSON *form, const struct conf *conf, struct err *err)
{
	cJSON *root = cJSON_CreateObject();

	if (fill(root, form, conf, err) == 0)
		return root;
	cJSON_Delete(root);
	return NULL;
}
