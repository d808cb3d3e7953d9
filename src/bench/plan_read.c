/* SPDX-License-Identifier: MIT */
/* bench.json to struct plan, by one table a section. */
#include "config.h"

#include "bench/plan.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/xalloc.h"
#include "bench/metric.h"

#define MAX_SEED 9007199254740991.0
#define MAX_TEXT (1024U * 1024)

/* Faults of single texts. */

static const char *
name_fault(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) ||
	       (text[n] != '\0' && strchr("_.-", text[n]) != NULL))
		n++;
	return text[n] == '\0' && n >= 1 && n <= 40 && text[0] != '.' &&
			       text[0] != '-'
		       ? NULL
		       : "expected 1 to 40 letters, digits, _ . - (not . or - "
			 "first)";
}

static const char *
schema_fault(const char *text)
{
	return strcmp(text, PLAN_SCHEMA) == 0 ? NULL
					      : "expected \"" PLAN_SCHEMA "\"";
}

static const char *
log_fault(const char *text)
{
	return name_fault(text) == NULL
		       ? NULL
		       : "expected the name of a file, no folder";
}

static const char *
path_fault(const char *text)
{
	return strchr(text, '\n') == NULL ? NULL : "is no path";
}

static const char *
lock_dir_fault(const char *text)
{
	while (isalnum((unsigned char)*text) ||
	       (*text != '\0' && strchr("/_.-", *text) != NULL))
		text++;
	return *text == '\0' ? NULL
			     : "expected a path of letters, digits, / _ . -";
}

static const char *
regex_fault(const char *text)
{
	regex_t regex;

	if (regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) != 0)
		return "is no extended regular expression";
	regfree(&regex);
	return NULL;
}

/* Values that are neither a number nor a text. */

static bool
is_variable(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return *text == '\0';
}

static int
read_env(const struct json_place *place, const cJSON *all, void *member)
{
	struct plan_env *env = member;
	const cJSON *node;

	env->v = xcalloc((size_t)cJSON_GetArraySize(all) + 1, sizeof(*env->v));
	cJSON_ArrayForEach(node, all)
	{
		if (env->n == PLAN_MAX_ENV)
			return json_wrong(place, node->string,
					  "more than %d variables",
					  PLAN_MAX_ENV);
		if (!is_variable(node->string))
			return json_wrong(place, node->string,
					  "is no name of a variable");
		if (!cJSON_IsString(node))
			return json_wrong(place, node->string,
					  "expected a string");
		env->v[env->n++] =
			(struct plan_variable){ xstrdup(node->string),
						xstrdup(node->valuestring) };
	}
	return 0;
}

/* The next file of a variant; NULL with an error. */
static struct plan_file *
add_file(const struct json_place *place, struct plan_files *files,
	 const char *path)
{
	if (files->n == PLAN_MAX_FILES)
		(void)json_wrong(place, NULL, "more than %d files",
				 PLAN_MAX_FILES);
	else if (path[0] == '/' || path[0] == '\0' ||
		 strstr(path, "..") != NULL)
		(void)json_wrong(place, NULL,
				 "expected a path below the working folder");
	else
		return &files->v[files->n];
	return NULL;
}

static int
read_files(const struct json_place *place, const cJSON *all, void *member)
{
	struct plan_files *files = member;
	const cJSON *node;

	cJSON_ArrayForEach(node, all)
	{
		struct plan_file *file = add_file(place, files, node->string);

		if (file == NULL)
			return -1;
		if (!cJSON_IsString(node))
			return json_wrong(place, NULL,
					  "expected the path of a file here");
		file->path = xstrdup(node->string);
		file->from = xstrdup(node->valuestring);
		files->n++;
	}
	return 0;
}

static int
read_overlay(const struct json_place *place, const cJSON *all, void *member)
{
	struct plan_files *files = member;
	const cJSON *node;

	cJSON_ArrayForEach(node, all)
	{
		struct plan_file *file = add_file(place, files, node->string);
		struct buf text;

		if (file == NULL)
			return -1;
		if (!cJSON_IsObject(node))
			return json_wrong(place, NULL,
					  "expected an object to merge over "
					  "the file");
		buf_init(&text, JSON_MAX_BYTES);
		json_print(&text, node);
		file->path = xstrdup(node->string);
		file->overlay = buf_detach(&text);
		files->n++;
	}
	return 0;
}

static int
read_gpus(const struct json_place *place, const cJSON *all, void *member)
{
	struct plan_gpus *gpus = member;
	const cJSON *node;

	cJSON_ArrayForEach(node, all)
	{
		double index = cJSON_IsNumber(node) ? node->valuedouble : -1;

		if (!(index >= 0 && index < 1024 && index == floor(index)) ||
		    gpus->n == PLAN_MAX_GPUS)
			return json_wrong(place, NULL,
					  "expected at most %d GPU numbers",
					  PLAN_MAX_GPUS);
		if (gpus->n > 0 && gpus->v[gpus->n - 1] >= (int)index)
			return json_wrong(place, NULL,
					  "expected them ascending");
		gpus->v[gpus->n++] = (int)index;
	}
	return 0;
}

/* "2026-11-20T21:00:00Z" to ms since 1970. */
static int
read_deadline(const struct json_place *place, const cJSON *node, void *member)
{
	int64_t *deadline_ms = member;
	struct tm tm = { 0 };
	const char *end =
		strptime(node->valuestring, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (end == NULL || *end != '\0')
		return json_wrong(place, NULL,
				  "expected a time like 2026-11-20T21:00:00Z");
	*deadline_ms =
		1000 * clock_from_civil_s(tm.tm_year + 1900, tm.tm_mon + 1,
					  tm.tm_mday, tm.tm_hour, tm.tm_min,
					  tm.tm_sec);
	return 0;
}

static double
of_pct(double pct)
{
	return pct / 100.0;
}

/* The sections and their keys. */

static int read_section(const struct json_place *place, const cJSON *object,
			void *to);
static int read_variants(const struct json_place *place, const cJSON *array,
			 void *plan);
static int read_pods(const struct json_place *place, const cJSON *array,
		     void *plan);

#define AT(member)	   offsetof(struct plan, member)
#define VARIANT_AT(member) offsetof(struct plan_variant, member)
#define POD_AT(member)	   offsetof(struct plan_pod, member)
#define SECTION(key, ...)                                                      \
	JSON_FIELD(ANY, key, 0, .types = JSON_OBJECT, .read = read_section,    \
		   __VA_ARGS__)
#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const struct json_field top_keys[] = {
	JSON_FIELD(CHARS, "schema", 0, .required = true, .fault = schema_fault),
	JSON_FIELD(TEXT, "name", AT(name), .required = true,
		   .fault = name_fault),
	JSON_FIELD(WHOLE, "seed", AT(seed), .low = 0, .high = MAX_SEED),
	SECTION("workload", .required = true),
	SECTION("metric", .required = true),
	JSON_FIELD(ANY, "variants", 0, .required = true, .types = JSON_ARRAY,
		   .read = read_variants),
	JSON_FIELD(ANY, "pods", 0, .required = true, .types = JSON_ARRAY,
		   .read = read_pods),
	SECTION("design", .required = false),
	SECTION("decision", .required = false),
	SECTION("guards", .required = false),
	SECTION("budget", .required = false),
	JSON_FIELDS_END
};

static const struct json_field workload_keys[] = {
	JSON_FIELD(TEXT, "cwd", AT(cwd), .required = true),
	JSON_FIELD(TEXT, "command", AT(command), .required = true),
	JSON_FIELD(ANY, "env", AT(env), .types = JSON_OBJECT, .read = read_env),
	JSON_FIELD(NUMBER, "timeout_s", AT(timeout_s), .low = 1,
		   .high = 864000),
	JSON_FIELD(TEXT, "end_marker", AT(end_marker)),
	JSON_FIELD(TEXT, "commit", AT(commit)),
	JSON_FIELD(TEXTS, "data", AT(data), .size = PLAN_MAX_FILES,
		   .fault = path_fault),
	JSON_FIELD(TEXT, "data_sha256", AT(data_sha256)),
	JSON_FIELD(TEXTS, "judge_files", AT(judge_files),
		   .size = PLAN_MAX_FILES, .fault = path_fault),
	JSON_FIELD(TEXT, "log", AT(log), .fault = log_fault),
	JSON_FIELD(TEXT, "noise_class", AT(noise_class), .fault = name_fault),
	JSON_FIELDS_END
};

static const struct json_field metric_keys[] = {
	JSON_FIELD(TEXT, "key", AT(key), .required = true),
	JSON_FIELD(CHARS, "parser", 0, .words = bench_metric_parsers),
	JSON_FIELD(BOOL, "direction", AT(rule.higher),
		   .words = WORDS("lower", "higher")),
	JSON_FIELD(WORD, "tok_kind", AT(rule.tok_kind),
		   .words = WORDS("cumulative", "interval")),
	SECTION("window", .required = false),
	JSON_FIELDS_END
};

static const struct json_field window_keys[] = {
	JSON_FIELD(WORD, "mode", AT(rule.window), .required = true,
		   .words = WORDS("", "fixed", "auto")),
	JSON_FIELD(NUMBER, "lo", AT(rule.lo), .low = 0, .high = 1e9),
	JSON_FIELD(NUMBER, "hi", AT(rule.hi), .low = 1, .high = 1e9),
	JSON_FIELDS_END
};

static const struct json_field variant_keys[] = {
	JSON_FIELD(TEXT, "tag", VARIANT_AT(tag), .required = true,
		   .fault = name_fault),
	JSON_FIELD(BOOL, "control", VARIANT_AT(control)),
	JSON_FIELD(ANY, "env", VARIANT_AT(env), .types = JSON_OBJECT,
		   .read = read_env),
	JSON_FIELD(TEXT, "command", VARIANT_AT(command)),
	JSON_FIELD(TEXT, "patch", VARIANT_AT(patch)),
	JSON_FIELD(ANY, "files", VARIANT_AT(files), .types = JSON_OBJECT,
		   .read = read_files),
	JSON_FIELD(ANY, "overlay", VARIANT_AT(files), .types = JSON_OBJECT,
		   .read = read_overlay),
	JSON_FIELD(TEXTS, "must_match", VARIANT_AT(must),
		   .size = PLAN_MAX_TEXTS, .fault = regex_fault),
	JSON_FIELD(TEXTS, "must_not_match", VARIANT_AT(must_not),
		   .size = PLAN_MAX_TEXTS, .fault = regex_fault),
	JSON_FIELD(TEXTS, "declares", VARIANT_AT(declares),
		   .size = PLAN_MAX_TEXTS),
	JSON_FIELD(BOOL, "numerics", VARIANT_AT(numerics_changed),
		   .words = WORDS("same", "changed")),
	JSON_FIELD(TEXT, "noise_class", VARIANT_AT(noise_class),
		   .fault = name_fault),
	JSON_FIELDS_END
};

static const struct json_field pod_keys[] = {
	JSON_FIELD(TEXT, "id", POD_AT(id), .required = true,
		   .fault = name_fault),
	JSON_FIELD(TEXT, "ssh", POD_AT(ssh)),
	JSON_FIELD(TEXT, "transport", POD_AT(transport),
		   .words = WORDS("libssh2", "openssh", "local")),
	JSON_FIELD(TEXT, "identity", POD_AT(identity)),
	JSON_FIELD(TEXT, "known_hosts", POD_AT(known_hosts)),
	JSON_FIELD(TEXT, "proxy_jump", POD_AT(proxy_jump)),
	JSON_FIELD(ANY, "gpus", POD_AT(gpus), .types = JSON_ARRAY,
		   .read = read_gpus),
	JSON_FIELD(TEXT, "root", POD_AT(root)),
	JSON_FIELD(TEXT, "lock_dir", POD_AT(lock_dir), .fault = lock_dir_fault),
	JSON_FIELD(TEXT, "lock_clocks", POD_AT(lock_clocks)),
	JSON_FIELD(TEXT, "stop_cmd", POD_AT(stop_cmd)),
	JSON_FIELD(NUMBER, "usd_per_h", POD_AT(usd_per_h), .low = 0,
		   .high = 10000),
	JSON_FIELDS_END
};

static const struct json_field design_keys[] = {
	JSON_FIELD(COUNT, "blocks_per_pod", AT(blocks), .low = 1,
		   .high = PLAN_MAX_ROUNDS),
	JSON_FIELD(COUNT, "runs_per_block", AT(reps), .low = 1,
		   .high = JUDGE_MAX_REPS),
	JSON_FIELD(COUNT, "confirm_blocks", AT(confirm), .low = 0,
		   .high = PLAN_MAX_ROUNDS),
	JSON_FIELD(COUNT, "burn_in", AT(burn_in), .low = 0, .high = 10),
	JSON_FIELD(BOOL, "aa", AT(aa)),
	JSON_FIELD(NUMBER, "gap_s", AT(gap_s), .low = 0, .high = 3600),
	JSON_FIELD(CHARS, "order", 0, .words = WORDS("mirrored-random")),
	JSON_FIELDS_END
};

static const struct json_field decision_keys[] = {
	JSON_FIELD(NUMBER, "alpha", AT(rule.paired.alpha), .low = 1e-6,
		   .high = 0.5),
	JSON_FIELD(NUMBER, "margin_pct", AT(rule.paired.margin), .low = 1e-6,
		   .high = 100, .in = of_pct),
	JSON_FIELD(NUMBER, "power", AT(rule.paired.power), .low = 0.5,
		   .high = 0.999),
	JSON_FIELD(BOOL, "early", AT(early),
		   .words = WORDS("none", "haybittle-peto")),
	JSON_FIELD(COUNT, "min_blocks", AT(min_blocks),
		   .low = VERDICT_MIN_BLOCKS, .high = PLAN_MAX_ROUNDS),
	JSON_FIELD(BOOL, "multi", AT(rule.holm),
		   .words = WORDS("none", "holm")),
	JSON_FIELDS_END
};

static const struct json_field guards_keys[] = {
	JSON_FIELD(NUMBER, "loss_step_tol", AT(rule.losses.steps), .low = 0,
		   .high = 100),
	JSON_FIELD(NUMBER, "loss_val_tol", AT(rule.losses.val), .low = 0,
		   .high = 100),
	JSON_FIELD(BOOL, "throttle", AT(throttle_drops),
		   .words = WORDS("ignore", "block")),
	JSON_FIELD(BOOL, "foreign_procs", AT(refuse_foreign),
		   .words = WORDS("ignore", "refuse")),
	JSON_FIELDS_END
};

static const struct json_field budget_keys[] = {
	JSON_FIELD(NUMBER, "usd", AT(usd), .low = 0, .high = 1e6),
	JSON_FIELD(NUMBER, "minutes", AT(minutes), .low = 0, .high = 1e6),
	JSON_FIELD(ANY, "deadline", AT(deadline_ms), .types = JSON_STRING,
		   .read = read_deadline),
	JSON_FIELD(BOOL, "on_end", AT(stop_pods),
		   .words = WORDS("ask", "stop_pods")),
	JSON_FIELDS_END
};

static int
check_metric(const struct json_place *place, const cJSON *object,
	     struct plan *plan)
{
	const struct bench_metric *metric = bench_metric_find(plan->key);
	const char *parser = json_get_string(object, "parser", metric->parser);

	if (strcmp(parser, metric->parser) != 0)
		return json_wrong(place, "parser",
				  "step_ms is read by parameter-golf, any "
				  "other key by json");
	if (json_get_string(object, "direction", NULL) == NULL &&
	    bench_metric_is_rate(plan->key))
		return json_wrong(place, "key",
				  "\"%.60s\" looks like a rate: say by "
				  "\"direction\" whether lower or higher is "
				  "better",
				  plan->key);
	if (plan->rule.higher && metric->only_lower)
		return json_wrong(place, "direction",
				  "a step time is better when lower");
	return 0;
}

static int
check_window(const struct json_place *place, const cJSON *object,
	     struct plan *plan)
{
	(void)object;
	return plan->rule.hi > plan->rule.lo
		       ? 0
		       : json_wrong(place, "hi", "expected more than lo");
}

static int
check_design(const struct json_place *place, const cJSON *object,
	     struct plan *plan)
{
	(void)object;
	if (plan->confirm == 0)
		return 0;
	if (plan->confirm * plan->n_pods < VERDICT_MIN_BLOCKS)
		return json_wrong(place, "confirm_blocks",
				  "at least %d fresh blocks over all pods are "
				  "needed to confirm the best",
				  VERDICT_MIN_BLOCKS);
	if (plan->n_variants < 3)
		return json_wrong(place, "confirm_blocks",
				  "needs two variants or more beside the "
				  "control");
	return 0;
}

static int
check_decision(const struct json_place *place, const cJSON *object,
	       struct plan *plan)
{
	size_t all = plan->blocks * plan->n_pods;

	if (json_has_type(
		    cJSON_GetObjectItemCaseSensitive(object, "min_blocks"),
		    JSON_NUMBER) &&
	    plan->min_blocks > all)
		return json_wrong(place, "min_blocks",
				  "the bench has %zu blocks in all and would "
				  "never be judged",
				  all);
	return 0;
}

/* The control alone is compared with itself: that is an audit. */
static int
check_top(const struct json_place *place, const cJSON *object,
	  struct plan *plan)
{
	(void)object;
	if (plan->n_variants > 1 || plan->aa)
		return 0;
	return json_wrong(place, "variants",
			  "expected 2 to %d variants; the control alone is "
			  "audited with \"aa\": true",
			  SCHEDULE_MAX_ARMS - 1);
}

const struct plan_section plan_sections[] = {
	{ "", top_keys, check_top },
	{ "workload", workload_keys, NULL },
	{ "metric", metric_keys, check_metric },
	{ "metric.window", window_keys, check_window },
	{ "variants", variant_keys, NULL },
	{ "pods", pod_keys, NULL },
	{ "design", design_keys, check_design },
	{ "decision", decision_keys, check_decision },
	{ "guards", guards_keys, NULL },
	{ "budget", budget_keys, NULL },
	{ NULL, NULL, NULL },
};

/* An object by the section that its place names. */
static int
read_section(const struct json_place *place, const cJSON *object, void *to)
{
	const struct plan_section *section = plan_sections;
	size_t len = strcspn(place->path, "[");

	while (strlen(section->name) != len ||
	       memcmp(section->name, place->path, len) != 0)
		section++;
	if (json_read_fields(place, object, section->keys, to) != 0)
		return -1;
	return section->check != NULL ? section->check(place, object, to) : 0;
}

/*
 * n items of size bytes, each begun as `blank`, its name first; two of the
 * same name are an error.  *n counts those that hold something to free.
 */
static int
read_items(const struct json_place *place, const cJSON *array,
	   const void *blank, size_t size, void *items, size_t *n)
{
	const cJSON *node;
	char path[64];
	struct json_place own = { place->at, path, place->err };

	cJSON_ArrayForEach(node, array)
	{
		char *item = (char *)items + *n * size;
		char *name, *other;

		(void)snprintf(path, sizeof(path), "%s[%zu]", place->path, *n);
		memcpy(item, blank, size);
		++*n;
		if (read_section(&own, node, item) != 0)
			return -1;
		memcpy(&name, item, sizeof(name));
		for (size_t i = 0; i + 1 < *n; i++) {
			memcpy(&other, (char *)items + i * size, sizeof(other));
			if (strcmp(other, name) == 0)
				return json_wrong(&own, NULL,
						  "\"%s\" is there twice",
						  name);
		}
	}
	return 0;
}

/* Bring the control to the front; the others keep their order. */
static void
put_control_first(struct plan *plan)
{
	struct plan_variant control;
	size_t i = 0;

	while (!plan->variants[i].control)
		i++;
	control = plan->variants[i];
	memmove(&plan->variants[1], &plan->variants[0], i * sizeof(control));
	plan->variants[0] = control;
}

static int
read_variants(const struct json_place *place, const cJSON *array, void *to)
{
	static const struct plan_variant blank = { NULL };
	size_t size = (size_t)cJSON_GetArraySize(array), controls = 0;
	struct plan *plan = to;

	if (size < 1 || size > SCHEDULE_MAX_ARMS - 1)
		return json_wrong(place, NULL,
				  "expected 2 to %d variants, one of them the "
				  "control",
				  SCHEDULE_MAX_ARMS - 1);
	plan->variants = xcalloc(size, sizeof(blank));
	if (read_items(place, array, &blank, sizeof(blank), plan->variants,
		       &plan->n_variants) != 0)
		return -1;
	for (size_t i = 0; i < size; i++)
		controls += plan->variants[i].control ? 1 : 0;
	if (controls != 1)
		return json_wrong(place, NULL,
				  "expected exactly one with \"control\": "
				  "true, found %zu",
				  controls);
	put_control_first(plan);
	return 0;
}

static int
read_pods(const struct json_place *place, const cJSON *array, void *to)
{
	static const struct plan_pod blank = { .usd_per_h = (double)NAN };
	size_t size = (size_t)cJSON_GetArraySize(array);
	struct plan *plan = to;

	if (size < 1 || size > PLAN_MAX_PODS)
		return json_wrong(place, NULL, "expected 1 to %d pods",
				  PLAN_MAX_PODS);
	plan->pods = xcalloc(size, sizeof(blank));
	return read_items(place, array, &blank, sizeof(blank), plan->pods,
			  &plan->n_pods);
}

static void
set_defaults(struct plan *plan, const char *file)
{
	*plan = (struct plan){
		.file = xstrdup(file),
		.seed = 42,
		.log = xstrdup("train.out"),
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
	struct json_at at = { file, text, ERR_CONFIG };
	struct json_place top = { &at, "", err };
	struct sha256 sha;
	const char *twin;
	cJSON *root;
	int result;

	root = json_parse(text, JSON_BARE_REFUSED, err);
	if (root == NULL) {
		err_prefix(err, "%s", file);
		if (err != NULL)
			err->code = ERR_CONFIG;
		return -1;
	}
	set_defaults(plan, file);
	sha256_init(&sha);
	sha256_update(&sha, text.p, text.len);
	sha256_hex(&sha, plan->sha256);
	result = read_section(&top, root, plan);
	twin = json_duplicate_key(root);
	if (result == 0 && twin != NULL)
		result = json_wrong(&top, NULL,
				    "the key \"%.60s\" stands twice in one "
				    "object",
				    twin);
	cJSON_Delete(root);
	if (result != 0)
		plan_release(plan);
	return result;
}

int
plan_load(struct plan *plan, const char *path, struct err *err)
{
	struct buf text;
	int result;

	buf_init(&text, MAX_TEXT);
	result = file_read(path, &text, err);
	if (result == 0)
		result = plan_parse(plan, path,
				    (struct str){ text.data, text.len }, err);
	else if (err != NULL)
		err->code = ERR_CONFIG;
	buf_release(&text);
	return result;
}

static void
free_env(struct plan_env *env)
{
	for (size_t i = 0; i < env->n; i++) {
		free(env->v[i].name);
		free(env->v[i].value);
	}
	free(env->v);
}

static void
free_variant(struct plan_variant *v)
{
	for (size_t i = 0; i < v->files.n; i++) {
		free(v->files.v[i].path);
		free(v->files.v[i].from);
		free(v->files.v[i].overlay);
	}
	free_env(&v->env);
	json_free_fields(variant_keys, v);
}

void
plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_variants; i++)
		free_variant(&plan->variants[i]);
	for (size_t i = 0; i < plan->n_pods; i++)
		json_free_fields(pod_keys, &plan->pods[i]);
	for (const struct plan_section *s = plan_sections; s->name != NULL; s++)
		if (s->keys != variant_keys && s->keys != pod_keys)
			json_free_fields(s->keys, plan);
	free_env(&plan->env);
	free(plan->variants);
	free(plan->pods);
	free(plan->file);
	*plan = (struct plan){ 0 };
}
