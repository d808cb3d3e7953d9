/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "parsers/rule.h"

/* Match a line with PCRE2 alone, to check the shortcuts of scan.c. */
enum plain { PLAIN_NO, PLAIN_YES, PLAIN_GAVE_UP };

static inline struct str plain_group(struct str line, const PCRE2_SIZE *ovector, uint32_t n)
{
	if (n == 0 || ovector[2 * n] == PCRE2_UNSET)
		return (struct str){ NULL, 0 };
	return (struct str){ line.p + ovector[2 * n], ovector[2 * n + 1] - ovector[2 * n] };
}

static inline enum plain plain_fill(const struct rule *rule, struct str line,
				    const PCRE2_SIZE *ovector, struct record *record)
{
	*record = (struct record){ .rule = rule };
	for (size_t i = 0; i < rule->n_groups; i++) {
		const struct rule_group *group = &rule->groups[i];
		struct str text = plain_group(line, ovector, group->number);
		double value;

		if (text.p == NULL)
			continue;
		if (!str_to_double(text, &value))
			return PLAIN_NO;
		record->present |= (uint64_t)1 << group->metric;
		record->values[group->metric] = value * group->scale;
	}
	record->stage = plain_group(line, ovector, rule->stage_group);
	record->text = plain_group(line, ovector, rule->text_group);
	record->mode = plain_group(line, ovector, rule->mode_group);
	return PLAIN_YES;
}

/* The record is only set for PLAIN_YES. */
static inline enum plain plain_scan(const struct rule *rule, struct str line, struct record *record)
{
	bool has_jit;
	const pcre2_code *code = rule_code(rule, &has_jit);
	pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	enum plain answer;
	int rc;

	(void)pcre2_set_match_limit(context, 10000);
	(void)pcre2_set_depth_limit(context, 1000);
	rc = pcre2_match(code, (PCRE2_SPTR)line.p, line.len, 0, PCRE2_NO_JIT, match, context);
	if (rc > 0)
		answer = plain_fill(rule, line, pcre2_get_ovector_pointer(match), record);
	else
		answer = rc == PCRE2_ERROR_NOMATCH ? PLAIN_NO : PLAIN_GAVE_UP;
	if (rule->n_needs > 0 && !any_of(k, rule->n_needs, str_find(line, rule->needs[k]) != NULL))
		answer = PLAIN_NO;
	pcre2_match_context_free(context);
	pcre2_match_data_free(match);
	return answer;
}

static inline bool plain_same_text(struct str a, struct str b)
{
	return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

/* Bitwise comparison, so that NaN equals NaN. */
static inline bool plain_same(const struct record *a, const struct record *b)
{
	if (a->rule != b->rule || a->present != b->present)
		return false;
	for (size_t m = 0; m < METRIC_COUNT; m++)
		if ((a->present >> m & 1) != 0 &&
		    memcmp(&a->values[m], &b->values[m], sizeof(a->values[m])) != 0)
			return false;
	return plain_same_text(a->stage, b->stage) && plain_same_text(a->text, b->text) &&
	       plain_same_text(a->mode, b->mode);
}
