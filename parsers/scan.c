/* SPDX-License-Identifier: MIT */
/* Find the rule that matches a line. First bytes and literals exclude most rules; the others are
 * tried in order. */
#include "parsers/scan.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "parsers/format.h"
#include "parsers/pair_record.h"

/* Enough for any honest line of 64 KiB, and too little to slow the program down. */
#define MATCH_LIMIT    200000U
#define DEPTH_LIMIT    2000U
#define HEAP_LIMIT_KIB 2048U

/* load_word with the first byte lowest on every machine. */
static uint64_t load_low_first(const char *p, size_t left)
{
	uint64_t word = load_word(p, left);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* The slot of the three lowest bytes of a word. */
static size_t gram_slot(uint64_t word)
{
	return ((uint32_t)word & 0xffffff) * 2654435761U >> (32 - SCAN_GRAM_BITS);
}

/* The bits of all literals that the line may contain; some bits are set by chance. */
static uint32_t find_grams(const struct scan_index *index, struct str line)
{
	const uint32_t *grams = index->grams;
	uint32_t found = 0;

	/* Eight bytes contain six groups of three. */
	for (size_t i = 0; i + 2 < line.len; i += 6) {
		uint64_t word = load_low_first(line.p + i, line.len - i);

		found |= grams[gram_slot(word)] | grams[gram_slot(word >> 8)] |
			 grams[gram_slot(word >> 16)] | grams[gram_slot(word >> 24)] |
			 grams[gram_slot(word >> 32)] | grams[gram_slot(word >> 40)];
	}
	return found;
}

void scan_index_build(struct scan_index *index, const struct rule **order, size_t n)
{
	size_t n_items = 0;

	index->rules = xcalloc(n, sizeof(*index->rules));
	index->items = xcalloc(256 * n, sizeof(*index->items));
	for (size_t i = 0; i < n; i++) {
		const struct rule *rule = order[i];
		bool indented = rule->steps.indented;
		uint32_t needs = 0;

		if (rule->needs_len >= 3) { /* literals may share a bit */
			size_t slot = gram_slot(load_low_first(rule->needs, rule->needs_len));

			needs = (uint32_t)1 << (slot % 32);
			index->grams[slot] |= needs;
		}
		index->rules[i] = (struct scan_rule){
			.rule = rule,
			.head = indented ? 0 : rule->steps.head,
			.head_mask = indented ? 0 : rule->steps.head_mask,
			.second = indented ? rule->steps.head : rule->steps.second,
			.second_mask = indented ? rule->steps.head_mask : rule->steps.second_mask,
			.indented = indented,
			.needs = needs,
		};
	}
	for (size_t b = 0; b < 256; b++) {
		index->start[b] = n_items;
		for (size_t i = 0; i < n; i++)
			if (order[i]->first[b / 8] >> (b % 8) & 1)
				index->items[n_items++] = (uint16_t)i;
	}
	index->start[256] = n_items;
	index->items = xreallocarray(index->items, n_items, sizeof(*index->items));
}

void scan_index_release(struct scan_index *index)
{
	free(index->rules);
	free(index->items);
	*index = (struct scan_index){ .rules = NULL };
}

struct scanner {
	const struct scan_index *index; /* of the format set */
	pcre2_match_data *match_data;
	const PCRE2_SIZE *ovector; /* of match_data */
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
	uint64_t *limit_hits;		    /* one per rule */
	struct record_pair rows[PAIRS_MAX]; /* of the current record */
};

struct scanner *scanner_new(const struct format_set *formats)
{
	struct scanner *scanner = xcalloc(1, sizeof(*scanner));

	scanner->index = format_set_index(formats);
	scanner->match_data = pcre2_match_data_create(RULE_MAX_GROUPS * 2 + 2, NULL);
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
	scanner->limit_hits = xcalloc(format_set_rules(formats), sizeof(uint64_t));
	return scanner;
}

void scanner_free(struct scanner *scanner)
{
	if (scanner == NULL)
		return;
	pcre2_match_data_free(scanner->match_data);
	pcre2_match_context_free(scanner->context);
	pcre2_jit_stack_free(scanner->stack);
	free(scanner->limit_hits);
	free(scanner);
}

uint64_t scanner_limit_hits(const struct scanner *scanner, size_t i)
{
	return scanner->limit_hits[i];
}

/* The text of group number `n`; p is NULL if the group is not set. */
static struct str group_text(struct str line, const PCRE2_SIZE *ovector, uint32_t n)
{
	if (ovector[2 * n] == PCRE2_UNSET)
		return (struct str){ NULL, 0 };
	return (struct str){ line.p + ovector[2 * n], ovector[2 * n + 1] - ovector[2 * n] };
}

static void set_number(struct record *record, const struct rule_group *group, double value)
{
	record->present |= (uint64_t)1 << group->metric;
	record->values[group->metric] = value * group->scale;
}

/* Match with PCRE2; also false if the text of a group is not a number. */
static bool match_pattern(struct scanner *scanner, size_t i, struct str line, struct record *record)
{
	const struct rule *rule = scanner->index->rules[i].rule;
	const PCRE2_SIZE *ovector = scanner->ovector;
	PCRE2_SPTR text = (PCRE2_SPTR)line.p;
	double value;
	int rc = rule_has_jit(rule) ? pcre2_jit_match(rule->code, text, line.len, 0, 0,
						      scanner->match_data, scanner->context)
				    : pcre2_match(rule->code, text, line.len, 0, PCRE2_NO_UTF_CHECK,
						  scanner->match_data, scanner->context);

	if (rc < 0) {
		scanner->limit_hits[i] += rc != PCRE2_ERROR_NOMATCH;
		return false;
	}
	array_each (group, rule->groups, rule->n_groups) {
		struct str number = group_text(line, ovector, group->number);

		if (number.p == NULL)
			continue;
		if (!steps_number(number, &value))
			return false;
		set_number(record, group, value);
	}
	if (rule->stage_group != 0)
		record->stage = group_text(line, ovector, rule->stage_group);
	if (rule->text_group != 0)
		record->text = group_text(line, ovector, rule->text_group);
	if (rule->mode_group != 0)
		record->mode = group_text(line, ovector, rule->mode_group);
	return true;
}

/* Fill the record with the named numbers of the line, from where the pattern matches. */
static void fill_pairs(struct scanner *scanner, struct str line, struct record *record)
{
	size_t at = record->rule->steps.end != STEPS_PART ? 0 : scanner->ovector[0];
	struct pair pairs[PAIRS_MAX];
	size_t n = pairs_read(str_skip(line, at), pairs);

	pair_record_fill(record, pairs, n, scanner->rows);
}

/* Try rule number i, whose first bytes and literals do not exclude the line. */
static bool try_rule(struct scanner *scanner, size_t i, struct str line, struct record *record)
{
	const struct rule *rule = scanner->index->rules[i].rule;
	bool is_simple = rule->steps.end != STEPS_PART;
	double numbers[STEPS_MAX_NUMBERS];

	if (rule->needs != NULL &&
	    str_find_str(line, (struct str){ rule->needs, rule->needs_len }) == NULL)
		return false;
	record->rule = rule;
	record->memo = NULL;
	record->present = 0;
	record->n_pairs = 0;
	record->stage = record->text = record->mode = (struct str){ NULL, 0 };
	if (!(is_simple ? steps_match(&rule->steps, line, numbers)
			: match_pattern(scanner, i, line, record)))
		return false;
	for (size_t k = 0; is_simple && k < rule->n_groups; k++)
		set_number(record, &rule->groups[k], numbers[rule->groups[k].number - 1]);
	if (rule->pairs)
		fill_pairs(scanner, line, record);
	return true;
}

/* Properties of a line, computed when a rule first needs them. */
struct line_facts {
	struct str line;
	bool has_word[2], has_grams;
	uint64_t word[2]; /* after the first blank; after the blanks that the line starts with */
	uint32_t grams;
};

/* Can the rule match this line, whose first word fits? False is certain, true is not. */
static bool may_match(const struct scan_index *index, const struct scan_rule *r,
		      struct line_facts *facts)
{
	if (r->second_mask != 0) {
		if (!facts->has_word[r->indented]) {
			const char *p = facts->line.p, *end = p + facts->line.len;

			if (!r->indented) {
				p = memchr(p, ' ', facts->line.len);
				p = p != NULL ? p + 1 : end;
			}
			while (r->indented && p < end && *p == ' ')
				p++;
			facts->word[r->indented] = load_word(p, (size_t)(end - p));
			facts->has_word[r->indented] = true;
		}
		if ((facts->word[r->indented] & r->second_mask) != r->second)
			return false;
	}
	if (r->needs != 0) {
		if (!facts->has_grams)
			facts->grams = find_grams(index, facts->line);
		facts->has_grams = true;
		if ((facts->grams & r->needs) == 0)
			return false;
	}
	return true;
}

bool scanner_scan(struct scanner *scanner, struct str line, struct record *record)
{
	const struct scan_index *index = scanner->index;
	struct line_facts facts = { .line = line };

	if (line.len == 0)
		return false;
	uint64_t head = load_word(line.p, line.len);
	const uint16_t *i = index->items + index->start[(unsigned char)line.p[0]];
	const uint16_t *end = index->items + index->start[(unsigned char)line.p[0] + 1];
	for (; i < end; i++) {
		const struct scan_rule *r = &index->rules[*i];

		if ((head & r->head_mask) == r->head && may_match(index, r, &facts) &&
		    try_rule(scanner, *i, line, record))
			return true;
	}
	return false;
}

/* Number of digits after the point of the number that ends at `end`. */
static size_t decimals_before(const char *start, const char *end)
{
	const char *p = end;

	while (p > start && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return p > start && p[-1] == '.' ? (size_t)(end - p) : 0;
}

/* Loss and BPB are printed with the same format, so a BPB with as many decimals as the loss is
 * complete. */
static bool is_as_long_as_loss(struct str line)
{
	const char *end = line.p + line.len;
	const char *at = str_find(line, "val_loss");
	size_t n = decimals_before(line.p, end);

	if (at == NULL || n < 4)
		return false;
	at += strlen("val_loss");
	while (at < end && strchr(":= .0123456789", *at) != NULL &&
	       (*at != ' ' || at[-1] == ':' || at[-1] == '='))
		at++;
	return at < end && decimals_before(line.p, at) == n;
}

static bool ends_in_number(struct str line)
{
	char last = line.p[line.len - 1];

	return last == '.' || (last >= '0' && last <= '9');
}

/* Would one more digit at the end of the line give the same record? */
static bool is_complete(struct scanner *scanner, struct str line, const struct record *record)
{
	struct record longer;
	AUTO_BUF text = buf_new(line.len + 2);

	if (!ends_in_number(line))
		return true;
	buf_append(&text, line.p, line.len);
	buf_append_char(&text, '7');
	bool same = scanner_scan(scanner, buf_str(&text), &longer) && longer.rule == record->rule &&
		    longer.present == record->present;
	for (size_t m = 0; same && m < METRIC_COUNT; m++)
		same = !record_has(record, (enum metric)m) ||
		       longer.values[m] == record->values[m] || isnan(record->values[m]);
	return same;
}

bool scanner_scan_cut(struct scanner *scanner, struct str line, struct record *record)
{
	if (!scanner_scan(scanner, line, record))
		return false;
	bool is_whole = is_complete(scanner, line, record) ||
			(record_has(record, METRIC_VAL_BPB) && is_as_long_as_loss(line));
	if (!is_whole || !ends_in_number(line))
		return is_whole;
	/* Scan again: is_complete has overwritten the pairs of the record. */
	(void)scanner_scan(scanner, line, record);
	record->n_pairs -= record->n_pairs > 0; /* the last number may be cut */
	return true;
}
