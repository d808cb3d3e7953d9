/* SPDX-License-Identifier: MIT */
/* Find the rule that matches a line. First bytes and literals exclude most; others are tried. */
#include "parsers/scan.h"

#include "base/buf.h"
#include "parsers/format.h"
#include "parsers/row.h"

/* Enough for any honest line of 64 KiB, and too little to slow the program down. */
#define MATCH_LIMIT	200000U
#define DEPTH_LIMIT	2000U
#define HEAP_LIMIT_KIB	2048U
#define STACK_MIN_BYTES (64U << 10)
#define STACK_MAX_BYTES (512U << 10)

/* Like load_word, but with the first byte in the lowest bits on every machine. */
static uint64_t load_low_first(const char *p, size_t left)
{
	uint64_t word = load_word(p, left);

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Mix a word so that the bits from each byte on start with a hash of that byte and the next two. */
static uint64_t mix_grams(uint64_t word)
{
	return word ^ word >> 9;
}

static size_t gram_slot(uint64_t mixed)
{
	return mixed & ((1 << SCAN_SLOT_BITS) - 1);
}

/* Sets, see struct scan_index: one per second byte of a line; the rules without a literal; the
 * rules with a literal that has a digit or a point; then one per literal. */
#define SECOND_SETS ((size_t)256)
#define FREE_SET    (2 * SECOND_SETS)
#define NUMBER_SET  (FREE_SET + 1)

static uint64_t *set_of(const struct scan_index *index, size_t number)
{
	return index->sets + number * index->n_words;
}

/* Find the literal in the index, or add it; NULL if there is no room. */
static struct scan_literal *add_literal(struct scan_index *index, struct str text)
{
	uint16_t *slot = &index->slots[gram_slot(mix_grams(load_low_first(text.p, 3)))];

	for (size_t i = *slot; i != 0; i = index->literals[i - 1].next)
		if (str_eq(index->literals[i - 1].text, text))
			return &index->literals[i - 1];
	if (index->n_literals == SCAN_MAX_LITERALS)
		return NULL;
	struct scan_literal *literal = &index->literals[index->n_literals++];
	*literal = (struct scan_literal){ .text = text, .next = *slot };
	literal->word = load_word(text.p, text.len);
	memset(&literal->mask, 0xff, text.len < 8 ? text.len : 8);
	literal->rules = set_of(index, NUMBER_SET + index->n_literals);
	*slot = (uint16_t)index->n_literals;
	return literal;
}

void scan_index_build(struct scan_index *index, const struct rule **order, size_t n)
{
	index->n_rules = n;
	index->n_words = (n + 63) / 64;
	index->rules = xcalloc(n + 1, sizeof(*index->rules));
	index->sets = xcalloc((NUMBER_SET + 1 + SCAN_MAX_LITERALS) * index->n_words,
			      sizeof(*index->sets));
	for (size_t i = 0; i < n; i++) {
		unsigned char head[sizeof(uint64_t)], mask[sizeof(uint64_t)];
		const struct rule *rule = order[i];
		bool indented = rule->steps.indented, is_indexed = rule->n_needs > 0;
		uint64_t bit = UINT64_C(1) << (i % 64);
		size_t w = i / 64;

		for (size_t k = 0; k < rule->n_needs; k++) {
			struct str text = str_from(rule->needs[k]);
			const struct scan_literal *literal =
				text.len >= 3 ? add_literal(index, text) : NULL;

			if (str_has_digit(text) || memchr(text.p, '.', text.len) != NULL)
				set_of(index, NUMBER_SET)[w] |= bit;
			if (literal != NULL)
				literal->rules[w] |= bit;
			is_indexed = is_indexed && literal != NULL;
		}
		index->rules[i] = (struct scan_rule){
			.rule = rule,
			.head = indented ? 0 : rule->steps.head,
			.head_mask = indented ? 0 : rule->steps.head_mask,
			.second = indented ? rule->steps.head : rule->steps.second,
			.second_mask = indented ? rule->steps.head_mask : rule->steps.second_mask,
			.indented = indented,
			.is_indexed = is_indexed,
		};
		memcpy(head, &index->rules[i].head, sizeof(head));
		memcpy(mask, &index->rules[i].head_mask, sizeof(mask));
		for (size_t b = 0; b < 256; b += rule->first[b / 8] == 0 ? 8 : 1)
			if ((rule->first[b / 8] >> (b % 8) & 1) != 0)
				set_of(index, b)[w] |= bit;
		for (size_t b = head[1]; b < 256; b += mask[1] == 0xff ? 256 : 1)
			if ((b & mask[1]) == head[1])
				set_of(index, SECOND_SETS + b)[w] |= bit;
		set_of(index, FREE_SET)[w] |= is_indexed ? 0 : bit;
	}
}

void scan_index_release(struct scan_index *index)
{
	free(index->rules);
	free(index->sets);
	*index = (struct scan_index){ .rules = NULL };
}

struct scanner {
	const struct scan_index *index; /* of the format set */
	pcre2_match_data *match_data;
	const PCRE2_SIZE *ovector; /* of match_data */
	pcre2_match_context *context;
	pcre2_jit_stack *stack; /* NULL: no line needed it yet */
	uint64_t *limit_hits;	/* one per rule; NULL: no hit yet */
	uint64_t *possible;	/* a set of rules, see find_possible() */
	/* The rule that had the last plain match (steps.h), and what was possible for that line.
	 * The same is possible for its next plain match, if no literal has a digit or a point. */
	size_t plain_rule;
	uint64_t *plain_possible;
	struct record_pair rows[PAIRS_MAX]; /* of the current record */
};

struct scanner *scanner_new(const struct format_set *formats)
{
	struct scanner *scanner = xcalloc(1, sizeof(*scanner));

	scanner->index = format_set_index(formats);
	scanner->match_data = pcre2_match_data_create(RULE_MAX_GROUPS * 2 + 2, NULL);
	scanner->context = pcre2_match_context_create(NULL);
	if (scanner->match_data == NULL || scanner->context == NULL)
		abort();
	scanner->ovector = pcre2_get_ovector_pointer(scanner->match_data);
	(void)pcre2_set_match_limit(scanner->context, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(scanner->context, DEPTH_LIMIT);
	(void)pcre2_set_heap_limit(scanner->context, HEAP_LIMIT_KIB);
	scanner->possible = xcalloc(scanner->index->n_words, sizeof(uint64_t));
	scanner->plain_possible = xcalloc(scanner->index->n_words, sizeof(uint64_t));
	scanner->plain_rule = scanner->index->n_rules;
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
	free(scanner->possible);
	free(scanner->plain_possible);
	free(scanner);
}

uint64_t scanner_limit_hits(const struct scanner *scanner, size_t i)
{
	return scanner->limit_hits != NULL ? scanner->limit_hits[i] : 0;
}

/* Return the text of group number `n`; p is NULL if the group is not set. */
static struct str group_text(struct str line, const PCRE2_SIZE *ovector, uint32_t n)
{
	if (ovector[2 * n] == PCRE2_UNSET)
		return (struct str){ NULL, 0 };
	return (struct str){ line.p + ovector[2 * n], ovector[2 * n + 1] - ovector[2 * n] };
}

/* Match with 32 KiB of the thread's stack, or else with a larger one that the scanner keeps: most
 * logs never need it. */
static int match_code(struct scanner *scanner, const struct rule *rule, struct str line)
{
	PCRE2_SPTR text = (PCRE2_SPTR)line.p;
	bool has_jit;
	const pcre2_code *code = rule_code(rule, &has_jit);

	for (;;) {
		int rc = has_jit ? pcre2_jit_match(code, text, line.len, 0, 0, scanner->match_data,
						   scanner->context)
				 : pcre2_match(code, text, line.len, 0, PCRE2_NO_UTF_CHECK,
					       scanner->match_data, scanner->context);
		if (rc != PCRE2_ERROR_JIT_STACKLIMIT || scanner->stack != NULL)
			return rc;
		scanner->stack = pcre2_jit_stack_create(STACK_MIN_BYTES, STACK_MAX_BYTES, NULL);
		if (scanner->stack == NULL)
			return rc;
		pcre2_jit_stack_assign(scanner->context, NULL, scanner->stack);
	}
}

/* Match with PCRE2; also false if the text of a group is not a number. */
static bool match_pattern(struct scanner *scanner, size_t i, struct str line, struct record *record)
{
	const struct rule *rule = scanner->index->rules[i].rule;
	const PCRE2_SIZE *ovector = scanner->ovector;
	double value;
	int rc = match_code(scanner, rule, line);

	if (rc == PCRE2_ERROR_NOMATCH)
		return false;
	if (rc < 0) {
		if (scanner->limit_hits == NULL)
			scanner->limit_hits = xcalloc(scanner->index->n_words * 64, sizeof(i));
		scanner->limit_hits[i]++;
		return false;
	}
	array_each (group, rule->groups, rule->n_groups) {
		struct str number = group_text(line, ovector, group->number);

		if (number.p == NULL)
			continue;
		if (!steps_number(number, &value))
			return false;
		record_set(record, group->metric, value * group->scale);
	}
	if (rule->stage_group != 0)
		record->stage = group_text(line, ovector, rule->stage_group);
	if (rule->text_group != 0)
		record->text = group_text(line, ovector, rule->text_group);
	if (rule->mode_group != 0)
		record->mode = group_text(line, ovector, rule->mode_group);
	return true;
}

static void clear_record(struct record *record, const struct rule *rule)
{
	record->rule = rule;
	record->memo = NULL;
	record->present = 0;
	record->n_pairs = 0;
	record->pairs = NULL;
	record->stage = record->text = record->mode = (struct str){ NULL, 0 };
}

/* Fill the record from the numbers of a simple rule. */
static void take_numbers(struct record *record, const double *numbers)
{
	array_each (group, record->rule->groups, record->rule->n_groups)
		record_set(record, group->metric, numbers[group->number - 1] * group->scale);
}

/* Read the pairs of the line from the start of the match. */
static void take_pairs(struct scanner *scanner, struct str line, struct record *record)
{
	struct pair pairs[PAIRS_MAX];
	size_t at = record->rule->steps.end != STEPS_PART ? 0 : scanner->ovector[0];
	size_t n = pairs_read(str_skip(line, at), pairs);

	(void)row_fill(record, pairs, n, scanner->rows);
}

/* Try rule number i, whose first bytes do not exclude the line. *plain: as in steps_match. */
static bool try_rule(struct scanner *scanner, size_t i, struct str line, struct record *record,
		     bool *plain)
{
	const struct rule *rule = scanner->index->rules[i].rule;
	double numbers[STEPS_MAX_NUMBERS];

	*plain = false;
	clear_record(record, rule);
	if (rule->steps.end == STEPS_PART)
		return match_pattern(scanner, i, line, record);
	if (!steps_match(&rule->steps, line, numbers, plain))
		return false;
	take_numbers(record, numbers);
	return true;
}

/* Add the rules whose literal is at the start of the text. */
static void add_rules_at(struct scanner *scanner, size_t slot, struct str text)
{
	const struct scan_index *index = scanner->index;
	uint64_t word = load_word(text.p, text.len);

	for (size_t i = index->slots[slot]; i != 0; i = index->literals[i - 1].next) {
		const struct scan_literal *literal = &index->literals[i - 1];
		size_t len = literal->text.len;

		if ((word & literal->mask) != literal->word || len > text.len ||
		    (len > 8 && memcmp(text.p, literal->text.p, len) != 0))
			continue;
		for (size_t w = 0; w < index->n_words; w++)
			scanner->possible[w] |= literal->rules[w];
	}
}

/* Return the set of rules that the literals of the index do not exclude. */
static const uint64_t *find_possible(struct scanner *scanner, struct str line)
{
	const struct scan_index *index = scanner->index;
	const uint16_t *slots = index->slots;

	memcpy(scanner->possible, set_of(index, FREE_SET), index->n_words * sizeof(uint64_t));
	/* Eight bytes contain six groups of three. */
	for (size_t i = 0; i + 2 < line.len; i += 6) {
		uint64_t mixed = mix_grams(load_low_first(line.p + i, line.len - i));

		if ((slots[gram_slot(mixed)] | slots[gram_slot(mixed >> 8)] |
		     slots[gram_slot(mixed >> 16)] | slots[gram_slot(mixed >> 24)] |
		     slots[gram_slot(mixed >> 32)] | slots[gram_slot(mixed >> 40)]) == 0)
			continue;
		for (size_t k = 0; k < 6 && i + k + 2 < line.len; k++)
			if (slots[gram_slot(mixed >> 8 * k)] != 0)
				add_rules_at(scanner, gram_slot(mixed >> 8 * k),
					     str_skip(line, i + k));
	}
	return scanner->possible;
}

/* Does the rule of the last plain match match this line too, again plainly? Its numbers are stored
 * in numbers. */
static bool is_like_last(const struct scanner *scanner, struct str line, uint64_t head,
			 double *numbers)
{
	const struct scan_rule *r = &scanner->index->rules[scanner->plain_rule];
	bool plain;

	return r->rule != NULL && (head & r->head_mask) == r->head &&
	       steps_match(&r->rule->steps, line, numbers, &plain) && plain;
}

static void remember_plain(struct scanner *scanner, size_t i)
{
	uint64_t *possible = scanner->possible;
	const uint64_t *numbered = set_of(scanner->index, NUMBER_SET);

	scanner->possible = scanner->plain_possible;
	scanner->plain_possible = possible;
	scanner->plain_rule = i;
	for (size_t w = 0; w < scanner->index->n_words; w++)
		possible[w] |= numbered[w];
}

/* Does the line contain a text that the rule needs? */
static bool has_need(const struct rule *rule, struct str line)
{
	return rule->n_needs == 0 ||
	       any_of(k, rule->n_needs, str_find(line, rule->needs[k]) != NULL);
}

bool scanner_scan(struct scanner *scanner, struct str line, struct record *record)
{
	const struct scan_index *index = scanner->index;
	const char *text = line.p, *end = line.p + line.len;
	double numbers[STEPS_MAX_NUMBERS];

	if (line.len == 0)
		return false;
	while (text < end && *text == ' ')
		text++;
	const char *blank = memchr(line.p, ' ', line.len);
	uint64_t head = load_word(line.p, line.len);
	/* The word after the first blank, and the one after leading blanks. */
	uint64_t words[2] = { blank != NULL ? load_word(blank + 1, (size_t)(end - blank - 1)) : 0,
			      load_word(text, (size_t)(end - text)) };
	unsigned char byte = line.len > 1 ? (unsigned char)line.p[1] : 0;
	const uint64_t *first = set_of(index, (unsigned char)line.p[0]);
	const uint64_t *second = set_of(index, SECOND_SETS + byte);
	bool is_like = is_like_last(scanner, line, head, numbers), found = false, plain;
	const uint64_t *possible = is_like ? scanner->plain_possible : NULL;

	for (size_t w = 0; w < index->n_words && !found; w++) {
		uint64_t left = first[w] & second[w];

		if (possible != NULL)
			left &= possible[w];
		while (left != 0 && !found) {
			uint64_t bit = left & -left;
			size_t i = w * 64 + (size_t)__builtin_ctzll(bit);
			const struct scan_rule *r = &index->rules[i];

			left ^= bit;
			if ((head & r->head_mask) != r->head ||
			    (words[r->indented] & r->second_mask) != r->second)
				continue;
			if (r->is_indexed && possible == NULL) {
				possible = find_possible(scanner, line);
				left &= possible[w];
				if ((bit & possible[w]) == 0)
					continue;
			}
			if (is_like && i == scanner->plain_rule) {
				clear_record(record, r->rule);
				take_numbers(record, numbers);
				found = true;
			} else if ((r->is_indexed && !is_like) || has_need(r->rule, line)) {
				found = try_rule(scanner, i, line, record, &plain);
				if (found && plain && possible == scanner->possible)
					remember_plain(scanner, i);
			}
		}
	}
	if (found && record->rule->pairs)
		take_pairs(scanner, line, record);
	return found;
}

bool scanner_matches(struct scanner *scanner, const struct rule *rule, struct str line)
{
	return match_code(scanner, rule, line) >= 0;
}

/* Count the digits after the point of the number that ends at `end`. */
static size_t decimals_before(const char *start, const char *end)
{
	const char *p = end;

	while (p > start && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return p > start && p[-1] == '.' ? (size_t)(end - p) : 0;
}

/* Loss and BPB have the same format, so a BPB with as many decimals as the loss is complete. */
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
	return same && all_of(m, (int)METRIC_COUNT,
			      !record_has(record, (enum metric)m) || isnan(record->values[m]) ||
				      longer.values[m] == record->values[m]);
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
