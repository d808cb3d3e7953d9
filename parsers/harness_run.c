/* SPDX-License-Identifier: MIT */
/* A workspace's files to its runs, calls and artifacts. */
#include "config.h"

#include "parsers/harness_run.h"

#include <stdlib.h>

#include "parsers/harness_parts.h"

static const char *
text_at(struct harness_build *b, const cJSON *object, const char *key)
{
	return harness_text_at(b->pool, object, key, HARNESS_PATH_MAX);
}

static struct harness_number
number_in_flag(const char *command, const char *name)
{
	struct str text = harness_flag(command, name);
	struct harness_number number = { false, (double)NAN };

	number.present = text.len > 0 && str_to_double(text, &number.value);
	return number;
}

static void
read_config(struct harness_build *b, const cJSON *config)
{
	struct harness_run *run = b->run;
	const char *task = text_at(b, config, "task_path");

	run->has_config = config != NULL;
	run->id = text_at(b, config, "run_id");
	if (run->id == NULL)
		run->id = harness_pool_text(b->pool, str_from(run->dir),
					    HARNESS_NAME_MAX);
	run->runner = text_at(b, config, "runner");
	run->model = text_at(b, config, "claude_model");
	run->command = text_at(b, config, "post_attempt_command");
	run->score_key = text_at(b, config, "score_key");
	run->post_score_key = text_at(b, config, "post_attempt_score_key");
	if (task != NULL)
		run->task_file = strrchr(task, '/') != NULL
					 ? strrchr(task, '/') + 1
					 : task;
	run->planned = harness_number_at(config, "iterations");
	run->stop_score = harness_number_at(config, "stop_score");
	run->higher_is_better = harness_bool_at(config, "higher_is_better");
	run->optimization = harness_bool_at(config, "optimization_mode");
	run->attempt_s = harness_number_at(config, "attempt_timeout_seconds");
	run->reflection_s =
		harness_number_at(config, "reflection_timeout_seconds");
	run->build_s = harness_number_at(config, "build_timeout_seconds");
	run->post_s = harness_number_at(config, "post_attempt_timeout_seconds");
	run->warmup = number_in_flag(run->command, "warmup");
	run->repeats = number_in_flag(run->command, "repeats");
}

/* Direction and key where run_config.json is missing. */
static void
read_optimization(struct harness_build *b, const cJSON *optimization)
{
	struct harness_run *run = b->run;

	if (run->higher_is_better == HARNESS_UNKNOWN)
		run->higher_is_better =
			harness_bool_at(optimization, "higher_is_better");
	if (run->score_key == NULL)
		run->score_key = text_at(b, optimization, "score_key");
	if (run->post_score_key == NULL)
		run->post_score_key = run->score_key;
}

static void
read_baseline(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const cJSON *node = json_get(b->summary, "baseline_post_attempt");
	struct str out = harness_text_file(b, HARNESS_BASELINE_OUT, 0);
	struct str errors = harness_text_file(b, HARNESS_BASELINE_ERR, 0);

	if (b->summary != NULL) {
		harness_post_read(b, &run->baseline, node, out, errors);
		run->has_baseline = run->baseline.present;
		return;
	}
	run->has_baseline = harness_files_find(b->files, HARNESS_BASELINE_OUT,
					       run->dir, 0, 0) != NULL;
	if (!run->has_baseline)
		return;
	harness_post_from_output(b, &run->baseline, out, errors);
	if (run->checkpoint.present && run->checkpoint.iteration.present &&
	    run->checkpoint.iteration.value == 0 && run->baseline.has_json &&
	    run->baseline.doubt == NULL)
		run->baseline.passed = HARNESS_YES;
}

static void
read_checkpoint(struct harness_build *b)
{
	const cJSON *manifest = harness_json_file(b, HARNESS_MANIFEST, 0);
	struct harness_checkpoint *point = &b->run->checkpoint;

	point->present = manifest != NULL;
	point->iteration = harness_number_at(manifest, "iteration");
	point->score = harness_number_at(manifest, "score");
	point->reason = text_at(b, manifest, "reason");
}

/* The last iteration's own word of a restore, before the summary stands. */
static const cJSON *
restored_in_result(const struct harness_build *b)
{
	const struct harness_run *run = b->run;
	const cJSON *result;

	if (run->n_iterations == 0)
		return NULL;
	result = harness_json_file(
		b, HARNESS_RESULT,
		run->iterations[run->n_iterations - 1].number);
	return json_get(json_get(result, "optimization"),
			"restored_best_checkpoint");
}

static void
read_restore(struct harness_build *b)
{
	struct harness_restore *restore = &b->run->restore;
	const cJSON *best = json_get(b->summary, "best_checkpoint");
	const cJSON *node = json_get(best, "restore");

	restore->restored = HARNESS_UNKNOWN;
	restore->post_passed = HARNESS_UNKNOWN;
	if (b->summary == NULL)
		node = restored_in_result(b);
	restore->present = cJSON_IsObject(best) || cJSON_IsObject(node);
	if (!restore->present)
		return;
	restore->restored =
		harness_bool_at(cJSON_IsObject(best) ? best : node, "restored");
	restore->reason = text_at(b, best, "reason");
	restore->iteration = harness_number_at(node, "iteration");
	restore->score = harness_number_at(node, "score");
	harness_post_read(b, &restore->post, json_get(node, "post_restore"),
			  harness_text_file(b, HARNESS_RESTORED_OUT, 0),
			  harness_text_file(b, HARNESS_RESTORED_ERR, 0));
	restore->post_passed = harness_bool_at(node, "post_restore_passed");
	if (restore->post_passed == HARNESS_UNKNOWN && restore->post.present)
		restore->post_passed = restore->post.passed;
}

static void
read_summary(struct harness_build *b)
{
	struct harness_run *run = b->run;

	run->has_summary = b->summary != NULL;
	run->final_status = text_at(b, b->summary, "final_status");
	run->solved = harness_bool_at(b->summary, "solved");
	run->said_best = harness_number_at(b->summary, "best_score");
	run->said_improved = harness_bool_at(
		json_get(b->summary, "optimization"), "improved");
	read_optimization(b, json_get(b->summary, "optimization"));
}

static void
earlier_of(int64_t *ms, int64_t other)
{
	if (other > 0 && (*ms == 0 || other < *ms))
		*ms = other;
}

/* The earliest time that the run records of itself, and the latest. */
static void
read_times(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const struct harness_file *config =
		harness_files_find(b->files, HARNESS_CONFIG, run->dir, 0, 0);
	const cJSON *captures =
		json_get(json_get(b->summary, "best_checkpoint"), "captures");
	const cJSON *template = json_get(
		json_get(b->summary, "artifact_qualification"), "template");

	earlier_of(&run->start_ms, harness_time_of(str_from(run->dir)));
	earlier_of(&run->start_ms,
		   harness_time_at(harness_json_file(b, HARNESS_MANIFEST, 0),
				   "created_at"));
	earlier_of(
		&run->start_ms,
		harness_time_at(cJSON_GetArrayItem(captures, 0), "created_at"));
	earlier_of(&run->start_ms, harness_time_at(template, "created_at"));
	for (size_t i = 0; i < run->n_iterations; i++) {
		const struct harness_iteration *it = &run->iterations[i];

		earlier_of(&run->start_ms, it->created_ms);
		if (it->updated_ms > run->end_ms)
			run->end_ms = it->updated_ms;
	}
	/* One that has only begun: the time of its first file. */
	if (run->start_ms == 0 && config != NULL)
		run->start_ms = config->mtime_ms;
}

/* The mode of the measuring command: as its JSON says, else as asked for. */
static void
read_mode(struct harness_build *b)
{
	struct harness_run *run = b->run;
	struct str asked = harness_flag(run->command, "mode");

	run->mode = run->baseline.mode;
	for (size_t i = 0; run->mode == NULL && i < run->n_iterations; i++)
		run->mode = run->iterations[i].post.mode;
	if (run->mode == NULL && asked.len > 0)
		run->mode = harness_pool_text(b->pool, asked, 40);
}

/* Everything of a run that needs no other run. */
static void
read_run(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const cJSON *result;

	b->summary = harness_json_file(b, HARNESS_SUMMARY, 0);
	read_config(b, harness_json_file(b, HARNESS_CONFIG, 0));
	read_summary(b);
	result = harness_json_file(b, HARNESS_RESULT, 1);
	read_optimization(b, json_get(result, "optimization"));
	read_checkpoint(b);
	read_baseline(b);
	harness_iterations_read(b);
	read_restore(b);
	read_mode(b);
	read_times(b);
	for (size_t i = 0; i < b->files->n; i++)
		run->torn += strcmp(b->files->all[i]->run, run->dir) == 0 &&
			     b->files->all[i]->torn;
}

static int
by_start(const void *a, const void *b)
{
	const struct harness_run *x = a, *y = b;

	if (x->start_ms != y->start_ms)
		return x->start_ms < y->start_ms ? -1 : 1;
	return strcmp(x->dir, y->dir);
}

static bool
knows_run(const struct harness_workspace *ws, const char *dir)
{
	for (size_t i = 0; i < ws->n_runs; i++)
		if (strcmp(ws->runs[i].dir, dir) == 0)
			return true;
	return false;
}

static void
find_runs(struct harness_workspace *ws, const struct harness_files *files)
{
	ws->runs = harness_pool_alloc(&ws->pool, HARNESS_MAX_RUNS,
				      sizeof(*ws->runs));
	for (size_t i = 0; i < files->n && ws->n_runs < HARNESS_MAX_RUNS; i++) {
		const char *dir = files->all[i]->run;
		size_t size = strlen(dir) + 1;
		char *copy;

		if (*dir == '\0' || knows_run(ws, dir))
			continue;
		copy = harness_pool_alloc(&ws->pool, size, 1);
		memcpy(copy, dir, size);
		ws->runs[ws->n_runs++].dir = copy;
	}
}

static bool
same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* The best that earlier runs verified by the same command. */
static void
look_back(struct harness_workspace *ws, size_t i)
{
	struct harness_run *run = &ws->runs[i];
	bool higher = run->higher_is_better == HARNESS_YES;

	for (size_t k = 0; k < i; k++) {
		const struct harness_run *old = &ws->runs[k];

		if (!old->best.present ||
		    !same_text(old->command, run->command) ||
		    !same_text(old->post_score_key, run->post_score_key) ||
		    old->higher_is_better != run->higher_is_better)
			continue;
		if (run->earlier.present &&
		    (higher ? old->best.value <= run->earlier.value
			    : old->best.value >= run->earlier.value))
			continue;
		run->earlier = old->best;
		run->earlier_run = old->id;
	}
	if (run->best.present && run->earlier.present)
		run->earlier_pct = harness_gain_pct(run->earlier.value,
						    run->best.value, higher);
}

static void
read_artifact(struct harness_workspace *ws, const cJSON *node)
{
	struct harness_artifact *a = &ws->artifacts[ws->n_artifacts++];
	const cJSON *metadata = json_get(node, "metadata");
	const cJSON *quarantine = json_get(metadata, "quarantine");
	struct harness_pool *pool = &ws->pool;

	a->kind = harness_text_at(pool, node, "kind", HARNESS_NAME_MAX);
	a->path = harness_text_at(pool, node, "path", HARNESS_PATH_MAX);
	a->iteration = harness_number_at(node, "iteration");
	a->qualified =
		harness_text_at(pool, json_get(metadata, "qualification"),
				"status", HARNESS_NAME_MAX);
	a->quarantined = cJSON_IsTrue(json_get(metadata, "quarantined")) ||
			 cJSON_IsObject(quarantine);
	a->why = harness_text_at(pool, quarantine, "reason", HARNESS_NOTE_MAX);
}

static void
read_artifacts(struct harness_workspace *ws, const struct harness_files *files)
{
	const struct harness_file *file =
		harness_files_get(files, "registry.json");
	const cJSON *list = json_get(file != NULL ? file->json : NULL,
				     "artifacts"),
		    *node;

	if (!cJSON_IsArray(list))
		return;
	ws->artifacts =
		harness_pool_alloc(&ws->pool, (size_t)cJSON_GetArraySize(list),
				   sizeof(*ws->artifacts));
	cJSON_ArrayForEach(node, list)
	{
		if (cJSON_IsObject(node))
			read_artifact(ws, node);
	}
}

void
harness_workspace_read(struct harness_workspace *ws,
		       const struct harness_files *files, int64_t now_ms)
{
	struct harness_build b = { .pool = &ws->pool,
				   .files = files,
				   .now_ms = now_ms };

	*ws = (struct harness_workspace){ .n_runs = 0 };
	find_runs(ws, files);
	harness_calls_read(&ws->pool, &ws->calls, files);
	read_artifacts(ws, files);
	for (size_t i = 0; i < ws->n_runs; i++) {
		b.run = &ws->runs[i];
		read_run(&b);
	}
	if (ws->n_runs > 1)
		qsort(ws->runs, ws->n_runs, sizeof(*ws->runs), by_start);
	for (size_t i = 0; i < ws->n_runs; i++) {
		b.run = &ws->runs[i];
		b.summary = harness_json_file(&b, HARNESS_SUMMARY, 0);
		b.until_ms = i + 1 < ws->n_runs ? ws->runs[i + 1].start_ms
						: INT64_MAX;
		harness_history_read(&b);
		harness_run_judge(b.run,
				  harness_calls_before(files, b.run->start_ms));
		look_back(ws, i);
		harness_life_read(&b, &ws->calls);
	}
}

void
harness_workspace_release(struct harness_workspace *ws)
{
	harness_pool_release(&ws->pool);
	*ws = (struct harness_workspace){ .n_runs = 0 };
}

const struct harness_run *
harness_workspace_run(const struct harness_workspace *ws, const char *id)
{
	if (id == NULL)
		return ws->n_runs > 0 ? &ws->runs[ws->n_runs - 1] : NULL;
	for (size_t i = 0; i < ws->n_runs; i++)
		if (strcmp(ws->runs[i].id, id) == 0 ||
		    strcmp(ws->runs[i].dir, id) == 0)
			return &ws->runs[i];
	return NULL;
}
