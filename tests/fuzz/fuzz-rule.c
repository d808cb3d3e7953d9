/* SPDX-License-Identifier: MIT */
/* The rule engine: the first line of the input is a pattern, the second the literal it needs (may
 * be empty), the others are log lines. All shortcuts must give the same result as PCRE2 alone. */
#include "parsers/scan.h"

#include <string.h>

#include "parsers/format.h"
#include "parsers/json.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/plain_scan.h"

/* Load a rule set with this rule before the built-in ones; NULL: it is invalid. */
static struct format_set *load_rule(struct format_set *set, const char *match, const char *needs)
{
	cJSON *root = cJSON_CreateObject(), *rule = cJSON_CreateObject();
	cJSON *rules = cJSON_AddArrayToObject(root, "rules");
	struct err err = { ERR_NONE, "" };
	struct buf text;
	int rc;

	json_add_string(root, "schema", "hgym-tui.format/1");
	json_add_string(root, "name", "fuzz");
	json_add_string(rule, "name", "only");
	json_add_string(rule, "kind", "train");
	json_add_string(rule, "match", match);
	if (needs[0] != '\0')
		json_add_string(rule, "needs", needs);
	cJSON_AddItemToArray(rules, rule);
	buf_init(&text, JSON_MAX_BYTES);
	json_print(&text, root);
	cJSON_Delete(root);
	rc = format_set_load_text(set, "fuzz.json", (struct str){ text.data, text.len }, &err);
	MUST((rc != 0) == (err.code != ERR_NONE));
	buf_release(&text);
	return rc == 0 ? set : NULL;
}

static void check_line(struct scanner *scanner, const struct rule *rule, struct str line)
{
	struct record record, want;
	bool taken = scanner_scan(scanner, line, &record);
	enum plain plain = plain_scan(rule, line, &want);

	/* It is tried first, so no other rule gets a line that it matches. */
	if (plain == PLAIN_YES)
		MUST(taken && plain_same(&record, &want));
	if (plain == PLAIN_NO)
		MUST(!taken || record.rule != rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct format_set *set;
	struct str rest = { (const char *)data, size }, match, needs, line;
	struct scanner *scanner;
	char *pattern, *literal;

	if (!str_next(&rest, '\n', &match) || !str_next(&rest, '\n', &needs))
		return 0;
	if (set == NULL)
		set = format_set_new_builtin();
	pattern = strndup(match.len > 0 ? match.p : "", match.len);
	literal = strndup(needs.len > 0 ? needs.p : "", needs.len);
	MUST(pattern != NULL && literal != NULL);
	if (load_rule(set, pattern, literal) != NULL) {
		scanner = scanner_new(set);
		while (str_next(&rest, '\n', &line))
			if (line.len > 0)
				check_line(scanner, format_set_rule(set, 0), line);
		scanner_free(scanner);
	}
	free(pattern);
	free(literal);
	return 0;
}
