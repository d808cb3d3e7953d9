/* SPDX-License-Identifier: MIT */
/* JSON that the program prints can be read again, and prints the same. */
#include "parsers/json_fields.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

struct taken {
	double a;
	char b[8];
};

static void check_tree(struct str text, cJSON *root)
{
	static const struct json_field keys[] = {
		JSON_ROW("a", NUMBER, taken, a, .types = JSON_REQUIRED),
		JSON_CHARS("b", taken, b),
		{ .name = NULL },
	};
	struct err err = { ERR_NONE, "" };
	const struct json_reader r = { .at = { "x.json", text, ERR_CONFIG }, .err = &err };
	struct taken taken = { 0 };
	struct buf once, twice;
	cJSON *again;

	buf_init(&once, JSON_MAX_BYTES);
	buf_init(&twice, JSON_MAX_BYTES);
	json_print(&once, root);
	again = json_parse((struct str){ once.data, once.len }, JSON_BARE_REFUSED, &err);
	MUST(again != NULL || once.truncated);
	if (again != NULL) {
		json_print(&twice, again);
		MUST(strcmp(once.data, twice.data) == 0);
	}
	cJSON_Delete(again);
	buf_release(&once);
	buf_release(&twice);
	if (cJSON_IsObject(root) && json_read_object(&r, keys, root, "", &taken) == 0) {
		(void)json_get_number(root, "a", 0);
		(void)json_get_string(root, "b", "");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };

	static const enum json_bare ways[] = { JSON_BARE_REFUSED, JSON_BARE_NULL, JSON_BARE_TEXT };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct err err = { ERR_NONE, "" };
		cJSON *root = json_parse(text, ways[i], &err);

		MUST((root == NULL) == (err.code != ERR_NONE));
		if (root != NULL)
			check_tree(text, root);
		cJSON_Delete(root);
	}
	(void)json_line_of(text, "pods[1].gpus");
	return 0;
}
