/* SPDX-License-Identifier: MIT */
/* Benches from their results folders into the database, and those whose
 * folders are gone out of it. */
#include "bench/record.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "bench/folder.h"
#include "bench/runs.h"
#include "bench/verdict_json.h"
#include "report/facts_print.h"
#include "store/benches.h"

#define MAX_JSON ((size_t)JSON_MAX_BYTES)

/* "2026-11-20T21:30:00Z" in milliseconds; 0 when it is none. */
static int64_t time_of(const cJSON *object, const char *key)
{
	double time_s = clock_read_s(str_from(json_get_string(object, key, "")));

	return isnan(time_s) ? 0 : (int64_t)time_s * 1000;
}

/* A tree as an owned text; NULL for none. */
static char *text_of(const cJSON *node)
{
	AUTO_BUF text = buf_new(MAX_JSON);

	if (node == NULL)
		return NULL;
	json_print(&text, node);
	return text.truncated ? NULL : buf_detach(&text);
}

static void fill_run(struct stored_bench_run *run, const cJSON *node)
{
	*run = (struct stored_bench_run){
		.run = json_get_string(node, "id", "?"),
		.pod = json_get_string(node, "pod", NULL),
		.tag = json_get_string(node, "tag", NULL),
		.state = json_get_string(node, "state", NULL),
		.detail = text_of(node),
		.block = json_get_number(node, "block", RUN_ABSENT),
		.pos = json_get_number(node, "pos", RUN_ABSENT),
		.rc = json_get_number(node, "rc", RUN_ABSENT),
		.y_ms = json_get_number(node, "y_ms", RUN_ABSENT),
		.started_ms = time_of(node, "t0"),
		.ended_ms = time_of(node, "t1"),
	};
}

/* Write the bench with the runs of its verdict (NULL: not judged yet). */
static int put(const char *db_path, struct stored_bench *bench, const cJSON *verdict,
	       struct err *err)
{
	const cJSON *all = json_get(verdict, "runs");
	size_t n = all != NULL ? (size_t)cJSON_GetArraySize(all) : 0, i = 0;
	AUTO_FREE struct stored_bench_run *runs = xcalloc(n + 1, sizeof(*runs));

	json_each (node, all)
		fill_run(&runs[i++], node);
	bench->sha256 = json_get_string(verdict, "bench_sha256", NULL);
	int rc = store_put_bench(db_path, bench, runs, n, err);
	for (i = 0; i < n; i++)
		free((void *)(uintptr_t)runs[i].detail);
	return rc;
}

int bench_record(const char *db_path, const char *id, const char *path, struct err *err)
{
	AUTO_JSON definition = folder_read_json(path, "bench.json");
	AUTO_JSON verdict = folder_read_json(path, "verdict.json");
	AUTO_TEXT definition_text = text_of(definition);
	AUTO_TEXT verdict_text = text_of(verdict);
	AUTO_TEXT file = xasprintf("%s/bench.json", path);
	struct folder_state state = { .state = "unknown" };
	struct stored_bench bench = {
		.id = id,
		.file = file,
		.dir = path,
		.definition = definition_text,
		.verdict = verdict_text,
	};

	(void)folder_read_state(path, &state);
	bench.name = state.name;
	bench.state = state.state;
	bench.started_ms = state.started_ms;
	bench.ended_ms = state.ended_ms;
	int rc = conf_make_dir_of(db_path, err);
	if (rc == 0)
		rc = put(db_path, &bench, verdict, err);
	return rc;
}

bool bench_is_driven(const char *path)
{
	struct err err = { ERR_NONE, "" };
	int fd = -1;

	if (access(path, F_OK) != 0)
		return false;
	if (folder_lock(path, &fd, &err) != 0)
		return err.code == ERR_CHECK;
	(void)close(fd);
	return false;
}

char *bench_running_log(const char *path, const char *pod)
{
	char file[FOLDER_PATH_SIZE], *found = NULL;
	struct bench_runs runs;
	struct plan plan;

	if (bench_load_plan(&plan, path, NULL) != 0)
		return NULL;
	bench_runs_init(&runs, &plan, path);
	for (size_t i = 0; found == NULL && i < runs.n; i++) {
		const struct bench_run *run = &runs.v[i];

		bench_run_path(&runs, run, plan_output(&plan), file);
		if (run->end == RUN_END_NONE && strcmp(plan.pods[run->pod].id, pod) == 0 &&
		    access(file, R_OK) == 0)
			found = xstrdup(file);
	}
	bench_runs_release(&runs);
	plan_release(&plan);
	return found;
}

#define REPORT_BYTES (64U << 10)

struct listing {
	char *const *ids;
	size_t n_ids;
	struct model_bench *out;
	size_t n, max;
};

/* What its verdict said. */
static char *report_of(const struct stored_bench *bench, double *cost_usd)
{
	AUTO_JSON root = NULL;
	struct facts facts;
	AUTO_BUF text = buf_new(REPORT_BYTES);

	if (bench->verdict != NULL)
		root = json_parse(str_from(bench->verdict), JSON_BARE_NULL, NULL);
	*cost_usd = verdict_number(root, "cost_usd");
	facts_init(&facts);
	report_facts(&facts, root);
	facts_print_text(&text, &facts);
	facts_release(&facts);
	buf_append_str(&text, "\nIts results folder is gone: this is what the "
			      "database remembers.\n");
	return buf_detach(&text);
}

/* Rows come oldest first: the oldest of a full list makes room. */
static int take_bench(void *user, const struct stored_bench *bench)
{
	struct listing *list = user;
	struct model_bench *out;

	for (size_t i = 0; i < list->n_ids; i++)
		if (strcmp(list->ids[i], bench->id) == 0)
			return 0;
	if (list->n == list->max)
		return 0;
	memmove(list->out + 1, list->out, list->n * sizeof(*list->out));
	list->n++;
	out = list->out;
	*out = (struct model_bench){
		.id = xstrdup(bench->id),
		.name = xstrdup(bench->name != NULL ? bench->name : bench->id),
		.state = xstrdup(bench->state != NULL ? bench->state : "unknown"),
		.started_ms = bench->started_ms,
		.ended_ms = bench->ended_ms,
	};
	out->report = report_of(bench, &out->cost_usd);
	return 0;
}

size_t bench_stored_list(struct context *context, char *const *ids, size_t n_ids,
			 struct model_bench *out, size_t max)
{
	struct listing list = { ids, n_ids, out, 0, max };

	if (context_open(context, CONTEXT_DB, NULL) == 0)
		(void)store_each_bench(context->store, NULL, take_bench, &list, NULL);
	return list.n;
}
