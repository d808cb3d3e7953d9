/* SPDX-License-Identifier: MIT */
/* Workload, metric, variants and pods of a bench.json; for plan_read.c. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <strings.h>

#include "base/xalloc.h"
#include "bench/plan_priv.h"

static bool
is_env_name(const char *text)
{
	if (!isalpha((unsigned char)text[0]) && text[0] != '_')
		return false;
	for (size_t i = 1; text[i] != '\0'; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	return true;
}

static int
read_env(const struct plan_reading *r, const cJSON *object, const char *path,
	 struct plan_env **env, size_t *n_env)
{
	const cJSON *all = plan_member(object, "env"), *node;
	char at[PLAN_AT_SIZE];

	if (all == NULL)
		return 0;
	*env = xcalloc((size_t)cJSON_GetArraySize(all) + 1, sizeof(**env));
	cJSON_ArrayForEach(node, all)
	{
		(void)snprintf(at, sizeof(at), "%s.env.%s", path, node->string);
		if (*n_env == PLAN_MAX_ENV)
			return json_fail(r->at, at, r->err,
					 "more than %d variables",
					 PLAN_MAX_ENV);
		if (!is_env_name(node->string))
			return json_fail(r->at, at, r->err,
					 "is no name of a variable");
		if (!cJSON_IsString(node))
			return json_fail(r->at, at, r->err,
					 "expected a string");
		(*env)[*n_env].name = xstrdup(node->string);
		(*env)[(*n_env)++].value = xstrdup(node->valuestring);
	}
	return 0;
}

static int
read_markers(const struct plan_reading *r, const cJSON *object,
	     const char *path, const char *key, struct plan_markers *markers)
{
	const cJSON *all = plan_member(object, key), *node;
	char at[PLAN_AT_SIZE];
	regex_t regex;

	cJSON_ArrayForEach(node, all)
	{
		(void)snprintf(at, sizeof(at), "%s.%s[%zu]", path, key,
			       markers->n);
		if (markers->n == PLAN_MAX_MARKERS || !cJSON_IsString(node))
			return json_fail(r->at, at, r->err,
					 "expected at most %d strings",
					 PLAN_MAX_MARKERS);
		if (regcomp(&regex, node->valuestring,
			    REG_EXTENDED | REG_NOSUB) != 0)
			return json_fail(r->at, at, r->err,
					 "is no extended regular expression");
		regfree(&regex);
		markers->text[markers->n++] = xstrdup(node->valuestring);
	}
	return 0;
}

/* The name of a class of noise: a name as a tag is one. */
static int
read_class(const struct plan_reading *r, const cJSON *object, const char *path,
	   char **out)
{
	if (plan_member(object, "noise_class") == NULL)
		return 0;
	*out = plan_copy_text(object, "noise_class");
	return plan_check_name(r, object, path, "noise_class");
}

/* A list of paths on the pod. */
static int
read_paths(const struct plan_reading *r, const cJSON *object, const char *key,
	   char ***paths, size_t *n)
{
	const cJSON *all = plan_member(object, key), *node;
	char at[PLAN_AT_SIZE];

	cJSON_ArrayForEach(node, all)
	{
		if (!cJSON_IsString(node) || *n == PLAN_MAX_FILES ||
		    strchr(node->valuestring, '\n') != NULL) {
			(void)snprintf(at, sizeof(at), "workload.%s", key);
			return json_fail(r->at, at, r->err,
					 "expected at most %d paths",
					 PLAN_MAX_FILES);
		}
		*paths = xreallocarray(*paths, *n + 1, sizeof(**paths));
		(*paths)[(*n)++] = xstrdup(node->valuestring);
	}
	return 0;
}

int
plan_read_workload(const struct plan_reading *r, const cJSON *object)
{
	static const struct json_key keys[] = {
		{ "cwd", JSON_STRING | JSON_REQUIRED },
		{ "command", JSON_STRING | JSON_REQUIRED },
		{ "commit", PLAN_TEXT },
		{ "data_sha256", PLAN_TEXT },
		{ "env", JSON_OBJECT | JSON_NULL },
		{ "log", PLAN_TEXT },
		{ "timeout_s", JSON_NUMBER | JSON_NULL },
		{ "end_marker", PLAN_TEXT },
		{ "judge_files", JSON_ARRAY | JSON_NULL },
		{ "data", JSON_ARRAY | JSON_NULL },
		{ "noise_class", PLAN_TEXT },
		{ NULL, 0 },
	};
	struct plan *plan = r->plan;

	if (json_check_keys(r->at, object, "workload", keys, r->err) != 0)
		return -1;
	plan->cwd = plan_copy_text(object, "cwd");
	plan->command = plan_copy_text(object, "command");
	plan->commit = plan_copy_text(object, "commit");
	plan->data_sha256 = plan_copy_text(object, "data_sha256");
	plan->log = plan_copy_text(object, "log");
	plan->end_marker = plan_copy_text(object, "end_marker");
	if (plan->log == NULL)
		plan->log = xstrdup("train.out");
	if (!plan_is_name(plan->log))
		return json_fail(r->at, "workload.log", r->err,
				 "expected the name of a file, no folder");
	if (read_class(r, object, "workload", &plan->noise_class) != 0)
		return -1;
	if (read_paths(r, object, "judge_files", &plan->hashed,
		       &plan->n_hashed) != 0 ||
	    read_paths(r, object, "data", &plan->data, &plan->n_data) != 0)
		return -1;
	return plan_number(r, object, "workload", "timeout_s",
			   PLAN_RANGE(1, 864000), &plan->timeout_s) ||
			       read_env(r, object, "workload", &plan->env,
					&plan->n_env)
		       ? -1
		       : 0;
}

static int
read_window(const struct plan_reading *r, const cJSON *object)
{
	static const struct json_key keys[] = {
		{ "mode", JSON_STRING | JSON_REQUIRED },
		{ "lo", JSON_INTEGER | JSON_NULL },
		{ "hi", JSON_INTEGER | JSON_NULL },
		{ NULL, 0 },
	};
	static const char *const modes[] = { "fixed", "auto", NULL };
	struct judge_rule *rule = &r->plan->rule;
	const char *path = "metric.window";
	int mode;

	if (object == NULL)
		return 0;
	if (json_check_keys(r->at, object, path, keys, r->err) != 0)
		return -1;
	mode = plan_word(r, object, path, "mode", modes);
	if (mode < 0 ||
	    plan_number(r, object, path, "lo", PLAN_RANGE(0, 1e9), &rule->lo) ||
	    plan_number(r, object, path, "hi", PLAN_RANGE(1, 1e9), &rule->hi))
		return -1;
	if (!(rule->hi > rule->lo))
		return json_fail(r->at, "metric.window.hi", r->err,
				 "expected more than lo");
	rule->window = mode == 1 ? WINDOW_AUTO : WINDOW_FIXED;
	return 0;
}

bool
plan_key_is_rate(const char *key)
{
	static const char *const ends[] = {
		"_per_s", "_per_sec", "_per_second", "/s",   "/sec",
		"tok_s",  "tokens_s", "gb_s",	     "gbps", "mfu"
	};
	static const char *const parts[] = { "throughput", "flops",
					     "bandwidth",  "speedup",
					     "speed_up",   "accuracy" };
	size_t len = strlen(key);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (len >= n && strcasecmp(key + len - n, ends[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (const char *at = key; *at != '\0'; at++)
			if (strncasecmp(at, parts[i], strlen(parts[i])) == 0)
				return true;
	return false;
}

int
plan_read_metric(const struct plan_reading *r, const cJSON *object)
{
	static const struct json_key keys[] = {
		{ "parser", PLAN_TEXT },
		{ "key", JSON_STRING | JSON_REQUIRED },
		{ "tok_kind", PLAN_TEXT },
		{ "direction", PLAN_TEXT },
		{ "window", JSON_OBJECT | JSON_NULL },
		{ NULL, 0 },
	};
	static const char *const kinds[] = { "cumulative", "interval", NULL };
	static const char *const ways[] = { "lower", "higher", NULL };
	static const char *const parsers[] = { "parameter-golf", "json", NULL };
	struct plan *plan = r->plan;
	int kind, way, parser;

	if (json_check_keys(r->at, object, "metric", keys, r->err) != 0)
		return -1;
	plan->key = plan_copy_text(object, "key");
	plan->metric =
		strcmp(plan->key, "step_ms") == 0 ? PLAN_STEP_MS : PLAN_SCORE;
	kind = plan_word(r, object, "metric", "tok_kind", kinds);
	way = kind < 0 ? -1 : plan_word(r, object, "metric", "direction", ways);
	parser = way < 0 ? -1
			 : plan_word(r, object, "metric", "parser", parsers);
	if (parser < 0)
		return -1;
	if (plan_member(object, "parser") != NULL &&
	    (parser == 1) != (plan->metric == PLAN_SCORE))
		return json_fail(r->at, "metric.parser", r->err,
				 "step_ms is read by parameter-golf, any other "
				 "key by json");
	if (plan_member(object, "direction") == NULL &&
	    plan_key_is_rate(plan->key))
		return json_fail(
			r->at, "metric.key", r->err,
			"\"%.60s\" looks like a rate: say by "
			"\"direction\" whether lower or higher is better",
			plan->key);
	plan->rule.tok_kind = kind == 1 ? TOK_INTERVAL : TOK_CUMULATIVE;
	plan->higher = plan->rule.higher = way == 1;
	if (plan->higher && plan->metric == PLAN_STEP_MS)
		return json_fail(r->at, "metric.direction", r->err,
				 "a step time is better when lower");
	return read_window(r, plan_member(object, "window"));
}

static int
read_file_entry(const struct plan_reading *r, struct plan_variant *v,
		const cJSON *node, const char *path, bool overlay)
{
	struct plan_file *file = &v->files[v->n_files];

	if (v->n_files == PLAN_MAX_FILES)
		return json_fail(r->at, path, r->err, "more than %d files",
				 PLAN_MAX_FILES);
	if (node->string[0] == '/' || node->string[0] == '\0' ||
	    strstr(node->string, "..") != NULL)
		return json_fail(r->at, path, r->err,
				 "expected a path below the working folder");
	if (overlay ? !cJSON_IsObject(node) : !cJSON_IsString(node))
		return json_fail(r->at, path, r->err,
				 overlay ? "expected an object to merge over "
					   "the file"
					 : "expected the path of a file here");
	file->path = xstrdup(node->string);
	if (overlay) {
		struct buf text;

		buf_init(&text, JSON_MAX_BYTES);
		json_print(&text, node);
		file->overlay = buf_detach(&text);
		buf_release(&text);
	} else {
		file->from = xstrdup(node->valuestring);
	}
	v->n_files++;
	return 0;
}

static int
read_files(const struct plan_reading *r, const cJSON *object, const char *path,
	   struct plan_variant *v)
{
	static const char *const keys[] = { "files", "overlay" };
	const cJSON *node;
	char at[PLAN_AT_SIZE];

	for (int i = 0; i < 2; i++) {
		const cJSON *all = plan_member(object, keys[i]);

		cJSON_ArrayForEach(node, all)
		{
			(void)snprintf(at, sizeof(at), "%s.%s", path, keys[i]);
			if (read_file_entry(r, v, node, at, i == 1) != 0)
				return -1;
		}
	}
	return 0;
}

static int
read_variant(const struct plan_reading *r, const cJSON *object,
	     const char *path, struct plan_variant *v)
{
	static const struct json_key keys[] = {
		{ "tag", JSON_STRING | JSON_REQUIRED },
		{ "control", JSON_BOOL | JSON_NULL },
		{ "env", JSON_OBJECT | JSON_NULL },
		{ "command", PLAN_TEXT },
		{ "patch", PLAN_TEXT },
		{ "files", JSON_OBJECT | JSON_NULL },
		{ "overlay", JSON_OBJECT | JSON_NULL },
		{ "must_match", JSON_ARRAY | JSON_NULL },
		{ "must_not_match", JSON_ARRAY | JSON_NULL },
		{ "declares", JSON_ARRAY | JSON_NULL },
		{ "numerics", PLAN_TEXT },
		{ "noise_class", PLAN_TEXT },
		{ NULL, 0 },
	};
	static const char *const numerics[] = { "same", "changed", NULL };
	int changed;

	if (json_check_keys(r->at, object, path, keys, r->err) != 0 ||
	    plan_check_name(r, object, path, "tag") != 0)
		return -1;
	v->tag = plan_copy_text(object, "tag");
	v->control = json_get_bool(object, "control", false);
	v->command = plan_copy_text(object, "command");
	v->patch = plan_copy_text(object, "patch");
	changed = plan_word(r, object, path, "numerics", numerics);
	if (changed < 0)
		return -1;
	v->numerics_changed = changed == 1;
	if (read_class(r, object, path, &v->noise_class) != 0)
		return -1;
	if (read_env(r, object, path, &v->env, &v->n_env) != 0 ||
	    read_files(r, object, path, v) != 0 ||
	    read_markers(r, object, path, "must_match", &v->must) != 0 ||
	    read_markers(r, object, path, "must_not_match", &v->must_not) !=
		    0 ||
	    read_markers(r, object, path, "declares", &v->declares) != 0)
		return -1;
	return 0;
}

/* Bring the control to the front; the others keep their order. */
static void
control_first(struct plan *plan)
{
	for (size_t i = 1; i < plan->n_variants; i++) {
		struct plan_variant held = plan->variants[i];

		if (!held.control)
			continue;
		memmove(&plan->variants[1], &plan->variants[0],
			i * sizeof(held));
		plan->variants[0] = held;
	}
}

int
plan_read_variants(const struct plan_reading *r, const cJSON *array)
{
	struct plan *plan = r->plan;
	const cJSON *node;
	size_t controls = 0;
	char path[64];

	if (cJSON_GetArraySize(array) < 1 ||
	    cJSON_GetArraySize(array) > SCHEDULE_MAX_ARMS - 1)
		return json_fail(r->at, "variants", r->err,
				 "expected 2 to %d variants, one of them the "
				 "control",
				 SCHEDULE_MAX_ARMS - 1);
	plan->variants = xcalloc((size_t)cJSON_GetArraySize(array),
				 sizeof(*plan->variants));
	cJSON_ArrayForEach(node, array)
	{
		struct plan_variant *v = &plan->variants[plan->n_variants];

		(void)snprintf(path, sizeof(path), "variants[%zu]",
			       plan->n_variants);
		plan->n_variants++;
		if (read_variant(r, node, path, v) != 0)
			return -1;
		controls += v->control ? 1 : 0;
		for (size_t i = 0; i + 1 < plan->n_variants; i++)
			if (strcmp(plan->variants[i].tag, v->tag) == 0)
				return json_fail(r->at, path, r->err,
						 "the tag \"%s\" is there "
						 "twice",
						 v->tag);
	}
	if (controls != 1)
		return json_fail(r->at, "variants", r->err,
				 "expected exactly one with \"control\": true, "
				 "found %zu",
				 controls);
	control_first(plan);
	return 0;
}

static int
read_gpus(const struct plan_reading *r, const cJSON *object, const char *path,
	  struct plan_pod *pod)
{
	const cJSON *node, *all;
	char at[PLAN_AT_SIZE];

	(void)snprintf(at, sizeof(at), "%s.gpus", path);
	all = plan_member(object, "gpus");
	cJSON_ArrayForEach(node, all)
	{
		bool good = cJSON_IsNumber(node) && node->valuedouble >= 0 &&
			    node->valuedouble < 1024 &&
			    node->valuedouble == floor(node->valuedouble);

		if (!good || pod->n_gpus == PLAN_MAX_GPUS)
			return json_fail(r->at, at, r->err,
					 "expected at most %d GPU numbers",
					 PLAN_MAX_GPUS);
		for (size_t i = 0; i < pod->n_gpus; i++)
			if (pod->gpus[i] >= (int)node->valuedouble)
				return json_fail(r->at, at, r->err,
						 "expected them ascending");
		pod->gpus[pod->n_gpus++] = (int)node->valuedouble;
	}
	return 0;
}

static int
read_pod(const struct plan_reading *r, const cJSON *object, const char *path,
	 struct plan_pod *pod)
{
	static const struct json_key keys[] = {
		{ "id", JSON_STRING | JSON_REQUIRED },
		{ "ssh", PLAN_TEXT },
		{ "transport", PLAN_TEXT },
		{ "identity", PLAN_TEXT },
		{ "known_hosts", PLAN_TEXT },
		{ "proxy_jump", PLAN_TEXT },
		{ "gpus", JSON_ARRAY | JSON_NULL },
		{ "root", PLAN_TEXT },
		{ "lock_dir", PLAN_TEXT },
		{ "lock_clocks", PLAN_TEXT },
		{ "stop_cmd", PLAN_TEXT },
		{ "usd_per_h", JSON_NUMBER | JSON_NULL },
		{ NULL, 0 },
	};
	static const char *const ways[] = { "libssh2", "openssh", "local",
					    NULL };

	pod->usd_per_h = (double)NAN;
	if (json_check_keys(r->at, object, path, keys, r->err) != 0 ||
	    plan_check_name(r, object, path, "id") != 0 ||
	    plan_word(r, object, path, "transport", ways) < 0)
		return -1;
	pod->id = plan_copy_text(object, "id");
	pod->ssh = plan_copy_text(object, "ssh");
	pod->transport = plan_copy_text(object, "transport");
	pod->identity = plan_copy_text(object, "identity");
	pod->known_hosts = plan_copy_text(object, "known_hosts");
	pod->proxy_jump = plan_copy_text(object, "proxy_jump");
	pod->root = plan_copy_text(object, "root");
	pod->lock_dir = plan_copy_text(object, "lock_dir");
	if (pod->lock_dir != NULL &&
	    strspn(pod->lock_dir,
		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR"
		   "STUVWXYZ0123456789/_.-") != strlen(pod->lock_dir)) {
		char at[PLAN_AT_SIZE];

		(void)snprintf(at, sizeof(at), "%s.lock_dir", path);
		return json_fail(r->at, at, r->err,
				 "expected a path of letters, digits, / _ . -");
	}
	pod->lock_clocks = plan_copy_text(object, "lock_clocks");
	pod->stop_cmd = plan_copy_text(object, "stop_cmd");
	return read_gpus(r, object, path, pod) ||
			       plan_number(r, object, path, "usd_per_h",
					   PLAN_RANGE(0, 10000),
					   &pod->usd_per_h)
		       ? -1
		       : 0;
}

int
plan_read_pods(const struct plan_reading *r, const cJSON *array)
{
	struct plan *plan = r->plan;
	const cJSON *node;
	char path[64];

	if (cJSON_GetArraySize(array) < 1 ||
	    cJSON_GetArraySize(array) > PLAN_MAX_PODS)
		return json_fail(r->at, "pods", r->err, "expected 1 to %d pods",
				 PLAN_MAX_PODS);
	plan->pods =
		xcalloc((size_t)cJSON_GetArraySize(array), sizeof(*plan->pods));
	cJSON_ArrayForEach(node, array)
	{
		struct plan_pod *pod = &plan->pods[plan->n_pods];

		(void)snprintf(path, sizeof(path), "pods[%zu]", plan->n_pods);
		plan->n_pods++;
		if (read_pod(r, node, path, pod) != 0)
			return -1;
		for (size_t i = 0; i + 1 < plan->n_pods; i++)
			if (strcmp(plan->pods[i].id, pod->id) == 0)
				return json_fail(r->at, path, r->err,
						 "the pod \"%s\" is there "
						 "twice",
						 pod->id);
	}
	return 0;
}
