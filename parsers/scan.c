/* SPDX-License-Identifier: MIT */
/* Prefilter by first byte and literals, then the rules in their order. */
#include "config.h"

#include "parsers/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "parsers/format_internal.h"

/* Enough for any honest line of 64 KiB, too little to be felt. */
#define MATCH_LIMIT    200000U
#define DEPTH_LIMIT    2000U
#define HEAP_LIMIT_KIB 2048U

struct scanner {
	const struct rule_list *lists; /* of the set: 256, one a first byte */
	pcre2_match_data *match_data;
	const PCRE2_SIZE *ovector; /* of match_data */
	pcre2_match_context *context;
	struct pair_set pairs; /* of the line at hand */
	bool has_pairs;
	pcre2_jit_stack *stack;
	uint64_t *limit_hits; /* a rule each */
};

struct scanner *
scanner_new(const struct format_set *formats)
{
	struct scanner *scanner = xcalloc(1, sizeof(*scanner));

	scanner->lists = format_set_candidates(formats);
	scanner->match_data =
		pcre2_match_data_create(RULE_MAX_GROUPS * 2 + 2, NULL);
	scanner->context = pcre2_match_context_create(NULL);
	scanner->stack = pcre2_jit_stack_create(32 * 1024, 512 * 1024, NULL);
	if (scanner->match_data == NULL || scanner->context == NULL)
		abort();
	scanner->ovector = pcre2_get_ovector_pointer(scanner->match_data);
	(void)pcre2_set_match_limit(scanner->context, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(scanner->context, DEPTH_LIMIT);
	(void)pcre2_set_heap_limit(scanner->context, HEAP_LIMIT_KIB);
	if (scanner->stack != NULL)
		pcre2_jit_stack_assign(scanner->context, NULL, scanner->stack);
	scanner->limit_hits =
		xcalloc(format_set_rules(formats), sizeof(uint64_t));
	return scanner;
}

void
scanner_free(struct scanner *scanner)
{
	if (scanner == NULL)
		return;
	pcre2_match_data_free(scanner->match_data);
	pcre2_match_context_free(scanner->context);
	pcre2_jit_stack_free(scanner->stack);
	free(scanner->limit_hits);
	free(scanner);
}

uint64_t
scanner_limit_hits(const struct scanner *scanner, size_t i)
{
	return scanner->limit_hits[i];
}

/* The slice of group number `n`; p NULL when it took no part. */
static struct str
group_text(struct str line, const PCRE2_SIZE *ovector, uint32_t n)
{
	if (ovector[2 * n] == PCRE2_UNSET)
		return (struct str){ NULL, 0 };
	return (struct str){ line.p + ovector[2 * n],
			     ovector[2 * n + 1] - ovector[2 * n] };
}

/* Numbers out of the groups; false when one of them is none. */
static bool
fill_record(const struct rule *rule, struct str line, const PCRE2_SIZE *ovector,
	    struct record *record)
{
	for (size_t i = 0; i < rule->n_groups; i++) {
		const struct rule_group *group = &rule->groups[i];
		struct str text = group_text(line, ovector, group->number);
		double value;

		if (text.p == NULL)
			continue;
		if (!str_to_double(text, &value))
			return false;
		record->present |= (uint64_t)1 << group->metric;
		record->values[group->metric] = value * group->scale;
	}
	if (rule->stage_group != 0)
		record->stage = group_text(line, ovector, rule->stage_group);
	if (rule->text_group != 0)
		record->text = group_text(line, ovector, rule->text_group);
	if (rule->mode_group != 0)
		record->mode = group_text(line, ovector, rule->mode_group);
	return true;
}

/* Run the pattern; the number of groups set, or a negative PCRE2 error. */
static int
match_rule(struct scanner *scanner, const struct rule *rule, struct str line)
{
	if (rule->jit)
		return pcre2_jit_match(rule->code, (PCRE2_SPTR)line.p, line.len,
				       0, 0, scanner->match_data,
				       scanner->context);
	return pcre2_match(rule->code, (PCRE2_SPTR)line.p, line.len, 0,
			   PCRE2_NO_UTF_CHECK, scanner->match_data,
			   scanner->context);
}

/* The pairs of the line are collected once, when a rule first asks. */
static bool
may_contain(struct scanner *scanner, struct str line,
	    const struct pair_set *wanted)
{
	if (!scanner->has_pairs)
		pair_set_fill(&scanner->pairs, line);
	scanner->has_pairs = true;
	return pair_set_has_all(&scanner->pairs, wanted);
}

static bool
try_rule(struct scanner *scanner, const struct candidate *candidate,
	 struct str line, struct record *record)
{
	const struct rule *rule = candidate->rule;
	int rc;

	if (rule->literal_len > sizeof(candidate->head) &&
	    !str_starts_with(line, rule->literal))
		return false;
	if (rule->needs != NULL &&
	    !may_contain(scanner, line, &rule->needs_pairs))
		return false;
	if (rule->needs != NULL &&
	    memmem(line.p, line.len, rule->needs, rule->needs_len) == NULL)
		return false;
	rc = match_rule(scanner, rule, line);
	if (rc < 0) {
		scanner->limit_hits[candidate->index] +=
			rc != PCRE2_ERROR_NOMATCH;
		return false;
	}
	record->rule = rule;
	record->present = 0;
	record->stage = record->text = record->mode = (struct str){ NULL, 0 };
	return fill_record(rule, line, scanner->ovector, record);
}

/* The first 8 bytes at p as a word; what lies beyond the line is 0. */
static uint64_t
load_word(const char *p, size_t left)
{
	uint64_t word = 0;

	if (left >= sizeof(word))
		memcpy(&word, p, sizeof(word));
	else
		memcpy(&word, p, left);
	return word;
}

bool
scanner_scan(struct scanner *scanner, struct str line, struct record *record)
{
	const struct rule_list *list;
	const char *blank;
	uint64_t head, second = 0;

	if (line.len == 0)
		return false;
	scanner->has_pairs = false;
	list = &scanner->lists[(unsigned char)line.p[0]];
	head = load_word(line.p, line.len);
	blank = memchr(line.p, ' ', line.len);
	if (blank != NULL)
		second = load_word(blank + 1,
				   line.len - (size_t)(blank + 1 - line.p));
	for (size_t i = 0; i < list->n; i++) {
		const struct candidate *c = &list->items[i];

		if ((head & c->head_mask) == c->head &&
		    (second & c->second_mask) == c->second &&
		    try_rule(scanner, c, line, record))
			return true;
	}
	return false;
}
