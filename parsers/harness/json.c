/* SPDX-License-Identifier: MIT */
/* Write HarnessGym runs and comparisons as JSON, for `harness --json`. */
#include "parsers/harness/json.h"

/* Members for json_new(): a rounded number; a number, also NaN; a boolean; an array of texts. */
#define ROUND(key, ...)	  JNUM(key, round_to(__VA_ARGS__))
#define RAW(key, n)	  JNODE(key, make_raw(n))
#define TRI(key, tri)	  JNODE(key, make_tri(tri))
#define NAMES(key, names) JNODE(key, make_texts((names).v, (names).n))

/* Return a number as JSON, as a string if it is infinite or NaN; NULL if it is absent. */
static cJSON *make_raw(struct harness_number number)
{
	if (!number.present)
		return NULL;
	if (isfinite(number.value))
		return cJSON_CreateNumber(number.value);
	return cJSON_CreateString(isnan(number.value) ? "NaN"
				  : number.value > 0  ? "Infinity"
						      : "-Infinity");
}

static double round_to(struct harness_number number, int decimals)
{
	char text[400];

	if (!harness_is_finite(number))
		return (double)NAN;
	print_into(text, "%.*f", decimals, number.value);
	return strtod(text, NULL);
}

static cJSON *make_tri(enum harness_tri tri)
{
	return tri == HARNESS_UNKNOWN ? NULL : cJSON_CreateBool(tri == HARNESS_YES);
}

static cJSON *make_score(const struct harness_score *score)
{
	cJSON *node = score->present ? json_new(JNUM("score", score->value),
						JNUM("iteration", score->iteration))
				     : NULL;

	if (node != NULL && score->source != NULL)
		json_add_string(node, "source", score->source);
	return node;
}

static cJSON *make_texts(const char *const *texts, size_t n)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(array, texts[i] != NULL ? cJSON_CreateString(texts[i])
							     : cJSON_CreateNull());
	return array;
}

static cJSON *fill_phase(cJSON *node, const struct harness_phase *phase)
{
	return json_add(node, JTEXT("status", phase->status),
			JVAL("return_code", phase->return_code), TRI("timed_out", phase->timed_out),
			ROUND("duration_s", phase->duration_s, 3), JVAL("limit_s", phase->limit_s),
			JTEXT("why", phase->why));
}

static void add_phases(cJSON *object, const struct harness_iteration *it)
{
	cJSON *names = cJSON_CreateArray(), *details = cJSON_CreateArray();

	array_each (phase, it->phases, it->n_phases) {
		cJSON_AddItemToArray(names, cJSON_CreateString(phase->name));
		(void)fill_phase(json_add(json_add_row(details), JTEXT("phase", phase->name)),
				 phase);
	}
	json_add(object,
		 JNODE("attempt",
		       it->attempt != NULL ? fill_phase(cJSON_CreateObject(), it->attempt) : NULL),
		 JVAL("attempt_limit_s", it->attempt_limit_s), JNODE("phases", names),
		 JNODE("phase_details", details));
}

static cJSON *make_cases(const struct harness_post *post)
{
	cJSON *array = cJSON_CreateArray();

	array_each (c, post->cases, post->n_cases)
		json_add(json_add_row(array), JTEXT("name", c->name), JTEXT("status", c->status),
			 RAW("best", c->best), RAW("median", c->median), RAW("max_abs", c->max_abs),
			 JVAL("tolerance", c->tolerance));
	return array;
}

static cJSON *make_post(const struct harness_post *post)
{
	if (!post->present)
		return NULL;
	return json_new(JTEXT("status", post->status), JVAL("return_code", post->return_code),
			TRI("timed_out", post->timed_out), ROUND("duration_s", post->duration_s, 3),
			RAW("score_raw", post->score),
			RAW("score_of_result_json", post->said_score), TRI("passed", post->passed),
			JTEXT("doubt", post->doubt),
			JTEXT("infra_failure", harness_failures[post->failure].name),
			JTEXT("mode", post->mode), JTEXT("device", post->device),
			JTEXT("torch", post->torch), JTEXT("cuda", post->cuda),
			ROUND("elapsed_s", post->elapsed_s, 3),
			JVAL("score_refused_by_harnessgym", post->stray_score),
			JNODE("cases", make_cases(post)));
}

static cJSON *make_qualification(const struct harness_qualification *q)
{
	if (!q->present)
		return NULL;
	return json_new(JNODE("attempts", make_texts(q->attempts, q->n_attempts)),
			JTEXT("final", q->attempts[q->n_attempts - 1]),
			JVAL("active_mcps", q->active_mcps), JVAL("active_tools", q->active_tools),
			NAMES("quarantined", q->quarantined), JTEXT("why", q->why));
}

static cJSON *make_usage(const union harness_usage *usage)
{
	return json_new(JVAL("cost_usd", usage->cost_usd), JVAL("turns", usage->turns),
			JVAL("input_tokens", usage->input_tokens),
			JVAL("cached_input_tokens", usage->cached_tokens),
			JVAL("output_tokens", usage->output_tokens),
			JVAL("all_tokens", usage->all_tokens));
}

static cJSON *make_iteration(const struct harness_iteration *it)
{
	cJSON *row = json_new(JNUM("iteration", it->number), JTEXT("status", it->status),
			      TRI("verified", it->verified), JTIME("created_at", it->created_ms));

	add_phases(row, it);
	return json_add(
		row, JVAL("active_tools", it->active_tools), JVAL("active_mcps", it->active_mcps),
		JVAL("mcp_calls_cumulative", it->calls), JVAL("mcp_calls_delta", it->calls_delta),
		JNODE("post_attempt", make_post(&it->post)),
		JTEXT("evidence", harness_proof_names[it->proof]),
		JVAL("score_verified", it->verified_score), JTEXT("mark", it->mark),
		JVAL("score_invalid", it->invalid_score),
		JVAL("score_claimed_unverified", it->claimed_score),
		JVAL("score_in_session_unverified", it->session_score),
		TRI("improved_vs_baseline", it->better_than_baseline),
		TRI("improved_vs_previous_best_verified", it->better_than_previous),
		ROUND("vs_baseline_pct", it->baseline_pct, 3),
		ROUND("vs_previous_best_verified_pct", it->previous_pct, 3),
		JNODE("qualification", make_qualification(&it->qualification)),
		JNODE("usage", make_usage(&it->usage)), NAMES("active_skill_names", it->skills),
		NAMES("active_tool_names", it->tools), NAMES("called_tool_names", it->called),
		NAMES("blockers", it->blockers), TRI("kept_within_noise", it->within_noise),
		JTEXT("note", it->note));
}

static void add_best(cJSON *object, const struct harness_run *run)
{
	const struct harness_post *base = &run->baseline;

	json_add(object,
		 JNODE("baseline",
		       run->has_baseline
			       ? json_new(RAW("score", base->score), TRI("passed", base->passed),
					  JTEXT("infra_failure",
						harness_failures[base->failure].name),
					  JNODE("cases", make_cases(base)))
			       : NULL),
		 JNODE("best_verified", make_score(&run->best)),
		 JNODE("best_unverified_better_than_verified", make_score(&run->best_unverified)),
		 JNODE("previous_best_verified", make_score(&run->previous)),
		 JNODE("best_of_earlier_runs", make_score(&run->earlier)),
		 JTEXT("best_of_earlier_runs_run_id", run->earlier_run),
		 ROUND("improvement_vs_baseline_pct", run->baseline_pct, 3),
		 ROUND("improvement_vs_previous_best_pct", run->previous_pct, 3),
		 ROUND("improvement_vs_earlier_runs_pct", run->earlier_pct, 3),
		 JVAL("stop_score", run->stop_score),
		 TRI("stop_score_reached_by_verified", run->stop_reached));
}

static cJSON *make_restored(const struct harness_restore *r)
{
	if (!r->present)
		return NULL;
	return json_new(TRI("restored", r->restored), JVAL("iteration", r->iteration),
			JVAL("score", r->score), JTEXT("post_restore_status", r->post.status),
			RAW("post_restore_score", r->post.score),
			TRI("post_restore_passed", r->post_passed),
			JTEXT("post_restore_infra_failure", harness_failures[r->post.failure].name),
			JTEXT("reason", r->reason));
}

static cJSON *make_changes(const struct harness_changes *changes)
{
	cJSON *array = cJSON_CreateArray();

	array_each (change, changes->v, changes->n) {
		cJSON *node = json_add(json_add_row(array), JTEXT("file", change->name),
				       JTEXT("part", change->part));

		if (change->change != NULL)
			json_add_string(node, "change", change->change);
	}
	return array;
}

static void add_calls(cJSON *object, const struct harness_calls *calls)
{
	cJSON *tools = cJSON_CreateObject(), *statuses = cJSON_CreateObject();

	array_each (tool, calls->tools, calls->n_tools)
		cJSON_AddNumberToObject(tools, tool->name, tool->calls);
	array_each (status, calls->statuses, calls->n_statuses)
		cJSON_AddNumberToObject(statuses, status->name, status->calls);
	json_add(object, JNUM("mcp_calls_total", calls->known ? calls->total : (double)NAN),
		 JNODE("mcp_calls_by_tool", tools), JNODE("mcp_call_status_counts", statuses));
}

static cJSON *make_artifacts(const struct harness_workspace *ws)
{
	cJSON *array = cJSON_CreateArray();

	array_each (a, ws->artifacts, ws->n_artifacts)
		json_add(json_add_row(array), JTEXT("kind", a->kind), JTEXT("path", a->path),
			 JVAL("iteration", a->iteration), JTEXT("qualification", a->qualified),
			 JBOOL("quarantined", a->quarantined), JTEXT("why", a->why));
	return array;
}

/* Return the agent's table of experiments as JSON; NULL for a HarnessGym run. */
static cJSON *make_table(const struct harness_run *run)
{
	const struct harness_table *t = run->table;

	if (t == NULL)
		return NULL;
	return json_new(JNUM("rows", t->rows), JNUM("kept", t->outcomes[0]),
			JNUM("discarded", t->outcomes[1]), JNUM("crashed", t->outcomes[2]),
			JNUM("other", t->outcomes[3]), JNUM("broken_lines", t->broken),
			JTEXT("kind", t->kind), JNODE("baseline_claimed", make_score(&t->baseline)),
			JNODE("best_kept_claimed", make_score(&run->best_unverified)),
			ROUND("best_kept_pct", t->best_pct, 3),
			JNUM("rows_since_best", t->trend != NULL ? t->since_best : (double)NAN),
			JTEXT("trend", t->trend), JNUM("baselines", t->baselines),
			JVAL("noise_floor", t->noise), RAW("run_log_score", t->logged),
			JSOME("run_log_row", t->logged_row));
}

cJSON *harness_run_json(const struct harness_workspace *ws, const struct harness_run *run)
{
	const struct harness_life *life = &run->life;
	const struct harness_checkpoint *point = &run->checkpoint;
	bool has_times = run->start_ms > 0 && run->end_ms >= run->start_ms;
	cJSON *iterations = cJSON_CreateArray(), *runs = cJSON_CreateArray();

	array_each (it, run->iterations, run->n_iterations)
		cJSON_AddItemToArray(iterations, make_iteration(it));
	array_each (one, ws->runs, ws->n_runs)
		cJSON_AddItemToArray(runs, cJSON_CreateString(one->id));
	cJSON *live =
		json_new(JTEXT("state", harness_state_names[life->state]),
			 JTEXT("phase", life->phase), ROUND("phase_left_s", life->left_s, 0),
			 JTIME("last_sign_at", life->seen_ms), ROUND("silent_s", life->silent_s, 0),
			 TRI("process", life->process), JNUM("torn_files", run->torn));
	cJSON *object = json_new(
		JTEXT("kind", "run"), JTEXT("run_id", run->id), JTEXT("runner", run->runner),
		JTEXT("model", run->model), JTEXT("task_file", run->task_file),
		JVAL("iterations_planned", run->planned),
		JNUM("iterations_started", run->n_iterations),
		JTEXT("run_state", run->has_summary ? "finished" : "no_summary"),
		JTEXT("final_status", run->final_status), TRI("solved_flag", run->solved),
		JTEXT("score_key", run->score_key),
		JTEXT("post_attempt_score_key", run->post_score_key),
		TRI("higher_is_better", run->higher_is_better),
		TRI("optimization_mode", run->optimization), JTEXT("mode", run->mode),
		JVAL("warmup", run->warmup), JVAL("repeats", run->repeats),
		JTEXT("post_attempt_command", run->command), JNODE("live", live),
		JNODE("usage", make_usage(&run->usage)),
		ROUND("wall_s",
		      (struct harness_number){ has_times,
					       (double)(run->end_ms - run->start_ms) / 1e3 },
		      0));
	add_best(object, run);
	json_add(object, JNODE("table", make_table(run)), JNODE("iterations", iterations),
		 JNODE("harnessgym_says",
		       run->has_summary ? json_new(RAW("best_score", run->said_best),
						   TRI("improved", run->said_improved),
						   JTEXT("final_status", run->final_status),
						   TRI("solved", run->solved))
					: NULL),
		 JNODE("contradictions", make_texts(run->disputes, run->n_disputes)),
		 TRI("judge_unchanged", harness_judge_unchanged(run)),
		 JTEXT("judge_changed", run->judge), NAMES("judge_files_compared", run->compared),
		 NAMES("judge_unresolved", run->unresolved),
		 JNODE("judge_also_uses", make_changes(&run->used)),
		 JNODE("changes", run->changes.present ? make_changes(&run->changes) : NULL),
		 JNODE("checkpoint", point->present ? json_new(JVAL("iteration", point->iteration),
							       JVAL("score", point->score),
							       JTEXT("reason", point->reason))
						    : NULL),
		 JNODE("restored", make_restored(&run->restore)));
	add_calls(object, &ws->calls);
	return json_add(object, JNODE("artifacts", make_artifacts(ws)),
			JNODE("runs_of_workspace", runs));
}

static cJSON *make_trial(const struct harness_trial *t)
{
	return json_new(
		JTEXT("group", t->group), JNUM("trial", t->number), JTEXT("run_id", t->run_id),
		JTEXT("status", t->status), JVAL("iterations_completed", t->iterations),
		ROUND("attempt_duration_s", t->attempt_s, 3),
		TRI("comparison_valid", t->comparison_valid),
		JTEXT("comparison_invalid_reason", t->comparison_why),
		TRI("post_valid", t->post_valid), TRI("objective_post_valid", t->objective_valid),
		JTEXT("post_invalid_reason", t->post_why), RAW("post_score", t->score),
		RAW("raw_post_score", t->post.score), JVAL("post_return_code", t->post.return_code),
		JTEXT("doubt", t->post.doubt),
		JTEXT("infra_failure", harness_failures[t->post.failure].name),
		TRI("treated_as_worst", t->worst), JVAL("mcp_calls", t->calls),
		JVAL("active_tools", t->active_tools), JTEXT("error", t->error));
}

cJSON *harness_compare_json(const struct harness_compare *compare)
{
	cJSON *trials = cJSON_CreateArray(), *summary = cJSON_CreateObject(), *live = NULL;

	if (compare->live_group != NULL)
		live = json_new(
			JTEXT("group", compare->live_group), JNUM("trial", compare->live_trial),
			JTEXT("phase", compare->live_phase),
			JNUM("iteration",
			     compare->live_phase != NULL ? compare->live_iteration : (double)NAN));
	array_each (trial, compare->trials, compare->n_trials)
		cJSON_AddItemToArray(trials, make_trial(trial));
	array_each (g, compare->groups, compare->n_groups)
		json_add(cJSON_AddObjectToObject(summary, g->name), JNUM("count", g->count),
			 JNUM("valid", g->valid), JNUM("invalid", g->invalid),
			 JNUM("not_run", g->not_run), JVAL("best", g->best),
			 JVAL("median", g->median), JVAL("min", g->min), JVAL("max", g->max),
			 TRI("invalid_treated_as_worst", g->worst));
	return json_new(JTEXT("kind", "compare"),
			JTEXT("run_state", compare->has_report ? "finished" : "no_summary"),
			TRI("process", compare->process), JNODE("trial_under_way", live),
			JTIME("created_at", compare->created_ms),
			JTEXT("score_key", compare->score_key),
			JTEXT("post_command", compare->command), JNODE("trials", trials),
			JNODE("summary", summary));
}
