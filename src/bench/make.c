/* SPDX-License-Identifier: MIT */
/* bench.json made by the program: audits of pods. */
#include "config.h"

#include "bench/make.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	const cJSON *all = cJSON_GetObjectItemCaseSensitive(definition, "pods");
	const cJSON *pod;

	cJSON_ArrayForEach(pod, all)
	{
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
	char *path;

	if (!cJSON_IsString(text) || text->valuestring[0] == '/')
		return;
	path = xasprintf("%s/%s", folder, text->valuestring);
	(void)cJSON_SetValuestring(text, path);
	free(path);
}

void
bench_make_absolute(cJSON *definition, const char *folder)
{
	cJSON *v, *file;

	cJSON_ArrayForEach(
		v, cJSON_GetObjectItemCaseSensitive(definition, "variants"))
	{
		make_absolute(cJSON_GetObjectItemCaseSensitive(v, "patch"),
			      folder);
		cJSON_ArrayForEach(file,
				   cJSON_GetObjectItemCaseSensitive(v, "files"))
			make_absolute(file, folder);
	}
}

/* The variant that is audited, as the control. */
static cJSON *
find_variant(const struct bench_audit *audit, struct err *err)
{
	const cJSON *v, *all = cJSON_GetObjectItemCaseSensitive(
				audit->definition, "variants");
	cJSON *copy;

	cJSON_ArrayForEach(v, all)
	{
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

	json_add_string(root, "schema", PLAN_SCHEMA);
	json_add_string(root, "name", "audit");
	node = cJSON_AddObjectToObject(root, "workload");
	json_add_string(node, "cwd", PROBE_FOLDER);
	json_add_string(node, "command", probes[audit->probe].command);
	json_add_string(node, "log", "probe.out");
	json_add_number(node, "timeout_s", 300);
	node = cJSON_AddObjectToObject(root, "metric");
	json_add_string(node, "parser", "json");
	json_add_string(node, "key", "probe_ms");
	json_add_string(node, "direction", "lower");
	array = cJSON_AddArrayToObject(root, "variants");
	node = cJSON_CreateObject();
	json_add_string(node, "tag", probes[audit->probe].name);
	cJSON_AddBoolToObject(node, "control", true);
	json_add_string(node, "noise_class",
			audit->probe == PROBE_GPU ? "probe-gpu" : "probe-cpu");
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
