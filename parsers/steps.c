/* SPDX-License-Identifier: MIT */
/* Match simple patterns without a regex engine. */
#include "parsers/steps.h"

#include <ctype.h>

#include "base/xalloc.h"

#define MAX_STEPS 40

const char *steps_next_branch(const char *p)
{
	bool in_class = false;

	for (; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		else if (in_class)
			in_class = *p != ']';
		else if (*p == '[') {
			in_class = true;
			p += p[1] == '^';
			p += p[1] == ']'; /* a "]" at the start belongs to the class */
		} else if (*p == '(' || *p == '|' || *p == ')')
			break;
	}
	return p;
}

static bool is_quantifier(char c)
{
	return c == '?' || c == '*' || c == '+' || c == '{';
}

/* Return the length of the literal character at p, with its byte in *c; 0 if there is none. */
static size_t literal_at(const char *p, char *c)
{
	size_t n = *p == '\\' ? 2 : 1;

	*c = p[n - 1];
	if (n == 2 ? !ispunct((unsigned char)*c)
		   : *c == '\0' || (!str_is_word(*c) && strchr("^$.[]|()?*+{}", *c) != NULL))
		return 0;
	return is_quantifier(p[n]) ? 0 : n;
}

static bool set_has(const uint64_t set[4], char c)
{
	unsigned char byte = (unsigned char)c;

	return set[byte / 64] >> (byte % 64) & 1;
}

static bool is_plain(const uint64_t set[4])
{
	uint64_t plain = UINT64_C(0x3ff) << '0' | UINT64_C(1) << '.';

	return ((set[0] & ~plain) | set[1] | set[2] | set[3]) == 0;
}

static void set_add(uint64_t set[4], const char *bytes)
{
	for (const unsigned char *b = (const void *)bytes; *b != '\0'; b++)
		set[*b / 64] |= UINT64_C(1) << (*b % 64);
}

/* Add \d, \w or an escaped punctuation character; false for any other escape. */
static bool set_add_escape(uint64_t set[4], char c)
{
	if (c == 'd' || c == 'w')
		set_add(set, "0123456789");
	if (c == 'w')
		set_add(set, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
			     "abcdefghijklmnopqrstuvwxyz");
	if (ispunct((unsigned char)c))
		set_add(set, (char[2]){ c, '\0' });
	return c == 'd' || c == 'w' || ispunct((unsigned char)c);
}

/* Return the length of the set at p ("\d", "[\w.+-]"), with its bytes in set; 0: no set. */
static size_t set_at(const char *p, uint64_t set[4])
{
	size_t n = 1;

	memset(set, 0, 4 * sizeof(*set));
	if (*p == '\\')
		return isalpha((unsigned char)p[1]) && set_add_escape(set, p[1]) ? 2 : 0;
	if (*p != '[' || p[1] == '^' || p[1] == ']')
		return 0;
	for (; p[n] != ']'; n++) {
		if (p[n] == '\0' || p[n] == '[' || (p[n] == '-' && p[n + 1] != ']'))
			return 0; /* ranges and named classes are not simple */
		if (p[n] != '\\')
			set_add(set, (char[2]){ p[n], '\0' });
		else if (!set_add_escape(set, p[++n]))
			return 0;
	}
	return n + 1;
}

/* Return the length of the span at p ("\d++", "\d[\d.]*+", "\d"); 0 if there is none. */
static size_t span_at(const char *p, struct rule_step *step)
{
	size_t n = set_at(p, step->first), more;

	step->is_many = strncmp(p + n, "++", 2) == 0;
	if (n == 0)
		return 0;
	if (step->is_many) {
		memcpy(step->rest, step->first, sizeof(step->rest));
		return n + 2;
	}
	more = set_at(p + n, step->rest);
	if (more > 0 && strncmp(p + n + more, "*+", 2) == 0) {
		step->is_many = true;
		return n + more + 2;
	}
	return is_quantifier(p[n]) ? 0 : n;
}

/* Return the length of a span at p, alone or in a named group; 0 if there is none. */
static size_t read_span(const char *p, struct rule_step *step)
{
	size_t n = 0, span;

	step->is_number = strncmp(p, "(?<", 3) == 0;
	if (step->is_number) {
		n = 3;
		while (isalnum((unsigned char)p[n]) || p[n] == '_')
			n++;
		if (p[n++] != '>')
			return 0;
	}
	span = span_at(p + n, step);
	n += span;
	if (span > 0 && step->is_number && (p[n++] != ')' || is_quantifier(p[n])))
		return 0;
	step->is_span = span > 0;
	step->is_decimal = step->is_many && (step->rest['0' / 64] >> '0' % 64 & 0x3ff) == 0x3ff;
	step->has_point = set_has(step->rest, '.');
	return span > 0 ? n : 0;
}

/* Return the length of the step at p: a literal, a span or both; 0 if there is none. */
static size_t read_step(const char *p, struct rule_step *step)
{
	char word[8] = { 0 }, mask[8] = { 0 }, c;
	size_t at = 0, n;

	*step = (struct rule_step){ .len = 0 };
	while (step->len < 8 && (n = literal_at(p + at, &c)) > 0) {
		word[step->len] = c;
		mask[step->len++] = (char)0xff;
		at += n;
	}
	memcpy(&step->word, word, sizeof(word));
	memcpy(&step->mask, mask, sizeof(mask));
	n = read_span(p + at, step);
	if (n == 0)
		step->is_number = false;
	return at + n;
}

static enum steps_end read_end(const char *p)
{
	static const struct {
		const char *text;
		enum steps_end end;
	} ends[] = {
		{ "", STEPS_ANY },
		{ "$", STEPS_END },
		{ " *$", STEPS_BLANKS_END },
		{ "(?= |$)", STEPS_BLANK_OR_END },
	};

	for (size_t i = 0; i < LENGTH(ends); i++)
		if (strcmp(p, ends[i].text) == 0)
			return ends[i].end;
	return STEPS_PART;
}

/* Find the text that every match has after its first blank. */
static void find_second(struct steps *steps)
{
	char word[8] = { 0 }, mask[8] = { 0 };
	bool behind = false, sure = true;
	size_t n = 0;

	for (size_t i = 0; i < steps->n && sure; i++) {
		const struct rule_step *s = &steps->items[i];
		char literal[8];

		memcpy(literal, &s->word, sizeof(literal));
		for (size_t k = 0; k < s->len; k++) {
			if (behind && n < 8) {
				word[n] = literal[k];
				mask[n++] = (char)0xff;
			}
			behind = behind || literal[k] == ' ';
		}
		sure = !s->is_span ||
		       (!behind && !set_has(s->first, ' ') && !set_has(s->rest, ' '));
	}
	memcpy(&steps->second, word, sizeof(word));
	memcpy(&steps->second_mask, mask, sizeof(mask));
}

bool steps_read(struct steps *steps, const char *pattern)
{
	const char *p = pattern + 1;
	size_t numbers = 0, n;
	int depth = 0;

	steps->end = STEPS_PART;
	/* with a "|" outside of all groups, no part is in every match */
	for (const char *q = steps_next_branch(pattern); *q != '\0'; q = steps_next_branch(q + 1)) {
		if (*q == '|' && depth == 0)
			return false;
		depth += *q == '(' ? 1 : *q == ')' ? -1 : 0;
	}
	/* The next character is not a blank, so " *" takes all blanks. */
	steps->indented = strncmp(p, " *", 2) == 0 && isalnum((unsigned char)p[2]);
	p += steps->indented ? 2 : 0;
	steps->is_plain = !steps->indented;
	steps->items = xcalloc(MAX_STEPS, sizeof(*steps->items));
	while (steps->n < MAX_STEPS && (n = read_step(p, &steps->items[steps->n])) > 0) {
		const struct rule_step *s = &steps->items[steps->n++];

		numbers += s->is_number;
		steps->is_plain = steps->is_plain && (!s->is_span || s->is_number ||
						      (is_plain(s->first) && is_plain(s->rest)));
		p += n;
	}
	steps->items = xreallocarray(steps->items, steps->n + 1, sizeof(*steps->items));
	if (numbers <= STEPS_MAX_NUMBERS)
		steps->end = read_end(p);
	if (steps->n > 0) {
		steps->head = steps->items[0].word;
		steps->head_mask = steps->items[0].mask;
	}
	if (!steps->indented)
		find_second(steps);
	return true;
}

void steps_release(struct steps *steps)
{
	free(steps->items);
	*steps = (struct steps){ .n = 0 };
}

#define GROUPED_BYTES 32

bool steps_number(struct str s, double *value)
{
	char plain[GROUPED_BYTES];
	size_t n = 0;

	if (str_to_double(s, value))
		return true;
	if (s.len < 5 || s.len > GROUPED_BYTES || !isdigit((unsigned char)s.p[0]) ||
	    memchr(s.p, ',', 4) == NULL)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] != ',')
			plain[n++] = s.p[i];
		else if (i + 4 > s.len || !all_of(k, 3, str_is_digit(s.p[i + 1 + k])) ||
			 (i + 4 < s.len && str_is_digit(s.p[i + 4])) ||
			 memchr(plain, '.', n) != NULL)
			return false;
	}
	return str_to_double((struct str){ plain, n }, value);
}

static const char *match_span(const struct rule_step *s, const char *p, const char *end)
{
	if (p == end || !set_has(s->first, *p))
		return NULL;
	for (p++; s->is_many && p < end && set_has(s->rest, *p); p++)
		continue;
	return p;
}

/* The same for a span that is a number, which is stored in *value. Clears *plain unless the number
 * is digits and a point. */
static const char *match_number(const struct rule_step *s, const char *p, const char *end,
				double *value, bool *plain)
{
	const char *q = p;

	/* nearly always it is digits and a point */
	if (s->is_decimal && p < end && set_has(s->first, *p))
		q = str_take_decimal(p, end, s->has_point, value);
	if (q > p && (q == end || !set_has(s->rest, *q)))
		return q;
	*plain = false;
	q = match_span(s, p, end);
	if (q == NULL || !steps_number(str_between(p, q), value))
		return NULL;
	return q;
}

bool steps_match(const struct steps *steps, struct str line, double numbers[STEPS_MAX_NUMBERS],
		 bool *plain)
{
	const char *p = line.p, *end = line.p + line.len;

	*plain = steps->is_plain;
	while (steps->indented && p < end && *p == ' ')
		p++;
	array_each (s, steps->items, steps->n) {
		if ((load_word(p, (size_t)(end - p)) & s->mask) != s->word)
			return false;
		p += s->len;
		if (s->is_number)
			p = match_number(s, p, end, numbers++, plain);
		else if (s->is_span)
			p = match_span(s, p, end);
		if (p == NULL)
			return false;
	}
	*plain = *plain && p == end;
	if (steps->end == STEPS_BLANK_OR_END)
		return p == end || *p == ' ';
	while (steps->end == STEPS_BLANKS_END && p < end && *p == ' ')
		p++;
	return steps->end == STEPS_ANY || p == end;
}
