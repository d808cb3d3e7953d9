/* SPDX-License-Identifier: MIT */
/* Read bench.json into struct plan, by one table of keys per section. */
#include "bench/plan.h"

#include <regex.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/quote.h"
#include "bench/kernel.h"

#define MAX_SEED 9007199254740991.0 /* the largest integer that JSON readers agree on */
#define MAX_TEXT (1024U * 1024)

#define LETTERS	   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define NAME_BYTES LETTERS "0123456789_.-"

bool plan_is_name(const char *text)
{
	size_t n = strlen(text);

	return n >= 1 && n <= 40 && text[0] != '.' && text[0] != '-' &&
	       str_has_only(str_from(text), NAME_BYTES);
}

static bool is_one_line(const char *text)
{
	return strchr(text, '\n') == NULL;
}

static bool is_plain_path(const char *text)
{
	return str_has_only(str_from(text), NAME_BYTES "/");
}

static bool is_variable(const char *text)
{
	return text[0] != '\0' && !str_is_digit(text[0]) &&
	       str_has_only(str_from(text), LETTERS "0123456789_");
}

static bool is_inside(const char *text)
{
	return text[0] != '/' && text[0] != '\0' && strstr(text, "..") == NULL;
}

static bool is_expression(const char *text)
{
	regex_t regex;
	bool is_valid = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB) == 0;

	if (is_valid)
		regfree(&regex);
	return is_valid;
}

/* Readers of keys whose values are neither a number nor a text. */

static int read_env(const struct json_reader *r, const cJSON *all, const char *path, void *to)
{
	struct plan_env *env = to;
	char at[JSON_PATH_SIZE];

	env->v = xcalloc((size_t)cJSON_GetArraySize(all) + 1, sizeof(*env->v));
	json_each (node, all) {
		(void)json_join(at, path, node->string);
		if (env->n == PLAN_MAX_ENV)
			return json_refuse(r, at, "more than %d variables", PLAN_MAX_ENV);
		if (!is_variable(node->string))
			return json_refuse(r, at, "not a valid variable name");
		if (!cJSON_IsString(node))
			return json_refuse(r, at, "expected a string");
		if (json_get(all, node->string) != node)
			return json_refuse(r, at, "duplicate key");
		env->v[env->n++] =
			(struct plan_variable){ xstrdup(node->string), xstrdup(node->valuestring) };
	}
	return 0;
}

/* Read "files" (path on the pod: path on this machine) or "overlay" (path on the pod: object). */
static int read_files(const struct json_reader *r, const cJSON *all, const char *path, void *to)
{
	struct plan_files *files = to;
	bool is_overlay = strcmp(all->string, "overlay") == 0;
	const char *duplicate = json_duplicate_key(all);

	if (duplicate != NULL)
		return json_refuse(r, path, "duplicate key \"%.60s\"", duplicate);
	json_each (node, all) {
		struct plan_file *file = &files->v[files->n];
		AUTO_BUF text = buf_new(JSON_MAX_BYTES);

		if (files->n == PLAN_MAX_FILES)
			return json_refuse(r, path, "more than %d files", PLAN_MAX_FILES);
		if (!is_inside(node->string))
			return json_refuse(r, path, "expected a path inside the working folder");
		if (is_overlay ? !cJSON_IsObject(node) : !cJSON_IsString(node))
			return json_refuse(r, path,
					   is_overlay ? "expected an object to merge into the file"
						      : "expected the path of a local file");
		if (is_overlay)
			json_print(&text, node);
		file->path = xstrdup(node->string);
		file->overlay = is_overlay ? buf_detach(&text) : NULL;
		file->from = xstrdup_null(node->valuestring);
		files->n++;
	}
	return 0;
}

/* Read the launch settings of a kernel, which are keyword arguments. */
static int read_launch(const struct json_reader *r, const cJSON *all, const char *path, void *to)
{
	const char *duplicate = json_duplicate_key(all);
	AUTO_BUF text = buf_new(JSON_MAX_BYTES);

	if (duplicate != NULL)
		return json_refuse(r, path, "duplicate key \"%.60s\"", duplicate);
	json_each (node, all) {
		if (!is_variable(node->string))
			return json_refuse(r, path, "\"%.60s\" is not a valid name of a setting",
					   node->string);
		if (cJSON_IsArray(node) || cJSON_IsObject(node))
			return json_refuse(r, path, "expected numbers and strings");
	}
	json_print(&text, all);
	*(char **)to = buf_detach(&text);
	return 0;
}

/* Read "2026-11-20T21:00:00Z" as milliseconds since 1970. */
static int read_deadline(const struct json_reader *r, const cJSON *node, const char *path, void *to)
{
	int64_t *deadline_ms = to;
	struct tm tm = { 0 };
	const char *end = strptime(node->valuestring, "%Y-%m-%dT%H:%M:%SZ", &tm);

	if (end == NULL || *end != '\0')
		return json_refuse(r, path, "expected a time like 2026-11-20T21:00:00Z");
	*deadline_ms = 1000 * clock_from_civil_s(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
						 tm.tm_hour, tm.tm_min, tm.tm_sec);
	return 0;
}

/* The keys of each section. */

#define KEY(name, kind, member, ...) JSON_ROW(name, kind, SECTION, member, __VA_ARGS__)
#define REQUIRED		     .types = JSON_REQUIRED
#define RANGE(lo, hi)		     .low = (lo), .high = (hi)
#define WORDS(...)                     \
	.words = (const char *const[]) \
	{                              \
		__VA_ARGS__, NULL      \
	}
#define LIST(member, most_) member.v, .at_n = offsetof(struct SECTION, member.n), .most = (most_)
#define FLAG(name, member)                                   \
	{                                                    \
		name, JSON_AS_BOOL, JSON_AT(SECTION, member) \
	}
#define END                  \
	{                    \
		.name = NULL \
	}

#define FILE_WORDS "a Python file inside the working folder"
#define SECTION	   plan

static const struct json_field workload_keys[] = {
	KEY("cwd", TEXT, cwd, REQUIRED),
	KEY("kind", EITHER, kernel, WORDS("command", "kernel")),
	KEY("command", TEXT, command),
	KEY("prepare", TEXT, prepare),
	KEY("module", TEXT, module, .is_right = is_inside, .what = FILE_WORDS),
	KEY("function", TEXT, function, .is_right = is_variable, .what = "a function name"),
	KEY("task", TEXT, task, .is_right = is_inside, .what = FILE_WORDS),
	KEY("seconds", NUMBER, seconds, RANGE(0.1, 3600)),
	KEY("env", OTHER, env, .types = JSON_OBJECT, .take = read_env),
	KEY("timeout_s", NUMBER, timeout_s, RANGE(1, 864000)),
	KEY("end_marker", TEXT, end_marker),
	KEY("commit", TEXT, commit),
	KEY("data", TEXTS, LIST(data, PLAN_MAX_FILES), .is_right = is_one_line, .what = "a path"),
	KEY("data_sha256", TEXT, data_sha256),
	KEY("judge_files", TEXTS, LIST(judge_files, PLAN_MAX_FILES), .is_right = is_one_line,
	    .what = "a path"),
	KEY("log", TEXT, log, .is_right = plan_is_name, .what = "a file name without a folder"),
	KEY("noise_class", TEXT, noise_class, .is_right = plan_is_name, .what = PLAN_NAME_WORDS),
	END,
};

/* Each kind of workload has its own keys, and a kernel has other defaults. */
static int check_workload(const struct json_reader *r, const cJSON *object, const char *path,
			  void *to)
{
	static const char *const kernel_only[] = { "module", "function", "task", "seconds" };
	struct plan *plan = to;
	char at[JSON_PATH_SIZE];

	if (!plan->kernel) {
		for (size_t i = 0; i < LENGTH(kernel_only); i++)
			if (cJSON_HasObjectItem(object, kernel_only[i]))
				return json_refuse(r, json_join(at, path, kernel_only[i]),
						   "only allowed with \"kind\": \"kernel\"");
		return plan->command != NULL ? 0 : json_refuse(r, path, "missing key \"command\"");
	}
	if (plan->command != NULL)
		return json_refuse(r, path,
				   "\"command\" is not allowed with \"kind\": \"kernel\": hgym-tui "
				   "calls the functions itself");
	if (plan->prepare != NULL)
		return json_refuse(r, path, "\"prepare\" is not allowed with \"kind\": \"kernel\"");
	plan->module = plan->module != NULL ? plan->module : xstrdup("kernel.py");
	plan->task = plan->task != NULL ? plan->task : xstrdup("task.py");
	plan->burn_in = 0;
	plan->gap_s = 0;
	return 0;
}

static const struct json_field window_keys[] = {
	KEY("mode", CHOICE, rule.window, REQUIRED,
	    .words = (const char *const[]){ "", "fixed", "auto", NULL }),
	KEY("lo", NUMBER, rule.lo, .types = JSON_INTEGER, RANGE(0, 1e9)),
	KEY("hi", NUMBER, rule.hi, .types = JSON_INTEGER, RANGE(1, 1e9)),
	END,
};

static int check_window(const struct json_reader *r, UNUSED const cJSON *object, const char *path,
			void *to)
{
	const struct plan *plan = to;
	char at[JSON_PATH_SIZE];

	if (plan->rule.hi > plan->rule.lo)
		return 0;
	return json_refuse(r, json_join(at, path, "hi"), "expected more than lo");
}

static const struct json_field metric_keys[] = {
	KEY("key", TEXT, key, REQUIRED),
	KEY("chosen", TEXT, chosen),
	KEY("also", TEXTS, LIST(also, PLAN_MAX_TEXTS), .is_right = is_variable,
	    .what = "a metric name"),
	{ "parser", JSON_AS_FIXED, .words = bench_metric_parsers },
	KEY("direction", EITHER, rule.higher, WORDS("lower", "higher")),
	KEY("tok_kind", CHOICE, rule.tok_kind, WORDS("by-format", "cumulative", "interval")),
	{ "window", JSON_AS_OBJECT, .fields = window_keys, .take = check_window },
	END,
};

static const struct json_field design_keys[] = {
	KEY("blocks_per_pod", COUNT, blocks, RANGE(1, PLAN_MAX_ROUNDS)),
	KEY("runs_per_block", COUNT, reps, RANGE(1, JUDGE_MAX_REPS)),
	KEY("confirm_blocks", COUNT, confirm, RANGE(0, PLAN_MAX_ROUNDS)),
	KEY("burn_in", COUNT, burn_in, RANGE(0, 10)),
	FLAG("aa", aa),
	KEY("gap_s", NUMBER, gap_s, RANGE(0, 3600)),
	{ "order", JSON_AS_FIXED, WORDS("mirrored-random") },
	END,
};

static const struct json_field decision_keys[] = {
	KEY("alpha", NUMBER, rule.paired.alpha, RANGE(1e-6, 0.5)),
	KEY("margin_pct", NUMBER, rule.paired.margin, RANGE(1e-6, 100), .scale = 0.01),
	KEY("power", NUMBER, rule.paired.power, RANGE(0.5, 0.999)),
	KEY("early", CHOICE, early, .words = looks_words),
	KEY("pods_sd_pct", NUMBER, rule.pods_sd, RANGE(0, 100), .scale = 0.01),
	FLAG("same_noise", rule.paired.same_noise),
	KEY("min_blocks", COUNT, min_blocks, RANGE(VERDICT_MIN_BLOCKS, PLAN_MAX_ROUNDS)),
	KEY("multi", EITHER, rule.holm, WORDS("none", "holm")),
	END,
};

static const struct json_field guards_keys[] = {
	KEY("loss_step_tol", NUMBER, rule.losses.steps, RANGE(0, 100)),
	KEY("loss_val_tol", NUMBER, rule.losses.val, RANGE(0, 100)),
	KEY("loss_margin", NUMBER, rule.losses.margin, RANGE(0, 100)),
	KEY("throttle", EITHER, throttle_drops, WORDS("ignore", "block")),
	KEY("foreign_procs", EITHER, refuse_foreign, WORDS("ignore", "refuse")),
	END,
};

static const struct json_field budget_keys[] = {
	KEY("usd", NUMBER, usd, RANGE(0, 1e6)),
	KEY("minutes", NUMBER, minutes, RANGE(0, 1e6)),
	KEY("deadline", OTHER, deadline_ms, .types = JSON_STRING, .take = read_deadline),
	KEY("on_end", EITHER, stop_pods, WORDS("ask", "stop_pods")),
	END,
};

#undef SECTION
#define SECTION plan_variant

static const struct json_field variant_keys[] = {
	KEY("tag", TEXT, tag, REQUIRED, .is_right = plan_is_name, .what = PLAN_NAME_WORDS),
	FLAG("control", control),
	KEY("env", OTHER, env, .types = JSON_OBJECT, .take = read_env),
	KEY("command", TEXT, command),
	KEY("patch", TEXT, patch),
	KEY("launch", OTHER, launch, .types = JSON_OBJECT, .take = read_launch),
	KEY("files", OTHER, files, .types = JSON_OBJECT, .take = read_files),
	KEY("overlay", OTHER, files, .types = JSON_OBJECT, .take = read_files),
	KEY("must_match", TEXTS, LIST(must, PLAN_MAX_TEXTS), .is_right = is_expression,
	    .what = "an extended regular expression"),
	KEY("must_not_match", TEXTS, LIST(must_not, PLAN_MAX_TEXTS), .is_right = is_expression,
	    .what = "an extended regular expression"),
	KEY("declares", TEXTS, LIST(declares, PLAN_MAX_TEXTS)),
	KEY("numerics", EITHER, numerics_changed, WORDS("same", "changed")),
	KEY("noise_class", TEXT, noise_class, .is_right = plan_is_name, .what = PLAN_NAME_WORDS),
	END,
};

#undef SECTION
#define SECTION plan_pod

static const struct json_field pod_keys[] = {
	KEY("id", TEXT, id, REQUIRED, .is_right = plan_is_name, .what = PLAN_NAME_WORDS),
	KEY("ssh", TEXT, ssh),
	KEY("transport", WORD, transport, WORDS("libssh2", "openssh", "local")),
	KEY("identity", TEXT, identity),
	KEY("known_hosts", TEXT, known_hosts),
	KEY("proxy_jump", TEXT, proxy_jump),
	KEY("gpus", INDEXES, LIST(gpus, PLAN_MAX_GPUS), .high = 1023, .what = "GPU"),
	KEY("root", TEXT, root),
	KEY("lock_dir", TEXT, lock_dir, .is_right = is_plain_path,
	    .what = "a path of letters, digits, / _ . -"),
	KEY("lock_clocks", TEXT, lock_clocks),
	KEY("stop_cmd", TEXT, stop_cmd),
	KEY("usd_per_h", NUMBER, usd_per_h, RANGE(0, 10000)),
	END,
};

#undef SECTION
#define SECTION plan

static int check_metric(const struct json_reader *r, const cJSON *object, const char *path,
			void *to)
{
	const struct plan *plan = to;
	const struct bench_metric *metric = bench_metric_find(plan->key);
	const char *parser = json_get_string(object, "parser", metric->parser);
	char at[JSON_PATH_SIZE];

	if (strcmp(parser, metric->parser) != 0)
		return json_refuse(r, json_join(at, path, "parser"),
				   "expected parameter-golf for step_ms, clock for wall_s, json "
				   "for any other key");
	if (json_get_string(object, "direction", NULL) == NULL && bench_metric_is_rate(plan->key))
		return json_refuse(r, json_join(at, path, "key"),
				   "\"%.60s\" looks like a rate: set \"direction\" to \"lower\" or "
				   "\"higher\", whichever is better",
				   plan->key);
	if (plan->rule.higher && metric->only_lower)
		return json_refuse(r, json_join(at, path, "direction"),
				   "expected \"lower\": a lower time is always better");
	return 0;
}

static int check_design(const struct json_reader *r, UNUSED const cJSON *object, const char *path,
			void *to)
{
	const struct plan *plan = to;
	char at[JSON_PATH_SIZE];

	(void)json_join(at, path, "confirm_blocks");
	if (plan->confirm == 0)
		return 0;
	if (plan->confirm * plan->n_pods < VERDICT_MIN_BLOCKS)
		return json_refuse(r, at, "a confirmation needs at least %d blocks over all pods",
				   VERDICT_MIN_BLOCKS);
	if (plan->n_variants < 3)
		return json_refuse(r, at, "needs at least two variants besides the control");
	return 0;
}

static int check_decision(const struct json_reader *r, const cJSON *object, const char *path,
			  void *to)
{
	const struct plan *plan = to;
	size_t n_blocks = plan->blocks * plan->n_pods;
	char at[JSON_PATH_SIZE];

	if (plan->min_blocks <= n_blocks ||
	    !json_has_type(json_get(object, "min_blocks"), JSON_NUMBER))
		return 0;
	return json_refuse(r, json_join(at, path, "min_blocks"),
			   "the bench has only %zu blocks, so it would never get a verdict",
			   n_blocks);
}

/* Read an array of objects of `size` bytes whose first member is their name; each starts as a copy
 * of `blank`. Names must differ. *n counts the objects that own memory, also after an error. */
struct items {
	const struct json_field *keys;
	const void *blank;
	size_t size;
	void *v;
};

static int read_items(const struct json_reader *r, const cJSON *array, const char *path,
		      const struct items *items, size_t *n)
{
	char at[64];

	json_each (node, array) {
		char *item = (char *)items->v + *n * items->size;
		const char *name, *other;

		print_into(at, "%s[%zu]", path, *n);
		memcpy(item, items->blank, items->size);
		++*n;
		if (json_read_object(r, items->keys, node, at, item) != 0)
			return -1;
		memcpy(&name, item, sizeof(name));
		for (size_t i = 0; i + 1 < *n; i++) {
			memcpy(&other, (char *)items->v + i * items->size, sizeof(other));
			if (strcmp(other, name) == 0)
				return json_refuse(r, at, "\"%s\" appears twice", name);
		}
	}
	return 0;
}

static int read_variants(const struct json_reader *r, const cJSON *array, const char *path,
			 void *to)
{
	static const struct plan_variant blank = { .tag = NULL };
	size_t size = (size_t)cJSON_GetArraySize(array);
	struct items items = { variant_keys, &blank, sizeof(blank), NULL };
	struct plan *plan = to;

	if (size < 1 || size > SCHEDULE_MAX_ARMS - 1)
		return json_refuse(r, path, "expected 2 to %d variants, one of them the control",
				   SCHEDULE_MAX_ARMS - 1);
	items.v = plan->variants = xcalloc(size, sizeof(blank));
	if (read_items(r, array, path, &items, &plan->n_variants) != 0)
		return -1;
	size_t n_controls = array_count(v, plan->variants, size, v->control);
	size_t control = index_of(i, size, plan->variants[i].control);
	if (n_controls != 1)
		return json_refuse(r, path,
				   "expected exactly one with \"control\": true, found %zu",
				   n_controls);
	/* The control moves to the front; the others keep their order. */
	const struct plan_variant first = plan->variants[control];
	memmove(&plan->variants[1], &plan->variants[0], control * sizeof(first));
	plan->variants[0] = first;
	return 0;
}

static int read_pods(const struct json_reader *r, const cJSON *array, const char *path, void *to)
{
	static const struct plan_pod blank = { .usd_per_h = (double)NAN };
	size_t size = (size_t)cJSON_GetArraySize(array);
	struct items items = { pod_keys, &blank, sizeof(blank), NULL };
	struct plan *plan = to;
	char at[64];

	if (size < 1 || size > PLAN_MAX_PODS)
		return json_refuse(r, path, "expected 1 to %d pods", PLAN_MAX_PODS);
	items.v = plan->pods = xcalloc(size, sizeof(blank));
	if (read_items(r, array, path, &items, &plan->n_pods) != 0)
		return -1;
	/* GPUs are locked in this order, so that two benches that lock several cannot deadlock. */
	for (size_t i = 0; i < size; i++)
		for (size_t k = 1; k < plan->pods[i].gpus.n; k++)
			if (plan->pods[i].gpus.v[k - 1] > plan->pods[i].gpus.v[k]) {
				print_into(at, "%s[%zu].gpus", path, i);
				return json_refuse(r, at, "expected ascending order");
			}
	return 0;
}

#define OBJECT(name_, fields_, take_, required)                                                    \
	{                                                                                          \
		.name = (name_), .kind = JSON_AS_OBJECT, .types = (required), .fields = (fields_), \
		.take = (take_)                                                                    \
	}

/* Keys are read in this order: a check may depend on the keys above it. */
static const struct json_field top_keys[] = {
	{ "schema", JSON_AS_FIXED, REQUIRED, WORDS(PLAN_SCHEMA) },
	KEY("name", TEXT, name, REQUIRED, .is_right = plan_is_name, .what = PLAN_NAME_WORDS),
	KEY("note", TEXT, note),
	KEY("seed", INTEGER, seed, RANGE(0, MAX_SEED)),
	OBJECT("workload", workload_keys, check_workload, JSON_REQUIRED),
	OBJECT("metric", metric_keys, check_metric, JSON_REQUIRED),
	{ "variants", JSON_AS_OTHER, .types = JSON_ARRAY | JSON_REQUIRED, .take = read_variants },
	{ "pods", JSON_AS_OTHER, .types = JSON_ARRAY | JSON_REQUIRED, .take = read_pods },
	OBJECT("design", design_keys, check_design, JSON_NULL),
	OBJECT("decision", decision_keys, check_decision, JSON_NULL),
	OBJECT("guards", guards_keys, NULL, JSON_NULL),
	OBJECT("budget", budget_keys, NULL, JSON_NULL),
	END,
};

static const struct plan plan_defaults = {
	.seed = 42,
	.rule = JUDGE_RULE_DEFAULT,
	.timeout_s = 3600,
	.seconds = 2,
	.blocks = 6,
	.reps = 1,
	.burn_in = 1,
	.aa = true,
	.gap_s = (double)NAN,
	.min_blocks = VERDICT_MIN_BLOCKS,
	.early = LOOKS_OBRIEN,
	.refuse_foreign = true,
	.throttle_drops = true,
	.usd = (double)NAN,
	.minutes = (double)NAN,
};

/* What an arm may change depends on the kind of the workload. */
static int check_arms(const struct json_reader *r, const struct plan *plan)
{
	char at[64];

	array_each (v, plan->variants, plan->n_variants) {
		print_into(at, "variants.%s", v->tag);
		if (plan->kernel && v->command != NULL)
			return json_refuse(r, at,
					   "\"command\" is not allowed with \"kind\": \"kernel\"");
		if (!plan->kernel && v->launch != NULL)
			return json_refuse(r, at,
					   "\"launch\" is only allowed with \"kind\": \"kernel\"");
	}
	if (plan->kernel && bench_metric_find(plan->key)->kind != RUN_LOG_SCORE)
		return json_refuse(r, "metric.key",
				   "expected us, the time of one call, with \"kind\": \"kernel\"");
	/* The control alone is compared with itself: an audit. */
	if (plan->n_variants < 2 && !plan->aa)
		return json_refuse(r, "variants",
				   "expected 2 to %d variants; to audit the control alone, set "
				   "\"aa\": true",
				   SCHEDULE_MAX_ARMS - 1);
	return 0;
}

int plan_parse(struct plan *plan, const char *file, struct str text, struct err *err)
{
	struct json_reader r = { .at.code = ERR_CONFIG, .err = err, .nulls = true };
	struct sha256 sha;

	*plan = plan_defaults;
	plan->file = xstrdup(file);
	sha256_init(&sha);
	sha256_update(&sha, text.p, text.len);
	sha256_hex(&sha, plan->sha256);
	sha256_release(&sha);
	if (json_read_text(&r, file, text, top_keys, plan) != 0 || check_arms(&r, plan) != 0) {
		plan_release(plan);
		return -1;
	}
	if (plan->log == NULL)
		plan->log = xstrdup(plan->kernel ? "kernel.out" : "train.out");
	if (plan->kernel)
		plan->command = kernel_command(plan);
	return 0;
}

int plan_load(struct plan *plan, const char *path, struct err *err)
{
	AUTO_BUF text = buf_new(MAX_TEXT);

	if (file_read(path, &text, err) == 0)
		return plan_parse(plan, path, buf_str(&text), err);
	if (err != NULL)
		err->code = ERR_CONFIG;
	return -1;
}

static void free_env(struct plan_env *env)
{
	for (size_t i = 0; i < env->n; i++) {
		free(env->v[i].name);
		free(env->v[i].value);
	}
	free(env->v);
}

void plan_release(struct plan *plan)
{
	array_each (v, plan->variants, plan->n_variants) {
		array_each (file, v->files.v, v->files.n) {
			free(file->path);
			free(file->from);
			free(file->overlay);
		}
		free_env(&v->env);
		free(v->launch);
		json_release_object(variant_keys, v);
	}
	for (size_t i = 0; i < plan->n_pods; i++)
		json_release_object(pod_keys, &plan->pods[i]);
	json_release_object(top_keys, plan);
	free_env(&plan->env);
	free(plan->variants);
	free(plan->pods);
	free(plan->file);
	*plan = (struct plan){ 0 };
}

size_t plan_n_unpriced(const struct plan *plan)
{
	return array_count(pod, plan->pods, plan->n_pods, isnan(pod->usd_per_h));
}

double plan_usd_per_h(const struct plan *plan)
{
	double sum = 0.0;

	array_each (pod, plan->pods, plan->n_pods)
		sum += isnan(pod->usd_per_h) ? 0.0 : pod->usd_per_h;
	return sum;
}

size_t plan_n_arms(const struct plan *plan)
{
	return plan->n_variants + (plan->aa ? 1 : 0);
}

const struct plan_variant *plan_arm(const struct plan *plan, size_t arm)
{
	return &plan->variants[arm < plan->n_variants ? arm : 0];
}

void plan_arm_tag(const struct plan *plan, size_t arm, char out[PLAN_TAG_SIZE])
{
	(void)snprintf(out, PLAN_TAG_SIZE, "%s%s", plan_arm(plan, arm)->tag,
		       arm >= plan->n_variants ? "~aa" : "");
}

struct looks plan_looks(const struct plan *plan)
{
	return (struct looks){ plan->early, plan->min_blocks, plan->blocks * plan->n_pods };
}

size_t plan_n_rounds(const struct plan *plan)
{
	return plan->burn_in + (plan->blocks + plan->confirm) * plan->reps;
}

size_t plan_n_runs(const struct plan *plan)
{
	size_t fresh = plan->confirm * plan->reps;
	size_t arms = plan->n_variants < 3 ? plan->n_variants : 3;

	return plan->n_pods * ((plan_n_rounds(plan) - fresh) * plan_n_arms(plan) + fresh * arms);
}

unsigned char *plan_schedule(const struct plan *plan, size_t pod)
{
	size_t n_arms = plan_n_arms(plan);
	unsigned char *order = xcalloc(plan_n_rounds(plan), n_arms);
	uint64_t state = plan->seed + pod; /* each pod has its own order */

	for (size_t i = 0; i < plan->burn_in * n_arms; i++)
		order[i] = (unsigned char)(i % n_arms);
	schedule_fill(order + plan->burn_in * n_arms, n_arms, plan_n_rounds(plan) - plan->burn_in,
		      splitmix64_next(&state));
	return order;
}

const char *plan_output(const struct plan *plan)
{
	return plan->kernel ? "process.out" : plan->log;
}

void plan_gpus_text(const struct plan_gpus *gpus, const char *glue, struct buf *out)
{
	for (size_t i = 0; i < gpus->n; i++)
		buf_appendf(out, "%s%d", i > 0 ? glue : "", gpus->v[i]);
}

bool plan_needs_copies(const struct plan *plan)
{
	return any_of(i, plan->n_variants,
		      plan->variants[i].patch != NULL || plan->variants[i].files.n > 0);
}

static void append_env(struct buf *out, const struct plan_env *env)
{
	for (size_t i = 0; i < env->n; i++) {
		buf_appendf(out, "%s=", env->v[i].name);
		quote_word(out, str_from(env->v[i].value));
		buf_append_char(out, ' ');
	}
}

double plan_usual_gap_s(const struct plan *plan)
{
	return isnan(plan->gap_s) ? PLAN_GAP_S : plan->gap_s;
}

/* Append a shell command that runs `command` with the environment of an arm on a pod. */
static void append_command(const struct plan *plan, size_t arm, size_t pod, const char *command,
			   struct buf *out)
{
	const struct plan_variant *v = plan_arm(plan, arm);
	const struct plan_pod *p = &plan->pods[pod];

	/* Unbuffered, rows reach the log when they are printed.  The plan may override this. */
	buf_append_str(out, "env PYTHONUNBUFFERED=1 ");
	if (p->gpus.n > 0) {
		buf_append_str(out, "CUDA_VISIBLE_DEVICES=");
		plan_gpus_text(&p->gpus, ",", out);
		buf_append_char(out, ' ');
	}
	append_env(out, &plan->env);
	if (!plan->kernel)
		append_env(out, &v->env);
	buf_append_str(out, "sh -c ");
	quote_word(out, str_from(command));
}

void plan_command(const struct plan *plan, size_t arm, size_t pod, struct buf *out)
{
	const struct plan_variant *v = plan_arm(plan, arm);

	append_command(plan, arm, pod, v->command != NULL ? v->command : plan->command, out);
}

void plan_prepare_command(const struct plan *plan, size_t arm, size_t pod, struct buf *out)
{
	if (plan->prepare != NULL)
		append_command(plan, arm, pod, plan->prepare, out);
}
