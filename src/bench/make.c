/* SPDX-License-Identifier: MIT */
/* Parts of bench.json, and audits of pods. */
#include "bench/make.h"

#include "bench/plan.h"

#define AUDIT_BLOCKS  6
#define PROBE_MINUTES 30
/* Exists on every pod, and contains no sources that could change during the audit. */
#define PROBE_FOLDER "/proc/sys/kernel"

/* Probes time a few seconds of work themselves; the GPU's, 60 rounds of 50 products. */
static const char probe_cpu[] =
	"now() { case $(date +%N) in [0-9]*) date +%s%N ;; "
	"*) echo \"$(cut -d' ' -f1 /proc/uptime | tr -d .)0000000\" ;; esac; }\n"
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
	"torch.__version__, \"probe_ms\": statistics.median(times), \"best_ms\": min(times)}))\n"
	"'";

static const struct {
	const char *name, *command, *what;
} probes[] = {
	[PROBE_CPU] = { "cpu", probe_cpu,
			"the probe runs an awk loop on one core: it measures the host's CPU and "
			"its neighbors, not the GPU" },
	[PROBE_GPU] = { "gpu", probe_gpu,
			"the probe multiplies 8192 x 8192 matrices in bfloat16 with torch on the "
			"first GPU: it measures that GPU's clock under load, not memory, launches "
			"or the host" },
};

const char *bench_probe_what(enum bench_probe probe)
{
	return probes[probe].what;
}

bool bench_probe_needs_torch(const char *command)
{
	return strcmp(command, probe_gpu) == 0;
}

/* The next name of a list, owned; NULL: end of the list. */
static char *next_name(struct str *rest)
{
	struct str name;

	while (rest->len > 0) {
		size_t n = index_of(i, rest->len, rest->p[i] == ',' || rest->p[i] == '\n');

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
	bool all = true;

	for (char *name; (name = next_name(&rest)) != NULL; free(name)) {
		int i = conf_find_pod(conf, name);

		all &= i >= 0 && conf->pods[i].n_gpus > 0;
	}
	return all ? PROBE_GPU : PROBE_CPU;
}

static cJSON *make_pod(const struct conf *conf, const char *name, struct err *err)
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
		err_set(err, ERR_CONFIG, "the configuration has no pod \"%s\"; see hgym-tui pods",
			name);
		return NULL;
	}
	/* The session finds the address in the configuration, by the name. */
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

cJSON *bench_make_pods(const cJSON *definition, const char *names, const struct conf *conf,
		       struct err *err)
{
	cJSON *array = cJSON_CreateArray();
	struct str rest = str_from(names);
	char *name;

	while ((name = next_name(&rest)) != NULL) {
		cJSON *pod = NULL;

		json_each (own, json_get(definition, "pods"))
			if (pod == NULL && strcmp(json_get_string(own, "id", ""), name) == 0)
				pod = cJSON_Duplicate(own, true);
		if (pod == NULL)
			pod = make_pod(conf, name, err);
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
	err_set(err, ERR_USAGE, "no pod given");
	return NULL;
}

static void make_absolute(cJSON *text, const char *folder)
{
	if (!cJSON_IsString(text) || text->valuestring[0] == '/')
		return;
	AUTO_TEXT path = xasprintf("%s/%s", folder, text->valuestring);
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

static cJSON *find_variant(const struct bench_audit *audit, struct err *err)
{
	json_each (v, json_get(audit->definition, "variants")) {
		if (audit->variant != NULL
			    ? strcmp(json_get_string(v, "tag", ""), audit->variant) != 0
			    : !json_get_bool(v, "control", false))
			continue;
		cJSON *copy = cJSON_Duplicate(v, true);
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
		/* Give up on a pod that stays unreachable. */
		JNODE("budget", json_new(JNUM("minutes", PROBE_MINUTES))));
}

static cJSON *get_object(cJSON *root, const char *key)
{
	cJSON *node = cJSON_GetObjectItemCaseSensitive(root, key);

	if (cJSON_IsObject(node))
		return node;
	cJSON_DeleteItemFromObjectCaseSensitive(root, key);
	return cJSON_AddObjectToObject(root, key);
}

static void set_item(cJSON *object, const char *key, cJSON *value)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddItemToObject(object, key, value);
}

cJSON *bench_make_audit(const struct bench_audit *audit, const struct conf *conf, struct err *err)
{
	AUTO_JSON root = audit->definition != NULL ? cJSON_Duplicate(audit->definition, true)
						   : make_probe(audit);
	const char *name = json_get_string(root, "name", "audit");
	AUTO_TEXT new_name = xasprintf("%s%.34s", strcmp(name, "audit") == 0 ? "" : "audit-", name);
	cJSON *pods = bench_make_pods(audit->definition, audit->pods, conf, err);

	if (pods == NULL)
		return NULL;
	set_item(root, "pods", pods);
	if (audit->definition != NULL) {
		cJSON *variant = find_variant(audit, err);

		if (variant == NULL)
			return NULL;
		set_item(root, "variants", json_list_of(variant));
	}
	set_item(root, "name", cJSON_CreateString(new_name));
	cJSON *design = get_object(root, "design");
	set_item(design, "aa", cJSON_CreateBool(true));
	set_item(design, "blocks_per_pod",
		 cJSON_CreateNumber(isnan(audit->blocks) ? AUDIT_BLOCKS : audit->blocks));
	set_item(get_object(root, "decision"), "early", cJSON_CreateString("none"));
	if (!isnan(audit->minutes))
		set_item(get_object(root, "budget"), "minutes", cJSON_CreateNumber(audit->minutes));
	cJSON *result = root;
	root = NULL;
	return result;
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
