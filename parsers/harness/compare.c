/* SPDX-License-Identifier: MIT */
/* Read a comparison: its trials, which of them count, and the statistics of both groups. */
#include "parsers/harness/compare.h"

#include "base/sort.h"
#include "parsers/harness/parts.h"
#include "parsers/score_json.h"

static const char *const group_names[] = { "plain", "harnessed" };

/* Read the number of active tools from the validation, or else the maximum over all iterations. */
static struct harness_number read_tools(const cJSON *trial)
{
	struct harness_number tools =
		harness_number_at(json_get(trial, "harness_validation"), "active_tool_count");

	if (tools.present)
		return tools;
	json_each (node, json_get(trial, "iterations")) {
		struct harness_number n = harness_number_at(node, "active_tool_count");

		if (n.present && (!tools.present || n.value > tools.value))
			tools = n;
	}
	return tools;
}

/* Doubt a score in trial.json that differs from what the verifier printed. */
static void check_trial_score(struct harness_build *b, struct harness_trial *trial)
{
	const struct harness_post *post = &trial->post;

	if (!post->has_output || !trial->score.present ||
	    (harness_is_finite(post->score) && post->score.value == trial->score.value &&
	     post->passed != HARNESS_NO))
		return;
	if (post->passed == HARNESS_NO)
		harness_post_doubt(b, &trial->post, "trial.json has %s, but the verifier failed",
				   NUMBER(trial->score.value));
	else
		harness_post_doubt(b, &trial->post, "trial.json has %s, the verifier printed %s",
				   NUMBER(trial->score.value),
				   harness_is_finite(post->score) ? NUMBER(post->score.value)
								  : "no score");
}

static void check_trial_judges(struct harness_build *b, struct harness_trial *trial)
{
	char folder[32];

	print_into(folder, "trial_%u/", trial->number);
	array_each (judge, b->files->judges, b->files->n_judges) {
		const char *task = judge->copies[HARNESS_TEMPLATE].sum;
		const char *work = judge->copies[HARNESS_WORK].sum;

		if (strcmp(judge->run, trial->group) == 0 &&
		    strncmp(judge->name, folder, strlen(folder)) == 0 && *task != '\0' &&
		    *work != '\0' && strcmp(task, work) != 0)
			harness_post_doubt(b, &trial->post, "judge changed: %.100s",
					   judge->name + strlen(folder));
	}
}

static const struct harness_file *find_trial_file(const struct harness_files *files,
						  enum harness_kind kind,
						  const struct harness_trial *trial)
{
	return harness_files_find(files, kind, trial->group, trial->number, 0);
}

static void read_post(struct harness_compare *compare, const struct harness_files *files,
		      struct harness_trial *trial, const cJSON *node)
{
	struct harness_run run = {
		.post_score_key = harness_text_at(&compare->pool, node, "score_key"),
	};
	struct harness_build b = { .pool = &compare->pool, .files = files, .run = &run };
	const struct harness_file *errors = find_trial_file(files, HARNESS_TRIAL_ERR, trial);
	const struct harness_file *out = find_trial_file(files, HARNESS_TRIAL_OUT, trial);

	harness_post_read(&b, &trial->post, node, out,
			  errors != NULL ? (struct str){ errors->text, errors->len }
					 : (struct str){ NULL, 0 });
	check_trial_score(&b, trial);
	if (trial->post.present)
		check_trial_judges(&b, trial);
	if (compare->score_key == NULL)
		compare->score_key = run.post_score_key;
	if (compare->command == NULL)
		compare->command = trial->post.command;
}

static void read_trial(struct harness_compare *compare, const struct harness_files *files,
		       size_t group, const cJSON *node)
{
	struct harness_pool *pool = &compare->pool;
	struct harness_trial *t = &compare->trials[compare->n_trials++];
	struct harness_number number = harness_number_at(node, "trial");
	char name[32];

	t->group = group_names[group];
	t->number = number.present && number.value >= 1 && number.value <= HARNESS_MAX_NUMBER
			    ? (unsigned int)number.value
			    : 0;
	t->run_id = harness_text_at(pool, node, "run_id");
	t->status = harness_text_at(pool, node, "status");
	t->error = harness_text_at(pool, node, "error");
	t->iterations = harness_number_at(node, "iterations_completed");
	t->attempt_s = harness_number_at(node, "attempt_duration_seconds");
	t->comparison_valid = harness_bool_at(node, "comparison_valid");
	t->comparison_why = harness_text_at(pool, node, "comparison_invalid_reason");
	t->post_valid = harness_bool_at(node, "post_valid");
	t->objective_valid = harness_bool_at(node, "objective_post_valid");
	t->post_why = harness_text_at(pool, node, "post_invalid_reason");
	t->worst = harness_bool_at(node, "post_treated_as_worst");
	t->score = harness_number_at(node, "post_score");
	t->calls = harness_number_at(node, "mcp_call_count");
	t->active_tools = read_tools(node);
	print_into(name, "%s/trial_%u", t->group, t->number);
	t->files = harness_text_at(
		pool, json_get(harness_files_json(files, "judge.report"), "files"), name);
	if (t->files == NULL)
		t->files = "";
	read_post(compare, files, t, json_get(node, "post_result"));
}

static void read_group_trials(struct harness_compare *compare, const struct harness_files *files,
			      const cJSON *report, size_t group)
{
	for (unsigned int k = 1; k <= HARNESS_MAX_TRIALS && compare->n_trials < HARNESS_MAX_TRIALS;
	     k++) {
		const struct harness_file *file =
			harness_files_find(files, HARNESS_TRIAL, group_names[group], k, 0);
		const cJSON *node = file != NULL ? file->json : NULL;

		json_each (row, node == NULL ? json_get(report, "trials") : NULL) {
			struct harness_number of = harness_number_at(row, "trial");

			if (node == NULL && of.present && of.value == k &&
			    strcmp(json_get_string(row, "group", ""), group_names[group]) == 0)
				node = row;
		}
		if (node != NULL)
			read_trial(compare, files, group, node);
	}
}

#define MAX_OTHERS 16

/* All trials run the same verifier, so their outputs must match. Doubt a trial whose output does
 * not match most of the others. If there are only two trials, and each lacks something that the
 * other has, it is unknown which trial is wrong. */
static void check_outputs(struct harness_compare *compare, const struct harness_files *files)
{
	struct harness_build b = { .pool = &compare->pool, .files = files };
	cJSON **outputs = xcalloc(compare->n_trials + 1, sizeof(*outputs));
	char why[HARNESS_NAME_MAX], whose[64], reason[HARNESS_NAME_MAX];
	size_t n_outputs = 0;

	for (size_t i = 0; i < compare->n_trials; i++) {
		const struct harness_file *out =
			find_trial_file(files, HARNESS_TRIAL_OUT, &compare->trials[i]);

		if (out != NULL && harness_trial_counts(&compare->trials[i]))
			outputs[i] = json_parse(str_trim((struct str){ out->text, out->len }),
						JSON_BARE_TEXT, NULL);
		n_outputs += outputs[i] != NULL;
	}
	for (size_t i = 0; i < compare->n_trials; i++) {
		struct harness_trial *t = &compare->trials[i];
		size_t n = 0, n_differ = 0;

		for (size_t k = 0; outputs[i] != NULL && k < compare->n_trials; k++) {
			const struct harness_trial *other = &compare->trials[k];

			if (k == i || outputs[k] == NULL || n == MAX_OTHERS ||
			    t->post.command == NULL || other->post.command == NULL ||
			    strcmp(t->post.command, other->post.command) != 0)
				continue;
			n++;
			print_into(whose, "%s trial %u", other->group, other->number);
			if (harness_output_matches(compare->score_key, outputs[k], outputs[i],
						   whose, reason) ||
			    (n_outputs == 2 &&
			     !harness_output_matches(compare->score_key, outputs[i], outputs[k],
						     whose, why)))
				continue;
			if (n_differ++ == 0)
				print_into(why, "%s", reason);
		}
		if (2 * n_differ > n)
			harness_post_doubt(&b, &t->post, "%s", why);
	}
	for (size_t i = 0; i < compare->n_trials; i++)
		cJSON_Delete(outputs[i]);
	free(outputs);
}

bool harness_trial_counts(const struct harness_trial *trial)
{
	return trial->post_valid == HARNESS_YES && trial->post.doubt == NULL &&
	       trial->score.present && score_is_measurable(trial->score.value);
}

/* Set the best score of a group, as the report names it, and the direction: is it the minimum? */
static void set_best(struct harness_compare *compare, struct harness_group *group,
		     const cJSON *report)
{
	const cJSON *node =
		json_get(json_get(json_get(report, "summary"), group->name), "post_score");
	struct harness_number best = harness_number_at(node, "best");

	if (group->min.value == group->max.value)
		best = group->min;
	if (!best.present || (best.value != group->min.value && best.value != group->max.value))
		return;
	group->best = best;
	if (group->min.value != group->max.value)
		compare->higher_is_better = HARNESS_TRI(best.value == group->max.value);
}

static void count_group(struct harness_compare *compare, const cJSON *report, size_t which)
{
	struct harness_group *group = &compare->groups[compare->n_groups];
	double values[HARNESS_MAX_TRIALS];
	size_t n = 0;

	*group = (struct harness_group){ .name = group_names[which], .worst = HARNESS_NO };
	array_each (t, compare->trials, compare->n_trials) {
		if (t->group != group->name)
			continue;
		group->count++;
		if (harness_trial_counts(t))
			values[n++] = t->score.value;
		else if (t->post.present)
			group->invalid++;
		else
			group->not_run++;
		if (t->worst == HARNESS_YES)
			group->worst = HARNESS_YES;
	}
	if (group->count == 0)
		return;
	compare->n_groups++;
	group->valid = (unsigned int)n;
	if (n == 0)
		return;
	group->median = harness_number(sort_median(values, n));
	group->min = harness_number(values[0]);
	group->max = harness_number(values[n - 1]);
	set_best(compare, group, report);
}

/* Find the phase of the current trial from the file that it wrote last. */
static void find_phase(struct harness_compare *compare, const struct harness_files *files)
{
	/* The file's name starts with `name`; the first match counts. */
	static const struct {
		const char *name, *phase;
	} phases[] = {
		{ "attempt.prompt.", "attempt" },
		{ "attempt.", "verifying" },
		{ "reflection.prompt.", "reflection" },
		{ "build.prompt.", "build" },
		{ "", "between" },
	};
	const struct harness_file *last = NULL;
	char folder[64];
	size_t i = 0;

	print_into(folder, "%s/trial_%u/", compare->live_group, compare->live_trial);
	harness_each (file, files) {
		if (file->kind == HARNESS_TRIAL_PHASE &&
		    strncmp(file->path, folder, strlen(folder)) == 0 &&
		    (last == NULL || file->ctime_ms >= last->ctime_ms))
			last = file;
	}
	if (last == NULL)
		return;
	const char *name = strrchr(last->path, '/') + 1;
	while (strncmp(name, phases[i].name, strlen(phases[i].name)) != 0)
		i++;
	compare->live_phase = phases[i].phase;
	compare->live_iteration = last->number;
}

/* Find the current trial; all plain trials run before the harnessed ones. */
static void find_live(struct harness_compare *compare, const struct harness_files *files)
{
	for (size_t k = 0; k < 2; k++)
		harness_each (file, files) {
			if (file->kind != HARNESS_TRIAL_BEGUN ||
			    strcmp(file->run, group_names[k]) != 0 ||
			    harness_files_find(files, HARNESS_TRIAL, file->run, file->number, 0) !=
				    NULL ||
			    (compare->live_group == group_names[k] &&
			     file->number < compare->live_trial))
				continue;
			compare->live_group = group_names[k];
			compare->live_trial = file->number;
		}
	if (compare->live_group != NULL)
		find_phase(compare, files);
}

void harness_compare_read(struct harness_compare *compare, const struct harness_files *files)
{
	const cJSON *report = harness_files_json(files, "compare_report.json");
	const cJSON *judges = harness_files_json(files, "judge.report");

	*compare = (struct harness_compare){
		.has_report = report != NULL,
		.created_ms = harness_time_at(report, "created_at"),
		.higher_is_better = HARNESS_UNKNOWN,
		.process = report != NULL ? HARNESS_UNKNOWN : files->process,
	};
	compare->template = harness_text_at(&compare->pool, report, "workspace_template");
	compare->compared = harness_names_of(&compare->pool, json_get(judges, "compared"));
	compare->added = harness_names_of(&compare->pool, json_get(judges, "added"));
	compare->formatted = harness_names_of(&compare->pool, json_get(judges, "formatted"));
	if (report == NULL)
		find_live(compare, files);
	compare->trials =
		harness_pool_alloc(&compare->pool, HARNESS_MAX_TRIALS, sizeof(*compare->trials));
	for (size_t group = 0; group < 2; group++)
		read_group_trials(compare, files, report, group);
	check_outputs(compare, files);
	for (size_t group = 0; group < 2; group++)
		count_group(compare, report, group);
}

void harness_compare_release(struct harness_compare *compare)
{
	harness_pool_release(&compare->pool);
	*compare = (struct harness_compare){ .n_trials = 0 };
}
