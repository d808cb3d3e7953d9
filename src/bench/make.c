/* SPDX-License-Identifier: MIT */
/* bench.json made by the program: audits of pods, the form of the dashboard,
 * and the best of a HarnessGym run. */
#include "bench/make.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quote.h"
#include "base/utf8.h"
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

const char *bench_probe_what(enum bench_probe probe)
{
	return probes[probe].what;
}

bool bench_probe_needs_torch(const char *command)
{
	return strcmp(command, probe_gpu) == 0;
}

/* The next name of a list, owned; NULL: no more. */
static char *next_name(struct str *rest)
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

enum bench_probe bench_probe_of(const struct conf *conf, const char *pods)
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

cJSON *bench_make_pod(const struct conf *conf, const char *name, struct err *err)
{
	int i = conf_find_pod(conf, name);
	const struct conf_pod *pod = i >= 0 ? &conf->pods[i] : NULL;

	if (pod == NULL && strchr(name, '@') != NULL) {
		const char *host = strchr(name, '@') + 1;
		AUTO_TEXT id = xstrndup(host, strcspn(host, ":"));

		return json_new(JTEXT("id", id), JTEXT("ssh", name));
	}
	if (pod == NULL && strcmp(name, MAKE_LOCAL) == 0)
		return json_new(JTEXT("id", name), JTEXT("transport", "local"));
	if (pod == NULL) {
		err_set(err, ERR_CONFIG,
			"the configuration has no pod \"%s\" (see hgym-tui "
			"pods)",
			name);
		return NULL;
	}
	/* How to reach it is read from the configuration by its name. */
	cJSON *node = json_new(JTEXT("id", pod->name));
	if (pod->remote_root != NULL)
		json_add_string(node, "root", pod->remote_root);
	if (pod->n_gpus > 0)
		cJSON_AddItemToObject(node, "gpus",
				      cJSON_CreateIntArray(pod->gpus, (int)pod->n_gpus));
	if (!isnan(pod->usd_per_hour))
		json_add_number(node, "usd_per_h", pod->usd_per_hour);
	return node;
}

/* The pod as the definition has it, else as the configuration has it. */
static cJSON *find_pod(const cJSON *definition, const char *name, const struct conf *conf,
		       struct err *err)
{
	const cJSON *all = json_get(definition, "pods");

	json_each (pod, all) {
		if (strcmp(json_get_string(pod, "id", ""), name) == 0)
			return cJSON_Duplicate(pod, true);
	}
	return bench_make_pod(conf, name, err);
}

cJSON *bench_make_pods(const cJSON *definition, const char *names, const struct conf *conf,
		       struct err *err)
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
static void make_absolute(cJSON *text, const char *folder)
{
	AUTO_TEXT path = NULL;

	if (!cJSON_IsString(text) || text->valuestring[0] == '/')
		return;
	path = xasprintf("%s/%s", folder, text->valuestring);
	(void)cJSON_SetValuestring(text, path);
}

void bench_make_absolute(cJSON *definition, const char *folder)
{
	cJSON *v, *file;

	cJSON_ArrayForEach(v, json_get(definition, "variants"))
	{
		make_absolute(cJSON_GetObjectItemCaseSensitive(v, "patch"), folder);
		cJSON_ArrayForEach(file, json_get(v, "files")) make_absolute(file, folder);
	}
}

/* The variant that is audited, as the control. */
static cJSON *find_variant(const struct bench_audit *audit, struct err *err)
{
	cJSON *copy;

	json_each (v, json_get(audit->definition, "variants")) {
		if (audit->variant != NULL
			    ? strcmp(json_get_string(v, "tag", ""), audit->variant) != 0
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

static cJSON *make_probe(const struct bench_audit *audit)
{
	return json_new(
		JTEXT("schema", PLAN_SCHEMA), JTEXT("name", "audit"),
		JNODE("workload", json_new(JTEXT("cwd", PROBE_FOLDER),
					   JTEXT("command", probes[audit->probe].command),
					   JTEXT("log", "probe.out"), JNUM("timeout_s", 300))),
		JNODE("metric", json_new(JTEXT("parser", "json"), JTEXT("key", "probe_ms"),
					 JTEXT("direction", "lower"))),
		JNODE("variants",
		      json_list_of(json_new(
			      JTEXT("tag", probes[audit->probe].name), JBOOL("control", true),
			      JTEXT("noise_class",
				    audit->probe == PROBE_GPU ? "probe-gpu" : "probe-cpu")))),
		JNODE("design", json_new(JNUM("gap_s", 1))),
		/* A pod that cannot be reached is not tried for ever. */
		JNODE("budget", json_new(JNUM("minutes", PROBE_MINUTES))));
}

/* A member of root that is an object; made where it is not there. */
static cJSON *part_of(cJSON *root, const char *key)
{
	cJSON *node = cJSON_GetObjectItemCaseSensitive(root, key);

	if (cJSON_IsObject(node))
		return node;
	cJSON_DeleteItemFromObjectCaseSensitive(root, key);
	return cJSON_AddObjectToObject(root, key);
}

static void set(cJSON *object, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddItemToObject(object, key, value);
}

/* "audit-<name>", cut to what a name may be. */
static void set_name(cJSON *root)
{
	const char *name = json_get_string(root, "name", "audit");
	char text[41];

	print_into(text, "%s%.34s", strcmp(name, "audit") == 0 ? "" : "audit-", name);
	set(root, "name", cJSON_CreateString(text));
}

cJSON *bench_make_audit(const struct bench_audit *audit, const struct conf *conf, struct err *err)
{
	cJSON *root = audit->definition != NULL ? cJSON_Duplicate(audit->definition, true)
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
		set(root, "variants", json_list_of(variant));
	set_name(root);
	design = part_of(root, "design");
	set(design, "aa", cJSON_CreateBool(true));
	set(design, "blocks_per_pod",
	    cJSON_CreateNumber(isnan(audit->blocks) ? AUDIT_BLOCKS : audit->blocks));
	set(part_of(root, "decision"), "early", cJSON_CreateString("none"));
	if (!isnan(audit->minutes))
		set(part_of(root, "budget"), "minutes", cJSON_CreateNumber(audit->minutes));
	return root;
}

static const char *text_of(const cJSON *form, const char *key)
{
	return json_get_string(form, key, "");
}

/* "NAME=value NAME='two words'": a word as a shell would take it. */
static char *next_word(struct str *rest)
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
static cJSON *make_variant(const char *text, bool control, struct err *err)
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

static int add_variants(cJSON *root, const cJSON *form, struct err *err)
{
	static const char *const keys[] = { "control", "variant", "variant2" };
	cJSON *array = cJSON_AddArrayToObject(root, "variants");

	for (size_t i = 0; i < LENGTH(keys); i++) {
		const char *text = text_of(form, keys[i]);

		if (str_trim(str_from(text)).len == 0)
			continue;
		cJSON *v = make_variant(text, i == 0, err);
		if (v == NULL)
			return -1;
		cJSON_AddItemToArray(array, v);
	}
	return 0;
}

int bench_make_window(cJSON *metric, const char *text, struct err *err)
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
		return err_set(err, ERR_USAGE, "window: expected first:last step, or auto");
	json_add(node, JTEXT("mode", "fixed"), JNUM("lo", low), JNUM("hi", high));
	return 0;
}

/* "step_ms", "best_us lower"; and the window "20:100" or "auto". */
static int add_metric(cJSON *root, const cJSON *form, struct err *err)
{
	struct str rest = str_from(text_of(form, "metric"));
	const char *window = text_of(form, "window");
	cJSON *metric = cJSON_AddObjectToObject(root, "metric");
	AUTO_TEXT key = next_word(&rest);
	AUTO_TEXT way = next_word(&rest);

	json_add_string(metric, "key", key != NULL ? key : "step_ms");
	if (way != NULL)
		json_add_string(metric, "direction", way);
	return str_trim(str_from(window)).len > 0 ? bench_make_window(metric, window, err) : 0;
}

/* A number of the form into an object, where there is one. */
static int add_number(cJSON *object, const char *key, const cJSON *form, const char *field,
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

static int fill(cJSON *root, const cJSON *form, const struct conf *conf, struct err *err)
{
	json_add(root, JTEXT("schema", PLAN_SCHEMA), JTEXT("name", text_of(form, "name")));
	cJSON *node = cJSON_AddObjectToObject(root, "workload");
	json_add(node, JTEXT("cwd", text_of(form, "folder")),
		 JTEXT("command", text_of(form, "command")));
	if (text_of(form, "folder")[0] == '\0')
		return err_set(err, ERR_USAGE, "folder: where the command runs on the pods");
	if (text_of(form, "command")[0] == '\0')
		return err_set(err, ERR_USAGE, "command: what runs there");
	if (add_metric(root, form, err) != 0 || add_variants(root, form, err) != 0)
		return -1;
	cJSON *pods = bench_make_pods(NULL, text_of(form, "pods"), conf, err);
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

cJSON *bench_make_form(const cJSON *form, const struct conf *conf, struct err *err)
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
#define MAX_TOLD    64
#define WORD_BYTES  64
#define MAX_ARMS    8
#define LETTERS	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define FEW	    3 /* of fresh blocks, and of a kernel's processes */
#define TIMEOUT_S   240.0
/* HarnessGym's own sender clears its folder on the pod: take another one. */
#define OWN_FOLDER "_hgym_ab"

/* Letters, digits, _ . - of text, as a bench's name. */
static void add_name(struct buf *out, const char *text)
{
	for (size_t i = 0; text[i] != '\0' && out->len < NAME_MAX_ - 4; i++)
		buf_append_char(out, isalnum((unsigned char)text[i]) || strchr("_.-", text[i])
					     ? text[i]
					     : '_');
}

/*
 * The run's measuring command; where it sends the workspace to a pod, into a
 * folder of the bench's own there.
 */
static void add_measure(struct buf *out, const char *command)
{
	const char *flag =
		strstr(command, "remote_h100.py") != NULL ? strstr(command, "--workspace") : NULL;

	if (flag == NULL) {
		buf_append_str(out, command);
		return;
	}
	size_t n = (size_t)(flag - command) + strlen("--workspace");
	n += strspn(command + n, " =");
	const char quote[] = { command[n], '\0' };
	n += quote[0] == '"' || quote[0] == '\'' ? 1 + strcspn(command + n + 1, quote)
						 : strcspn(command + n, " ");
	buf_append(out, command, n);
	buf_append_str(out, OWN_FOLDER);
	buf_append_str(out, command + n);
}

/* In a copy of the run: hold its judges against those of that folder. */
static void add_judged(struct buf *out, const struct harness_ab *ab, const char *judges)
{
	AUTO_BUF measure = buf_new(COMMAND_MAX);

	add_measure(&measure, ab->run->command);
	buf_append_str(out, "w=");
	quote_word(out, str_from(judges));
	buf_append_str(out, " && [ -d \"$w\" ] && for f in benchmark.py verifier.py; do "
			    "[ ! -e \"$w/$f\" ] || cmp \"$w/$f\" \"$f\" || "
			    "exit 9; done && sh -c ");
	quote_word(out, str_from(measure.data));
}

/* Copy source, hold the judges against the workspace's, measure there. */
static void add_command(struct buf *out, const struct harness_ab *ab, const char *source)
{
	buf_append_str(out, "d=$(mktemp -d) && trap 'rm -rf \"$d\"' EXIT && "
			    "trap 'exit 143' HUP INT TERM && "
			    "tar -C ");
	quote_word(out, str_from(source));
	buf_append_str(out, " --exclude=./.harnessgym --exclude=./.git -cf - . "
			    "| tar -C \"$d\" -xf - && cd \"$d\" && ");
	add_judged(out, ab, ab->compare != NULL ? ab->compare->template : ab->workspace);
}

static void add_variant(cJSON *variants, const struct harness_ab *ab, const char *tag,
			const char *source)
{
	bool is_control = variants->child == NULL;
	cJSON *variant = json_add(json_add_row(variants), JTEXT("tag", tag));
	AUTO_BUF command = buf_new(COMMAND_MAX);

	add_command(&command, ab, source);
	if (is_control)
		cJSON_AddBoolToObject(variant, "control", true);
	json_add_string(variant, "command", command.data);
}

/* Whether the files of that arm are those of one before it. */
static bool is_known(const struct harness_ab *ab, char *const *folders, size_t n)
{
	for (size_t i = 0; ab->same != NULL && i < n; i++)
		if (ab->same(folders[i], folders[n]) && ab->same(folders[n], folders[i]))
			return true;
	return false;
}

/* The trials that count; -1 with err: there are no two that differ. */
static int add_trials(cJSON *variants, const struct harness_ab *ab, size_t *beyond, struct err *err)
{
	const struct harness_compare *compare = ab->compare;
	char *folders[MAX_ARMS + 1]; /* the last: of one beyond them */
	size_t n = 0;

	for (size_t i = 0; i < compare->n_trials; i++) {
		const struct harness_trial *trial = &compare->trials[i];
		AUTO_TEXT tag = xasprintf("%s-%u", trial->group, trial->number);

		if (!harness_trial_counts(trial))
			continue;
		folders[n] = xasprintf("%s/%s/trial_%u/workspace", ab->workspace, trial->group,
				       trial->number);
		if (is_known(ab, folders, n)) {
			free(folders[n]);
			continue;
		}
		if (n == MAX_ARMS) {
			free(folders[n]);
			++*beyond;
			continue;
		}
		add_variant(variants, ab, tag, folders[n++]);
	}
	for (size_t i = 0; i < n; i++)
		free(folders[i]);
	return n > 1 ? 0
		     : err_set(err, ERR_NODATA,
			       "the comparison has no two trials that count "
			       "and whose files differ");
}

/* Whether the program times functions itself, by the checkpoint's task.py. */
static bool is_kernel(const struct harness_ab *ab)
{
	return ab->settings && ab->run->checkpoint.has_task;
}

/* What makes the one object of the other, laid over it; null: without it. */
static cJSON *make_overlay(const cJSON *from, const cJSON *to)
{
	cJSON *over = cJSON_CreateObject();

	json_each (node, to) {
		if (!cJSON_Compare(node, json_get(from, node->string), true))
			cJSON_AddItemToObject(over, node->string, cJSON_Duplicate(node, true));
	}
	json_each (node, from) {
		if (json_get(to, node->string) == NULL)
			cJSON_AddNullToObject(over, node->string);
	}
	return over;
}

/* Whether a member is one that can be nothing but a setting. */
static bool is_plain(const cJSON *node)
{
	static const char name[] = LETTERS "_0123456789";
	static const char word[] = LETTERS "_0123456789.:+-";

	if (strspn(node->string, LETTERS "_") == 0 ||
	    node->string[strspn(node->string, name)] != '\0')
		return false;
	if (cJSON_IsString(node))
		return strlen(node->valuestring) <= WORD_BYTES &&
		       node->valuestring[strspn(node->valuestring, word)] == '\0';
	return cJSON_IsBool(node) || (cJSON_IsNumber(node) && isfinite(node->valuedouble));
}

/* Settings of a kernel out of a text that an agent may have written. */
static cJSON *read_settings(const char *text, const char *of, struct err *err)
{
	cJSON *root = json_parse(str_trim(str_from(text)), JSON_BARE_REFUSED, NULL);
	const char *twin = json_duplicate_key(root), *odd = NULL;
	AUTO_BUF name = buf_new(COMMAND_MAX);

	json_each (node, cJSON_IsObject(root) ? root : NULL)
		odd = is_plain(node) ? odd : node->string;
	utf8_sanitize(&name, str_from(odd != NULL ? odd : twin != NULL ? twin : ""));
	if (!cJSON_IsObject(root))
		err_set(err, ERR_NODATA, "%s: no JSON object", of);
	else if (cJSON_GetArraySize(root) > MAX_TOLD)
		err_set(err, ERR_NODATA, "%s: more than %d settings", of, MAX_TOLD);
	else if (odd != NULL)
		err_set(err, ERR_NODATA, "%s: \"%.60s\" is no number, true, false or short word",
			of, name.data);
	else if (twin != NULL)
		err_set(err, ERR_NODATA, "%s: \"%.60s\" stands twice", of, name.data);
	else
		return root;
	cJSON_Delete(root);
	return NULL;
}

/* What kernels were told: the template's, then the checkpoint's. */
struct told {
	cJSON *trees[MAX_ARMS];
	unsigned int iterations[MAX_ARMS];
	size_t n, beyond;
};

/* One more, which is given; without one that is there already. */
static void told_add(struct told *told, unsigned int iteration, cJSON *tree)
{
	bool is_new = tree != NULL;

	for (size_t i = 0; is_new && i < told->n; i++)
		is_new = !cJSON_Compare(told->trees[i], tree, true);
	told->beyond += is_new && told->n == MAX_ARMS ? 1 : 0;
	if (!is_new || told->n == MAX_ARMS) {
		cJSON_Delete(tree);
		return;
	}
	told->iterations[told->n] = iteration;
	told->trees[told->n++] = tree;
}

/* Whether the checkpoint's own file says what was printed of it. */
static int told_check(const char *file, const cJSON *printed, struct err *err)
{
	AUTO_JSON own = read_settings(file, "the checkpoint's " HARNESS_SETTINGS, err);
	AUTO_BUF said = buf_new(COMMAND_MAX);

	json_each (node, own) {
		const cJSON *other = json_get(printed, node->string);

		if (other == NULL || cJSON_Compare(node, other, true))
			continue;
		json_print(&said, node);
		buf_append_str(&said, ", the verifier printed ");
		json_print(&said, other);
		return err_set(err, ERR_NODATA, "the checkpoint's " HARNESS_SETTINGS " says %s %s",
			       node->string, said.data);
	}
	return own != NULL ? 0 : -1;
}

/* What a verifier printed is evidence; files only where it printed none. */
static int told_read(struct told *told, const struct harness_run *run, struct err *err)
{
	const struct harness_iteration *best = NULL;
	const char *base = run->template_told, *own = run->checkpoint.told;

	for (size_t i = 0; run->best.present && i < run->n_iterations; i++)
		if (run->iterations[i].number == run->best.iteration &&
		    run->checkpoint.iteration.value == run->best.iteration)
			best = &run->iterations[i];
	if (best == NULL)
		return err_set(err, ERR_NODATA, "its checkpoint is not a verified best");
	if (run->baseline.config != NULL && best->post.config != NULL) {
		base = run->baseline.config;
		own = best->post.config;
	}
	if (base == NULL || own == NULL)
		return err_set(err, ERR_NODATA, "its template has no settings");
	told_add(told, 0, read_settings(base, "the template's settings", err));
	if (told->n == 1)
		told_add(told, best->number, read_settings(own, "the checkpoint's settings", err));
	if (told->n < 2 && err->code == ERR_NONE)
		err_set(err, ERR_NODATA, "its checkpoint has the template's settings");
	if (err->code != ERR_NONE)
		return -1;
	if (own != run->checkpoint.told && run->checkpoint.told != NULL &&
	    told_check(run->checkpoint.told, told->trees[1], err) != 0)
		return -1;
	array_each (it, run->iterations, run->n_iterations) {
		struct err odd = { ERR_NONE, "" };

		if (it->verified_score.present && it->post.config != NULL)
			told_add(told, it->number, read_settings(it->post.config, "", &odd));
	}
	return 0;
}

/* An arm of settings: the checkpoint as it is, or told something else. */
static void add_told(cJSON *variants, const struct told *told, size_t i, bool has_file)
{
	cJSON *v = json_add_row(variants);
	AUTO_TEXT tag =
		i == 0 ? xstrdup("template") : xasprintf("iteration-%u", told->iterations[i]);

	json_add_string(v, "tag", tag);
	if (i == 0)
		cJSON_AddBoolToObject(v, "control", true);
	if (!has_file)
		cJSON_AddItemToObject(v, "launch", cJSON_Duplicate(told->trees[i], true));
	else if (i != 1)
		json_add(v, JNODE("overlay",
				  json_new(JNODE(HARNESS_SETTINGS,
						 make_overlay(told->trees[1], told->trees[i])))));
}

/* The arms of settings; -1 with err: there are none. */
static int add_settings(cJSON *variants, const struct harness_run *run, size_t *beyond,
			struct err *err)
{
	struct told told = { .n = 0 };
	struct err why = { ERR_NONE, "" };
	int rc = told_read(&told, run, &why);

	for (size_t i = 0; rc == 0 && i < told.n; i++)
		add_told(variants, &told, i, run->checkpoint.told != NULL);
	for (size_t i = 0; i < told.n; i++)
		cJSON_Delete(told.trees[i]);
	*beyond = told.beyond;
	return rc == 0 ? 0 : err_set(err, why.code, "run %s: %s", run->id, why.text);
}

static cJSON *make_workload(const struct harness_ab *ab, const char *folder, const char *command)
{
	struct harness_number limit = ab->run->post_s;

	return json_new(
		JTEXT("cwd", folder), JTEXT("command", command), JTEXT("log", "verifier.out"),
		JNUM("timeout_s",
		     harness_is_finite(limit) && limit.value >= 1 ? limit.value : TIMEOUT_S));
}

/* The arms and what runs them: settings of the checkpoint, or two folders. */
static cJSON *make_arms(const struct harness_ab *ab, cJSON *variants, size_t *beyond,
			struct err *err)
{
	const struct harness_run *run = ab->run;
	AUTO_TEXT folder = xasprintf("%s/.harnessgym/runs/%s", ab->workspace, run->dir);
	AUTO_TEXT best = xasprintf("%s/checkpoints/best", folder);
	AUTO_TEXT template = xasprintf("%s/qualification/workspace_template", folder);
	AUTO_BUF command = buf_new(COMMAND_MAX);

	if (ab->compare != NULL)
		return add_trials(variants, ab, beyond, err) == 0
			       ? make_workload(ab, ab->workspace, run->command)
			       : NULL;
	if (!ab->settings) {
		add_variant(variants, ab, "checkpoint", best);
		add_variant(variants, ab, "workspace", ab->workspace);
		return make_workload(ab, ab->workspace, run->command);
	}
	if (add_settings(variants, run, beyond, err) != 0)
		return NULL;
	if (is_kernel(ab))
		return json_new(JTEXT("cwd", best), JTEXT("kind", "kernel"));
	add_judged(&command, ab, template);
	return make_workload(ab, best, command.data);
}

static cJSON *make_metric(const struct harness_ab *ab)
{
	bool higher = ab->run->higher_is_better == HARNESS_YES;

	if (is_kernel(ab))
		return json_new(JTEXT("key", "us"));
	cJSON *metric = json_new(JTEXT("parser", "json"), JTEXT("key", ab->run->post_score_key));
	if (ab->run->higher_is_better != HARNESS_UNKNOWN)
		json_add_string(metric, "direction", higher ? "higher" : "lower");
	return metric;
}

static cJSON *make_plan(const struct harness_ab *ab, struct err *err)
{
	cJSON *variants = cJSON_CreateArray(), *design;
	size_t beyond = 0;
	cJSON *workload = make_arms(ab, variants, &beyond, err);
	AUTO_BUF name = buf_new(COMMAND_MAX);

	if (workload == NULL) {
		cJSON_Delete(variants);
		return NULL;
	}
	add_name(&name, ab->run->id);
	buf_append_str(&name, ab->settings ? "-set" : "-ab");
	design = json_new(JNUM("blocks_per_pod", is_kernel(ab) ? FEW : ROUNDS),
			  JNUM("burn_in", !is_kernel(ab)), JBOOL("aa", true));
	/* The best of several looks better than it is. */
	if (cJSON_GetArraySize(variants) > 2)
		json_add_number(design, "confirm_blocks", FEW);
	cJSON *plan = json_new(
		JTEXT("schema", PLAN_SCHEMA), JTEXT("name", name.data), JNODE("workload", workload),
		JNODE("metric", make_metric(ab)), JNODE("variants", variants),
		JNODE("pods",
		      json_list_of(ab->pod != NULL ? json_new(JTEXT("id", ab->pod))
						   : json_new(JTEXT("id", "here"),
							      JTEXT("transport", "local")))),
		JNODE("design", design));
	if (beyond > 0) {
		AUTO_TEXT note =
			xasprintf("left out: %zu more %s, as this bench has %d arms at "
				  "most",
				  beyond, ab->compare != NULL ? "trials" : "iterations", MAX_ARMS);

		json_add_string(plan, "note", note);
	}
	return plan;
}

static int check(const struct harness_ab *ab, struct err *err)
{
	const struct harness_run *run = ab->run;

	if (ab->compare != NULL)
		return run->command == NULL || run->post_score_key == NULL ||
				       ab->compare->template == NULL ||
				       ab->compare->template[0] != '/'
			       ? err_set(err, ERR_NODATA,
					 "the comparison has no report yet, or "
					 "that does not tell its task")
			       : 0;
	if (!run->checkpoint.present)
		return err_set(err, ERR_NODATA, "run %s has no checkpoint to compare with",
			       run->id);
	if (run->command == NULL || run->post_score_key == NULL ||
	    run->higher_is_better == HARNESS_UNKNOWN)
		return err_set(err, ERR_NODATA, "run %s has no command that measures a score",
			       run->id);
	if (ab->settings && run->checkpoint.told == NULL && !run->checkpoint.has_task)
		return err_set(err, ERR_NODATA,
			       "run %s: its checkpoint has no " HARNESS_SETTINGS
			       " and no task.py that could take settings",
			       run->id);
	if (ab->workspace[0] != '/')
		return err_set(err, ERR_USAGE, "--ab: name the workspace by its absolute path");
	return 0;
}

cJSON *harness_ab_json(const struct harness_ab *asked, struct err *err)
{
	struct harness_run trials = { .id = "trials" };
	struct harness_ab own = *asked, *ab = &own;
	struct plan plan;
	AUTO_BUF text = buf_new(COMMAND_MAX * 4);

	if (ab->compare != NULL) {
		trials.command = ab->compare->command;
		trials.post_score_key = ab->compare->score_key;
		trials.higher_is_better = ab->compare->higher_is_better;
		own.run = &trials;
	}
	if (check(ab, err) != 0)
		return NULL;
	cJSON *object = make_plan(ab, err);
	if (object == NULL)
		return NULL;
	json_print(&text, object);
	if (plan_parse(&plan, "bench.json", buf_str(&text), err) != 0) {
		cJSON_Delete(object);
		object = NULL;
	} else {
		plan_release(&plan);
	}
	return object;
}
