/* SPDX-License-Identifier: MIT */
/* Benches that the dashboard defines itself, as files to run. */
#include "config.h"

#include "app/bench_compose.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "bench/folder.h"
#include "bench/make.h"
#include "bench/plan.h"
#include "model/harness_view.h"

/* A bench file, or that of the bench with that id; its folder in `folder`. */
static cJSON *
read_definition(const char *name, char folder[PATH_MAX], struct err *err)
{
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE], real[PATH_MAX];
	struct plan plan;
	struct buf text;
	char *file, *slash;
	cJSON *root;

	if (strchr(name, '/') != NULL) {
		file = xstrdup(name);
		if (realpath(name, real) == NULL)
			(void)snprintf(real, sizeof(real), "%s", name);
	} else {
		if (bench_find(name, id, path, err) != 0 ||
		    bench_load_plan(&plan, path, err) != 0)
			return NULL;
		file = xasprintf("%s/bench.json", path);
		/* Its files are named relative to where it lay once. */
		(void)snprintf(real, sizeof(real), "%s", plan.file);
		plan_release(&plan);
	}
	slash = strrchr(real, '/');
	if (slash != NULL)
		*slash = '\0';
	(void)snprintf(folder, PATH_MAX, "%s", real);
	buf_init(&text, JSON_MAX_BYTES);
	root = json_parse_file(file, &text, err);
	buf_release(&text);
	free(file);
	return root;
}

/* The pods that a definition names itself, a line each; owned. */
static char *
own_pods(const cJSON *definition)
{
	const cJSON *pod,
		*all = cJSON_GetObjectItemCaseSensitive(definition, "pods");
	struct buf names;
	char *result;

	buf_init(&names, 65536);
	cJSON_ArrayForEach(pod, all)
		buf_appendf(&names, "%s\n", json_get_string(pod, "id", ""));
	result = xstrdup(names.data);
	buf_release(&names);
	return result;
}

static cJSON *
make_audit(const struct bench_compose *with, const struct command *command,
	   struct err *err)
{
	struct bench_audit audit = { .blocks = (double)NAN,
				     .minutes = (double)NAN };
	cJSON *definition = NULL, *root;
	char folder[PATH_MAX], *pods;

	if (command->name != NULL) {
		definition = read_definition(command->name, folder, err);
		if (definition == NULL)
			return NULL;
		bench_make_absolute(definition, folder);
	}
	pods = command->text != NULL ? xstrdup(command->text)
				     : own_pods(definition);
	audit.definition = definition;
	audit.pods = pods;
	audit.probe = bench_probe_of(with->conf, pods);
	root = bench_make_audit(&audit, with->conf, err);
	free(pods);
	cJSON_Delete(definition);
	return root;
}

static cJSON *
make_on_pods(const struct bench_compose *with, const struct command *command,
	     struct err *err)
{
	char folder[PATH_MAX];
	cJSON *root = read_definition(command->name, folder, err), *pods;

	if (root == NULL)
		return NULL;
	bench_make_absolute(root, folder);
	pods = bench_make_pods(root, command->text, with->conf, err);
	if (pods == NULL) {
		cJSON_Delete(root);
		return NULL;
	}
	cJSON_DeleteItemFromObjectCaseSensitive(root, "pods");
	cJSON_AddItemToObject(root, "pods", pods);
	return root;
}

static cJSON *
make_from_form(const struct bench_compose *with, const struct command *command,
	       struct err *err)
{
	cJSON *form =
		json_parse(str_from(command->text), JSON_BARE_REFUSED, err);
	cJSON *root = NULL;

	if (form != NULL)
		root = bench_make_form(form, with->conf, err);
	cJSON_Delete(form);
	return root;
}

/* The path up to its ".harnessgym", absolute where it is of this machine. */
static char *
workspace_of(const char *dir, bool local)
{
	const char *at = strstr(dir, "/.harnessgym");
	char *path =
		at != NULL ? xstrndup(dir, (size_t)(at - dir)) : xstrdup(dir);
	char real[PATH_MAX];

	if (local && realpath(path, real) != NULL) {
		free(path);
		return xstrdup(real);
	}
	return path;
}

/* What the pod costs, where the configuration says so. */
static void
add_price(cJSON *root, const struct conf *conf, const char *name)
{
	double usd = conf->pods[conf_find_pod(conf, name)].usd_per_hour;
	cJSON *pods = cJSON_GetObjectItemCaseSensitive(root, "pods");

	if (!isnan(usd))
		json_add_number(cJSON_GetArrayItem(pods, 0), "usd_per_h", usd);
}

/* The best of a HarnessGym run against its workspace. */
static cJSON *
make_harness(const struct bench_compose *with, const struct command *command,
	     struct err *err)
{
	const struct harness_view *view = with->model->harness;
	const char *colon = strchr(command->name, ':');
	struct harness_ab ab = { NULL, NULL, NULL };
	char *pod = NULL, *workspace;
	cJSON *root = NULL;

	for (size_t i = 0; view != NULL && i < view->n; i++) {
		const struct harness_place *place = &view->places[i];

		if (strcmp(place->title, command->name) != 0 || !place->read ||
		    place->is_compare)
			continue;
		for (size_t k = 0; k < place->ws.n_runs; k++)
			if (strcmp(place->ws.runs[k].id, command->text) == 0)
				ab.run = &place->ws.runs[k];
	}
	if (ab.run == NULL) {
		err_set(err, ERR_NODATA, "the run %s is gone", command->text);
		return NULL;
	}
	if (colon != NULL) {
		pod = xstrndup(command->name, (size_t)(colon - command->name));
		if (conf_find_pod(with->conf, pod) < 0) {
			free(pod);
			pod = NULL;
		}
	}
	workspace = workspace_of(pod != NULL ? colon + 1 : command->name,
				 pod == NULL);
	ab.pod = pod;
	ab.workspace = workspace;
	root = harness_ab_json(&ab, err);
	if (root != NULL && pod != NULL)
		add_price(root, with->conf, pod);
	free(workspace);
	free(pod);
	return root;
}

/* A lock folder of its own for each pod. */
static void
set_locks(cJSON *root, const char *lock_root)
{
	cJSON *pod;

	cJSON_ArrayForEach(pod, cJSON_GetObjectItemCaseSensitive(root, "pods"))
	{
		char *path = xasprintf("%s/%s", lock_root,
				       json_get_string(pod, "id", "pod"));

		(void)mkdir(path, 0700);
		cJSON_DeleteItemFromObjectCaseSensitive(pod, "lock_dir");
		json_add_string(pod, "lock_dir", path);
		free(path);
	}
}

/* Write the definition where it can be run from. */
static char *
keep(const cJSON *root, struct err *err)
{
	char *state = conf_dir_state(), *folder, *name, *path = NULL;
	struct plan plan;
	struct buf text;

	buf_init(&text, JSON_MAX_BYTES);
	json_print(&text, root);
	buf_append_char(&text, '\n');
	folder = xasprintf("%s/plans", state);
	name = xasprintf("%.40s.json", json_get_string(root, "name", "bench"));
	if (plan_parse(&plan, name, (struct str){ text.data, text.len }, err) ==
	    0) {
		if (conf_make_dir(folder, err) == 0 &&
		    folder_write(folder, name,
				 (struct str){ text.data, text.len }, err) == 0)
			path = xasprintf("%s/%s", folder, name);
		plan_release(&plan);
	}
	buf_release(&text);
	free(name);
	free(folder);
	free(state);
	return path;
}

char *
bench_compose(const struct bench_compose *with, const struct command *command,
	      struct err *err)
{
	static const struct {
		enum command_id id;
		cJSON *(*make)(const struct bench_compose *with,
			       const struct command *command, struct err *err);
	} makers[] = {
		{ COMMAND_BENCH_AUDIT, make_audit },
		{ COMMAND_BENCH_PODS, make_on_pods },
		{ COMMAND_BENCH_FORM, make_from_form },
		{ COMMAND_BENCH_RUN, make_harness },
	};
	cJSON *root = NULL;
	char *path = NULL;

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (makers[i].id == command->id)
			root = makers[i].make(with, command, err);
	if (root == NULL)
		return NULL;
	if (with->lock_root != NULL)
		set_locks(root, with->lock_root);
	path = keep(root, err);
	cJSON_Delete(root);
	return path;
}
