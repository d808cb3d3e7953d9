/* SPDX-License-Identifier: MIT */
/* Read the runs, calls and artifacts of a workspace, and check the scores again. */
#include "parsers/harness/run.h"

#include <sys/param.h>

#include "base/sort.h"
#include "parsers/harness/parts.h"
#include "parsers/score_json.h"

static struct harness_number flag_number(const char *command, const char *name)
{
	struct str text = harness_flag(command, name);
	struct harness_number number = HARNESS_ABSENT;

	number.present = text.len > 0 && str_to_double(text, &number.value);
	return number;
}

/* Return an attempt's time limit; the last limit of a schedule applies to all later attempts. */
static struct harness_number attempt_limit(const struct harness_build *b, unsigned int number)
{
	const cJSON *config = harness_json_file(b, HARNESS_CONFIG, 0);
	const cJSON *schedule = json_get(config, "attempt_timeout_schedule_seconds");
	int n = cJSON_GetArraySize(schedule);

	if (n > 0)
		return harness_number_of(cJSON_GetArrayItem(
			schedule, number < (unsigned int)n ? (int)number - 1 : n - 1));
	return b->run->attempt_s;
}

/* Return why a phase did not complete: HarnessGym's message, or else the last line of stderr. */
static const char *read_reason(struct harness_build *b, const cJSON *phase, struct str errors)
{
	const char *status = json_get_string(phase, "status", "completed");
	struct str text = str_trim(str_from(json_get_string(phase, "message", "")));

	if (strcmp(status, "completed") == 0 || strcmp(status, "running") == 0)
		return NULL;
	if (text.len == 0)
		text = str_trim(errors);
	text = str_last_line(text);
	return text.len > 0 ? harness_pool_text(b->pool, text, HARNESS_NOTE_MAX / 2) : NULL;
}

static void read_phases(struct harness_build *b, struct harness_iteration *it, const cJSON *phases)
{
	it->phases = harness_pool_alloc(b->pool, (size_t)cJSON_GetArraySize(phases),
					sizeof(*it->phases));
	json_each (node, phases) {
		if (node->string == NULL || !cJSON_IsObject(node))
			continue;
		struct harness_phase *phase = &it->phases[it->n_phases++];
		phase->name = harness_pool_text(b->pool, str_from(node->string), HARNESS_NAME_MAX);
		phase->status = harness_text_at(b->pool, node, "status");
		phase->why =
			read_reason(b, node,
				    strcmp(node->string, "attempt") == 0
					    ? harness_text_file(b, HARNESS_ATTEMPT_ERR, it->number)
					    : str_from(""));
		phase->return_code = harness_number_at(node, "return_code");
		phase->duration_s = harness_number_at(node, "duration_seconds");
		phase->timed_out = harness_bool_at(node, "timed_out");
		phase->limit_s = HARNESS_ABSENT;
	}
	if (it->n_phases > 1)
		qsort(it->phases, it->n_phases, sizeof(*it->phases), sort_by_text);
	array_each (phase, it->phases, it->n_phases) {
		if (strcmp(phase->name, "attempt") == 0) {
			it->attempt = phase;
			phase->limit_s = attempt_limit(b, it->number);
		} else if (strcmp(phase->name, "reflection") == 0) {
			phase->limit_s = b->run->reflection_s;
		} else if (strcmp(phase->name, "build") == 0 ||
			   strncmp(phase->name, "repair_", 7) == 0) {
			phase->limit_s = b->run->build_s;
		}
	}
}

/* Return the first line of the iteration's summary, or else of its first blocker or improvement. */
static const char *read_note(struct harness_build *b, const cJSON *result)
{
	const cJSON *nodes[] = {
		json_get(result, "summary"),
		cJSON_GetArrayItem(json_get(result, "blockers"), 0),
		json_get(json_get(json_get(result, "reflection"), "selected_improvement"), "name"),
	};

	for (size_t i = 0; i < LENGTH(nodes); i++) {
		if (!cJSON_IsString(nodes[i]))
			continue;
		struct str text = str_trim(str_from(nodes[i]->valuestring));
		text.len = strcspn(text.p, "\r\n") < text.len ? strcspn(text.p, "\r\n") : text.len;
		if (text.len > 0)
			return harness_pool_text(b->pool, text, HARNESS_NOTE_MAX);
	}
	return NULL;
}

/* Read the strings of a JSON array, sorted. */
static struct harness_names read_names(struct harness_build *b, const cJSON *array)
{
	struct harness_names names = harness_names_of(b->pool, array);

	if (names.n > 1)
		qsort(names.v, names.n, sizeof(*names.v), sort_by_text);
	return names;
}

/* Read a count from the report's quality_gate, or from the report itself. */
static struct harness_number read_count(const cJSON *report, const char *key)
{
	const cJSON *node = json_get(json_get(report, "quality_gate"), key);

	return harness_number_of(node != NULL ? node : json_get(report, key));
}

/* Read the qualification of an iteration: from the reports in its folder; from the summary if that
 * lists more; or else from result.json. */
static void read_qualification(struct harness_build *b, struct harness_iteration *it,
			       const cJSON *result)
{
	struct harness_qualification *q = &it->qualification;
	const cJSON *own = json_get(result, "artifact_qualification");
	const cJSON *all = json_get(json_get(b->summary, "artifact_qualification"), "reports");
	const cJSON *last = NULL, *other = NULL, *quarantined;
	const char **words = harness_pool_alloc(b->pool, HARNESS_MAX_ATTEMPTS, sizeof(*words));
	size_t n = 0;

	q->attempts = harness_pool_alloc(b->pool, HARNESS_MAX_ATTEMPTS, sizeof(*q->attempts));
	for (unsigned int k = 1; k <= HARNESS_MAX_ATTEMPTS; k++) {
		const struct harness_file *file =
			harness_try_file(b, HARNESS_QUALIFICATION, it->number, k);

		if (file == NULL || file->json == NULL)
			continue;
		last = file->json;
		q->attempts[q->n_attempts++] = harness_text_at(b->pool, last, "status");
	}
	json_each (node, all) {
		struct harness_number of = harness_number_at(node, "iteration");

		if (!of.present || of.value != it->number || n == HARNESS_MAX_ATTEMPTS)
			continue;
		other = node;
		words[n++] = harness_text_at(b->pool, node, "status");
	}
	if (q->n_attempts == 0 && n == 0 && cJSON_IsObject(own))
		words[n++] = harness_text_at(b->pool, own, "status");
	if (n > q->n_attempts) {
		q->attempts = words;
		q->n_attempts = n;
	}
	if (last == NULL)
		last = cJSON_IsObject(own) ? own : other;
	q->present = q->n_attempts > 0;
	q->active_mcps = read_count(last, "active_mcp_count");
	q->active_tools = read_count(last, "active_tool_count");
	quarantined = json_get(last, "quarantined_artifacts");
	q->quarantined = read_names(
		b, quarantined != NULL ? quarantined : json_get(own, "quarantined_artifacts"));
	q->why = harness_text_of(
		b->pool,
		cJSON_GetArrayItem(json_get(json_get(last, "quality_gate"), "warnings"), 0));
}

/* Read an iteration from result.json, or else from its row in the summary. */
static void read_result(struct harness_build *b, struct harness_iteration *it, const cJSON *result,
			const cJSON *row)
{
	const cJSON *usage = json_get(result, "harness_usage");
	const cJSON *gate =
		json_get(harness_json_file(b, HARNESS_STARTED, it->number), "quality_gate");

	it->status = harness_text_at(b->pool, result != NULL ? result : row, "status");
	it->verified = harness_bool_at(result, "verified");
	it->created_ms = harness_time_at(result, "created_at");
	it->updated_ms = harness_time_at(result, "updated_at");
	read_phases(b, it, result != NULL ? json_get(result, "phases") : NULL);
	it->attempt_limit_s = attempt_limit(b, it->number);
	it->active_tools = harness_number_at(usage, "active_tool_count");
	it->active_mcps = harness_number_at(usage, "active_mcp_count");
	if (!it->active_tools.present)
		it->active_tools = read_count(gate, "active_tool_count");
	if (!it->active_mcps.present)
		it->active_mcps = read_count(gate, "active_mcp_count");
	it->calls = harness_number_at(usage, "mcp_call_count");
	it->skills = read_names(b, json_get(usage, "active_skills"));
	it->tools = read_names(b, json_get(usage, "active_tools"));
	it->called = read_names(b, json_get(usage, "mcp_called_tools"));
	harness_post_read(b, &it->post, json_get(result, "post_attempt"),
			  harness_run_file(b, HARNESS_POST_OUT, it->number),
			  harness_text_file(b, HARNESS_POST_ERR, it->number));
	if (!it->post.score.present)
		it->claimed_score = harness_score_of(result, b->run->score_key, true);
	it->note = read_note(b, result);
}

/* Find the numbers of all iterations in files and summary; returns how many there are. */
static size_t find_iterations(const struct harness_build *b, bool seen[HARNESS_MAX_ITERATIONS + 1])
{
	size_t n = 0;

	harness_each (file, b->files) {
		if (strcmp(file->run, b->run->dir) == 0 && !harness_is_old(b, file) &&
		    file->number >= 1 && file->number <= HARNESS_MAX_ITERATIONS)
			seen[file->number] = true;
	}
	json_each (node, json_get(b->summary, "iterations")) {
		struct harness_number of = harness_number_at(node, "iteration");

		if (of.present && of.value >= 1 && of.value <= HARNESS_MAX_ITERATIONS)
			seen[(size_t)of.value] = true;
	}
	for (size_t i = 1; i <= HARNESS_MAX_ITERATIONS; i++)
		n += seen[i];
	return n;
}

static void read_iterations(struct harness_build *b)
{
	bool seen[HARNESS_MAX_ITERATIONS + 1] = { false };
	struct harness_run *run = b->run;
	size_t n = find_iterations(b, seen);

	run->iterations = harness_pool_alloc(b->pool, n, sizeof(*run->iterations));
	for (unsigned int k = 1; k <= HARNESS_MAX_ITERATIONS; k++) {
		if (!seen[k])
			continue;
		struct harness_iteration *it = &run->iterations[run->n_iterations++];
		it->number = k;
		it->within_noise = HARNESS_UNKNOWN;
		const cJSON *result = harness_json_file(b, HARNESS_RESULT, k);
		read_result(b, it, result, harness_find_row(json_get(b->summary, "iterations"), k));
		read_qualification(b, it, result);
		it->blockers = read_names(b, json_get(result, "blockers"));
		harness_usage_read(b, &it->usage, k);
		harness_usage_sum(&run->usage, &it->usage);
	}
}

static void read_config(struct harness_build *b, const cJSON *config)
{
	struct harness_run *run = b->run;
	const char *task = harness_text_at(b->pool, config, "task_path");

	run->has_config = config != NULL;
	run->id = harness_text_at(b->pool, config, "run_id");
	if (run->id == NULL)
		run->id = harness_pool_text(b->pool, str_from(run->dir), HARNESS_NAME_MAX);
	run->runner = harness_text_at(b->pool, config, "runner");
	run->model = harness_text_at(b->pool, config, "claude_model");
	run->command = harness_text_at(b->pool, config, "post_attempt_command");
	run->score_key = harness_text_at(b->pool, config, "score_key");
	run->post_score_key = harness_text_at(b->pool, config, "post_attempt_score_key");
	if (task != NULL)
		run->task_file = strrchr(task, '/') != NULL ? strrchr(task, '/') + 1 : task;
	run->planned = harness_number_at(config, "iterations");
	run->stop_score = harness_number_at(config, "stop_score");
	run->higher_is_better = harness_bool_at(config, "higher_is_better");
	run->optimization = harness_bool_at(config, "optimization_mode");
	run->attempt_s = harness_number_at(config, "attempt_timeout_seconds");
	run->reflection_s = harness_number_at(config, "reflection_timeout_seconds");
	run->build_s = harness_number_at(config, "build_timeout_seconds");
	run->post_s = harness_number_at(config, "post_attempt_timeout_seconds");
	run->warmup = flag_number(run->command, "warmup");
	run->repeats = flag_number(run->command, "repeats");
}

/* Read direction and score key from "optimization", if run_config.json does not have them. */
static void read_optimization(struct harness_build *b, const cJSON *optimization)
{
	struct harness_run *run = b->run;

	if (run->higher_is_better == HARNESS_UNKNOWN)
		run->higher_is_better = harness_bool_at(optimization, "higher_is_better");
	if (run->score_key == NULL)
		run->score_key = harness_text_at(b->pool, optimization, "score_key");
	if (run->post_score_key == NULL)
		run->post_score_key = run->score_key;
}

/* Read the baseline. Without a recorded verdict, its checkpoint shows that it passed. */
static void read_baseline(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const struct harness_checkpoint *point = &run->checkpoint;

	harness_post_read(b, &run->baseline, json_get(b->summary, "baseline_post_attempt"),
			  harness_run_file(b, HARNESS_BASELINE_OUT, 0),
			  harness_text_file(b, HARNESS_BASELINE_ERR, 0));
	run->has_baseline = run->baseline.present;
	if (run->baseline.command == NULL)
		run->baseline.command = run->command;
	if (run->baseline.passed == HARNESS_UNKNOWN && point->present && point->iteration.present &&
	    point->iteration.value == 0)
		run->baseline.passed = HARNESS_YES;
}

/* Return the content of a kernel_config.json; "" if it is too long, NULL if there is none. */
static const char *read_settings(const struct harness_build *b, enum harness_kind kind)
{
	const struct harness_file *file = harness_run_file(b, kind, 0);

	return file != NULL ? harness_pool_text(b->pool, str_from(file->cut ? "" : file->text),
						HARNESS_END_KEEP)
			    : NULL;
}

static void read_checkpoint(struct harness_build *b)
{
	const cJSON *manifest = harness_json_file(b, HARNESS_MANIFEST, 0);
	const struct harness_run *run = b->run;
	struct harness_checkpoint *point = &b->run->checkpoint;
	struct harness_number of = harness_number_at(manifest, "iteration");

	point->iteration = of;
	/* A checkpoint belongs to the baseline (0) or to an iteration that has started. Check this
	 * before the conversion to an integer, which is undefined for NaN and huge numbers. */
	point->is_refused =
		manifest != NULL && of.value != 0 &&
		!array_any(it, run->iterations, run->n_iterations, it->number == of.value);
	point->present = manifest != NULL && !point->is_refused;
	if (point->is_refused) {
		harness_dispute(b, "best_manifest.json names no iteration of this run");
		point->iteration = HARNESS_ABSENT;
		return;
	}
	point->score = harness_number_at(manifest, "score");
	point->reason = harness_text_at(b->pool, manifest, "reason");
	point->settings = read_settings(b, HARNESS_BEST_SETTINGS);
	point->has_task = harness_run_file(b, HARNESS_BEST_TASK, 0) != NULL;
	b->run->template_settings = read_settings(b, HARNESS_TEMPLATE_SETTINGS);
}

static void read_restore(struct harness_build *b)
{
	struct harness_restore *restore = &b->run->restore;
	const cJSON *best = json_get(b->summary, "best_checkpoint");
	const cJSON *node = json_get(best, "restore");

	restore->restored = HARNESS_UNKNOWN;
	restore->post_passed = HARNESS_UNKNOWN;
	if (b->summary == NULL && b->run->n_iterations > 0) {
		unsigned int last = b->run->iterations[b->run->n_iterations - 1].number;
		const cJSON *result = harness_json_file(b, HARNESS_RESULT, last);

		node = json_get(json_get(result, "optimization"), "restored_best_checkpoint");
	}
	restore->present = cJSON_IsObject(best) || cJSON_IsObject(node);
	if (!restore->present)
		return;
	restore->restored = harness_bool_at(cJSON_IsObject(best) ? best : node, "restored");
	restore->reason = harness_text_at(b->pool, best, "reason");
	restore->iteration = harness_number_at(node, "iteration");
	restore->score = harness_number_at(node, "score");
	harness_post_read(b, &restore->post, json_get(node, "post_restore"),
			  harness_run_file(b, HARNESS_RESTORED_OUT, 0),
			  harness_text_file(b, HARNESS_RESTORED_ERR, 0));
	restore->post_passed = harness_bool_at(node, "post_restore_passed");
	if (restore->post_passed == HARNESS_UNKNOWN && restore->post.present)
		restore->post_passed = restore->post.passed;
}

static void lower_to(int64_t *ms, int64_t other)
{
	if (other > 0 && (*ms == 0 || other < *ms))
		*ms = other;
}

/* Find the earliest and the latest time that the run recorded. */
static void read_times(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const struct harness_file *config = harness_run_file(b, HARNESS_CONFIG, 0);
	const cJSON *captures = json_get(json_get(b->summary, "best_checkpoint"), "captures");
	const cJSON *template =
		json_get(json_get(b->summary, "artifact_qualification"), "template");

	/* A name can contain any date; a ctime cannot be forged. */
	lower_to(&run->start_ms, b->run->ordered && config != NULL
					 ? config->ctime_ms
					 : harness_time_of(str_from(run->dir)));
	lower_to(&run->start_ms,
		 harness_time_at(harness_json_file(b, HARNESS_MANIFEST, 0), "created_at"));
	lower_to(&run->start_ms, harness_time_at(cJSON_GetArrayItem(captures, 0), "created_at"));
	lower_to(&run->start_ms, harness_time_at(template, "created_at"));
	array_each (it, run->iterations, run->n_iterations) {
		lower_to(&run->start_ms, it->created_ms);
		if (it->updated_ms > run->end_ms)
			run->end_ms = it->updated_ms;
	}
	/* A run that has just started has recorded no time yet: use the mtime of its first file. */
	if (run->start_ms == 0 && config != NULL)
		run->start_ms = config->mtime_ms;
}

static void read_run(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const struct harness_file *config;

	harness_proof_begin(b);
	b->summary = harness_proof_is_over(b) ? harness_json_file(b, HARNESS_SUMMARY, 0) : NULL;
	read_config(b, harness_json_file(b, HARNESS_CONFIG, 0));
	run->has_summary = b->summary != NULL;
	run->final_status = harness_text_at(b->pool, b->summary, "final_status");
	run->solved = harness_bool_at(b->summary, "solved");
	run->said_best = harness_number_at(b->summary, "best_score");
	run->said_improved = harness_bool_at(json_get(b->summary, "optimization"), "improved");
	read_optimization(b, json_get(b->summary, "optimization"));
	read_optimization(b, json_get(harness_json_file(b, HARNESS_RESULT, 1), "optimization"));
	read_iterations(b);
	read_checkpoint(b);
	read_baseline(b);
	read_restore(b);
	config = harness_run_file(b, HARNESS_CONFIG, 0);
	run->first_ms = config != NULL ? config->ctime_ms : 0;
	harness_each (file, b->files) {
		if (strcmp(file->run, run->dir) != 0)
			continue;
		if (file->torn && run->torn++ == 0)
			run->torn_path =
				harness_pool_text(b->pool, str_from(file->path), HARNESS_TEXT_MAX);
		run->last_ms = MAX(run->last_ms, file->ctime_ms);
	}
	harness_judge_read(b);
	harness_proof_read(b);
	/* The mode comes from the JSON of the measuring command, or else from its options. */
	struct str asked = harness_flag(run->command, "mode");
	run->mode = run->baseline.mode;
	for (size_t i = 0; run->mode == NULL && i < run->n_iterations; i++)
		run->mode = run->iterations[i].post.mode;
	if (run->mode == NULL && asked.len > 0)
		run->mode = harness_pool_text(b->pool, asked, 40);
	read_times(b);
}

static int compare_starts(const void *a, const void *b)
{
	const struct harness_run *x = a, *y = b;

	if (x->start_ms != y->start_ms)
		return x->start_ms < y->start_ms ? -1 : 1;
	return strcmp(x->dir, y->dir);
}

static void find_runs(struct harness_workspace *ws, const struct harness_files *files)
{
	ws->runs = harness_pool_alloc(&ws->pool, HARNESS_MAX_RUNS, sizeof(*ws->runs));
	harness_each (file, files) {
		size_t size = strlen(file->run) + 1;

		if (size == 1 || ws->n_runs == HARNESS_MAX_RUNS ||
		    array_any(run, ws->runs, ws->n_runs, strcmp(run->dir, file->run) == 0))
			continue;
		ws->runs[ws->n_runs++].dir =
			memcpy(harness_pool_alloc(&ws->pool, size, 1), file->run, size);
	}
	if (ws->n_runs == 0 && harness_table_is(files))
		ws->runs[ws->n_runs++].dir = "";
}

static bool same_text(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static enum harness_tri compare_scores(const struct harness_run *run, struct harness_number a,
				       const struct harness_score *b)
{
	if (!a.present || !b->present)
		return HARNESS_UNKNOWN;
	return HARNESS_TRI(harness_is_better(run->higher_is_better, a.value, b->value));
}

static struct harness_number find_gain(const struct harness_run *run, struct harness_number a,
				       const struct harness_score *b)
{
	if (!a.present || !b->present)
		return HARNESS_ABSENT;
	return harness_gain_pct(b->value, a.value, run->higher_is_better);
}

/* Replace *best if a number is strictly better; without a direction, no number is better. */
static void update_best(const struct harness_run *run, struct harness_score *best,
			struct harness_number number, unsigned int iteration, const char *source)
{
	if (!number.present || !score_is_possible(run->post_score_key, number.value) ||
	    run->higher_is_better == HARNESS_UNKNOWN ||
	    (best->present && !harness_is_better(run->higher_is_better, number.value, best->value)))
		return;
	*best = (struct harness_score){ true, number.value, iteration, source };
}

/* Peak memory GB/s and dense 8-bit TFLOP/s, from the data sheets; the first match counts. */
static const struct {
	const char *device;
	double gb_s, tflop_s;
} peaks[] = {
	{ "B200", 8000, 4500 }, { "H200", 4800, 1979 }, { "H100", 3352, 1979 },
	{ "A100", 2039, 624 },	{ "L40S", 864, 733 },	{ "RTX 4090", 1008, 661 },
};

#define MARK_FACTOR  10 /* a gain that honest changes rarely reach */
#define CACHE_FACTOR 4	/* a small case that stays in the cache exceeds the memory's peak */

static void mark_score(struct harness_pool *pool, const struct harness_run *run,
		       struct harness_iteration *it, const struct harness_score *before)
{
	const struct harness_post *post = &it->post;
	double old = before->value, new = it->verified_score.value;
	double factor = run->higher_is_better == HARNESS_YES ? new / old : old / new;
	char mark[HARNESS_NAME_MAX] = "", all[2 * HARNESS_NAME_MAX];

	if (before->present && old > 0 && factor > MARK_FACTOR)
		print_into(mark, "%.3g times better in one iteration", factor);
	for (size_t i = 0; post->device != NULL && i < LENGTH(peaks); i++) {
		if (strstr(post->device, peaks[i].device) == NULL)
			continue;
		if (harness_is_finite(post->gb_s) &&
		    post->gb_s.value > CACHE_FACTOR * peaks[i].gb_s)
			print_into(mark, "%.4g GB/s, but the peak of the card is %g",
				   post->gb_s.value, peaks[i].gb_s);
		else if (harness_is_finite(post->tflop_s) && post->tflop_s.value > peaks[i].tflop_s)
			print_into(mark, "%.4g TFLOP/s, but the peak of the card is %g",
				   post->tflop_s.value, peaks[i].tflop_s);
		break;
	}
	print_into(all, "%s%s%s", mark, *mark != '\0' && it->mark != NULL ? "; " : "",
		   it->mark != NULL ? it->mark : "");
	if (*all != '\0')
		it->mark = harness_pool_text(pool, str_from(all), sizeof(all));
}

/* Classify each iteration's score, and find the best verified one. */
static void judge_iterations(struct harness_pool *pool, struct harness_run *run,
			     const struct harness_score *baseline)
{
	array_each (it, run->iterations, run->n_iterations) {
		struct harness_score before = run->best;

		if (harness_is_finite(it->post.score)) {
			if (it->proof <= HARNESS_PROOF_EARLY)
				it->claimed_score = it->post.score;
			else if (it->post.passed == HARNESS_YES)
				it->verified_score = it->post.score;
			else
				it->invalid_score = it->post.score;
		}
		if (!score_is_possible(run->post_score_key, it->claimed_score.value))
			it->claimed_score.present = false;
		it->better_than_baseline = compare_scores(run, it->verified_score, baseline);
		it->better_than_previous = compare_scores(run, it->verified_score, &before);
		it->baseline_pct = find_gain(run, it->verified_score, baseline);
		it->previous_pct = find_gain(run, it->verified_score, &before);
		if (it->verified_score.present)
			mark_score(pool, run, it, &before);
		update_best(run, &run->best, it->verified_score, it->number, NULL);
		if (run->best.iteration == it->number)
			run->previous = before;
	}
}

/* Find which scores are verified, the best one, and its gains; the summary is not used. */
static void judge_run(struct harness_build *b)
{
	struct harness_run *run = b->run;
	struct harness_score baseline = { .present = false }, unverified;
	struct harness_number best,
		before = harness_number(harness_calls_before(b->files, run->start_ms));

	/* HarnessGym records cumulative counts; the calls of an iteration are their difference. */
	array_each (it, run->iterations, run->n_iterations) {
		if (it->calls.present && before.present && it->calls.value >= before.value)
			it->calls_delta = harness_number(it->calls.value - before.value);
		before = it->calls;
	}
	if (run->has_baseline && run->baseline.passed == HARNESS_YES)
		update_best(run, &baseline, run->baseline.score, 0, NULL);
	run->best = baseline;
	judge_iterations(b->pool, run, &baseline);
	unverified = run->best;
	array_each (it, run->iterations, run->n_iterations) {
		if (it->post.doubt == NULL)
			update_best(run, &unverified, it->invalid_score, it->number,
				    "failed_verifier");
		update_best(run, &unverified, it->claimed_score, it->number, "claimed");
		update_best(run, &unverified, it->session_score, it->number, "in_session");
	}
	if (unverified.present && unverified.source != NULL)
		run->best_unverified = unverified;
	best = (struct harness_number){ run->best.present, run->best.value };
	run->baseline_pct = find_gain(run, best, &baseline);
	run->previous_pct = find_gain(run, best, &run->previous);
	run->stop_reached = HARNESS_UNKNOWN;
	if (harness_is_finite(run->stop_score))
		run->stop_reached =
			HARNESS_TRI(run->best.present &&
				    !harness_is_better(run->higher_is_better, run->stop_score.value,
						       run->best.value));
}

/* Find the best score that earlier runs verified with the same command. */
static void find_earlier_best(struct harness_workspace *ws, size_t i)
{
	struct harness_run *run = &ws->runs[i];

	array_each (old, ws->runs, i) {
		if (!old->best.present || !same_text(old->command, run->command) ||
		    !same_text(old->post_score_key, run->post_score_key) ||
		    old->higher_is_better != run->higher_is_better)
			continue;
		if (run->earlier.present &&
		    !harness_is_better(run->higher_is_better, old->best.value, run->earlier.value))
			continue;
		run->earlier = old->best;
		run->earlier_run = old->id;
	}
	if (run->best.present && run->earlier.present)
		run->earlier_pct = harness_gain_pct(run->earlier.value, run->best.value,
						    run->higher_is_better);
}

void harness_workspace_refer(struct harness_workspace *ws, double score)
{
	array_each (run, ws->runs, ws->n_runs) {
		run->earlier = (struct harness_score){ true, score, 0, "reference" };
		run->earlier_run = NULL;
		if (run->best.present)
			run->earlier_pct =
				harness_gain_pct(score, run->best.value, run->higher_is_better);
	}
}

static void read_artifacts(struct harness_workspace *ws, const struct harness_files *files)
{
	const cJSON *list = json_get(harness_files_json(files, "registry.json"), "artifacts");
	struct harness_pool *pool = &ws->pool;

	if (!cJSON_IsArray(list))
		return;
	ws->artifacts =
		harness_pool_alloc(pool, (size_t)cJSON_GetArraySize(list), sizeof(*ws->artifacts));
	json_each (node, list) {
		const cJSON *metadata = json_get(node, "metadata");
		const cJSON *quarantine = json_get(metadata, "quarantine");

		if (!cJSON_IsObject(node))
			continue;
		struct harness_artifact *a = &ws->artifacts[ws->n_artifacts++];
		a->kind = harness_text_at(pool, node, "kind");
		a->path = harness_text_at(pool, node, "path");
		a->iteration = harness_number_at(node, "iteration");
		a->qualified = harness_text_at(pool, json_get(metadata, "qualification"), "status");
		a->quarantined = cJSON_IsTrue(json_get(metadata, "quarantined")) ||
				 cJSON_IsObject(quarantine);
		a->why = harness_text_at(pool, quarantine, "reason");
	}
}

void harness_workspace_read(struct harness_workspace *ws, const struct harness_files *files,
			    int64_t now_ms)
{
	struct harness_build b = { .pool = &ws->pool, .files = files, .now_ms = now_ms };
	const struct harness_file *newest = NULL;

	*ws = (struct harness_workspace){ .n_runs = 0 };
	find_runs(ws, files);
	harness_calls_read(&ws->pool, &ws->calls, files);
	read_artifacts(ws, files);
	harness_each (file, files) {
		if (file->kind == HARNESS_CONFIG &&
		    (newest == NULL || file->ctime_ms > newest->ctime_ms))
			newest = file;
	}
	for (size_t i = 0; i < ws->n_runs; i++) {
		b.run = &ws->runs[i];
		b.is_newest = strcmp(b.run->dir, newest != NULL ? newest->run : "") == 0;
		read_run(&b);
	}
	if (ws->n_runs > 1)
		qsort(ws->runs, ws->n_runs, sizeof(*ws->runs), compare_starts);
	for (size_t i = 0; i < ws->n_runs; i++) {
		b.run = &ws->runs[i];
		b.until_ms = i + 1 < ws->n_runs ? ws->runs[i + 1].start_ms : INT64_MAX;
		if (*b.run->dir == '\0') {
			harness_table_read(&b);
		} else {
			harness_history_read(&b);
			harness_proof_alone(&b, ws);
			judge_run(&b);
			find_earlier_best(ws, i);
		}
		harness_life_read(&b, &ws->calls);
	}
}

void harness_workspace_release(struct harness_workspace *ws)
{
	harness_pool_release(&ws->pool);
	*ws = (struct harness_workspace){ .n_runs = 0 };
}

const struct harness_run *harness_workspace_run(const struct harness_workspace *ws, const char *id)
{
	if (id == NULL)
		return ws->n_runs > 0 ? &ws->runs[ws->n_runs - 1] : NULL;
	return array_find(one, ws->runs, ws->n_runs,
			  strcmp(one->id, id) == 0 || strcmp(one->dir, id) == 0);
}
