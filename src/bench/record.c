/* SPDX-License-Identifier: MIT */
/* Store benches in the database, and list those whose results folders are gone. */
#include "bench/record.h"

#include "bench/folder.h"
#include "bench/verdict_json.h"
#include "report/facts_print.h"
#include "store/benches.h"

#define MAX_JSON ((size_t)JSON_MAX_BYTES)

/* Milliseconds since 1970 of "2026-11-20T21:30:00Z"; 0 if the member is not a time. */
static int64_t read_time_ms(const cJSON *object, const char *key)
{
	double time_s = clock_read_s(str_from(json_get_string(object, key, "")));

	return isnan(time_s) ? 0 : (int64_t)time_s * 1000;
}

/* Print a node as JSON; owned.  NULL if the node is NULL or the text too long. */
static char *print_json(const cJSON *node)
{
	AUTO_BUF text = buf_new(MAX_JSON);

	if (node == NULL)
		return NULL;
	json_print(&text, node);
	return text.truncated ? NULL : buf_detach(&text);
}

int bench_record(const char *db_path, const char *id, const char *path, struct err *err)
{
	AUTO_JSON definition = folder_read_json(path, "bench.json");
	AUTO_JSON verdict = folder_read_json(path, "verdict.json");
	AUTO_TEXT definition_text = print_json(definition);
	AUTO_TEXT verdict_text = print_json(verdict);
	AUTO_TEXT file = xasprintf("%s/bench.json", path);
	const cJSON *all = json_get(verdict, "runs");
	size_t n = all != NULL ? (size_t)cJSON_GetArraySize(all) : 0, i = 0;
	AUTO_FREE struct stored_bench_run *runs = xcalloc(n + 1, sizeof(*runs));
	struct folder_state state = { .state = "unknown" };

	(void)folder_read_state(path, &state);
	const struct stored_bench bench = {
		.id = id,
		.name = state.name,
		.file = file,
		.dir = path,
		.state = state.state,
		.started_ms = state.started_ms,
		.ended_ms = state.ended_ms,
		.definition = definition_text,
		.verdict = verdict_text,
		.sha256 = json_get_string(verdict, "bench_sha256", NULL),
	};
	json_each (node, all)
		runs[i++] = (struct stored_bench_run){
			.run = json_get_string(node, "id", "?"),
			.pod = json_get_string(node, "pod", NULL),
			.tag = json_get_string(node, "tag", NULL),
			.state = json_get_string(node, "state", NULL),
			.detail = print_json(node),
			.block = json_get_number(node, "block", RUN_ABSENT),
			.pos = json_get_number(node, "pos", RUN_ABSENT),
			.rc = json_get_number(node, "rc", RUN_ABSENT),
			.y_ms = json_get_number(node, "y_ms", RUN_ABSENT),
			.started_ms = read_time_ms(node, "t0"),
			.ended_ms = read_time_ms(node, "t1"),
		};
	int rc = conf_make_dir_of(db_path, err);
	if (rc == 0)
		rc = store_put_bench(db_path, &bench, runs, n, err);
	for (i = 0; i < n; i++)
		free((void *)(uintptr_t)runs[i].detail);
	return rc;
}

#define REPORT_BYTES (64U << 10)

struct listing {
	char *const *ids;
	size_t n_ids;
	struct model_bench *out;
	size_t n, max;
};

static char *make_report(const struct stored_bench *bench, double *cost_usd)
{
	AUTO_JSON root = NULL;
	AUTO_FACTS facts = { .n = 0 };
	AUTO_BUF text = buf_new(REPORT_BYTES);

	if (bench->verdict != NULL)
		root = json_parse(str_from(bench->verdict), JSON_BARE_NULL, NULL);
	*cost_usd = verdict_number(root, "cost_usd");
	report_facts(&facts, root);
	facts_print_text(&text, &facts);
	buf_append_str(
		&text,
		"\nThe results folder no longer exists; this report is from the database.\n");
	return buf_detach(&text);
}

/* Insert at the front: the store lists the oldest first, the model lists the newest first. */
static int list_stored(void *user, const struct stored_bench *bench)
{
	struct listing *list = user;

	if (list->n == list->max || any_of(i, list->n_ids, strcmp(list->ids[i], bench->id) == 0))
		return 0;
	memmove(list->out + 1, list->out, list->n * sizeof(*list->out));
	list->n++;
	list->out[0] = (struct model_bench){
		.id = xstrdup(bench->id),
		.name = xstrdup(bench->name != NULL ? bench->name : bench->id),
		.state = xstrdup(bench->state != NULL ? bench->state : "unknown"),
		.started_ms = bench->started_ms,
		.ended_ms = bench->ended_ms,
	};
	list->out[0].report = make_report(bench, &list->out[0].cost_usd);
	return 0;
}

size_t bench_stored_list(struct context *context, char *const *ids, size_t n_ids,
			 struct model_bench *out, size_t max)
{
	struct listing list = { ids, n_ids, out, 0, max };

	if (context_open(context, CONTEXT_DB, NULL) == 0)
		(void)store_each_bench(context->store, NULL, list_stored, &list, NULL);
	return list.n;
}
