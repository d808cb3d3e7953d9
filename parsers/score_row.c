/* SPDX-License-Identifier: MIT */
/* A verifier's JSON as a row of `parse` and a line of the leaderboard. */
#include "config.h"

#include "parsers/score_row.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/utf8.h"

/* A member that only this task's output has; NULL part: at the top. */
static const struct {
	const char *part, *key, *task;
} tasks[] = {
	{ NULL, "target_best_us", "triton_rmsnorm_h100" },
	{ NULL, "source_integrity", "cpp_stencil" },
	{ "config", "hidden_tile", "cpu_moe" },
	{ "plan", "scratchpad_kb", "tensor_layout" },
};

/* Clean text of at most size - 1 bytes. */
static void
copy_clean(char *out, size_t size, const char *text)
{
	struct buf clean;

	buf_init(&clean, size - 1);
	utf8_sanitize(&clean, str_from(text));
	(void)snprintf(out, size, "%s", clean.data);
	buf_release(&clean);
}

static void
find_task(struct score_row *row)
{
	const cJSON *root = row->json.root;

	copy_clean(row->task, sizeof(row->task),
		   json_get_string(root, "task", ""));
	for (size_t i = 0;
	     row->task[0] == '\0' && i < sizeof(tasks) / sizeof(tasks[0]);
	     i++) {
		const cJSON *part = tasks[i].part != NULL
					    ? json_get(root, tasks[i].part)
					    : root;

		if (json_get(part, tasks[i].key) != NULL)
			(void)snprintf(row->task, sizeof(row->task), "%s",
				       tasks[i].task);
	}
}

/* A number of the top, or the one that all cases agree on; else absent. */
static double
common_number(const cJSON *root, const char *key)
{
	const cJSON *cases = json_get(root, "cases"), *node;
	double value = json_get_number(root, key, (double)NAN);
	bool first = true;

	if (isfinite(value) || !cJSON_IsArray(cases))
		return value;
	cJSON_ArrayForEach(node, cases)
	{
		const cJSON *at = json_get(node, key);

		if (!cJSON_IsNumber(at) || (!first && at->valuedouble != value))
			return (double)NAN;
		value = at->valuedouble;
		first = false;
	}
	return value;
}

static void
name_group(struct score_row *row)
{
	char mode[40], key[48];
	int n;

	copy_clean(mode, sizeof(mode), row->json.mode);
	copy_clean(key, sizeof(key),
		   row->json.key != NULL ? row->json.key : "score");
	n = snprintf(row->group, sizeof(row->group), "%s %s %s",
		     row->task[0] != '\0' ? row->task : "unknown task",
		     mode[0] != '\0' ? mode : "unknown mode", key);
	if (isfinite(row->warmup) && n > 0 && (size_t)n < sizeof(row->group))
		n += snprintf(row->group + n, sizeof(row->group) - (size_t)n,
			      ", warm-up %.10g", row->warmup);
	if (isfinite(row->repeats) && n > 0 && (size_t)n < sizeof(row->group))
		(void)snprintf(row->group + n, sizeof(row->group) - (size_t)n,
			       ", repeats %.10g", row->repeats);
}

/*
 * Enough of a verifier's output to be one; a run's own files are none, nor
 * are rows about files.
 */
static bool
is_score(const struct score_json *json)
{
	const cJSON *root = json->root;

	return json->key != NULL && json_get(root, "run_id") == NULL &&
	       json_get(root, "file") == NULL &&
	       (json->has_status || json->mode[0] != '\0' ||
		cJSON_IsArray(json_get(root, "cases")));
}

int
score_row_read(struct score_row *row, struct str text, struct err *err)
{
	const cJSON *cases;

	*row = (struct score_row){ .warmup = (double)NAN };
	if (text.len > SCORE_ROW_MAX_BYTES)
		return err_set(err, ERR_LIMIT, "too long for a score");
	if (score_json_read(&row->json, text, NULL, err) != 0)
		return -1;
	if (!is_score(&row->json)) {
		score_json_release(&row->json);
		return err_set(err, ERR_NODATA,
			       "a JSON object, but no verifier's score");
	}
	cases = json_get(row->json.root, "cases");
	row->n_cases =
		cJSON_IsArray(cases) ? (size_t)cJSON_GetArraySize(cases) : 0;
	row->warmup = common_number(row->json.root, "warmup");
	row->repeats = common_number(row->json.root, "repeats");
	find_task(row);
	name_group(row);
	return 0;
}

void
score_row_set_effort(struct score_row *row, double warmup, double repeats)
{
	if (!isfinite(row->warmup))
		row->warmup = warmup;
	if (!isfinite(row->repeats))
		row->repeats = repeats;
	name_group(row);
}

void
score_row_release(struct score_row *row)
{
	score_json_release(&row->json);
}

static void
add_clean(cJSON *object, const char *key, const char *text)
{
	char clean[256];

	if (text != NULL && *text != '\0')
		copy_clean(clean, sizeof(clean), text);
	json_add_string(object, key,
			text != NULL && *text != '\0' ? clean : NULL);
}

/*
 * The case's best, by the score's own key or by its one "best_" member, and
 * the median in the same unit ("best_us" goes with "median_us").
 */
static void
add_measures(cJSON *object, const cJSON *node, const char *score_key)
{
	const cJSON *best = json_get(node, score_key), *at;
	char key[64] = "median_";

	cJSON_ArrayForEach(at, node)
	{
		if (best == NULL && at->string != NULL &&
		    strncmp(at->string, "best_", 5) == 0)
			best = at;
	}
	if (best != NULL && strncmp(best->string, "best_", 5) == 0)
		(void)snprintf(key, sizeof(key), "median_%s", best->string + 5);
	json_add_number(object, "best",
			cJSON_IsNumber(best) ? best->valuedouble : (double)NAN);
	json_add_number(object, "median",
			json_get_number(node, key, (double)NAN));
}

static cJSON *
case_json(const cJSON *node, const char *score_key)
{
	cJSON *object = cJSON_CreateObject();

	add_clean(object, "name", json_get_string(node, "name", NULL));
	json_add_number(object, "seed",
			json_get_number(node, "seed", (double)NAN));
	add_clean(object, "status", json_get_string(node, "status", NULL));
	add_measures(object, node, score_key);
	json_add_number(object, "max_abs",
			json_get_number(node, "max_abs", (double)NAN));
	return object;
}

cJSON *
score_row_json(const struct score_row *row)
{
	const struct score_json *json = &row->json;
	const cJSON *cases = json_get(json->root, "cases"), *node;
	cJSON *object = cJSON_CreateObject(), *array;

	json_add_string(object, "kind", "score");
	add_clean(object, "status", json->has_status ? json->status : NULL);
	add_clean(object, "task", row->task);
	add_clean(object, "mode", json->mode);
	add_clean(object, "score_key", json->key);
	json_add_number(object, "score",
			score_json_counts(json) ? json->value : (double)NAN);
	json_add_number(object, "score_printed", json->value);
	cJSON_AddBoolToObject(object, "score_valid", score_json_counts(json));
	add_clean(object, "score_why", json->why);
	json_add_number(object, "warmup", row->warmup);
	json_add_number(object, "repeats", row->repeats);
	add_clean(object, "device",
		  json_get_string(json->root, "device", NULL));
	add_clean(object, "group", row->group);
	array = cJSON_AddArrayToObject(object, "cases");
	cJSON_ArrayForEach(node, cases)
	{
		if (cJSON_IsObject(node))
			cJSON_AddItemToArray(array, case_json(node, json->key));
	}
	return object;
}
