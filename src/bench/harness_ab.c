/* SPDX-License-Identifier: MIT */
/* Build the bench.json that compares results of HarnessGym. */
#include "bench/harness_ab.h"

#include <ctype.h>

#include "base/quote.h"
#include "base/utf8.h"
#include "bench/plan.h"

#define COMMAND_MAX  65536U
#define NAME_BYTES   40U
#define WORD_BYTES   64
#define MAX_SETTINGS 64
#define MAX_ARMS     8
#define MAX_JUDGES   64
#define BLOCKS	     6
#define FEW_BLOCKS   3 /* for a kernel bench, and for confirming the best arm */
#define TIMEOUT_S    240.0
#define LETTERS	     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
/* HarnessGym's remote_h100.py clears its own folder on the pod, so a bench uses this folder. */
#define BENCH_FOLDER "_hgym_ab"

/* Where the bench keeps the copies of its arms on the pod: next to the folders of its runs. */
#define FROZEN "\"${HGYM_JOB%/*}/arms\""

struct arms {
	const struct harness_ab *ab;
	cJSON *variants;
	struct buf freeze; /* shell commands that copy the arms before the first run */
	size_t n_omitted;  /* arms beyond MAX_ARMS */
};

/* Append the names, quoted for the shell, each between `before` and `after`. */
static void append_names(struct buf *out, const struct harness_names *names, const char *before,
			 const char *after)
{
	for (size_t i = 0; i < names->n && i < MAX_JUDGES; i++) {
		buf_append_str(out, before);
		quote_word(out, str_from(names->v[i]));
		buf_append_str(out, after);
	}
}

/* Append the shell command that measures the arm in the current folder. It first compares the
 * judge's files there with those in the folder `judges` (quoted for the shell), and replaces files
 * with another layout. A run that sends its workspace to a pod gets another remote folder. */
static void append_measure(struct buf *out, const struct harness_ab *ab, const char *judges)
{
	const struct harness_run *run = ab->run;
	const char *command = run->command;
	const char *flag =
		strstr(command, "remote_h100.py") != NULL ? strstr(command, "--workspace") : NULL;
	size_t n = strlen(command);
	AUTO_BUF measure = buf_new(COMMAND_MAX);

	if (flag != NULL) {
		n = (size_t)(flag - command) + strlen("--workspace");
		n += strspn(command + n, " =");
		const char quote[] = { command[n], '\0' };
		n += quote[0] == '"' || quote[0] == '\'' ? 1 + strcspn(command + n + 1, quote)
							 : strcspn(command + n, " ");
	}
	buf_append(&measure, command, n);
	buf_append_str(&measure, flag != NULL ? BENCH_FOLDER : "");
	buf_append_str(&measure, command + n);
	/* Compare the judge's files that the reader of the run found, or else the usual two. */
	buf_appendf(out, "w=%s && [ -d \"$w\" ] && ", judges);
	append_names(out, &run->formatted, "tar -C \"$w\" -cf - ", " | tar -xf - && ");
	buf_append_str(out, "for f in");
	append_names(out, &run->compared, " ", "");
	buf_append_str(out, run->compared.n > 0
				    ? "; do"
				    : " benchmark.py verifier.py; do [ ! -e \"$w/$f\" ] ||");
	buf_append_str(out, " cmp \"$w/$f\" \"$f\" || exit 9; done && ");
	append_names(out, &run->added, "[ ! -e ", " ] && ");
	buf_append_str(out, "sh -c ");
	quote_word(out, str_from(measure.data));
}

/* Let the bench copy a folder before its first run: a HarnessGym run in progress replaces files. */
static void freeze(struct arms *arms, const char *name, const char *folder)
{
	buf_appendf(&arms->freeze, " && copy %s ", name);
	quote_word(&arms->freeze, str_from(folder));
}

/* Add an arm with the files of a folder.  Each run measures in a fresh copy of them. */
static void add_folder(struct arms *arms, const char *tag, const char *source)
{
	cJSON *variant = json_add(json_add_row(arms->variants), JTEXT("tag", tag));
	AUTO_BUF command = buf_new(COMMAND_MAX);

	freeze(arms, tag, source);
	buf_appendf(&command,
		    "d=$(mktemp -d) && trap 'rm -rf \"$d\"' EXIT && "
		    "trap 'exit 143' HUP INT TERM && tar -C %s/%s -cf - . "
		    "| tar -C \"$d\" -xf - && cd \"$d\" && ",
		    FROZEN, tag);
	append_measure(&command, arms->ab, FROZEN "/judge");
	if (arms->variants->child == variant)
		cJSON_AddBoolToObject(variant, "control", true);
	json_add_string(variant, "command", command.data);
}

/* Add an arm for each trial that counts and whose files differ from those of earlier trials. */
static int add_trials(struct arms *arms, struct err *err)
{
	const struct harness_compare *compare = arms->ab->compare;
	const char *known[MAX_ARMS];
	size_t n = 0;

	array_each (trial, compare->trials, compare->n_trials) {
		AUTO_TEXT tag = xasprintf("%s-%u", trial->group, trial->number);
		AUTO_TEXT folder = xasprintf("%s/%s/trial_%u/workspace", arms->ab->workspace,
					     trial->group, trial->number);

		if (!harness_trial_counts(trial) ||
		    any_of(i, n, strcmp(known[i], trial->files) == 0 && *known[i] != '\0'))
			continue;
		if (n == MAX_ARMS) {
			arms->n_omitted++;
			continue;
		}
		add_folder(arms, tag, folder);
		known[n++] = trial->files;
	}
	freeze(arms, "judge", compare->template);
	if (n > 1)
		return 0;
	return err_set(err, ERR_NODATA,
		       "fewer than two trials of the comparison count and have different files");
}

/* Are the functions timed directly, with the checkpoint's task.py? */
static bool is_kernel(const struct harness_ab *ab)
{
	return ab->settings && ab->run->checkpoint.has_task;
}

/* A merge patch (null removes a key) that turns the object `from` into `to`. */
static cJSON *make_overlay(const cJSON *from, const cJSON *to)
{
	cJSON *over = cJSON_CreateObject();

	json_each (node, to)
		if (!cJSON_Compare(node, json_get(from, node->string), true))
			cJSON_AddItemToObject(over, node->string, cJSON_Duplicate(node, true));
	json_each (node, from)
		if (json_get(to, node->string) == NULL)
			cJSON_AddNullToObject(over, node->string);
	return over;
}

/* Is this member safe to use as a setting?  An agent may have written its name and its value. */
static bool is_setting(const cJSON *node)
{
	static const char name[] = LETTERS "_0123456789";
	static const char word[] = LETTERS "_0123456789.:+-";

	if (strspn(node->string, LETTERS "_") == 0 || !str_has_only(str_from(node->string), name))
		return false;
	if (cJSON_IsString(node))
		return strlen(node->valuestring) <= WORD_BYTES &&
		       str_has_only(str_from(node->valuestring), word);
	return cJSON_IsBool(node) || (cJSON_IsNumber(node) && isfinite(node->valuedouble));
}

/* Parse the settings of a kernel; `source` names them in errors. */
static cJSON *parse_settings(const char *text, const char *source, struct err *err)
{
	cJSON *root = json_parse(str_trim(str_from(text)), JSON_BARE_REFUSED, NULL);
	const char *duplicate = json_duplicate_key(root), *bad = NULL;
	AUTO_BUF name = buf_new(COMMAND_MAX);

	json_each (node, cJSON_IsObject(root) ? root : NULL)
		bad = is_setting(node) ? bad : node->string;
	utf8_sanitize(&name, str_from(bad != NULL ? bad : duplicate != NULL ? duplicate : ""));
	if (!cJSON_IsObject(root))
		err_set(err, ERR_NODATA, "%s: not a JSON object", source);
	else if (cJSON_GetArraySize(root) > MAX_SETTINGS)
		err_set(err, ERR_NODATA, "%s: more than %d settings", source, MAX_SETTINGS);
	else if (bad != NULL)
		err_set(err, ERR_NODATA,
			"%s: \"%.60s\" is not a number, true, false or a short word", source,
			name.data);
	else if (duplicate != NULL)
		err_set(err, ERR_NODATA, "%s: duplicate key \"%.60s\"", source, name.data);
	else
		return root;
	cJSON_Delete(root);
	return NULL;
}

/* Distinct settings of a kernel: the template's, the checkpoint's, then those of iterations. */
struct settings {
	cJSON *trees[MAX_ARMS]; /* owned */
	unsigned int iterations[MAX_ARMS];
	size_t n, n_omitted;
};

/* Take ownership of a tree, and add it unless an equal one was added before. */
static void add_tree(struct settings *all, unsigned int iteration, cJSON *tree)
{
	bool is_new = tree != NULL;

	for (size_t i = 0; is_new && i < all->n; i++)
		is_new = !cJSON_Compare(all->trees[i], tree, true);
	all->n_omitted += is_new && all->n == MAX_ARMS ? 1 : 0;
	if (!is_new || all->n == MAX_ARMS) {
		cJSON_Delete(tree);
		return;
	}
	all->iterations[all->n] = iteration;
	all->trees[all->n++] = tree;
}

/* Check that the checkpoint's file agrees with the settings that the verifier printed. */
static int check_file(const char *file, const cJSON *printed, struct err *err)
{
	AUTO_JSON own = parse_settings(file, "the checkpoint's " HARNESS_SETTINGS, err);
	AUTO_BUF values = buf_new(COMMAND_MAX);

	json_each (node, own) {
		const cJSON *other = json_get(printed, node->string);

		if (other == NULL || cJSON_Compare(node, other, true))
			continue;
		json_print(&values, node);
		buf_append_str(&values, ", but the verifier printed ");
		json_print(&values, other);
		return err_set(err, ERR_NODATA,
			       "the checkpoint's " HARNESS_SETTINGS " contains %s %s", node->string,
			       values.data);
	}
	return own != NULL ? 0 : -1;
}

/* Collect a run's settings: those that the verifier printed, or else those in files. */
static int read_settings(struct settings *all, const struct harness_run *run, struct err *err)
{
	const char *base = run->template_settings, *own = run->checkpoint.settings;
	const struct harness_iteration *best =
		array_find(it, run->iterations, run->n_iterations,
			   run->best.present && it->number == run->best.iteration &&
				   run->checkpoint.iteration.value == run->best.iteration);

	if (best == NULL)
		return err_set(err, ERR_NODATA,
			       "its checkpoint is not the verified best iteration");
	if (run->baseline.config != NULL && best->post.config != NULL) {
		base = run->baseline.config;
		own = best->post.config;
	}
	if (base == NULL || own == NULL)
		return err_set(err, ERR_NODATA, "its template has no settings");
	add_tree(all, 0, parse_settings(base, "the template's settings", err));
	if (all->n == 1)
		add_tree(all, best->number, parse_settings(own, "the checkpoint's settings", err));
	if (all->n < 2 && err->code == ERR_NONE)
		err_set(err, ERR_NODATA, "its checkpoint has the same settings as the template");
	if (err->code != ERR_NONE)
		return -1;
	if (own != run->checkpoint.settings && run->checkpoint.settings != NULL &&
	    check_file(run->checkpoint.settings, all->trees[1], err) != 0)
		return -1;
	array_each (it, run->iterations, run->n_iterations) {
		struct err ignored = { ERR_NONE, "" };

		if (it->verified_score.present && it->post.config != NULL)
			add_tree(all, it->number, parse_settings(it->post.config, "", &ignored));
	}
	return 0;
}

/* Add one arm per setting: the checkpoint, unchanged or with other settings.  The bench copies the
 * checkpoint for arms with an overlay before the first run. */
static int add_settings(struct arms *arms, struct err *err)
{
	const struct harness_run *run = arms->ab->run;
	struct settings all = { .n = 0 };
	struct err why = { ERR_NONE, "" };
	bool has_file = run->checkpoint.settings != NULL;
	int rc = read_settings(&all, run, &why);

	for (size_t i = 0; rc == 0 && i < all.n; i++) {
		cJSON *v = json_add_row(arms->variants);
		AUTO_TEXT tag =
			i == 0 ? xstrdup("template") : xasprintf("iteration-%u", all.iterations[i]);

		json_add_string(v, "tag", tag);
		if (i == 0)
			cJSON_AddBoolToObject(v, "control", true);
		if (!has_file)
			cJSON_AddItemToObject(v, "launch", cJSON_Duplicate(all.trees[i], true));
		else if (i != 1) /* arm 1 is the unchanged checkpoint */
			json_add(v,
				 JNODE("overlay",
				       json_new(JNODE(HARNESS_SETTINGS,
						      make_overlay(all.trees[1], all.trees[i])))));
	}
	for (size_t i = 0; i < all.n; i++)
		cJSON_Delete(all.trees[i]);
	arms->n_omitted = all.n_omitted;
	return rc == 0 ? 0 : err_set(err, why.code, "run %s: %s", run->id, why.text);
}

/* Add the task's template (the control), the best checkpoint, and the workspace if it differs from
 * that.  Without a template the checkpoint is the control. */
static int add_run(struct arms *arms, const char *template, const char *best, struct err *err)
{
	const struct harness_ab *ab = arms->ab;
	const struct harness_run *run = ab->run;

	if (run->has_template)
		add_folder(arms, "template", template);
	if (!run->has_template || !run->changes.present || run->changes.n > 0)
		add_folder(arms, "checkpoint", best);
	if (run->work_differs == HARNESS_YES ||
	    (!run->has_template && run->work_differs != HARNESS_NO))
		add_folder(arms, "workspace", ab->workspace);
	freeze(arms, "judge", run->has_template ? template : ab->workspace);
	return cJSON_GetArraySize(arms->variants) > 1
		       ? 0
		       : err_set(err, ERR_NODATA,
				 "run %s: its best checkpoint, its workspace and the template have "
				 "the same files, so there is nothing to compare",
				 run->id);
}

static cJSON *make_workload(const struct arms *arms, const char *folder, const char *command)
{
	struct harness_number limit = arms->ab->run->post_s;
	cJSON *workload = json_new(
		JTEXT("cwd", folder), JTEXT("command", command), JTEXT("log", "verifier.out"),
		JNUM("timeout_s",
		     harness_is_finite(limit) && limit.value >= 1 ? limit.value : TIMEOUT_S));

	if (arms->freeze.len == 0)
		return workload;
	AUTO_TEXT prepare = xasprintf(
		"f=%s; copy() { [ -d \"$2\" ] || { echo \"no folder $2\" >&2; return 1; }; "
		"mkdir \"$f.t/$1\" && tar -C \"$2\" "
		"--exclude=./.harnessgym --exclude=./.git --exclude=__pycache__ -cf - . "
		"| tar -C \"$f.t/$1\" -xf -; }; "
		"[ -d \"$f\" ] || { rm -rf \"$f.t\" && mkdir \"$f.t\"%s && mv \"$f.t\" \"$f\"; }",
		FROZEN, arms->freeze.data);

	json_add_string(workload, "prepare", prepare);
	return workload;
}

/* Add the arms, and return the workload that runs them; NULL with err. */
static cJSON *add_arms(struct arms *arms, struct err *err)
{
	const struct harness_ab *ab = arms->ab;
	const struct harness_run *run = ab->run;
	AUTO_TEXT dir = xstrdup(run->dir != NULL ? run->dir : "");

	/* wire.py replaces a slash in the run's id by this character. */
	for (char *p; (p = strstr(dir, "\u2215")) != NULL; *p = '/')
		memmove(p + 1, p + strlen("\u2215"), strlen(p + strlen("\u2215")) + 1);
	AUTO_TEXT folder = xasprintf("%s/.harnessgym/runs/%s", ab->workspace, dir);
	AUTO_TEXT best = xasprintf("%s/checkpoints/best", folder);
	AUTO_TEXT template = xasprintf("%s/qualification/workspace_template", folder);
	AUTO_BUF judges = buf_new(COMMAND_MAX);
	AUTO_BUF command = buf_new(COMMAND_MAX);

	if (!ab->settings) {
		if ((ab->compare != NULL ? add_trials(arms, err)
					 : add_run(arms, template, best, err)) != 0)
			return NULL;
		return make_workload(arms, ab->workspace, run->command);
	}
	if (add_settings(arms, err) != 0)
		return NULL;
	if (is_kernel(ab))
		return json_new(JTEXT("cwd", best), JTEXT("kind", "kernel"));
	quote_word(&judges, str_from(template));
	append_measure(&command, ab, judges.data);
	return make_workload(arms, best, command.data);
}

static void add_note(cJSON *plan, const struct arms *arms)
{
	const struct harness_run *run = arms->ab->run;
	bool is_run = arms->ab->compare == NULL;
	AUTO_BUF note = buf_new(COMMAND_MAX);

	if (is_run && !run->has_summary && run->life.state == HARNESS_STATE_RUNNING)
		buf_appendf(&note, "the run has not finished: %s; ",
			    arms->ab->settings && run->checkpoint.settings == NULL
				    ? "a new checkpoint changes all arms"
				    : "the bench measures copies made before its first run");
	if (is_run && run->judge != NULL)
		buf_appendf(&note,
			    "the judge file %s changed after the start of the run: arms that "
			    "contain the changed file fail; ",
			    run->judge);
	if (is_run && run->best.present && run->checkpoint.iteration.present &&
	    run->checkpoint.iteration.value != run->best.iteration)
		buf_appendf(&note,
			    "the checkpoint is from iteration %.0f, not from the best verified "
			    "iteration, %u; ",
			    run->checkpoint.iteration.value, run->best.iteration);
	if (arms->n_omitted > 0)
		buf_appendf(&note, "%zu more %s left out: this bench has at most %d arms; ",
			    arms->n_omitted, is_run ? "iterations" : "trials", MAX_ARMS);
	if (note.len == 0)
		return;
	note.data[note.len - 2] = '\0';
	json_add_string(plan, "note", note.data);
}

static cJSON *make_plan(const struct harness_ab *ab, struct err *err)
{
	const struct harness_run *run = ab->run;
	struct arms arms = { .ab = ab, .variants = cJSON_CreateArray() };
	cJSON *variants = arms.variants, *metric, *design, *pod;
	AUTO_BUF name = buf_new(COMMAND_MAX);

	buf_init(&arms.freeze, COMMAND_MAX);
	cJSON *workload = add_arms(&arms, err);
	buf_release(&arms.freeze);
	if (workload == NULL) {
		cJSON_Delete(variants);
		return NULL;
	}
	for (const char *c = run->id; *c != '\0' && name.len < NAME_BYTES - 4; c++)
		buf_append_char(&name, isalnum((unsigned char)*c) || strchr("_.-", *c) ? *c : '_');
	buf_append_str(&name, ab->settings ? "-set" : "-ab");
	if (is_kernel(ab)) {
		metric = json_new(JTEXT("key", "us"));
	} else {
		metric = json_new(JTEXT("parser", "json"), JTEXT("key", run->post_score_key));
		if (run->higher_is_better != HARNESS_UNKNOWN)
			json_add_string(metric, "direction",
					run->higher_is_better == HARNESS_YES ? "higher" : "lower");
	}
	pod = ab->pod != NULL ? json_new(JTEXT("id", ab->pod))
			      : json_new(JTEXT("id", "here"), JTEXT("transport", "local"));
	design = json_new(JNUM("blocks_per_pod", is_kernel(ab) ? FEW_BLOCKS : BLOCKS),
			  JNUM("burn_in", !is_kernel(ab)), JBOOL("aa", true));
	/* The best of several arms looks better than it is: confirm it in extra blocks. */
	if (cJSON_GetArraySize(variants) > 2)
		json_add_number(design, "confirm_blocks", FEW_BLOCKS);
	cJSON *plan = json_new(JTEXT("schema", PLAN_SCHEMA), JTEXT("name", name.data),
			       JNODE("workload", workload), JNODE("metric", metric),
			       JNODE("variants", variants), JNODE("pods", json_list_of(pod)),
			       JNODE("design", design));
	add_note(plan, &arms);
	return plan;
}

static int check_run(const struct harness_ab *ab, struct err *err)
{
	const struct harness_run *run = ab->run;

	if (ab->compare != NULL) {
		if (run->command != NULL && run->post_score_key != NULL &&
		    ab->compare->template != NULL && ab->compare->template[0] == '/')
			return 0;
		return err_set(err, ERR_NODATA,
			       "the comparison has no report yet, or the report does not name its "
			       "task");
	}
	if (!run->checkpoint.present)
		return err_set(err, ERR_NODATA, "run %s has no checkpoint to compare with",
			       run->id);
	if (run->command == NULL || run->post_score_key == NULL ||
	    run->higher_is_better == HARNESS_UNKNOWN)
		return err_set(err, ERR_NODATA, "run %s has no command that measures a score",
			       run->id);
	if (ab->settings && run->checkpoint.settings == NULL && !run->checkpoint.has_task)
		return err_set(err, ERR_NODATA,
			       "run %s: its checkpoint has neither a " HARNESS_SETTINGS
			       " nor a task.py, so settings cannot be compared",
			       run->id);
	if (ab->workspace[0] != '/')
		return err_set(err, ERR_USAGE, "--ab: give the absolute path of the workspace");
	return 0;
}

cJSON *harness_ab_json(const struct harness_ab *asked, struct err *err)
{
	struct harness_run trials = { .id = "trials" };
	struct harness_ab ab = *asked;
	AUTO_PLAN plan = { .file = NULL };
	AUTO_BUF text = buf_new(COMMAND_MAX * 4);

	if (ab.compare != NULL) {
		trials.compared = ab.compare->compared;
		trials.added = ab.compare->added;
		trials.formatted = ab.compare->formatted;
		trials.command = ab.compare->command;
		trials.post_score_key = ab.compare->score_key;
		trials.higher_is_better = ab.compare->higher_is_better;
		ab.run = &trials;
	}
	if (check_run(&ab, err) != 0)
		return NULL;
	cJSON *root = make_plan(&ab, err);
	if (root == NULL)
		return NULL;
	json_print(&text, root);
	if (plan_parse(&plan, "bench.json", buf_str(&text), err) == 0)
		return root;
	cJSON_Delete(root);
	return NULL;
}
