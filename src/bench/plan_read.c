/* SPDX-License-Identifier: MIT */
/* bench.json to struct plan, strict to the key; called by run and show. */
#include "config.h"

#include "bench/plan.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "parsers/json_fields.h"

#define MAX_ENV	    256
#define MAX_GPU	    1023
#define MAX_GPUS    16
#define MAX_MARKERS 16
#define MAX_PATHS   32

#define NAME_WORDS  "1 to 40 letters, digits, _ . - (not . or - first)"
#define RANGE(l, h) .low = (l), .high = (h)

static bool
is_name(const char *text)
{
	size_t n = 0;

	for (; text[n] != '\0'; n++)
		if (!isalnum((unsigned char)text[n]) &&
		    strchr("_.-", text[n]) == NULL)
			return false;
	return n >= 1 && n <= 40 && text[0] != '.' && text[0] != '-';
}

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

/* Variables of a command into *env. */
static int
take_env(const struct json_reader *r, const cJSON *object, const char *path,
	 struct plan_env **env, size_t *n)
{
	const cJSON *node;
	char at[JSON_PATH_SIZE];

	*env = xcalloc((size_t)cJSON_GetArraySize(object) + 1, sizeof(**env));
	cJSON_ArrayForEach(node, object)
	{
		json_join(at, path, node->string);
		if (*n == MAX_ENV)
			return json_refuse(r, at, "more than %d variables",
					   MAX_ENV);
		if (!is_env_name(node->string))
			return json_refuse(r, at, "is no name of a variable");
		if (!cJSON_IsString(node))
			return json_refuse(r, at, "expected a string");
		if (cJSON_GetObjectItemCaseSensitive(object, node->string) !=
		    node)
			return json_refuse(r, at, "this key stands twice");
		(*env)[*n].name = xstrdup(node->string);
		(*env)[(*n)++].value = xstrdup(node->valuestring);
	}
	return 0;
}

static int
take_plan_env(const struct json_reader *r, const cJSON *node, const char *path,
	      void *base)
{
	struct plan *plan = base;

	return take_env(r, node, path, &plan->env, &plan->n_env);
}

static bool
is_one_line(const char *text)
{
	return strchr(text, '\n') == NULL;
}

static const struct json_field workload_fields[] = {
	{ "cwd", JSON_AS_TEXT, JSON_AT(plan, cwd), .types = JSON_REQUIRED },
	{ "command", JSON_AS_TEXT, JSON_AT(plan, command),
	  .types = JSON_REQUIRED },
	{ "commit", JSON_AS_TEXT, JSON_AT(plan, commit) },
	{ "data_sha256", JSON_AS_TEXT, JSON_AT(plan, data_sha256) },
	{ "env", JSON_AS_OTHER, .types = JSON_OBJECT, .take = take_plan_env },
	{ "log", JSON_AS_TEXT, JSON_AT(plan, log), .is_right = is_name,
	  .what = "the name of a file, no folder" },
	{ "timeout_s", JSON_AS_NUMBER, JSON_AT(plan, timeout_s),
	  RANGE(1, 864000) },
	{ "end_marker", JSON_AS_TEXT, JSON_AT(plan, end_marker) },
	{ "judge_files", JSON_AS_TEXTS, JSON_LIST(plan, hashed, n_hashed),
	  .most = MAX_PATHS, .is_right = is_one_line, .what = "a path" },
	{ "data", JSON_AS_TEXTS, JSON_LIST(plan, data, n_data),
	  .most = MAX_PATHS, .is_right = is_one_line, .what = "a path" },
	{ "noise_class", JSON_AS_TEXT, JSON_AT(plan, noise_class),
	  .is_right = is_name, .what = NAME_WORDS },
	{ .name = NULL },
};

static int
take_mode(const struct json_reader *r, const cJSON *node, const char *path,
	  void *base)
{
	struct judge_rule *rule = base;
	bool is_auto = strcmp(node->valuestring, "auto") == 0;

	rule->window = is_auto ? WINDOW_AUTO : WINDOW_FIXED;
	return is_auto || strcmp(node->valuestring, "fixed") == 0
		       ? 0
		       : json_refuse(r, path, "expected \"fixed\" or \"auto\"");
}

static const struct json_field window_fields[] = {
	{ "mode", JSON_AS_OTHER, .types = JSON_STRING | JSON_REQUIRED,
	  .take = take_mode },
	{ "lo", JSON_AS_NUMBER, JSON_AT(judge_rule, lo), .types = JSON_INTEGER,
	  RANGE(0, 1e9) },
	{ "hi", JSON_AS_NUMBER, JSON_AT(judge_rule, hi), .types = JSON_INTEGER,
	  RANGE(1, 1e9) },
	{ .name = NULL },
};

static int
check_window(const struct json_reader *r, const cJSON *node, const char *path,
	     void *base)
{
	const struct judge_rule *rule = base;

	(void)node;
	(void)path;
	return rule->hi > rule->lo ? 0
				   : json_refuse(r, "metric.window.hi",
						 "expected more than lo");
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

static const char *const parsers[] = { "parameter-golf", "json", NULL };
static const char *const tok_kinds[] = {
	[TOK_CUMULATIVE] = "cumulative", [TOK_INTERVAL] = "interval", NULL
};
static const char *const ways[] = { "lower", "higher", NULL };

static const struct json_field metric_fields[] = {
	{ "parser", JSON_AS_FIXED, .words = parsers },
	{ "key", JSON_AS_TEXT, JSON_AT(plan, key), .types = JSON_REQUIRED },
	{ "tok_kind", JSON_AS_CHOICE, JSON_AT(plan, rule.tok_kind),
	  .words = tok_kinds },
	{ "direction", JSON_AS_EITHER, JSON_AT(plan, higher), .words = ways },
	{ "window", JSON_AS_OBJECT, JSON_AT(plan, rule),
	  .fields = window_fields, .take = check_window },
	{ .name = NULL },
};

static int
check_metric(const struct json_reader *r, const cJSON *node, const char *path,
	     void *base)
{
	struct plan *plan = base;
	const char *parser = json_get_string(node, "parser", NULL);
	bool is_score = strcmp(plan->key, "step_ms") != 0;

	(void)path;
	plan->metric = is_score ? PLAN_SCORE : PLAN_STEP_MS;
	plan->rule.higher = plan->higher;
	if (parser != NULL && (strcmp(parser, "json") == 0) != is_score)
		return json_refuse(r, "metric.parser",
				   "step_ms is read by parameter-golf, any "
				   "other key by json");
	if (json_get_string(node, "direction", NULL) == NULL &&
	    plan_key_is_rate(plan->key))
		return json_refuse(r, "metric.key",
				   "\"%.60s\" looks like a rate: say by "
				   "\"direction\" whether lower or higher is "
				   "better",
				   plan->key);
	if (plan->higher && !is_score)
		return json_refuse(r, "metric.direction",
				   "a step time is better when lower");
	return 0;
}

/* A file of a variant's copy: one from here, or JSON to merge over it. */
static int
take_file(const struct json_reader *r, struct plan_variant *v,
	  const cJSON *node, const char *path, bool overlay)
{
	struct plan_file *file = &v->files[v->n_files];
	struct buf text;

	if (v->n_files == PLAN_MAX_FILES)
		return json_refuse(r, path, "more than %d files",
				   PLAN_MAX_FILES);
	if (node->string[0] == '/' || node->string[0] == '\0' ||
	    strstr(node->string, "..") != NULL)
		return json_refuse(r, path,
				   "expected a path below the working folder");
	if (overlay ? !cJSON_IsObject(node) : !cJSON_IsString(node))
		return json_refuse(r, path, "expected %s",
				   overlay ? "an object to merge over the file"
					   : "the path of a file here");
	file->path = xstrdup(node->string);
	v->n_files++;
	if (!overlay) {
		file->from = xstrdup(node->valuestring);
		return 0;
	}
	buf_init(&text, JSON_MAX_BYTES);
	json_print(&text, node);
	file->overlay = buf_detach(&text);
	buf_release(&text);
	return 0;
}

static int
take_files(const struct json_reader *r, const cJSON *object, const char *path,
	   void *base)
{
	bool overlay = strcmp(object->string, "overlay") == 0;
	const char *twin = json_duplicate_key(object);
	const cJSON *node;

	if (twin != NULL)
		return json_refuse(r, path,
				   "the key \"%.60s\" stands twice in one "
				   "object",
				   twin);
	cJSON_ArrayForEach(node, object)
	{
		if (take_file(r, base, node, path, overlay) != 0)
			return -1;
	}
	return 0;
}

static int
take_variant_env(const struct json_reader *r, const cJSON *node,
		 const char *path, void *base)
{
	struct plan_variant *v = base;

	return take_env(r, node, path, &v->env, &v->n_env);
}

static bool
is_expression(const char *text)
{
	regex_t regex;
	bool is_one = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) == 0;

	if (is_one)
		regfree(&regex);
	return is_one;
}

#define MARKERS(name, member)                                                  \
	{                                                                      \
		name, JSON_AS_TEXTS,                                           \
			JSON_LIST(plan_variant, member.text, member.n),        \
			.most = MAX_MARKERS, .is_right = is_expression,        \
			.what = "an extended regular expression"               \
	}

static const char *const numerics[] = { "same", "changed", NULL };

static const struct json_field variant_fields[] = {
	{ "tag", JSON_AS_TEXT, JSON_AT(plan_variant, tag),
	  .types = JSON_REQUIRED, .is_right = is_name, .what = NAME_WORDS },
	{ "control", JSON_AS_BOOL, JSON_AT(plan_variant, control) },
	{ "env", JSON_AS_OTHER, .types = JSON_OBJECT,
	  .take = take_variant_env },
	{ "command", JSON_AS_TEXT, JSON_AT(plan_variant, command) },
	{ "patch", JSON_AS_TEXT, JSON_AT(plan_variant, patch) },
	{ "files", JSON_AS_OTHER, .types = JSON_OBJECT, .take = take_files },
	{ "overlay", JSON_AS_OTHER, .types = JSON_OBJECT, .take = take_files },
	MARKERS("must_match", must),
	MARKERS("must_not_match", must_not),
	MARKERS("declares", declares),
	{ "numerics", JSON_AS_EITHER, JSON_AT(plan_variant, numerics_changed),
	  .words = numerics },
	{ "noise_class", JSON_AS_TEXT, JSON_AT(plan_variant, noise_class),
	  .is_right = is_name, .what = NAME_WORDS },
	{ .name = NULL },
};

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

static int
take_variants(const struct json_reader *r, const cJSON *array, const char *path,
	      void *base)
{
	struct plan *plan = base;
	int n = cJSON_GetArraySize(array);
	const cJSON *node;
	size_t controls = 0;
	char at[64];

	if (n < 1 || n > SCHEDULE_MAX_ARMS - 1)
		return json_refuse(r, path,
				   "expected 2 to %d variants, one of them the "
				   "control",
				   SCHEDULE_MAX_ARMS - 1);
	plan->variants = xcalloc((size_t)n, sizeof(*plan->variants));
	cJSON_ArrayForEach(node, array)
	{
		struct plan_variant *v = &plan->variants[plan->n_variants];

		(void)snprintf(at, sizeof(at), "%s[%zu]", path,
			       plan->n_variants++);
		if (json_take(r, variant_fields, node, at, v) != 0)
			return -1;
		controls += v->control ? 1 : 0;
		for (size_t i = 0; i + 1 < plan->n_variants; i++)
			if (strcmp(plan->variants[i].tag, v->tag) == 0)
				return json_refuse(
					r, at, "the tag \"%s\" is there twice",
					v->tag);
	}
	if (controls != 1)
		return json_refuse(r, path,
				   "expected exactly one with \"control\": "
				   "true, found %zu",
				   controls);
	control_first(plan);
	return 0;
}

static bool
is_lock_dir(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.-") ==
	       strlen(text);
}

static const char *const transports[] = { "libssh2", "openssh", "local", NULL };

static const struct json_field pod_fields[] = {
	{ "id", JSON_AS_TEXT, JSON_AT(plan_pod, id), .types = JSON_REQUIRED,
	  .is_right = is_name, .what = NAME_WORDS },
	{ "ssh", JSON_AS_TEXT, JSON_AT(plan_pod, ssh) },
	{ "transport", JSON_AS_WORD, JSON_AT(plan_pod, transport),
	  .words = transports },
	{ "identity", JSON_AS_TEXT, JSON_AT(plan_pod, identity) },
	{ "known_hosts", JSON_AS_TEXT, JSON_AT(plan_pod, known_hosts) },
	{ "proxy_jump", JSON_AS_TEXT, JSON_AT(plan_pod, proxy_jump) },
	{ "gpus", JSON_AS_INDEXES, JSON_LIST(plan_pod, gpus, n_gpus),
	  .what = "GPU", .most = MAX_GPUS, .high = MAX_GPU },
	{ "root", JSON_AS_TEXT, JSON_AT(plan_pod, root) },
	{ "lock_dir", JSON_AS_TEXT, JSON_AT(plan_pod, lock_dir),
	  .is_right = is_lock_dir,
	  .what = "a path of letters, digits, / _ . -" },
	{ "lock_clocks", JSON_AS_TEXT, JSON_AT(plan_pod, lock_clocks) },
	{ "stop_cmd", JSON_AS_TEXT, JSON_AT(plan_pod, stop_cmd) },
	{ "usd_per_h", JSON_AS_NUMBER, JSON_AT(plan_pod, usd_per_h),
	  RANGE(0, 10000) },
	{ .name = NULL },
};

/* Whoever locks several GPUs takes the lowest first: no two wait for ever. */
static int
check_gpus(const struct json_reader *r, const struct plan_pod *pod,
	   const char *path)
{
	char at[JSON_PATH_SIZE];

	for (size_t i = 1; i < pod->n_gpus; i++)
		if (pod->gpus[i - 1] > pod->gpus[i])
			return json_refuse(r, json_join(at, path, "gpus"),
					   "expected them ascending");
	return 0;
}

static int
take_pods(const struct json_reader *r, const cJSON *array, const char *path,
	  void *base)
{
	struct plan *plan = base;
	int n = cJSON_GetArraySize(array);
	const cJSON *node;
	char at[64];

	if (n < 1 || n > PLAN_MAX_PODS)
		return json_refuse(r, path, "expected 1 to %d pods",
				   PLAN_MAX_PODS);
	plan->pods = xcalloc((size_t)n, sizeof(*plan->pods));
	cJSON_ArrayForEach(node, array)
	{
		struct plan_pod *pod = &plan->pods[plan->n_pods];

		(void)snprintf(at, sizeof(at), "%s[%zu]", path, plan->n_pods++);
		pod->usd_per_h = (double)NAN;
		if (json_take(r, pod_fields, node, at, pod) != 0 ||
		    check_gpus(r, pod, at) != 0)
			return -1;
		for (size_t i = 0; i + 1 < plan->n_pods; i++)
			if (strcmp(plan->pods[i].id, pod->id) == 0)
				return json_refuse(
					r, at, "the pod \"%s\" is there twice",
					pod->id);
	}
	return 0;
}

static const char *const orders[] = { "mirrored-random", NULL };

static const struct json_field design_fields[] = {
	{ "blocks_per_pod", JSON_AS_COUNT, JSON_AT(plan, blocks),
	  RANGE(1, PLAN_MAX_ROUNDS) },
	{ "runs_per_block", JSON_AS_COUNT, JSON_AT(plan, reps),
	  RANGE(1, JUDGE_MAX_REPS) },
	{ "confirm_blocks", JSON_AS_COUNT, JSON_AT(plan, confirm),
	  RANGE(0, PLAN_MAX_ROUNDS) },
	{ "burn_in", JSON_AS_COUNT, JSON_AT(plan, burn_in), RANGE(0, 10) },
	{ "aa", JSON_AS_BOOL, JSON_AT(plan, aa) },
	{ "gap_s", JSON_AS_NUMBER, JSON_AT(plan, gap_s), RANGE(0, 3600) },
	{ "order", JSON_AS_FIXED, .words = orders },
	{ .name = NULL },
};

static int
check_design(const struct json_reader *r, const cJSON *node, const char *path,
	     void *base)
{
	const struct plan *plan = base;

	(void)node;
	(void)path;
	if (plan->confirm > 0 &&
	    plan->confirm * plan->n_pods < VERDICT_MIN_BLOCKS)
		return json_refuse(r, "design.confirm_blocks",
				   "%d fresh blocks over all pods are the "
				   "least that can confirm anything",
				   VERDICT_MIN_BLOCKS);
	if (plan->confirm > 0 && plan->n_variants < 3)
		return json_refuse(r, "design.confirm_blocks",
				   "is for two variants or more beside the "
				   "control: of one, its verdict tells");
	return 0;
}

static const char *const early[] = { "none", "haybittle-peto", NULL };
static const char *const multi[] = { "none", "holm", NULL };

static const struct json_field decision_fields[] = {
	{ "alpha", JSON_AS_NUMBER, JSON_AT(plan, rule.paired.alpha),
	  RANGE(1e-6, 0.5) },
	{ "margin_pct", JSON_AS_NUMBER, JSON_AT(plan, rule.paired.margin),
	  RANGE(1e-6, 100), .scale = 0.01 },
	{ "power", JSON_AS_NUMBER, JSON_AT(plan, rule.paired.power),
	  RANGE(0.5, 0.999) },
	{ "early", JSON_AS_EITHER, JSON_AT(plan, early), .words = early },
	{ "min_blocks", JSON_AS_COUNT, JSON_AT(plan, min_blocks),
	  RANGE(VERDICT_MIN_BLOCKS, PLAN_MAX_ROUNDS) },
	{ "multi", JSON_AS_EITHER, JSON_AT(plan, rule.holm), .words = multi },
	{ .name = NULL },
};

static int
check_decision(const struct json_reader *r, const cJSON *node, const char *path,
	       void *base)
{
	const struct plan *plan = base;
	size_t all = plan->blocks * plan->n_pods;

	(void)path;
	if (!isnan(json_get_number(node, "min_blocks", (double)NAN)) &&
	    plan->min_blocks > all)
		return json_refuse(r, "decision.min_blocks",
				   "the bench has %zu blocks in all and would "
				   "never be judged",
				   all);
	return 0;
}

static const char *const throttle[] = { "ignore", "block", NULL };
static const char *const foreign[] = { "ignore", "refuse", NULL };

static const struct json_field guard_fields[] = {
	{ "loss_step_tol", JSON_AS_NUMBER, JSON_AT(plan, rule.losses.steps),
	  RANGE(0, 100) },
	{ "loss_val_tol", JSON_AS_NUMBER, JSON_AT(plan, rule.losses.val),
	  RANGE(0, 100) },
	{ "throttle", JSON_AS_EITHER, JSON_AT(plan, throttle_drops),
	  .words = throttle },
	{ "foreign_procs", JSON_AS_EITHER, JSON_AT(plan, refuse_foreign),
	  .words = foreign },
	{ .name = NULL },
};

/* "2026-11-20T21:00:00Z" to ms since 1970. */
static int
take_deadline(const struct json_reader *r, const cJSON *node, const char *path,
	      void *base)
{
	struct plan *plan = base;
	struct tm tm = { 0 };
	const char *end =
		strptime(node->valuestring, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (end == NULL || *end != '\0')
		return json_refuse(r, path,
				   "expected a time like "
				   "2026-11-20T21:00:00Z");
	plan->deadline_ms =
		1000 * clock_from_civil_s(tm.tm_year + 1900, tm.tm_mon + 1,
					  tm.tm_mday, tm.tm_hour, tm.tm_min,
					  tm.tm_sec);
	return 0;
}

static const char *const ends[] = {
	[PLAN_END_ASK] = "ask", [PLAN_END_STOP_PODS] = "stop_pods", NULL
};

static const struct json_field budget_fields[] = {
	{ "usd", JSON_AS_NUMBER, JSON_AT(plan, usd), RANGE(0, 1e6) },
	{ "minutes", JSON_AS_NUMBER, JSON_AT(plan, minutes), RANGE(0, 1e6) },
	{ "deadline", JSON_AS_OTHER, .types = JSON_STRING,
	  .take = take_deadline },
	{ "on_end", JSON_AS_CHOICE, JSON_AT(plan, on_end), .words = ends },
	{ .name = NULL },
};

static const char *const schemas[] = { PLAN_SCHEMA, NULL };

/* Pods and variants come before what is counted by them. */
static const struct json_field top_fields[] = {
	{ "schema", JSON_AS_FIXED, .types = JSON_REQUIRED, .words = schemas },
	{ "name", JSON_AS_TEXT, JSON_AT(plan, name), .types = JSON_REQUIRED,
	  .is_right = is_name, .what = NAME_WORDS },
	{ "seed", JSON_AS_INTEGER, JSON_AT(plan, seed),
	  RANGE(0, 9007199254740991.0) },
	{ "workload", JSON_AS_OBJECT, .types = JSON_REQUIRED,
	  .fields = workload_fields },
	{ "metric", JSON_AS_OBJECT, .types = JSON_REQUIRED,
	  .fields = metric_fields, .take = check_metric },
	{ "variants", JSON_AS_OTHER, .types = JSON_ARRAY | JSON_REQUIRED,
	  .take = take_variants },
	{ "pods", JSON_AS_OTHER, .types = JSON_ARRAY | JSON_REQUIRED,
	  .take = take_pods },
	{ "design", JSON_AS_OBJECT, .fields = design_fields,
	  .take = check_design },
	{ "decision", JSON_AS_OBJECT, .fields = decision_fields,
	  .take = check_decision },
	{ "guards", JSON_AS_OBJECT, .fields = guard_fields },
	{ "budget", JSON_AS_OBJECT, .fields = budget_fields },
	{ .name = NULL },
};

static void
set_defaults(struct plan *plan, const char *file)
{
	*plan = (struct plan){
		.seed = 42,
		.file = xstrdup(file),
		.rule = JUDGE_RULE_DEFAULT,
		.timeout_s = 3600,
		.blocks = 6,
		.reps = 1,
		.burn_in = 1,
		.aa = true,
		.gap_s = 10,
		.min_blocks = VERDICT_MIN_BLOCKS,
		.early = true,
		.refuse_foreign = true,
		.throttle_drops = true,
		.usd = (double)NAN,
		.minutes = (double)NAN,
	};
}

int
plan_parse(struct plan *plan, const char *file, struct str text,
	   struct err *err)
{
	struct json_reader r = { .at.code = ERR_CONFIG,
				 .err = err,
				 .nulls = true };
	struct sha256 sha;
	int rc;

	set_defaults(plan, file);
	sha256_init(&sha);
	sha256_update(&sha, text.p, text.len);
	sha256_hex(&sha, plan->sha256);
	rc = json_take_text(&r, file, text, top_fields, plan);
	/* The control alone is compared with itself: that is an audit. */
	if (rc == 0 && plan->n_variants < 2 && !plan->aa)
		rc = json_refuse(&r, "variants",
				 "expected 2 to %d variants; the control alone "
				 "is audited with \"aa\": true",
				 SCHEDULE_MAX_ARMS - 1);
	if (rc == 0 && plan->log == NULL)
		plan->log = xstrdup("train.out");
	if (rc != 0)
		plan_release(plan);
	return rc;
}

int
plan_load(struct plan *plan, const char *path, struct err *err)
{
	struct err bad = { ERR_NONE, "" };
	struct buf text;
	int rc;

	buf_init(&text, 1024U * 1024);
	if (file_read(path, &text, &bad) != 0)
		rc = err_set(err, ERR_CONFIG, "%s", bad.text);
	else
		rc = plan_parse(plan, path, (struct str){ text.data, text.len },
				err);
	buf_release(&text);
	return rc;
}

static void
free_env(struct plan_env *env, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(env[i].name);
		free(env[i].value);
	}
	free(env);
}

void
plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_variants; i++) {
		struct plan_variant *v = &plan->variants[i];

		json_give_back(variant_fields, v);
		free_env(v->env, v->n_env);
		for (size_t k = 0; k < v->n_files; k++) {
			free(v->files[k].path);
			free(v->files[k].from);
			free(v->files[k].overlay);
		}
	}
	for (size_t i = 0; i < plan->n_pods; i++)
		json_give_back(pod_fields, &plan->pods[i]);
	json_give_back(top_fields, plan);
	free_env(plan->env, plan->n_env);
	free(plan->variants);
	free(plan->pods);
	free(plan->file);
	*plan = (struct plan){ 0 };
}
