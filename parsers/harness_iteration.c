/* SPDX-License-Identifier: MIT */
/* The iterations of a run: result.json, qualification, what began and ended. */
#include "config.h"

#include <stdlib.h>

#include "parsers/harness_parts.h"

static void
read_phase(struct harness_build *b, struct harness_phase *phase,
	   const char *name, const cJSON *node)
{
	phase->name =
		harness_pool_text(b->pool, str_from(name), HARNESS_NAME_MAX);
	phase->status =
		harness_text_at(b->pool, node, "status", HARNESS_NAME_MAX);
	phase->return_code = harness_number_at(node, "return_code");
	phase->duration_s = harness_number_at(node, "duration_seconds");
	phase->timed_out = harness_bool_at(node, "timed_out");
}

static void
read_phases(struct harness_build *b, struct harness_iteration *it,
	    const cJSON *phases)
{
	const cJSON *node;

	it->phases =
		harness_pool_alloc(b->pool, (size_t)cJSON_GetArraySize(phases),
				   sizeof(*it->phases));
	cJSON_ArrayForEach(node, phases)
	{
		if (node->string != NULL && cJSON_IsObject(node))
			read_phase(b, &it->phases[it->n_phases++], node->string,
				   node);
	}
	if (it->n_phases > 1)
		qsort(it->phases, it->n_phases, sizeof(*it->phases),
		      harness_by_name);
	for (size_t i = 0; i < it->n_phases; i++)
		if (strcmp(it->phases[i].name, "attempt") == 0)
			it->attempt = &it->phases[i];
}

/* The limit of that iteration's attempt; absent beyond a schedule's end. */
static struct harness_number
attempt_limit(const struct harness_build *b, unsigned int number)
{
	const cJSON *config = harness_json_file(b, HARNESS_CONFIG, 0);
	const cJSON *schedule =
		json_get(config, "attempt_timeout_schedule_seconds");

	if (cJSON_GetArraySize(schedule) > 0)
		return harness_number_of(
			cJSON_GetArrayItem(schedule, (int)number - 1));
	return b->run->attempt_s;
}

/* The first line of what an iteration says of itself. */
static const char *
note_of(struct harness_build *b, const cJSON *result)
{
	const cJSON *nodes[] = {
		json_get(result, "summary"),
		cJSON_GetArrayItem(json_get(result, "blockers"), 0),
		json_get(json_get(json_get(result, "reflection"),
				  "selected_improvement"),
			 "name"),
	};

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		struct str text;

		if (!cJSON_IsString(nodes[i]))
			continue;
		text = str_trim(str_from(nodes[i]->valuestring));
		text.len = strcspn(text.p, "\r\n") < text.len
				   ? strcspn(text.p, "\r\n")
				   : text.len;
		if (text.len > 0)
			return harness_pool_text(b->pool, text,
						 HARNESS_NOTE_MAX);
	}
	return NULL;
}

/* Strings of a JSON array, clean and sorted. */
static const char **
read_paths(struct harness_build *b, const cJSON *array, size_t *n)
{
	const char **paths = harness_pool_alloc(
		b->pool, (size_t)cJSON_GetArraySize(array), sizeof(*paths));
	const cJSON *node;

	*n = 0;
	cJSON_ArrayForEach(node, array)
	{
		if (cJSON_IsString(node))
			paths[(*n)++] = harness_text_of(b->pool, node,
							HARNESS_PATH_MAX);
	}
	if (*n > 1)
		qsort(paths, *n, sizeof(*paths), harness_by_name);
	return paths;
}

static const char *
status_word(struct harness_build *b, const cJSON *report)
{
	return harness_text_at(b->pool, report, "status", HARNESS_NAME_MAX);
}

/* The reports of an iteration in the summary, by their order there. */
static size_t
summary_reports(struct harness_build *b, unsigned int number,
		const char *words[HARNESS_MAX_ATTEMPTS], const cJSON **last)
{
	const cJSON *all = json_get(
			    json_get(b->summary, "artifact_qualification"),
			    "reports"),
		    *node;
	size_t n = 0;

	cJSON_ArrayForEach(node, all)
	{
		struct harness_number of = harness_number_at(node, "iteration");

		if (!of.present || of.value != number ||
		    n == HARNESS_MAX_ATTEMPTS)
			continue;
		words[n++] = status_word(b, node);
		*last = node;
	}
	return n;
}

/* The reports of an iteration that lie in its folder, by attempt. */
static size_t
file_reports(struct harness_build *b, unsigned int number,
	     const char *words[HARNESS_MAX_ATTEMPTS], const cJSON **last)
{
	size_t n = 0;

	for (unsigned int k = 1; k <= HARNESS_MAX_ATTEMPTS; k++) {
		const struct harness_file *file =
			harness_files_find(b->files, HARNESS_QUALIFICATION,
					   b->run->dir, number, k);

		if (file == NULL || file->json == NULL)
			continue;
		words[n++] = status_word(b, file->json);
		*last = file->json;
	}
	return n;
}

/* One of counts by key, of the report itself or of its quality_gate. */
static struct harness_number
gate_count(const cJSON *report, const char *key)
{
	const cJSON *node = json_get(json_get(report, "quality_gate"), key);

	return harness_number_of(node != NULL ? node : json_get(report, key));
}

static void
read_qualification(struct harness_build *b, struct harness_iteration *it,
		   const cJSON *result)
{
	struct harness_qualification *q = &it->qualification;
	const cJSON *own = json_get(result, "artifact_qualification");
	const cJSON *last = NULL, *told = NULL, *warnings;
	const char *words[HARNESS_MAX_ATTEMPTS] = { NULL };
	const char *others[HARNESS_MAX_ATTEMPTS] = { NULL };
	size_t n = file_reports(b, it->number, words, &last);
	size_t m = summary_reports(b, it->number, others, &told);

	if (n == 0 && m == 0 && cJSON_IsObject(own))
		words[n++] = status_word(b, own);
	if (m > n)
		memcpy(words, others, sizeof(words));
	n = m > n ? m : n;
	if (last == NULL)
		last = cJSON_IsObject(own) ? own : told;
	q->present = n > 0;
	q->attempts = harness_pool_alloc(b->pool, n, sizeof(*q->attempts));
	q->n_attempts = n;
	for (size_t i = 0; i < n; i++)
		q->attempts[i] = words[i];
	q->active_mcps = gate_count(last, "active_mcp_count");
	q->active_tools = gate_count(last, "active_tool_count");
	told = json_get(last, "quarantined_artifacts");
	if (told == NULL)
		told = json_get(own, "quarantined_artifacts");
	q->quarantined = read_paths(b, told, &q->n_quarantined);
	warnings = json_get(json_get(last, "quality_gate"), "warnings");
	q->why = harness_text_of(b->pool, cJSON_GetArrayItem(warnings, 0),
				 HARNESS_NOTE_MAX);
}

/* What stands in result.json, or else in the summary's row. */
static void
read_result(struct harness_build *b, struct harness_iteration *it,
	    const cJSON *result, const cJSON *row)
{
	const cJSON *usage = json_get(result, "harness_usage");
	const cJSON *gate =
		json_get(harness_json_file(b, HARNESS_STARTED, it->number),
			 "quality_gate");
	const char *key =
		b->run->score_key != NULL ? b->run->score_key : "score";

	it->status = harness_text_at(b->pool, result != NULL ? result : row,
				     "status", HARNESS_NAME_MAX);
	it->verified = harness_bool_at(result, "verified");
	it->created_ms = harness_time_at(result, "created_at");
	it->updated_ms = harness_time_at(result, "updated_at");
	read_phases(b, it, result != NULL ? json_get(result, "phases") : NULL);
	it->attempt_limit_s = attempt_limit(b, it->number);
	it->active_tools = harness_number_at(usage, "active_tool_count");
	it->active_mcps = harness_number_at(usage, "active_mcp_count");
	if (!it->active_tools.present)
		it->active_tools = gate_count(gate, "active_tool_count");
	if (!it->active_mcps.present)
		it->active_mcps = gate_count(gate, "active_mcp_count");
	it->calls = harness_number_at(usage, "mcp_call_count");
	harness_post_read(b, &it->post, json_get(result, "post_attempt"),
			  harness_text_file(b, HARNESS_POST_OUT, it->number),
			  harness_text_file(b, HARNESS_POST_ERR, it->number));
	if (!it->post.score.present)
		it->claimed_score = harness_score_of(result, key);
	it->note = note_of(b, result);
}

/* The summary's row of that iteration, or NULL. */
static const cJSON *
summary_row(const struct harness_build *b, unsigned int number)
{
	const cJSON *node;

	cJSON_ArrayForEach(node, json_get(b->summary, "iterations"))
	{
		struct harness_number of = harness_number_at(node, "iteration");

		if (of.present && of.value == number)
			return node;
	}
	return NULL;
}

static void
mark(bool seen[HARNESS_MAX_ITERATIONS + 1], double number)
{
	if (number >= 1 && number <= HARNESS_MAX_ITERATIONS)
		seen[(size_t)number] = true;
}

/* Which iterations there are, of the files and of the summary. */
static size_t
find_iterations(const struct harness_build *b,
		bool seen[HARNESS_MAX_ITERATIONS + 1])
{
	const cJSON *node;
	size_t n = 0;

	for (size_t i = 0; i < b->files->n; i++)
		if (strcmp(b->files->all[i]->run, b->run->dir) == 0)
			mark(seen, b->files->all[i]->number);
	cJSON_ArrayForEach(node, json_get(b->summary, "iterations"))
	{
		struct harness_number of = harness_number_at(node, "iteration");

		mark(seen, of.present ? of.value : 0);
	}
	for (size_t i = 1; i <= HARNESS_MAX_ITERATIONS; i++)
		n += seen[i];
	return n;
}

void
harness_iterations_read(struct harness_build *b)
{
	bool seen[HARNESS_MAX_ITERATIONS + 1] = { false };
	struct harness_run *run = b->run;
	size_t n = find_iterations(b, seen);

	run->iterations =
		harness_pool_alloc(b->pool, n, sizeof(*run->iterations));
	for (unsigned int k = 1; k <= HARNESS_MAX_ITERATIONS; k++) {
		struct harness_iteration *it;
		const cJSON *result;

		if (!seen[k])
			continue;
		it = &run->iterations[run->n_iterations++];
		it->number = k;
		result = harness_json_file(b, HARNESS_RESULT, k);
		read_result(b, it, result, summary_row(b, k));
		read_qualification(b, it, result);
	}
}
