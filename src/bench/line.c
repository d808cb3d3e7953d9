/* SPDX-License-Identifier: MIT */
/* bench.json made of one command line; called by `bench run`. */
#include "bench/line.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "bench/make.h"
#include "bench/plan.h"

#define MAX_COMMAND 65536U
/* Processes of a kernel bench, which are its blocks. */
#define KERNEL_BLOCKS 3

static bool line_is_local(const struct bench_line *line, const struct conf *conf)
{
	for (size_t i = 0; i < line->pods.n; i++) {
		int at = conf_find_pod(conf, line->pods.v[i]);

		if (at >= 0 ? conf->pods[at].transport != CONF_LOCAL
			    : strcmp(line->pods.v[i], MAKE_LOCAL) != 0)
			return false;
	}
	return true;
}

/* What a run executes: the preparation's output is none of its log. */
static void line_add_command(cJSON *node, const struct bench_line *line, const char *command)
{
	AUTO_BUF text = buf_new(MAX_COMMAND);

	if (line->prepare != NULL)
		buf_appendf(&text, "(\n%s\n) >/dev/null || exit 125 # prepare\n", line->prepare);
	buf_append_str(&text, command);
	json_add_string(node, "command", text.data);
}

/* A file here in the place of the kernel's module. */
static void line_add_file(cJSON *arm, const struct bench_line *line, const char *file)
{
	json_add_string(cJSON_AddObjectToObject(arm, "files"), line->kernel, file);
}

/* "TAG=COMMAND" or "TAG" as an arm of its own. */
static cJSON *line_make_variant(const struct bench_line *line, const char *word)
{
	size_t n = strcspn(word, "=");
	AUTO_TEXT tag = xstrndup(word, n);
	cJSON *arm = cJSON_CreateObject();

	json_add_string(arm, "tag", tag);
	if (word[n] == '=' && line->kernel != NULL)
		line_add_file(arm, line, word + n + 1);
	else if (word[n] == '=')
		line_add_command(arm, line, word + n + 1);
	return arm;
}

/* NAME=VALUE into an object of an arm, or of the workload. */
static int line_add_setting(cJSON *owner, const char *key, const char *word, struct err *err)
{
	cJSON *all = cJSON_GetObjectItemCaseSensitive(owner, key);
	size_t n = strcspn(word, "=");
	AUTO_TEXT name = xstrndup(word, n);
	double number;

	if (owner == NULL || word[n] == '\0')
		return err_set(err, ERR_USAGE, "--%s %s: expected NAME=VALUE%s", key, word,
			       owner == NULL ? " behind its arm" : "");
	if (all == NULL)
		all = cJSON_AddObjectToObject(owner, key);
	if (strcmp(key, "launch") == 0 && str_to_double(str_from(word + n + 1), &number))
		json_add_number(all, name, number);
	else
		json_add_string(all, name, word + n + 1);
	return 0;
}

/* Arms like `arm` for each value of the grid from its i-th setting on. */
static int line_add_grid(cJSON *arms, const cJSON *arm, const struct bench_line *line, size_t i,
			 struct err *err)
{
	const char *word = i < line->grid.n ? line->grid.v[i] : NULL;
	size_t n = word != NULL ? strcspn(word, "=") : 0;
	struct str value;

	if (word == NULL) {
		cJSON_AddItemToArray(arms, cJSON_Duplicate(arm, true));
		return 0;
	}
	struct str rest = str_from(word[n] == '=' ? word + n + 1 : "");
	if (rest.len == 0)
		return err_set(err, ERR_USAGE, "--grid %s: expected NAME=VALUE,VALUE..", word);
	while (str_next(&rest, ',', &value)) {
		AUTO_JSON one = cJSON_Duplicate(arm, true);
		const char *before = json_get_string(one, "tag", "");
		AUTO_TEXT tag = xasprintf("%s%s%.*s%.*s", before, before[0] != '\0' ? "-" : "",
					  (int)n, word, (int)value.len, value.p);
		AUTO_TEXT setting = xasprintf("%.*s=%.*s", (int)n, word, (int)value.len, value.p);

		cJSON_DeleteItemFromObjectCaseSensitive(one, "tag");
		json_add_string(one, "tag", tag);
		if (line_add_setting(one, "launch", setting, err) != 0 ||
		    line_add_grid(arms, one, line, i + 1, err) != 0)
			return -1;
	}
	return 0;
}

/* The control's command, or the file in the place of its module. */
static int line_add_control(cJSON *workload, cJSON *control, const struct bench_line *line,
			    const char *text, struct err *err)
{
	if (cJSON_HasObjectItem(workload, "command") || cJSON_HasObjectItem(control, "files"))
		return err_set(err, ERR_USAGE, "--control stands twice");
	if (line->kernel != NULL)
		line_add_file(control, line, text);
	else
		line_add_command(workload, line, text);
	return 0;
}

static int line_add_patch(cJSON *arm, const struct bench_line *line, const char *text,
			  struct err *err)
{
	if (arm == NULL || line->folder == NULL)
		return err_set(err, ERR_USAGE,
			       "--patch %s: it stands behind its arm, and --in "
			       "names the folder that is copied for it",
			       text);
	json_add_string(arm, "patch", text);
	return 0;
}

/* The words in their order; arm is the one that was named last. */
static int line_add_words(cJSON *workload, cJSON *arms, const struct bench_line *line,
			  struct err *err)
{
	cJSON *control = cJSON_CreateObject(), *arm = NULL;
	int status = 0;

	cJSON_AddItemToArray(arms, control);
	json_add(control, JTEXT("tag", "control"), JBOOL("control", true));
	for (size_t i = 0; status == 0 && i < line->n_words; i++) {
		const char *text = line->words[i].text;

		switch (line->words[i].kind) {
		case LINE_CONTROL:
			arm = control;
			status = line_add_control(workload, control, line, text, err);
			break;
		case LINE_VARIANT:
			arm = line_make_variant(line, text);
			cJSON_AddItemToArray(arms, arm);
			break;
		case LINE_ENV:
			status = line_add_setting(arm != NULL ? arm : workload, "env", text, err);
			break;
		case LINE_LAUNCH:
			status = line_add_setting(arm, "launch", text, err);
			break;
		case LINE_PATCH:
			status = line_add_patch(arm, line, text, err);
			break;
		}
	}
	return status;
}

/* The arms, by the words and by the grid. */
static int line_add_arms(cJSON *workload, cJSON *arms, const struct bench_line *line,
			 struct err *err)
{
	AUTO_JSON blank = cJSON_CreateObject();

	if (line_add_words(workload, arms, line, err) != 0)
		return -1;
	if (line->grid.n > 0)
		return line_add_grid(arms, blank, line, 0, err);
	return line->kernel != NULL || cJSON_HasObjectItem(workload, "command")
		       ? 0
		       : err_set(err, ERR_USAGE, "name the control's command: --control CMD");
}

static int line_add_metric(cJSON *root, const struct bench_line *line, struct err *err)
{
	cJSON *metric = cJSON_AddObjectToObject(root, "metric"), *also = NULL;
	const char *key = line->metrics.n > 0	 ? line->metrics.v[0]
			  : line->kernel != NULL ? "us"
						 : "step_ms";

	json_add_string(metric, "key", key);
	if (line->metrics.n > 1)
		also = cJSON_AddArrayToObject(metric, "also");
	for (size_t i = 1; i < line->metrics.n; i++)
		cJSON_AddItemToArray(also, cJSON_CreateString(line->metrics.v[i]));
	if (bench_metric_is_rate(key))
		json_add_string(metric, "direction", "higher");
	return line->window != NULL ? bench_make_window(metric, line->window, err) : 0;
}

static int line_fill(cJSON *root, const struct bench_line *line, const struct conf *conf,
		     struct err *err)
{
	char here[PATH_MAX];

	if (getcwd(here, sizeof(here)) == NULL)
		return err_set_errno(err, ERR_IO, "cannot name this folder");
	json_add(root, JTEXT("schema", PLAN_SCHEMA),
		 JTEXT("name", line->name != NULL ? line->name : "line"));
	cJSON *workload = cJSON_AddObjectToObject(root, "workload");
	json_add_string(workload, "cwd",
			line->folder != NULL	    ? line->folder
			: line_is_local(line, conf) ? here
						    : "~/.");
	if (line_add_metric(root, line, err) != 0 ||
	    line_add_arms(workload, cJSON_AddArrayToObject(root, "variants"), line, err) != 0)
		return -1;
	if (line->kernel != NULL) {
		json_add(workload, JTEXT("kind", "kernel"), JTEXT("module", line->kernel));
		if (line->function != NULL)
			json_add_string(workload, "function", line->function);
		if (line->task != NULL)
			json_add_string(workload, "task", line->task);
	}
	cJSON *node = cJSON_AddArrayToObject(root, "pods");
	for (size_t i = 0; i < line->pods.n; i++) {
		cJSON *pod = bench_make_pod(conf, line->pods.v[i], err);

		if (pod == NULL)
			return -1;
		cJSON_AddItemToArray(node, pod);
	}
	node = cJSON_AddObjectToObject(root, "design");
	if (line->no_aa)
		cJSON_AddBoolToObject(node, "aa", false);
	if (!isnan(line->blocks) || line->kernel != NULL)
		json_add_number(node, "blocks_per_pod",
				isnan(line->blocks) ? KERNEL_BLOCKS : floor(line->blocks));
	/* The best of a grid looks better than it is. */
	if (line->grid.n > 0)
		json_add_number(node, "confirm_blocks", KERNEL_BLOCKS);
	if (!isnan(line->gap_s))
		json_add_number(node, "gap_s", line->gap_s);
	node = cJSON_AddObjectToObject(root, "budget");
	if (!isnan(line->minutes))
		json_add_number(node, "minutes", line->minutes);
	bench_make_absolute(root, here);
	return 0;
}

cJSON *bench_make_line(const struct bench_line *line, const struct conf *conf, struct err *err)
{
	cJSON *root = cJSON_CreateObject();

	if (line_fill(root, line, conf, err) == 0)
		return root;
	cJSON_Delete(root);
	return NULL;
}
