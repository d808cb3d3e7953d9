/* SPDX-License-Identifier: MIT */
/* Build bench.json from a command line, or from the form of the dashboard. */
#include "bench/line.h"

#include <ctype.h>
#include <limits.h>
#include <unistd.h>

#include "base/quote.h"
#include "bench/make.h"
#include "bench/plan.h"

#define MAX_COMMAND 65536U
#define MAX_NAMES   65536U
/* Each block of a kernel bench is one process. */
#define KERNEL_BLOCKS 3

static bool are_local(const cJSON *pods, const struct conf *conf)
{
	json_each (pod, pods) {
		int i = conf_find_pod(conf, json_get_string(pod, "id", ""));

		if (strcmp(json_get_string(pod, "transport", ""), "local") != 0 &&
		    (i < 0 || conf->pods[i].transport != CONF_LOCAL))
			return false;
	}
	return true;
}

static int add_setting(cJSON *owner, const char *key, const char *word, struct err *err)
{
	size_t n = strcspn(word, "=");
	AUTO_TEXT name = xstrndup(word, n);
	double number;

	if (owner == NULL)
		return err_set(err, ERR_USAGE, "--%s %s must follow --control or --variant", key,
			       word);
	if (word[n] == '\0')
		return err_set(err, ERR_USAGE, "--%s %s: expected NAME=VALUE", key, word);
	cJSON *all = cJSON_GetObjectItemCaseSensitive(owner, key);
	if (all == NULL)
		all = cJSON_AddObjectToObject(owner, key);
	if (strcmp(key, "launch") == 0 && str_to_double(str_from(word + n + 1), &number))
		json_add_number(all, name, number);
	else
		json_add_string(all, name, word + n + 1);
	return 0;
}

/* Add one copy of arm for each combination of values, from the i-th setting of the grid on. */
static int add_grid(cJSON *arms, const cJSON *arm, const struct bench_line *line, size_t i,
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
		return err_set(err, ERR_USAGE, "--grid %s: expected NAME=VALUE,VALUE", word);
	while (str_next(&rest, ',', &value)) {
		AUTO_JSON one = cJSON_Duplicate(arm, true);
		const char *before = json_get_string(one, "tag", "");
		AUTO_TEXT tag = xasprintf("%s%s%.*s%.*s", before, before[0] != '\0' ? "-" : "",
					  (int)n, word, (int)value.len, value.p);
		AUTO_TEXT setting = xasprintf("%.*s=%.*s", (int)n, word, (int)value.len, value.p);

		cJSON_DeleteItemFromObjectCaseSensitive(one, "tag");
		json_add_string(one, "tag", tag);
		if (add_setting(one, "launch", setting, err) != 0 ||
		    add_grid(arms, one, line, i + 1, err) != 0)
			return -1;
	}
	return 0;
}

/* Add the arm "TAG", "TAG=COMMAND" or "TAG=FILE"; NULL with err. */
static cJSON *add_variant(cJSON *arms, const struct bench_line *line, const char *text,
			  struct err *err)
{
	AUTO_TEXT tag = xstrndup(text, strcspn(text, "="));
	const char *equals = strchr(text, '=');

	if (!plan_is_name(tag)) {
		err_set(err, ERR_USAGE,
			"--variant %s: expected TAG=%s, for example --variant new='%s' (TAG: %s)",
			text, line->kernel != NULL ? "FILE" : "COMMAND",
			line->kernel != NULL ? "b.py" : "python3 b.py", PLAN_NAME_WORDS);
		return NULL;
	}
	cJSON *arm = json_add(json_add_row(arms), JTEXT("tag", tag));
	if (equals != NULL && line->kernel != NULL)
		json_add_string(cJSON_AddObjectToObject(arm, "files"), line->kernel, equals + 1);
	else if (equals != NULL)
		json_add_string(arm, "command", equals + 1);
	return arm;
}

static int add_arms(cJSON *workload, cJSON *arms, const struct bench_line *line, struct err *err)
{
	AUTO_JSON blank = cJSON_CreateObject();
	cJSON *control =
		json_add(json_add_row(arms), JTEXT("tag", "control"), JBOOL("control", true));
	cJSON *arm = NULL;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < line->n_words; i++) {
		const char *text = line->words[i].text;

		switch (line->words[i].kind) {
		case LINE_CONTROL:
			arm = control;
			if (cJSON_HasObjectItem(workload, "command") ||
			    cJSON_HasObjectItem(control, "files"))
				return err_set(err, ERR_USAGE, "--control is given twice");
			if (line->kernel != NULL)
				json_add_string(cJSON_AddObjectToObject(arm, "files"), line->kernel,
						text);
			else
				json_add_string(workload, "command", text);
			break;
		case LINE_VARIANT:
			arm = add_variant(arms, line, text, err);
			rc = arm != NULL ? 0 : -1;
			break;
		case LINE_ENV:
			rc = add_setting(arm != NULL ? arm : workload, "env", text, err);
			break;
		case LINE_LAUNCH:
			rc = add_setting(arm, "launch", text, err);
			break;
		case LINE_PATCH:
			if (arm == NULL || line->folder == NULL)
				return err_set(err, ERR_USAGE,
					       "--patch %s must follow --control or --variant, and "
					       "needs --in FOLDER, the folder to copy",
					       text);
			json_add_string(arm, "patch", text);
			break;
		}
	}
	if (rc == 0 && line->grid.n > 0)
		return add_grid(arms, blank, line, 0, err);
	if (rc == 0 && line->kernel == NULL && !cJSON_HasObjectItem(workload, "command"))
		return err_set(err, ERR_USAGE, "no command for the control: use --control COMMAND");
	return rc;
}

bool bench_line_has_default(const struct bench_line *line)
{
	return line->metrics.n == 0 && line->kernel == NULL;
}

static int add_metric(cJSON *metric, const struct bench_line *line, struct err *err)
{
	const char *key = line->metrics.n > 0	 ? line->metrics.v[0]
			  : line->kernel != NULL ? "us"
						 : "step_ms";
	const char *direction = line->direction != NULL	    ? line->direction
				: bench_metric_is_rate(key) ? "higher"
							    : NULL;
	cJSON *also = NULL;

	json_add_string(metric, "key", key);
	if (bench_line_has_default(line))
		json_add_string(metric, "chosen", "if the first run prints training rows");
	if (line->metrics.n > 1)
		also = cJSON_AddArrayToObject(metric, "also");
	for (size_t i = 1; i < line->metrics.n; i++)
		cJSON_AddItemToArray(also, cJSON_CreateString(line->metrics.v[i]));
	if (direction != NULL)
		json_add_string(metric, "direction", direction);
	return line->window != NULL ? bench_make_window(metric, line->window, err) : 0;
}

/* Make the definition from a line.  A form also passes its arms and their default command. */
static cJSON *make_bench(const struct bench_line *line, const cJSON *form_arms, const char *command,
			 const struct conf *conf, struct err *err)
{
	AUTO_JSON root = json_new(JTEXT("schema", PLAN_SCHEMA),
				  JTEXT("name", line->name != NULL ? line->name : "line"));
	AUTO_BUF names = buf_new(MAX_NAMES);
	char here[PATH_MAX];

	if (getcwd(here, sizeof(here)) == NULL) {
		err_set_errno(err, ERR_IO, "cannot get the current folder");
		return NULL;
	}
	for (size_t i = 0; i < line->pods.n; i++)
		buf_appendf(&names, "%s\n", line->pods.v[i]);
	cJSON *pods = bench_make_pods(NULL, names.data, conf, err);
	if (pods == NULL)
		return NULL;
	cJSON *workload = cJSON_AddObjectToObject(root, "workload");
	bool is_here =
		(line->folder == NULL || strcmp(line->folder, ".") == 0) && are_local(pods, conf);
	json_add_string(workload, "cwd",
			is_here		       ? here
			: line->folder != NULL ? line->folder
					       : "~/.");
	cJSON *metric = cJSON_AddObjectToObject(root, "metric");
	cJSON *arms = form_arms != NULL ? cJSON_Duplicate(form_arms, true) : cJSON_CreateArray();
	cJSON_AddItemToObject(root, "variants", arms);
	cJSON_AddItemToObject(root, "pods", pods);
	if (add_metric(metric, line, err) != 0)
		return NULL;
	if (form_arms != NULL)
		json_add_string(workload, "command", command);
	else if (add_arms(workload, arms, line, err) != 0)
		return NULL;
	if (line->kernel != NULL)
		json_add(workload, JTEXT("kind", "kernel"), JTEXT("module", line->kernel));
	if (line->prepare != NULL)
		json_add_string(workload, "prepare", line->prepare);
	if (line->function != NULL)
		json_add_string(workload, "function", line->function);
	if (line->task != NULL)
		json_add_string(workload, "task", line->task);
	cJSON *design = cJSON_AddObjectToObject(root, "design");
	if (line->no_aa)
		cJSON_AddBoolToObject(design, "aa", false);
	if (!isnan(line->blocks) || line->kernel != NULL)
		json_add_number(design, "blocks_per_pod",
				isnan(line->blocks) ? KERNEL_BLOCKS : line->blocks);
	/* The best of a grid looks better than it is: confirm it in extra blocks. */
	if (line->grid.n > 0)
		json_add_number(design, "confirm_blocks", KERNEL_BLOCKS);
	if (!isnan(line->gap_s))
		json_add_number(design, "gap_s", line->gap_s);
	cJSON *budget = cJSON_AddObjectToObject(root, "budget");
	if (!isnan(line->minutes))
		json_add_number(budget, "minutes", line->minutes);
	bench_make_absolute(root, here);
	cJSON *result = root;
	root = NULL;
	return result;
}

cJSON *bench_make_line(const struct bench_line *line, const struct conf *conf, struct err *err)
{
	return make_bench(line, NULL, NULL, conf, err);
}

/* The next word, unquoted as by a shell: NAME='two words'; owned.  NULL if no word is left. */
static char *next_word(struct str *rest)
{
	AUTO_BUF word = buf_new(MAX_COMMAND);
	char quote = '\0';

	*rest = str_trim(*rest);
	if (rest->len == 0)
		return NULL;
	for (; rest->len > 0; *rest = str_skip(*rest, 1)) {
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
	return xstrdup(word.data);
}

/* The command of "TAG=COMMAND" without quotes around it; owned. NULL: another form. */
static char *get_command(struct str text)
{
	size_t n = index_of(i, text.len, text.p[i] == '=' || isspace((unsigned char)text.p[i]));

	if (n == 0 || n == text.len || text.p[n] != '=')
		return NULL;
	text = str_trim(str_skip(text, n + 1));
	if (text.len > 1 && (text.p[0] == '\'' || text.p[0] == '"') &&
	    memchr(text.p + 1, text.p[0], text.len - 1) == text.p + text.len - 1)
		text = (struct str){ text.p + 1, text.len - 2 };
	return xstrndup(text.p, text.len);
}

/* Add the arm of a field of the form: "TAG=COMMAND" or "TAG NAME=VALUE .. [-- COMMAND]". */
static int add_form_arm(cJSON *arms, const cJSON *form, const char *key, struct err *err)
{
	bool is_control = strcmp(key, "control") == 0;
	struct str rest = str_trim(str_from(json_get_string(form, key, "")));
	AUTO_TEXT command = get_command(rest);
	AUTO_TEXT tag = command != NULL ? xstrndup(rest.p, strcspn(rest.p, "=")) : next_word(&rest);

	if (tag == NULL && !is_control)
		return 0;
	if (tag == NULL || !plan_is_name(tag))
		return err_set(err, ERR_USAGE, "%s: \"%.60s\" is not a tag (" PLAN_NAME_WORDS ")",
			       key, tag != NULL ? tag : "");
	cJSON *arm = json_add(json_add_row(arms), JTEXT("tag", tag));
	if (is_control)
		cJSON_AddBoolToObject(arm, "control", true);
	while (command == NULL && rest.len > 0) {
		AUTO_TEXT word = next_word(&rest);

		if (word == NULL)
			break;
		if (strcmp(word, "--") == 0) {
			rest = str_trim(rest);
			command = xstrndup(rest.p, rest.len);
		} else if (strchr(word, '=') == NULL) {
			return err_set(err, ERR_USAGE,
				       "%s: \"%.60s\" is not NAME=VALUE; put a command after --",
				       key, word);
		} else if (add_setting(arm, "env", word, err) != 0) {
			return -1;
		}
	}
	if (command != NULL)
		json_add_string(arm, "command", command);
	return 0;
}

static int read_number(const cJSON *form, const char *key, double *value, struct err *err)
{
	struct str text = str_trim(str_from(json_get_string(form, key, "")));

	*value = (double)NAN;
	return text.len == 0 || str_to_double(text, value)
		       ? 0
		       : err_set(err, ERR_USAGE, "%s: expected a number", key);
}

cJSON *bench_make_form(const cJSON *form, const struct conf *conf, struct err *err)
{
	static const char *const arms[] = { "control", "variant", "variant2" };
	struct str rest = str_from(json_get_string(form, "metric", ""));
	AUTO_TEXT key = next_word(&rest);
	AUTO_TEXT direction = next_word(&rest);
	const char *metric = key, *pods = json_get_string(form, "pods", "");
	const char *window = json_get_string(form, "window", "");
	const char *command = json_get_string(form, "command", "");
	AUTO_TEXT control = get_command(str_trim(str_from(json_get_string(form, "control", ""))));
	AUTO_JSON variants = cJSON_CreateArray();
	struct bench_line line = {
		.name = json_get_string(form, "name", ""),
		.folder = json_get_string(form, "folder", ""),
		.pods = { &pods, 1 },
		.metrics = { &metric, key != NULL ? 1 : 0 },
		.direction = direction,
		.window = str_trim(str_from(window)).len > 0 ? window : NULL,
		.gap_s = (double)NAN,
		.no_aa = json_get_string(form, "aa", "auto")[0] == 'n',
	};
	int rc = 0;

	if (command[0] == '\0' && control != NULL)
		command = control;
	if (line.folder[0] == '\0')
		rc = err_set(
			err, ERR_USAGE,
			"folder: expected the directory on the pods in which the command runs");
	else if (command[0] == '\0')
		rc = err_set(err, ERR_USAGE, "command: expected the shell command of one run");
	else if (!str_is_among(str_trim(str_from(json_get_string(form, "aa", "auto"))),
			       "auto yes no y n"))
		rc = err_set(err, ERR_USAGE, "aa: expected auto, yes or no");
	for (size_t i = 0; rc == 0 && i < LENGTH(arms); i++)
		rc = add_form_arm(variants, form, arms[i], err);
	if (rc != 0 || read_number(form, "blocks", &line.blocks, err) != 0 ||
	    read_number(form, "minutes", &line.minutes, err) != 0)
		return NULL;
	return make_bench(&line, variants, command, conf, err);
}

cJSON *bench_form_of(const struct plan *plan)
{
	static const char *const arms[] = { "control", "variant", "variant2" };
	AUTO_BUF pods = buf_new(MAX_NAMES);
	char window[64] = "", minutes[32] = "";

	if (plan->kernel)
		return NULL;
	for (size_t i = 0; i < plan->n_pods; i++)
		buf_appendf(&pods, "%s%s", i > 0 ? "," : "", plan->pods[i].id);
	if (plan->rule.window == WINDOW_FIXED)
		print_into(window, "%g:%g", plan->rule.lo, plan->rule.hi);
	else if (plan->rule.window == WINDOW_AUTO)
		print_into(window, "auto");
	if (!isnan(plan->minutes))
		print_into(minutes, "%g", plan->minutes);
	AUTO_TEXT metric = xasprintf("%s%s", plan->key, plan->rule.higher ? " higher" : "");
	AUTO_TEXT blocks = xasprintf("%zu", plan->blocks);
	cJSON *form =
		json_new(JTEXT("name", plan->name), JTEXT("pods", pods.data),
			 JTEXT("folder", plan->cwd), JTEXT("command", plan->command),
			 JTEXT("metric", metric), JTEXT("window", window), JTEXT("blocks", blocks),
			 JTEXT("aa", plan->aa ? "auto" : "no"), JTEXT("minutes", minutes));
	/* "B=python3 b.py", "B LR=0.1" or "B LR=0.1 -- python3 b.py" */
	for (size_t i = 0; i < LENGTH(arms); i++) {
		const struct plan_variant *v = i < plan->n_variants ? &plan->variants[i] : NULL;
		AUTO_BUF text = buf_new(MAX_COMMAND);

		buf_append_str(&text, v != NULL ? v->tag : "");
		for (size_t k = 0; v != NULL && k < v->env.n; k++) {
			buf_appendf(&text, " %s=", v->env.v[k].name);
			quote_word(&text, str_from(v->env.v[k].value));
		}
		if (v != NULL && v->command != NULL)
			buf_appendf(&text, "%s%s", v->env.n > 0 ? " -- " : "=", v->command);
		json_add_string(form, arms[i], text.data);
	}
	return form;
}
