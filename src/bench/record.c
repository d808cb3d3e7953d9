/* SPDX-License-Identifier: MIT */
/* Benches from their results folders into the database. */
#include "config.h"

#include "bench/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "bench/folder.h"
#include "conf/conf.h"
#include "parsers/json.h"
#include "parsers/run.h"
#include "store/benches.h"

#define MAX_JSON ((size_t)JSON_MAX_BYTES)

/* "2026-11-20T21:30:00Z" in milliseconds; 0 when it is none. */
static int64_t
time_of(const cJSON *object, const char *key)
{
	static const struct {
		size_t at, len;
	} fields[] = { { 0, 4 },  { 5, 2 },  { 8, 2 },
		       { 11, 2 }, { 14, 2 }, { 17, 2 } };
	const char *text = json_get_string(object, key, "");
	int64_t v[6];

	if (strlen(text) < 19)
		return 0;
	for (size_t i = 0; i < 6; i++)
		if (!str_to_i64(
			    (struct str){ text + fields[i].at, fields[i].len },
			    &v[i]))
			return 0;
	return clock_from_civil_s((int)v[0], (int)v[1], (int)v[2], (int)v[3],
				  (int)v[4], (int)v[5]) *
	       1000;
}

/* A tree as an owned text; NULL for none. */
static char *
text_of(const cJSON *node)
{
	struct buf text;
	char *result;

	if (node == NULL)
		return NULL;
	buf_init(&text, MAX_JSON);
	json_print(&text, node);
	result = text.truncated ? NULL : buf_detach(&text);
	buf_release(&text);
	return result;
}

static void
fill_run(struct stored_bench_run *run, const cJSON *node)
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

static void
free_text(const char *text)
{
	free((void *)(uintptr_t)text);
}

/* Write the bench with the runs of its verdict (NULL: not judged yet). */
static int
put(const char *db_path, struct stored_bench *bench, const cJSON *verdict,
    struct err *err)
{
	const cJSON *all = cJSON_GetObjectItemCaseSensitive(verdict, "runs");
	size_t n = all != NULL ? (size_t)cJSON_GetArraySize(all) : 0, i = 0;
	struct stored_bench_run *runs = xcalloc(n + 1, sizeof(*runs));
	const cJSON *node;
	int rc;

	cJSON_ArrayForEach(node, all) fill_run(&runs[i++], node);
	bench->sha256 = json_get_string(verdict, "bench_sha256", NULL);
	rc = store_put_bench(db_path, bench, runs, n, err);
	for (i = 0; i < n; i++)
		free_text(runs[i].detail);
	free(runs);
	return rc;
}

int
bench_record(const char *db_path, const char *id, const char *path,
	     struct err *err)
{
	cJSON *definition = folder_read_json(path, "bench.json");
	cJSON *verdict = folder_read_json(path, "verdict.json");
	char *definition_text = text_of(definition);
	char *verdict_text = text_of(verdict);
	char *file = xasprintf("%s/bench.json", path);
	struct folder_state state = { .state = "unknown" };
	struct stored_bench bench = {
		.id = id,
		.file = file,
		.dir = path,
		.definition = definition_text,
		.verdict = verdict_text,
	};
	int rc;

	(void)folder_read_state(path, &state);
	bench.name = state.name;
	bench.state = state.state;
	bench.started_ms = state.started_ms;
	bench.ended_ms = state.ended_ms;
	rc = conf_make_dir_of(db_path, err);
	if (rc == 0)
		rc = put(db_path, &bench, verdict, err);
	free(file);
	free(definition_text);
	free(verdict_text);
	cJSON_Delete(definition);
	cJSON_Delete(verdict);
	return rc;
}

bool
bench_is_driven(const char *path)
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
