/* SPDX-License-Identifier: MIT */
/* HarnessGym runs and comparisons as JSON, for `harness --json`. */
#include "parsers/harness/json.h"

#include <stdio.h>
#include <stdlib.h>

static void add_number(cJSON *object, const char *key, struct harness_number number)
{
	json_add_number(object, key, number.present ? number.value : (double)NAN);
}

/* Add a printed number, which may be infinite or NaN. */
static void add_raw(cJSON *object, const char *key, struct harness_number number)
{
	if (!number.present || isfinite(number.value))
		add_number(object, key, number);
	else if (isnan(number.value))
		json_add_string(object, key, "NaN");
	else
		json_add_string(object, key, number.value > 0 ? "Infinity" : "-Infinity");
}

/* Add a number rounded to this many decimals. */
static void add_rounded(cJSON *object, const char *key, struct harness_number number, int decimals)
{
	char text[400];

	if (harness_is_finite(number)) {
		print_into(text, "%.*f", decimals, number.value);
		number.value = strtod(text, NULL);
	}
	add_number(object, key, number);
}

static void add_tri(cJSON *object, const char *key, enum harness_tri tri)
{
	if (tri == HARNESS_UNKNOWN)
		cJSON_AddNullToObject(object, key);
	else
		cJSON_AddBoolToObject(object, key, tri == HARNESS_YES);
}

static cJSON *add_object(cJSON *object, const char *key, bool present)
{
	if (present)
		return cJSON_AddObjectToObject(object, key);
	cJSON_AddNullToObject(object, key);
	return NULL;
}

static void add_score(cJSON *object, const char *key, const struct harness_score *score)
{
	cJSON *node = add_object(object, key, score->present);

	if (node == NULL)
		return;
	json_add_number(node, "score", score->value);
	cJSON_AddNumberToObject(node, "iteration", score->iteration);
	if (score->source != NULL)
		json_add_string(node, "source", score->source);
}

static void add_texts(cJSON *object, const char *key, const char *const *texts, size_t n)
{
	cJSON *array = cJSON_AddArrayToObject(object, key);

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(array, texts[i] != NULL ? cJSON_CreateString(texts[i])
							     : cJSON_CreateNull());
}

static void fill_phase(cJSON *node, const struct harness_phase *phase)
{
	json_add_string(node, "status", phase->status);
	add_number(node, "return_code", phase->return_code);
	add_tri(node, "timed_out", phase->timed_out);
	add_rounded(node, "duration_s", phase->duration_s, 3);
	add_number(node, "limit_s", phase->limit_s);
}

static void add_phases(cJSON *object, const struct harness_iteration *it)
{
	cJSON *node = add_object(object, "attempt", it->attempt != NULL);

	if (node != NULL)
		fill_phase(node, it->attempt);
	add_number(object, "attempt_limit_s", it->attempt_limit_s);
	cJSON *names = cJSON_AddArrayToObject(object, "phases");
	cJSON *details = cJSON_AddArrayToObject(object, "phase_details");
	for (size_t i = 0; i < it->n_phases; i++) {
		cJSON_AddItemToArray(names, cJSON_CreateString(it->phases[i].name));
		node = cJSON_CreateObject();
		json_add_string(node, "phase", it->phases[i].name);
		fill_phase(node, &it->phases[i]);
		cJSON_AddItemToArray(details, node);
	}
}

static void add_cases(cJSON *object, const struct harness_post *post)
{
	cJSON *array = cJSON_AddArrayToObject(object, "cases");

	array_each (c, post->cases, post->n_cases) {
		cJSON *node = cJSON_CreateObject();

		json_add_string(node, "name", c->name);
		json_add_string(node, "status", c->status);
		add_raw(node, "best", c->best);
		add_raw(node, "median", c->median);
		add_raw(node, "max_abs", c->max_abs);
		add_number(node, "tolerance", c->tolerance);
		cJSON_AddItemToArray(array, node);
	}
}

static void add_post(cJSON *object, const char *key, const struct harness_post *post)
{
	cJSON *node = add_object(object, key, post->present);

	if (node == NULL)
		return;
	json_add_string(node, "status", post->status);
	add_number(node, "return_code", post->return_code);
	add_tri(node, "timed_out", post->timed_out);
	add_rounded(node, "duration_s", post->duration_s, 3);
	add_raw(node, "score_raw", post->score);
	add_raw(node, "score_of_result_json", post->said_score);
	add_tri(node, "passed", post->passed);
	json_add_string(node, "doubt", post->doubt);
	json_add_string(node, "infra_failure", harness_failure_name(post->failure));
	json_add_string(node, "mode", post->mode);
	json_add_string(node, "device", post->device);
	json_add_string(node, "torch", post->torch);
	json_add_string(node, "cuda", post->cuda);
	add_rounded(node, "elapsed_s", post->elapsed_s, 3);
	add_number(node, "score_refused_by_harnessgym", post->stray_score);
	add_cases(node, post);
}

static void add_qualification(cJSON *object, const struct harness_qualification *q)
{
	cJSON *node = add_object(object, "qualification", q->present);

	if (node == NULL)
		return;
	add_texts(node, "attempts", q->attempts, q->n_attempts);
	json_add_string(node, "final", q->attempts[q->n_attempts - 1]);
	add_number(node, "active_mcps", q->active_mcps);
	add_number(node, "active_tools", q->active_tools);
	add_texts(node, "quarantined", q->quarantined.v, q->quarantined.n);
	json_add_string(node, "why", q->why);
}

static void add_usage(cJSON *object, const struct harness_usage *usage)
{
	cJSON *node = cJSON_AddObjectToObject(object, "usage");

	add_number(node, "cost_usd", usage->cost_usd);
	add_number(node, "turns", usage->turns);
	add_number(node, "input_tokens", usage->input_tokens);
	add_number(node, "cached_input_tokens", usage->cached_tokens);
	add_number(node, "output_tokens", usage->output_tokens);
}

static cJSON *make_iteration(const struct harness_iteration *it)
{
	cJSON *node = cJSON_CreateObject();

	cJSON_AddNumberToObject(node, "iteration", it->number);
	json_add_string(node, "status", it->status);
	add_tri(node, "verified", it->verified);
	json_add_time(node, "created_at", it->created_ms);
	add_phases(node, it);
	add_number(node, "active_tools", it->active_tools);
	add_number(node, "active_mcps", it->active_mcps);
	add_number(node, "mcp_calls_cumulative", it->calls);
	add_number(node, "mcp_calls_delta", it->calls_delta);
	add_post(node, "post_attempt", &it->post);
	json_add_string(node, "evidence", harness_proof_name(it->proof));
	add_number(node, "score_verified", it->verified_score);
	add_number(node, "score_invalid", it->invalid_score);
	add_number(node, "score_claimed_unverified", it->claimed_score);
	add_number(node, "score_in_session_unverified", it->session_score);
	add_tri(node, "improved_vs_baseline", it->better_than_baseline);
	add_tri(node, "improved_vs_previous_best_verified", it->better_than_previous);
	add_rounded(node, "vs_baseline_pct", it->baseline_pct, 3);
	add_rounded(node, "vs_previous_best_verified_pct", it->previous_pct, 3);
	add_qualification(node, &it->qualification);
	add_usage(node, &it->usage);
	add_texts(node, "active_skill_names", it->skills.v, it->skills.n);
	add_texts(node, "active_tool_names", it->tools.v, it->tools.n);
	add_texts(node, "called_tool_names", it->called.v, it->called.n);
	add_texts(node, "blockers", it->blockers.v, it->blockers.n);
	add_tri(node, "kept_within_noise", it->within_noise);
	json_add_string(node, "note", it->note);
	return node;
}

static void add_best(cJSON *object, const struct harness_run *run)
{
	cJSON *baseline = add_object(object, "baseline", run->has_baseline);

	if (baseline != NULL) {
		add_raw(baseline, "score", run->baseline.score);
		add_tri(baseline, "passed", run->baseline.passed);
		json_add_string(baseline, "infra_failure",
				harness_failure_name(run->baseline.failure));
		add_cases(baseline, &run->baseline);
	}
	add_score(object, "best_verified", &run->best);
	add_score(object, "best_unverified_better_than_verified", &run->best_unverified);
	add_score(object, "previous_best_verified", &run->previous);
	add_score(object, "best_of_earlier_runs", &run->earlier);
	json_add_string(object, "best_of_earlier_runs_run_id", run->earlier_run);
	add_rounded(object, "improvement_vs_baseline_pct", run->baseline_pct, 3);
	add_rounded(object, "improvement_vs_previous_best_pct", run->previous_pct, 3);
	add_rounded(object, "improvement_vs_earlier_runs_pct", run->earlier_pct, 3);
	add_number(object, "stop_score", run->stop_score);
	add_tri(object, "stop_score_reached_by_verified", run->stop_reached);
}

static void add_restore(cJSON *object, const struct harness_run *run)
{
	const struct harness_restore *r = &run->restore;
	cJSON *point = add_object(object, "checkpoint", run->checkpoint.present);
	cJSON *node = add_object(object, "restored", r->present);

	if (point != NULL) {
		add_number(point, "iteration", run->checkpoint.iteration);
		add_number(point, "score", run->checkpoint.score);
		json_add_string(point, "reason", run->checkpoint.reason);
	}
	if (node == NULL)
		return;
	add_tri(node, "restored", r->restored);
	add_number(node, "iteration", r->iteration);
	add_number(node, "score", r->score);
	json_add_string(node, "post_restore_status", r->post.status);
	add_raw(node, "post_restore_score", r->post.score);
	add_tri(node, "post_restore_passed", r->post_passed);
	json_add_string(node, "post_restore_infra_failure", harness_failure_name(r->post.failure));
	json_add_string(node, "reason", r->reason);
}

static void add_changes(cJSON *object, const char *key, const struct harness_changes *changes)
{
	cJSON *array = cJSON_AddArrayToObject(object, key);

	array_each (change, changes->v, changes->n) {
		cJSON *node = json_add_row(array);

		json_add_string(node, "file", change->name);
		json_add_string(node, "part", change->part);
		if (change->change != NULL)
			json_add_string(node, "change", change->change);
	}
}

static void add_judge(cJSON *object, const struct harness_run *run)
{
	add_tri(object, "judge_unchanged", harness_judge_unchanged(run));
	json_add_string(object, "judge_changed", run->judge);
	add_texts(object, "judge_files_compared", run->compared.v, run->compared.n);
	add_texts(object, "judge_unresolved", run->unresolved.v, run->unresolved.n);
	add_changes(object, "judge_also_uses", &run->used);
	if (run->changes.present)
		add_changes(object, "changes", &run->changes);
	else
		cJSON_AddNullToObject(object, "changes");
}

static void add_calls(cJSON *object, const struct harness_calls *calls)
{
	add_number(object, "mcp_calls_total",
		   (struct harness_number){ calls->known, calls->total });
	cJSON *tools = cJSON_AddObjectToObject(object, "mcp_calls_by_tool");
	for (size_t i = 0; i < calls->n_tools; i++)
		cJSON_AddNumberToObject(tools, calls->tools[i].name, calls->tools[i].calls);
	cJSON *statuses = cJSON_AddObjectToObject(object, "mcp_call_status_counts");
	for (size_t i = 0; i < calls->n_statuses; i++)
		cJSON_AddNumberToObject(statuses, calls->statuses[i].name,
					calls->statuses[i].calls);
}

static void add_artifacts(cJSON *object, const struct harness_workspace *ws)
{
	cJSON *array = cJSON_AddArrayToObject(object, "artifacts");

	array_each (a, ws->artifacts, ws->n_artifacts) {
		cJSON *node = cJSON_CreateObject();

		json_add_string(node, "kind", a->kind);
		json_add_string(node, "path", a->path);
		add_number(node, "iteration", a->iteration);
		json_add_string(node, "qualification", a->qualified);
		cJSON_AddBoolToObject(node, "quarantined", a->quarantined);
		json_add_string(node, "why", a->why);
		cJSON_AddItemToArray(array, node);
	}
}

/* Add the table that an agent keeps; null for a HarnessGym run. */
static void add_table(cJSON *object, const struct harness_run *run)
{
	static const char *const outcomes[] = { "kept", "discarded", "crashed", "other" };
	const struct harness_table *t = run->table;
	cJSON *node = add_object(object, "table", t != NULL);

	if (t == NULL)
		return;
	cJSON_AddNumberToObject(node, "rows", t->rows);
	for (size_t i = 0; i < 4; i++)
		cJSON_AddNumberToObject(node, outcomes[i], t->outcomes[i]);
	cJSON_AddNumberToObject(node, "broken_lines", t->broken);
	add_score(node, "baseline_claimed", &t->baseline);
	add_score(node, "best_kept_claimed", &run->best_unverified);
	add_rounded(node, "best_kept_pct", t->best_pct, 3);
	cJSON_AddNumberToObject(node, "baselines", t->baselines);
	add_number(node, "noise_floor", t->noise);
	add_raw(node, "run_log_score", t->logged);
	add_number(node, "run_log_row",
		   (struct harness_number){ t->logged_row > 0, t->logged_row });
}

cJSON *harness_run_json(const struct harness_workspace *ws, const struct harness_run *run)
{
	cJSON *object = cJSON_CreateObject(), *array, *node;
	const struct harness_life *life = &run->life;
	bool has_times = run->start_ms > 0 && run->end_ms >= run->start_ms;

	json_add_string(object, "kind", "run");
	json_add_string(object, "run_id", run->id);
	json_add_string(object, "runner", run->runner);
	json_add_string(object, "model", run->model);
	json_add_string(object, "task_file", run->task_file);
	add_number(object, "iterations_planned", run->planned);
	cJSON_AddNumberToObject(object, "iterations_started", (double)run->n_iterations);
	json_add_string(object, "run_state", run->has_summary ? "finished" : "no_summary");
	json_add_string(object, "final_status", run->final_status);
	add_tri(object, "solved_flag", run->solved);
	json_add_string(object, "score_key", run->score_key);
	json_add_string(object, "post_attempt_score_key", run->post_score_key);
	add_tri(object, "higher_is_better", run->higher_is_better);
	add_tri(object, "optimization_mode", run->optimization);
	json_add_string(object, "mode", run->mode);
	add_number(object, "warmup", run->warmup);
	add_number(object, "repeats", run->repeats);
	json_add_string(object, "post_attempt_command", run->command);
	node = cJSON_AddObjectToObject(object, "live");
	json_add_string(node, "state", harness_state_name(life->state));
	json_add_string(node, "phase", life->phase);
	add_rounded(node, "phase_left_s", life->left_s, 0);
	json_add_time(node, "last_sign_at", life->seen_ms);
	add_rounded(node, "silent_s", life->silent_s, 0);
	add_tri(node, "process", life->process);
	cJSON_AddNumberToObject(node, "torn_files", (double)run->torn);
	add_usage(object, &run->usage);
	add_rounded(
		object, "wall_s",
		(struct harness_number){ has_times, (double)(run->end_ms - run->start_ms) / 1e3 },
		0);
	add_best(object, run);
	add_table(object, run);
	array = cJSON_AddArrayToObject(object, "iterations");
	for (size_t i = 0; i < run->n_iterations; i++)
		cJSON_AddItemToArray(array, make_iteration(&run->iterations[i]));
	node = add_object(object, "harnessgym_says", run->has_summary);
	if (node != NULL) {
		add_raw(node, "best_score", run->said_best);
		add_tri(node, "improved", run->said_improved);
		json_add_string(node, "final_status", run->final_status);
		add_tri(node, "solved", run->solved);
	}
	add_texts(object, "contradictions", run->disputes, run->n_disputes);
	add_judge(object, run);
	add_restore(object, run);
	add_calls(object, &ws->calls);
	add_artifacts(object, ws);
	array = cJSON_AddArrayToObject(object, "runs_of_workspace");
	for (size_t i = 0; i < ws->n_runs; i++)
		cJSON_AddItemToArray(array, cJSON_CreateString(ws->runs[i].id));
	return object;
}

static cJSON *make_trial(const struct harness_trial *t)
{
	cJSON *node = cJSON_CreateObject();

	json_add_string(node, "group", t->group);
	cJSON_AddNumberToObject(node, "trial", t->number);
	json_add_string(node, "run_id", t->run_id);
	json_add_string(node, "status", t->status);
	add_number(node, "iterations_completed", t->iterations);
	add_rounded(node, "attempt_duration_s", t->attempt_s, 3);
	add_tri(node, "comparison_valid", t->comparison_valid);
	json_add_string(node, "comparison_invalid_reason", t->comparison_why);
	add_tri(node, "post_valid", t->post_valid);
	add_tri(node, "objective_post_valid", t->objective_valid);
	json_add_string(node, "post_invalid_reason", t->post_why);
	add_raw(node, "post_score", t->score);
	add_raw(node, "raw_post_score", t->post.score);
	add_number(node, "post_return_code", t->post.return_code);
	json_add_string(node, "infra_failure", harness_failure_name(t->post.failure));
	add_tri(node, "treated_as_worst", t->worst);
	add_number(node, "mcp_calls", t->calls);
	add_number(node, "active_tools", t->active_tools);
	json_add_string(node, "error", t->error);
	return node;
}

cJSON *harness_compare_json(const struct harness_compare *compare)
{
	cJSON *object = cJSON_CreateObject(), *trials, *summary;

	json_add_string(object, "kind", "compare");
	json_add_string(object, "run_state", compare->has_report ? "finished" : "no_summary");
	add_tri(object, "process", compare->process);
	summary = add_object(object, "trial_under_way", compare->live_group != NULL);
	if (summary != NULL) {
		json_add_string(summary, "group", compare->live_group);
		cJSON_AddNumberToObject(summary, "trial", compare->live_trial);
		json_add_string(summary, "phase", compare->live_phase);
		add_number(summary, "iteration",
			   (struct harness_number){ compare->live_phase != NULL,
						    compare->live_iteration });
	}
	json_add_time(object, "created_at", compare->created_ms);
	json_add_string(object, "score_key", compare->score_key);
	json_add_string(object, "post_command", compare->command);
	trials = cJSON_AddArrayToObject(object, "trials");
	for (size_t i = 0; i < compare->n_trials; i++)
		cJSON_AddItemToArray(trials, make_trial(&compare->trials[i]));
	summary = cJSON_AddObjectToObject(object, "summary");
	array_each (g, compare->groups, compare->n_groups) {
		cJSON *node = cJSON_AddObjectToObject(summary, g->name);

		cJSON_AddNumberToObject(node, "count", g->count);
		cJSON_AddNumberToObject(node, "valid", g->valid);
		cJSON_AddNumberToObject(node, "invalid", g->invalid);
		cJSON_AddNumberToObject(node, "not_run", g->not_run);
		add_number(node, "best", g->best);
		add_number(node, "median", g->median);
		add_number(node, "min", g->min);
		add_number(node, "max", g->max);
		add_tri(node, "invalid_treated_as_worst", g->worst);
	}
	return object;
}
