/* SPDX-License-Identifier: MIT */
/* Read the files that HarnessGym appends to: tool calls, and scores measured by its tools. */
#include "base/sort.h"
#include "parsers/harness/parts.h"
#include "parsers/score_json.h"

#define MAX_TOOLS 512

/* Replace *object with the next JSON object; false at the end. Counts other lines in *broken. */
static bool next_object(struct str *rest, unsigned int *broken, cJSON **object)
{
	struct str line;

	while (str_next(rest, '\n', &line)) {
		line = str_trim(line);
		if (line.len == 0)
			continue;
		cJSON_Delete(*object);
		*object = json_parse(line, JSON_BARE_TEXT, NULL);
		if (cJSON_IsObject(*object))
			return true;
		*broken += 1;
	}
	return false;
}

/* Find or create the count for a name; NULL if there are too many. */
static struct harness_tool *get_count(struct harness_tool *counts, size_t *n, const char *name)
{
	struct harness_tool *known = array_find(one, counts, *n, strcmp(one->name, name) == 0);

	if (known != NULL || *n == MAX_TOOLS)
		return known;
	counts[*n] = (struct harness_tool){ .name = name };
	return &counts[(*n)++];
}

static void count_call(struct harness_pool *pool, struct harness_calls *calls, const cJSON *line)
{
	const char *name = harness_text_at(pool, line, "tool_name");
	const char *status = harness_text_at(pool, line, "status");
	struct harness_number ms = harness_number_at(line, "duration_ms");
	struct harness_tool *tool =
		get_count(calls->tools, &calls->n_tools, name != NULL ? name : "?");
	struct harness_tool *same =
		get_count(calls->statuses, &calls->n_statuses, status != NULL ? status : "?");
	int64_t at_ms = harness_time_at(line, "created_at");

	calls->total++;
	if (same != NULL)
		same->calls++;
	if (at_ms > calls->last_ms)
		calls->last_ms = at_ms;
	if (tool == NULL)
		return;
	tool->calls++;
	tool->failed += status == NULL || strcmp(status, "completed") != 0;
	if (harness_is_finite(ms) && ms.value >= 0)
		tool->total_ms += ms.value;
}

void harness_calls_read(struct harness_pool *pool, struct harness_calls *calls,
			const struct harness_files *files)
{
	*calls = (struct harness_calls){ .known = true };
	calls->tools = harness_pool_alloc(pool, MAX_TOOLS, sizeof(*calls->tools));
	calls->statuses = harness_pool_alloc(pool, MAX_TOOLS, sizeof(*calls->statuses));
	harness_each (file, files) {
		struct str rest = { file->text, file->len };
		AUTO_JSON line = NULL;

		if (file->kind != HARNESS_CALLS && file->kind != HARNESS_CALLS_BESIDE)
			continue;
		calls->known = calls->known && !file->cut;
		while (next_object(&rest, &calls->broken, &line))
			count_call(pool, calls, line);
	}
	qsort(calls->tools, calls->n_tools, sizeof(*calls->tools), sort_by_text);
	qsort(calls->statuses, calls->n_statuses, sizeof(*calls->statuses), sort_by_text);
}

unsigned int harness_calls_before(const struct harness_files *files, int64_t start_ms)
{
	const struct harness_file *file = harness_files_get(files, "mcp_calls.jsonl");
	unsigned int n = 0, broken = 0;
	AUTO_JSON line = NULL;

	if (file == NULL || start_ms == 0)
		return 0;
	struct str rest = { file->text, file->len };
	while (next_object(&rest, &broken, &line)) {
		int64_t at_ms = harness_time_at(line, "created_at");

		n += at_ms > 0 && at_ms < start_ms;
	}
	return n;
}

/* Make a sample the in-session score of its iteration if it passed and is the best one yet. */
static void read_sample(struct harness_build *b, const cJSON *line)
{
	struct harness_run *run = b->run;
	const cJSON *json = json_get(line, "json");
	const char *mode = json_get_string(line, "mode", json_get_string(json, "mode", ""));
	int64_t at_ms = harness_time_at(line, "timestamp");
	struct harness_number score = harness_score_of(json, run->score_key, true);
	struct harness_iteration *it = NULL;

	/* The tool's own verifier must have passed the sample, in the mode of the run. */
	if (harness_bool_at(line, "verifier") != HARNESS_YES ||
	    strcmp(mode, run->mode != NULL ? run->mode : "final") != 0 ||
	    !score_status_passes(json_get_string(json, "status", "")))
		return;
	array_each (one, run->iterations, run->n_iterations)
		if (one->created_ms > 0 && one->created_ms <= at_ms)
			it = one;
	if (it == NULL || !score.present || !score_is_measurable(score.value) ||
	    at_ms >= b->until_ms ||
	    (run->has_summary && run->end_ms > 0 && at_ms > run->end_ms + 1000))
		return;
	if (!it->session_score.present ||
	    harness_is_better(run->higher_is_better, score.value, it->session_score.value))
		it->session_score = score;
}

void harness_history_read(struct harness_build *b)
{
	unsigned int broken = 0;

	harness_each (file, b->files) {
		struct str rest = { file->text, file->len };
		AUTO_JSON line = NULL;

		if (file->kind != HARNESS_HISTORY)
			continue;
		while (next_object(&rest, &broken, &line))
			read_sample(b, line);
	}
}
