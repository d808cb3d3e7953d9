/* SPDX-License-Identifier: MIT */
/*
 * The rule engine: the first line of the input is a pattern, the second the
 * literal it needs (may be empty), the rest are lines.  The prefilter by first
 * byte and literal must never lose a line that PCRE2 alone would match.
 */
#include "config.h"

#include "parsers/rule.h"

#include <string.h>

#include "parsers/format.h"
#include "parsers/json.h"
#include "parsers/scan.h"
#include "tests/fuzz/fuzz.h"

/* A rule set of that one rule before the built-in ones, or NULL. */
static struct format_set *
load_rule(struct format_set *set, const char *match, const char *needs)
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
	rc = format_set_load_text(set, "fuzz.json",
				  (struct str){ text.data, text.len }, &err);
	MUST((rc != 0) == (err.code != ERR_NONE));
	buf_release(&text);
	return rc == 0 ? set : NULL;
}

/* Would PCRE2 without any prefilter take the line? */
static bool
matches_alone(const struct rule *rule, struct str line)
{
	pcre2_match_data *match =
		pcre2_match_data_create_from_pattern(rule->code, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	int rc;

	(void)pcre2_set_match_limit(context, 10000);
	(void)pcre2_set_depth_limit(context, 1000);
	rc = pcre2_match(rule->code, (PCRE2_SPTR)line.p, line.len, 0,
			 PCRE2_NO_JIT, match, context);
	pcre2_match_context_free(context);
	pcre2_match_data_free(match);
	return rc > 0;
}

static void
check_line(struct scanner *scanner, const struct rule *rule, struct str line)
{
	struct record record;
	bool taken = scanner_scan(scanner, line, &record);

	if (taken && record.rule == rule)
		MUST(record.present >> METRIC_COUNT == 0);
	/* Without groups nothing but the match decides. */
	if (rule->n_groups == 0 && rule->needs == NULL &&
	    matches_alone(rule, line))
		MUST(taken && record.rule == rule);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
				check_line(scanner, format_set_rule(set, 0),
					   line);
		scanner_free(scanner);
	}
	free(pattern);
	free(literal);
	return 0;
}
