/* SPDX-License-Identifier: MIT */
/* The lines that HarnessGym appends: tool calls, and samples of its tools. */
#include "config.h"

#include <stdlib.h>

#include "parsers/harness_parts.h"
#include "parsers/score_json.h"

#define MAX_TOOLS 512

/* The next line of *rest that is a JSON object; NULL at the end. */
static cJSON *
next_object(struct str *rest, unsigned int *broken)
{
	struct str line;

	while (str_next(rest, '\n', &line)) {
		cJSON *root;

		line = str_trim(line);
		if (line.len == 0)
			continue;
		root = json_parse(line, JSON_BARE_TEXT, NULL);
		if (cJSON_IsObject(root))
			return root;
		cJSON_Delete(root);
		*broken += 1;
	}
	return NULL;
}

/* What is gathered while the lines are read. */
struct tally {
	struct harness_pool *pool;
	struct harness_calls *calls;
	size_t cap_tools, cap_statuses;
};

static struct harness_tool *
tool_of(struct tally *t, const char *name)
{
	struct harness_calls *calls = t->calls;

	for (size_t i = 0; i < calls->n_tools; i++)
		if (strcmp(calls->tools[i].name, name) == 0)
			return &calls->tools[i];
	if (calls->n_tools == MAX_TOOLS)
		return NULL;
	calls->tools[calls->n_tools] = (struct harness_tool){ .name = name };
	return &calls->tools[calls->n_tools++];
}

static void
count_status(struct tally *t, const char *name)
{
	struct harness_calls *calls = t->calls;

	for (size_t i = 0; i < calls->n_statuses; i++) {
		if (strcmp(calls->statuses[i].name, name) == 0) {
			calls->statuses[i].n++;
			return;
		}
	}
	if (calls->n_statuses < MAX_TOOLS)
		calls->statuses[calls->n_statuses++] =
			(struct harness_status_count){ name, 1 };
}

static void
count_call(struct tally *t, const cJSON *line)
{
	const char *name = harness_text_of(
		t->pool, harness_get(line, "tool_name"), HARNESS_NAME_MAX);
	const char *status = harness_text_of(
		t->pool, harness_get(line, "status"), HARNESS_NAME_MAX);
	struct harness_number ms =
		harness_number_of(harness_get(line, "duration_ms"));
	struct harness_tool *tool = tool_of(t, name != NULL ? name : "?");
	int64_t at_ms = harness_time_at(line, "created_at");

	t->calls->total++;
	count_status(t, status != NULL ? status : "?");
	if (at_ms > t->calls->last_ms)
		t->calls->last_ms = at_ms;
	if (tool == NULL)
		return;
	tool->calls++;
	tool->failed += status == NULL || strcmp(status, "completed") != 0;
	if (harness_is_finite(ms) && ms.value >= 0)
		tool->total_ms += ms.value;
}

static int
by_tool(const void *a, const void *b)
{
	const struct harness_tool *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int
by_status(const void *a, const void *b)
{
	const struct harness_status_count *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void
harness_calls_read(struct harness_pool *pool, struct harness_calls *calls,
		   const struct harness_files *files)
{
	struct tally t = { .pool = pool, .calls = calls };

	*calls = (struct harness_calls){ .known = true };
	calls->tools =
		harness_pool_alloc(pool, MAX_TOOLS, sizeof(*calls->tools));
	calls->statuses =
		harness_pool_alloc(pool, MAX_TOOLS, sizeof(*calls->statuses));
	for (size_t i = 0; i < files->n; i++) {
		const struct harness_file *file = files->all[i];
		struct str rest = { file->text, file->len };
		cJSON *line;

		if (file->kind != HARNESS_CALLS &&
		    file->kind != HARNESS_CALLS_BESIDE)
			continue;
		calls->known = calls->known && !file->cut;
		while ((line = next_object(&rest, &calls->broken)) != NULL) {
			count_call(&t, line);
			cJSON_Delete(line);
		}
	}
	qsort(calls->tools, calls->n_tools, sizeof(*calls->tools), by_tool);
	qsort(calls->statuses, calls->n_statuses, sizeof(*calls->statuses),
	      by_status);
}

unsigned int
harness_calls_before(const struct harness_files *files, int64_t start_ms)
{
	const struct harness_file *file =
		harness_files_get(files, "mcp_calls.jsonl");
	unsigned int n = 0, broken = 0;
	struct str rest;
	cJSON *line;

	if (file == NULL || start_ms == 0)
		return 0;
	rest = (struct str){ file->text, file->len };
	while ((line = next_object(&rest, &broken)) != NULL) {
		int64_t at_ms = harness_time_at(line, "created_at");

		n += at_ms > 0 && at_ms < start_ms;
		cJSON_Delete(line);
	}
	return n;
}

/* The iteration that was under way at at_ms, or NULL. */
static struct harness_iteration *
iteration_at(const struct harness_run *run, int64_t at_ms)
{
	struct harness_iteration *found = NULL;

	for (size_t i = 0; i < run->n_iterations; i++)
		if (run->iterations[i].created_ms > 0 &&
		    run->iterations[i].created_ms <= at_ms)
			found = &run->iterations[i];
	return found;
}

/* A sample that the tool's verifier passed in the mode that counts. */
static bool
is_sample(const struct harness_build *b, const cJSON *line)
{
	const cJSON *json = harness_get(line, "json");
	const char *mode = json_get_string(line, "mode",
					   json_get_string(json, "mode", ""));
	const char *status = json_get_string(json, "status", "");

	return harness_bool_of(harness_get(line, "verifier")) == HARNESS_YES &&
	       strcmp(mode, b->run->mode != NULL ? b->run->mode : "final") ==
		       0 &&
	       score_status_passes(status);
}

static void
take_sample(struct harness_build *b, const cJSON *line)
{
	struct harness_run *run = b->run;
	int64_t at_ms = harness_time_at(line, "timestamp");
	struct harness_iteration *it = iteration_at(run, at_ms);
	struct harness_number score = harness_score_of(
		harness_get(line, "json"),
		run->score_key != NULL ? run->score_key : "score");
	bool higher = run->higher_is_better == HARNESS_YES;

	if (it == NULL || !score.present || !score_is_measurable(score.value) ||
	    at_ms >= b->until_ms ||
	    (run->has_summary && run->end_ms > 0 && at_ms > run->end_ms + 1000))
		return;
	if (!it->session_score.present ||
	    (higher ? score.value > it->session_score.value
		    : score.value < it->session_score.value))
		it->session_score = score;
}

void
harness_history_read(struct harness_build *b)
{
	unsigned int broken = 0;

	for (size_t i = 0; i < b->files->n; i++) {
		const struct harness_file *file = b->files->all[i];
		struct str rest = { file->text, file->len };
		cJSON *line;

		if (file->kind != HARNESS_HISTORY)
			continue;
		while ((line = next_object(&rest, &broken)) != NULL) {
			if (is_sample(b, line))
				take_sample(b, line);
			cJSON_Delete(line);
		}
	}
}
