/* SPDX-License-Identifier: MIT */
/* bench.json made by the program: audits of pods, the form of the dashboard,
 * and the best of a HarnessGym run. */
#include "config.h"

#include "bench/make.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quote.h"
#include "base/xalloc.h"
#include "bench/plan.h"

#define AUDIT_BLOCKS  6
#define PROBE_MINUTES 30
/* There on every pod, and without sources that could change meanwhile. */
#define PROBE_FOLDER "/proc/sys/kernel"

/*
 * A few seconds of work each, timed by the pod's own clock, on what is there;
 * no file is written.  The GPU's is the median of 60 rounds of 50 products.
 */
static const char probe_cpu[] =
	"now() { case $(date +%N) in [0-9]*) date +%s%N ;; "
	"*) echo \"$(cut -d' ' -f1 /proc/uptime | tr -d .)0000000\" ;; "
	"esac; }\n"
	"a=$(now)\n"
	"awk 'BEGIN { for (i = 0; i < 20000000; i++) "
	"x = (x * 69069 + 1) % 4294967296; exit !(x >= 0) }' || exit 1\n"
	"b=$(now)\n"
	"awk -v ns=\"$((b - a))\" 'BEGIN { printf "
	"\"{\\\"status\\\": \\\"passed\\\", \\\"mode\\\": \\\"probe-cpu\\\", "
	"\\\"probe_ms\\\": %.3f}\\n\", ns / 1e6 }'";

static const char probe_gpu[] =
	"exec python3 -c '\n"
	"import json, statistics, torch\n"
	"x = torch.randn(8192, 8192, device=\"cuda\", dtype=torch.bfloat16)\n"
	"y = torch.randn(8192, 8192, device=\"cuda\", dtype=torch.bfloat16)\n"
	"out = torch.empty_like(x)\n"
	"def once(n):\n"
	"    a = torch.cuda.Event(enable_timing=True)\n"
	"    b = torch.cuda.Event(enable_timing=True)\n"
	"    a.record()\n"
	"    for _ in range(n):\n"
	"        torch.matmul(x, y, out=out)\n"
	"    b.record()\n"
	"    torch.cuda.synchronize()\n"
	"    return a.elapsed_time(b) / n\n"
	"once(200)\n"
	"times = [once(50) for _ in range(60)]\n"
	"print(json.dumps({\"status\": \"passed\", \"mode\": \"probe-gpu\", "
	"\"device\": torch.cuda.get_device_name(), \"torch\": "
	"torch.__version__, \"probe_ms\": statistics.median(times), "
	"\"best_ms\": min(times)}))\n"
	"'";

static const struct {
	const char *name, *command, *what;
} probes[] = {
	[PROBE_CPU] = { "cpu", probe_cpu,
			"the probe is a loop of awk on one core of the host: "
			"it tells of the host's CPU and its neighbours, "
			"nothing of a GPU" },
	[PROBE_GPU] = { "gpu", probe_gpu,
			"the probe is 8192 x 8192 products in bfloat16 by "
			"torch on the first GPU: it tells of that GPU's clock "
			"under load, not of memory, launches or the host" },
};

const char *
bench_probe_what(enum bench_probe probe)
{
	return probes[probe].what;
}

bool
bench_probe_needs_torch(const char *command)
{
	return strcmp(command, probe_gpu) == 0;
}

/* The next name of a list, owned; NULL: no more. */
static char *
next_name(struct str *rest)
{
	struct str name;

	while (rest->len > 0) {
		size_t n = 0;

		while (n < rest->len && rest->p[n] != ',' && rest->p[n] != '\n')
			n++;
		name = str_trim((struct str){ rest->p, n });
		n += n < rest->len ? 1 : 0;
		rest->p += n;
		rest->len -= n;
		if (name.len > 0)
			return xstrndup(name.p, name.len);
	}
	return NULL;
}

enum bench_probe
bench_probe_of(const struct conf *conf, const char *pods)
{
	struct str rest = str_from(pods);
	char *name;
	bool all = true;

	while ((name = next_name(&rest)) != NULL) {
		int i = conf_find_pod(conf, name);

		all &= i >= 0 && conf->pods[i].n_gpus > 0;
		free(name);
	}
	return all ? PROBE_GPU : PROBE_CPU;
}

cJSON *
bench_make_pod(const struct conf *conf, const char *name, struct err *err)
{
	int i = conf_find_pod(conf, name);
	const struct conf_pod *pod = i >= 0 ? &conf->pods[i] : NULL;
	cJSON *node, *gpus;

	if (pod == NULL && strchr(name, '@') != NULL) {
		const char *host = strchr(name, '@') + 1;
		AUTO_TEXT id = xstrndup(host, strcspn(host, ":"));

		node = cJSON_CreateObject();
		json_add(node, JTEXT("id", id), JTEXT("ssh", name));
		return node;
	}
	if (pod == NULL && strcmp(name, MAKE_LOCAL) == 0) {
		node = cJSON_CreateObject();
		json_add(node, JTEXT("id", name), JTEXT("transport", "local"));
		return node;
	}
	if (pod == NULL) {
		err_set(err, ERR_CONFIG,
			"the configuration has no pod \"%s\" (see hgym-tui "
			"pods)",
			name);
		return NULL;
	}
	/* How to reach it is read from the configuration by its name. */
	node = cJSON_CreateObject();
	json_add_string(node, "id", pod->name);
	if (pod->remote_root != NULL)
		json_add_string(node, "root", pod->remote_root);
	if (pod->n_gpus > 0) {
		gpus = cJSON_AddArrayToObject(node, "gpus");
		for (size_t k = 0; k < pod->n_gpus; k++)
			cJSON_AddItemToArray(gpus,
					     cJSON_CreateNumber(pod->gpus[k]));
	}
	if (!isnan(pod->usd_per_hour))
		json_add_number(node, "usd_per_h", pod->usd_per_hour);
	return node;
}

/* The pod as the definition has it, else as the configuration has it. */
static cJSON *
find_pod(const cJSON *definition, const char *name, const struct conf *conf,
	 struct err *err)
{
	const cJSON *all = json_get(definition, "pods");

	json_each (pod, all) {
		if (strcmp(json_get_string(pod, "id", ""), name) == 0)
			return cJSON_Duplicate(pod, true);
	}
	return bench_make_pod(conf, name, err);
}

cJSON *
bench_make_pods(const cJSON *definition, const char *names,
		const struct conf *conf, struct err *err)
{
	cJSON *array = cJSON_CreateArray();
	struct str rest = str_from(names);
	char *name;

	while (array != NULL && (name = next_name(&rest)) != NULL) {
		cJSON *pod = find_pod(definition, name, conf, err);

		free(name);
		if (pod == NULL) {
			cJSON_Delete(array);
			return NULL;
		}
		cJSON_AddItemToArray(array, pod);
	}
	if (cJSON_GetArraySize(array) > 0)
		return array;
	cJSON_Delete(array);
	err_set(err, ERR_USAGE, "no pod is named");
	return NULL;
}

/* A path below folder, unless it is absolute already. */
static void
make_absolute(cJSON *text, const char *folder)
{
	AUTO_TEXT path = NULL;

	if (!cJSON_IsString(text) || text->valuestring[0] == '/')
		return;
	path = xasprintf("%s/%s", folder, text->valuestring);
	(void)cJSON_SetValuestring(text, path);
}

void
bench_make_absolute(cJSON *definition, const char *folder)
{
	cJSON *v, *file;

	cJSON_ArrayForEach(v, json_get(definition, "variants"))
	{
		make_absolute(cJSON_GetObjectItemCaseSensitive(v, "patch"),
			      folder);
		cJSON_ArrayForEach(file, json_get(v, "files"))
			make_absolute(file, folder);
	}
}

/* The variant that is audited, as the control. */
static cJSON *
find_variant(const struct bench_audit *audit, struct err *err)
{
	cJSON *copy;

	json_each (v, json_get(audit->definition, "variants")) {
		if (audit->variant != NULL
			    ? strcmp(json_get_string(v, "tag", ""),
				     audit->variant) != 0
			    : !json_get_bool(v, "control", false))
			continue;
		copy = cJSON_Duplicate(v, true);
		cJSON_DeleteItemFromObjectCaseSensitive(copy, "control");
		cJSON_AddBoolToObject(copy, "control", true);
		return copy;
	}
	err_set(err, ERR_USAGE, "the bench has no variant \"%s\"",
		audit->variant != NULL ? audit->variant : "(control)");
	return NULL;
}

static cJSON *
make_probe(const struct bench_audit *audit)
{
	cJSON *root = cJSON_CreateObject(), *node, *array;

	json_add(root, JTEXT("schema", PLAN_SCHEMA), JTEXT("name", "audit"));
	node = cJSON_AddObjectToObject(root, "workload");
	json_add(node, JTEXT("cwd", PROBE_FOLDER),
		 JTEXT("command", probes[audit->probe].command),
		 JTEXT("log", "probe.out"), JNUM("timeout_s", 300));
	node = cJSON_AddObjectToObject(root, "metric");
	json_add(node, JTEXT("parser", "json"), JTEXT("key", "probe_ms"),
		 JTEXT("direction", "lower"));
	array = cJSON_AddArrayToObject(root, "variants");
	node = cJSON_CreateObject();
	json_add(node, JTEXT("tag", probes[audit->probe].name),
		 JBOOL("control", true),
		 JTEXT("noise_class",
		       audit->probe == PROBE_GPU ? "probe-gpu" : "probe-cpu"));
	cJSON_AddItemToArray(array, node);
	node = cJSON_AddObjectToObject(root, "design");
	cJSON_AddNumberToObject(node, "gap_s", 1);
	/* A pod that cannot be reached is not tried for ever. */
	node = cJSON_AddObjectToObject(root, "budget");
	cJSON_AddNumberToObject(node, "minutes", PROBE_MINUTES);
	return root;
}

/* A member of root that is an object; made where it is not there. */
static cJSON *
part_of(cJSON *root, const char *key)
{
	cJSON *node = cJSON_GetObjectItemCaseSensitive(root, key);

	if (cJSON_IsObject(node))
		return node;
	cJSON_DeleteItemFromObjectCaseSensitive(root, key);
	return cJSON_AddObjectToObject(root, key);
}

static void
set(cJSON *object, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddItemToObject(object, key, value);
}

static void
set_list(cJSON *object, const char *key, cJSON *item)
{
	cJSON *array = cJSON_CreateArray();

	cJSON_AddItemToArray(array, item);
	set(object, key, array);
}

/* "audit-<name>", cut to what a name may be. */
static void
set_name(cJSON *root)
{
	const char *name = json_get_string(root, "name", "audit");
	char text[41];

	(void)snprintf(text, sizeof(text), "%s%.34s",
		       strcmp(name, "audit") == 0 ? "" : "audit-", name);
	set(root, "name", cJSON_CreateString(text));
}

cJSON *
bench_make_audit(const struct bench_audit *audit, const struct conf *conf,
		 struct err *err)
{
	cJSON *root = audit->definition != NULL
			      ? cJSON_Duplicate(audit->definition, true)
			      : make_probe(audit);
	cJSON *pods, *variant = NULL, *design;

	pods = bench_make_pods(audit->definition, audit->pods, conf, err);
	if (pods != NULL && audit->definition != NULL)
		variant = find_variant(audit, err);
	if (pods == NULL || (audit->definition != NULL && variant == NULL)) {
		cJSON_Delete(pods);
		cJSON_Delete(root);
		return NULL;
	}
	set(root, "pods", pods);
	if (variant != NULL)
		set_list(root, "variants", variant);
	set_name(root);
	design = part_of(root, "design");
	set(design, "aa", cJSON_CreateBool(true));
	set(design, "blocks_per_pod",
	    cJSON_CreateNumber(isnan(audit->blocks) ? AUDIT_BLOCKS
						    : audit->blocks));
	set(part_of(root, "decision"), "early", cJSON_CreateString("none"));
	if (!isnan(audit->minutes))
		set(part_of(root, "budget"), "minutes",
		    cJSON_CreateNumber(audit->minutes));
	return root;
}

static const char *
text_of(const cJSON *form, const char *key)
{
	return json_get_string(form, key, "");
}

/* "NAME=value NAME='two words'": a word as a shell would take it. */
static char *
next_word(struct str *rest)
{
	AUTO_BUF word = buf_new(65536);
	char quote = '\0';

	while (rest->len > 0 && isspace((unsigned char)rest->p[0])) {
		rest->p++;
		rest->len--;
	}
	if (rest->len == 0)
		return NULL;
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
	return word.len > 0 ? buf_detach(&word) : xstrdup("");
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
			AUTO_TEXT command = NULL;

			rest = str_trim(rest);
			command = xstrndup(rest.p, rest.len);
			json_add_string(v, "command", command);
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

int
bench_make_window(cJSON *metric, const char *text, struct err *err)
{
	cJSON *node = cJSON_AddObjectToObject(metric, "window");
	struct str window = str_trim(str_from(text)), lo;
	double low, high;

	if (str_eq_cstr(window, "auto")) {
		json_add_string(node, "mode", "auto");
		return 0;
	}
	if (!str_next(&window, ':', &lo) || !str_to_double(lo, &low) ||
	    !str_to_double(window, &high))
		return err_set(err, ERR_USAGE,
			       "window: expected first:last step, or auto");
	json_add(node, JTEXT("mode", "fixed"), JNUM("lo", low),
		 JNUM("hi", high));
	return 0;
}

/* "step_ms", "best_us lower"; and the window "20:100" or "auto". */
static int
add_metric(cJSON *root, const cJSON *form, struct err *err)
{
	struct str rest = str_from(text_of(form, "metric"));
	const char *window = text_of(form, "window");
	cJSON *metric = cJSON_AddObjectToObject(root, "metric");
	AUTO_TEXT key = next_word(&rest);
	AUTO_TEXT way = next_word(&rest);

	json_add_string(metric, "key", key != NULL ? key : "step_ms");
	if (way != NULL)
		json_add_string(metric, "direction", way);
	return str_trim(str_from(window)).len > 0
		       ? bench_make_window(metric, window, err)
		       : 0;
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

	json_add(root, JTEXT("schema", PLAN_SCHEMA),
		 JTEXT("name", text_of(form, "name")));
	node = cJSON_AddObjectToObject(root, "workload");
	json_add(node, JTEXT("cwd", text_of(form, "folder")),
		 JTEXT("command", text_of(form, "command")));
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

#define COMMAND_MAX 65536U
#define NAME_MAX_   40U
#define ROUNDS	    6
#define TIMEOUT_S   240.0
/* HarnessGym's own sender clears its folder on the pod: take another one. */
#define OWN_FOLDER "_hgym_ab"

/* Letters, digits, _ . - of text, as a bench's name. */
static void
add_name(struct buf *out, const char *text)
{
	for (size_t i = 0; text[i] != '\0' && out->len < NAME_MAX_ - 3; i++)
		buf_append_char(out, isalnum((unsigned char)text[i]) ||
						     strchr("_.-", text[i])
					     ? text[i]
					     : '_');
}

/*
 * The run's measuring command; where it sends the workspace to a pod, into a
 * folder of the bench's own there.
 */
static void
add_measure(struct buf *out, const char *command)
{
	const char *flag = strstr(command, "remote_h100.py") != NULL
				   ? strstr(command, "--workspace")
				   : NULL;
	size_t n;

	if (flag == NULL) {
		buf_append_str(out, command);
		return;
	}
	n = (size_t)(flag - command) + strlen("--workspace");
	n += strspn(command + n, " =");
	n += strcspn(command + n, " ");
	buf_append(out, command, n);
	buf_append_str(out, OWN_FOLDER);
	buf_append_str(out, command + n);
}

/* Copy source, hold the judges against the workspace's, measure there. */
static void
add_command(struct buf *out, const struct harness_ab *ab, const char *source)
{
	AUTO_BUF measure = buf_new(COMMAND_MAX);

	add_measure(&measure, ab->run->command);
	buf_append_str(out, "d=$(mktemp -d) && trap 'rm -rf \"$d\"' EXIT && "
			    "trap 'exit 143' HUP INT TERM && "
			    "tar -C ");
	quote_word(out, str_from(source));
	buf_append_str(out, " --exclude=./.harnessgym --exclude=./.git -cf - . "
			    "| tar -C \"$d\" -xf - && w=");
	quote_word(out, str_from(ab->workspace));
	buf_append_str(out, " && for f in benchmark.py verifier.py; do "
			    "[ ! -e \"$w/$f\" ] || cmp \"$w/$f\" \"$d/$f\" || "
			    "exit 9; done && cd \"$d\" && sh -c ");
	quote_word(out, str_from(measure.data));
}

static void
add_variant(cJSON *variants, const struct harness_ab *ab, const char *tag,
	    const char *source)
{
	cJSON *variant = cJSON_CreateObject();
	AUTO_BUF command = buf_new(COMMAND_MAX);

	add_command(&command, ab, source);
	json_add_string(variant, "tag", tag);
	if (variants->child == NULL)
		cJSON_AddBoolToObject(variant, "control", true);
	json_add_string(variant, "command", command.data);
	cJSON_AddItemToArray(variants, variant);
}

static void
add_workload(cJSON *object, const struct harness_ab *ab)
{
	cJSON *workload = cJSON_AddObjectToObject(object, "workload");
	struct harness_number limit = ab->run->post_s;

	json_add(workload, JTEXT("cwd", ab->workspace),
		 JTEXT("command", ab->run->command),
		 JTEXT("log", "verifier.out"),
		 JNUM("timeout_s", harness_is_finite(limit) && limit.value >= 1
					   ? limit.value
					   : TIMEOUT_S));
}

static cJSON *
make_plan(const struct harness_ab *ab)
{
	cJSON *object = cJSON_CreateObject(), *node;
	AUTO_BUF text = buf_new(COMMAND_MAX);

	json_add_string(object, "schema", PLAN_SCHEMA);
	add_name(&text, ab->run->id);
	buf_append_str(&text, "-ab");
	json_add_string(object, "name", text.data);
	add_workload(object, ab);
	node = cJSON_AddObjectToObject(object, "metric");
	json_add(node, JTEXT("parser", "json"),
		 JTEXT("key", ab->run->post_score_key),
		 JTEXT("direction", ab->run->higher_is_better == HARNESS_YES
					    ? "higher"
					    : "lower"));
	node = cJSON_AddArrayToObject(object, "variants");
	buf_clear(&text);
	buf_appendf(&text, "%s/.harnessgym/runs/%s/checkpoints/best",
		    ab->workspace, ab->run->dir);
	add_variant(node, ab, "checkpoint", text.data);
	add_variant(node, ab, "workspace", ab->workspace);
	node = cJSON_CreateObject();
	json_add_string(node, "id", ab->pod != NULL ? ab->pod : "here");
	if (ab->pod == NULL)
		json_add_string(node, "transport", "local");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(object, "pods"), node);
	node = cJSON_AddObjectToObject(object, "design");
	cJSON_AddNumberToObject(node, "blocks_per_pod", ROUNDS);
	cJSON_AddNumberToObject(node, "burn_in", 1);
	cJSON_AddBoolToObject(node, "aa", true);
	return object;
}

static int
check(const struct harness_ab *ab, struct err *err)
{
	const struct harness_run *run = ab->run;

	if (!run->checkpoint.present)
		return err_set(err, ERR_NODATA,
			       "run %s has no checkpoint to compare with",
			       run->id);
	if (run->command == NULL || run->post_score_key == NULL ||
	    run->higher_is_better == HARNESS_UNKNOWN)
		return err_set(err, ERR_NODATA,
			       "run %s has no command that measures a score",
			       run->id);
	if (ab->workspace[0] != '/')
		return err_set(err, ERR_USAGE,
			       "--ab: name the workspace by its absolute path");
	return 0;
}

cJSON *
harness_ab_json(const struct harness_ab *ab, struct err *err)
{
	struct plan plan;
	AUTO_BUF text = buf_new(COMMAND_MAX * 4);
	cJSON *object;

	if (check(ab, err) != 0)
		return NULL;
	object = make_plan(ab);
	json_print(&text, object);
	if (plan_parse(&plan, "bench.json", buf_str(&text), err) != 0) {
		cJSON_Delete(object);
		object = NULL;
	} else {
		plan_release(&plan);
	}
	return object;
}
