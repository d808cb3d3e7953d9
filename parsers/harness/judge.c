/* SPDX-License-Identifier: MIT */
/* Read which judge files were compared, and how the best checkpoint differs from the template. */
#include "parsers/harness/parts.h"

struct harness_names harness_names_of(struct harness_pool *pool, const cJSON *array)
{
	struct harness_names names = { NULL, 0 };

	names.v = harness_pool_alloc(pool, (size_t)cJSON_GetArraySize(array), sizeof(*names.v));
	json_each (node, cJSON_IsArray(array) ? array : NULL) {
		if (cJSON_IsString(node))
			names.v[names.n++] = harness_text_of(pool, node);
	}
	return names;
}

/* Read an array of [part, change, name], or of [part, name]. */
static struct harness_changes read_changes(struct harness_build *b, const cJSON *array)
{
	struct harness_changes changes = { .present = cJSON_IsArray(array) };

	changes.v =
		harness_pool_alloc(b->pool, (size_t)cJSON_GetArraySize(array), sizeof(*changes.v));
	json_each (row, array) {
		int n = cJSON_GetArraySize(row);
		const char *words[3] = { NULL };

		for (int i = 0; i < n && n <= 3; i++)
			words[i] = harness_text_of(b->pool, cJSON_GetArrayItem(row, i));
		if (n < 2 || words[0] == NULL || words[1] == NULL || words[n - 1] == NULL)
			continue;
		changes.v[changes.n++] = (struct harness_change){
			.part = words[0], .change = n == 3 ? words[1] : NULL, .name = words[n - 1]
		};
	}
	return changes;
}

void harness_judge_read(struct harness_build *b)
{
	struct harness_run *run = b->run;
	const cJSON *report = harness_json_file(b, HARNESS_JUDGE_REPORT, 0);

	run->compared = harness_names_of(b->pool, json_get(report, "compared"));
	run->added = harness_names_of(b->pool, json_get(report, "added"));
	run->formatted = harness_names_of(b->pool, json_get(report, "formatted"));
	run->tampers = harness_names_of(b->pool, json_get(report, "tampers"));
	run->hints = harness_names_of(b->pool, json_get(report, "hints"));
	run->unresolved = harness_names_of(b->pool, json_get(report, "unresolved"));
	run->used = read_changes(b, json_get(report, "used"));
	run->has_report = report != NULL;
	run->work_differs = harness_bool_at(report, "work_differs");
	run->has_template = array_any(judge, b->files->judges, b->files->n_judges,
				      strcmp(judge->run, run->dir) == 0 &&
					      strcmp(judge->name, HARNESS_TEMPLATE_DIR) == 0 &&
					      judge->copies[HARNESS_TEMPLATE].sum[0] == '\0');
	run->changes = read_changes(b, json_get(report, "changes"));
}

enum harness_tri harness_judge_unchanged(const struct harness_run *run)
{
	if (run->judge != NULL)
		return HARNESS_NO;
	return run->has_judge && run->unresolved.n == 0 && run->used.n == 0 ? HARNESS_YES
									    : HARNESS_UNKNOWN;
}
