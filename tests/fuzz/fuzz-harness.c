/* SPDX-License-Identifier: MIT */
/* A HarnessGym directory as one input: "@path" lines, each followed by the content of that file.
 * For any content, verified scores are finite, the best is not worse than any other, and the pages
 * contain no escape sequence. */
#include "parsers/harness/json.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define NOW_MS INT64_C(1779843600000)

static void put_all(struct harness_files *files, struct str rest)
{
	struct str line, text = { NULL, 0 };
	char path[512] = "";

	while (str_next(&rest, '\n', &line)) {
		if (line.len == 0 || line.p[0] != '@') {
			if (text.p == NULL)
				text.p = line.p;
			text.len = (size_t)(line.p + line.len - text.p);
			continue;
		}
		if (*path != '\0')
			(void)harness_files_put(files, path, text, false, NOW_MS);
		text = (struct str){ NULL, 0 };
		(void)snprintf(path, sizeof(path), "%.*s", (int)line.len - 1, line.p + 1);
	}
	if (*path != '\0')
		(void)harness_files_put(files, path, text, false, NOW_MS);
}

static void check_run(const struct harness_run *run)
{
	bool higher = run->higher_is_better == HARNESS_YES;

	MUST(!run->best.present || isfinite(run->best.value));
	MUST(!run->best_unverified.present || run->best_unverified.source != NULL);
	for (size_t i = 0; i < run->n_iterations; i++) {
		const struct harness_iteration *it = &run->iterations[i];

		MUST(!it->verified_score.present || isfinite(it->verified_score.value));
		MUST(!(it->verified_score.present && it->invalid_score.present));
		MUST(i == 0 || it->number > run->iterations[i - 1].number);
		if (it->verified_score.present && run->best.present)
			MUST(higher ? run->best.value >= it->verified_score.value
				    : run->best.value <= it->verified_score.value);
	}
}

static void check_json(cJSON *object)
{
	struct buf text;
	cJSON *again;

	buf_init(&text, JSON_MAX_BYTES);
	json_print(&text, object);
	MUST(memchr(text.data, '\033', text.len) == NULL);
	again = json_parse((struct str){ text.data, text.len }, JSON_BARE_REFUSED, NULL);
	MUST(again != NULL || text.truncated);
	cJSON_Delete(again);
	cJSON_Delete(object);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct harness_files files;
	struct harness_workspace ws;
	struct harness_compare compare;

	harness_files_init(&files);
	put_all(&files, (struct str){ (const char *)data, size });
	harness_workspace_read(&ws, &files, NOW_MS);
	for (size_t i = 0; i < ws.n_runs; i++) {
		check_run(&ws.runs[i]);
		check_json(harness_run_json(&ws, &ws.runs[i]));
	}
	harness_workspace_release(&ws);
	harness_compare_read(&compare, &files);
	check_json(harness_compare_json(&compare));
	harness_compare_release(&compare);
	harness_files_release(&files);
	return 0;
}
