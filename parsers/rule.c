/* SPDX-License-Identifier: MIT */
/* One PCRE2 rule: JIT code, where a match may begin, groups to metrics. */
#include "config.h"

#include "parsers/rule.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"

static const char *const kind_names[] = {
#define X(id, name, what) name,
	RULE_KIND_LIST(X)
#undef X
};

static const char *const stage_names[] = {
#define X(id, name) name,
	RULE_STAGE_LIST(X)
#undef X
};

const char *
rule_kind_name(enum rule_kind kind)
{
	return kind_names[kind];
}

const char *
rule_stage_name(enum rule_stage stage)
{
	return stage_names[stage];
}

/* Groups that give a metric in another unit than the metric's own. */
static const struct {
	const char *name;
	enum metric metric;
	double scale;
} scaled_groups[] = {
	{ "train_s", METRIC_TRAIN_MS, 1000 },
	{ "eval_s", METRIC_EVAL_MS, 1000 },
	{ "step_avg_s", METRIC_STEP_AVG_MS, 1000 },
	{ "peak_mem_gib", METRIC_PEAK_MEM_MIB, 1024 },
};

#define N_SCALED (sizeof(scaled_groups) / sizeof(scaled_groups[0]))

static const char *const text_groups[] = { "stage", "text", "mode" };

/* File one named group; -1 when its name means nothing. */
static int
rule_add_group(struct rule *rule, const char *name, uint32_t number,
	       struct err *err)
{
	struct rule_group group = { number, metric_by_name(str_from(name)), 1 };
	uint32_t *text[] = { &rule->stage_group, &rule->text_group,
			     &rule->mode_group };

	for (size_t i = 0; i < 3; i++) {
		if (strcmp(name, text_groups[i]) == 0) {
			*text[i] = number;
			return 0;
		}
	}
	for (size_t i = 0; i < N_SCALED; i++) {
		if (strcmp(name, scaled_groups[i].name) == 0) {
			group.metric = scaled_groups[i].metric;
			group.scale = scaled_groups[i].scale;
		}
	}
	if (group.metric == METRIC_COUNT)
		return err_set(err, ERR_CONFIG,
			       "the group (?<%s>) names no metric", name);
	if (rule->n_groups == RULE_MAX_GROUPS)
		return err_set(err, ERR_CONFIG, "more than %d named groups",
			       RULE_MAX_GROUPS);
	rule->groups[rule->n_groups++] = group;
	return 0;
}

static int
rule_find_groups(struct rule *rule, struct err *err)
{
	uint32_t count = 0, entry_size = 0;
	PCRE2_SPTR table = NULL;

	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMECOUNT, &count);
	if (count == 0)
		return 0;
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMEENTRYSIZE,
				 &entry_size);
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; i < count; i++, table += entry_size) {
		uint32_t number = (uint32_t)table[0] << 8 | table[1];

		if (rule_add_group(rule, (const char *)table + 2, number,
				   err) != 0)
			return -1;
	}
	return 0;
}

/* The first n (at most 8) bytes as a word, and the mask of them. */
static uint64_t
pack_word(const char *p, size_t n, uint64_t *mask)
{
	unsigned char bytes[8] = { 0 }, ones[8] = { 0 };
	uint64_t word;

	for (size_t i = 0; i < n && i < 8; i++) {
		bytes[i] = (unsigned char)p[i];
		ones[i] = 0xff;
	}
	memcpy(&word, bytes, sizeof(word));
	memcpy(mask, ones, sizeof(*mask));
	return word;
}

/* Whether a "|" stands outside of all groups: no part is sure then. */
static bool
has_top_alternative(const char *p)
{
	int depth = 0;
	bool in_class = false;

	for (; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		else if (in_class)
			in_class = *p != ']';
		else if (*p == '[')
			in_class = true;
		else if (*p == '(')
			depth++;
		else if (*p == ')')
			depth--;
		else if (*p == '|' && depth == 0)
			return true;
	}
	return false;
}

/*
 * The literal characters that stand at the start of an anchored pattern:
 * "^step:(\d+)" gives "step:".  A character that a quantifier follows does
 * not count.
 */
static void
rule_find_literal(struct rule *rule)
{
	const char *p = rule->pattern + 1;
	struct buf literal;

	buf_init(&literal, 64);
	while (rule->anchored && *p != '\0' && !literal.truncated) {
		char c = *p;
		size_t n = 1;

		if (c == '\\' && ispunct((unsigned char)p[1])) {
			c = p[1];
			n = 2;
		} else if (strchr("\\^$.[]|()?*+{}", c) != NULL) {
			break;
		}
		if (p[n] != '\0' && strchr("?*{", p[n]) != NULL)
			break;
		buf_append_char(&literal, c);
		p += n;
	}
	if (has_top_alternative(rule->pattern))
		buf_clear(&literal);
	rule->literal_len = literal.len;
	rule->literal = buf_detach(&literal);
	buf_release(&literal);
	rule->head =
		pack_word(rule->literal, rule->literal_len, &rule->head_mask);
}

/* Length of a piece of digits at p: "\d++", "\d+" or "(?<name>\d++)". */
static size_t
digits_piece(const char *p)
{
	size_t n = 0;
	bool group = strncmp(p, "(?<", 3) == 0;

	if (group) {
		n = strcspn(p, ">");
		n += p[n] == '>';
	}
	if (strncmp(p + n, "\\d++", 4) == 0)
		n += 4;
	else
		return 0;
	if (group && p[n++] != ')')
		return 0;
	return n;
}

/*
 * What follows the first blank of a match: the pattern's literal behind a
 * blank before which only literals and digits stand, as in
 * "^step:(?<step>\d++)/\d++ train_loss:".
 */
static void
rule_find_second(struct rule *rule)
{
	const char *p = rule->pattern + 1;
	size_t n = 0;

	if (!rule->anchored || has_top_alternative(rule->pattern))
		return;
	while (*p != ' ') {
		size_t digits = digits_piece(p);

		if (digits == 0 &&
		    (*p == '\0' || strchr("\\^$.[]|()?*+{}", *p) != NULL ||
		     (p[1] != '\0' && strchr("?*+{", p[1]) != NULL)))
			return;
		p += digits > 0 ? digits : 1;
	}
	p++;
	while (p[n] != '\0' && n < 8 && strchr("\\^$.[]|()?*+{}", p[n]) == NULL)
		n++;
	if (n > 0 && p[n] != '\0' && strchr("?*+{", p[n]) != NULL)
		n--;
	rule->second = pack_word(p, n, &rule->second_mask);
}

/* The bytes that a match may begin with, as PCRE2 finds them. */
static void
rule_find_first(struct rule *rule)
{
	const char *body = rule->pattern + (rule->anchored ? 1 : 0);
	const unsigned char *map = NULL;
	uint32_t type = 0, unit = 0;
	pcre2_code *code;
	int errorcode;
	size_t at;

	memset(rule->first, 0xff, sizeof(rule->first));
	if (!rule->anchored || has_top_alternative(rule->pattern))
		return;
	code = pcre2_compile((PCRE2_SPTR)body, PCRE2_ZERO_TERMINATED, 0,
			     &errorcode, &at, NULL);
	if (code == NULL)
		return;
	(void)pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODETYPE, &type);
	(void)pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODEUNIT, &unit);
	(void)pcre2_pattern_info(code, PCRE2_INFO_FIRSTBITMAP, &map);
	if (type == 1) {
		memset(rule->first, 0, sizeof(rule->first));
		rule->first[(unit & 0xff) / 8] |=
			(unsigned char)(1U << (unit % 8));
	} else if (map != NULL) {
		memcpy(rule->first, map, sizeof(rule->first));
	}
	pcre2_code_free(code);
}

void
pair_set_fill(struct pair_set *set, struct str text)
{
	memset(set, 0, sizeof(*set));
	for (size_t i = 0; i + 1 < text.len; i++) {
		unsigned int a = (unsigned char)text.p[i];
		unsigned int b = (unsigned char)text.p[i + 1];
		unsigned int h = (a * 7 + b * 29) & 255;

		set->bits[h / 64] |= (uint64_t)1 << (h % 64);
	}
}

int
rule_compile(struct rule *rule, const struct rule_source *source,
	     struct err *err)
{
	PCRE2_UCHAR message[160];
	uint32_t options = 0;
	int errorcode;
	size_t at;

	rule->name = xstrdup(source->name);
	rule->pattern = xstrdup(source->match);
	rule->needs = xstrdup_null(source->needs);
	if (rule->needs != NULL) {
		rule->needs_len = strlen(rule->needs);
		pair_set_fill(&rule->needs_pairs, str_from(rule->needs));
	}
	rule->code =
		pcre2_compile((PCRE2_SPTR)rule->pattern, PCRE2_ZERO_TERMINATED,
			      0, &errorcode, &at, NULL);
	if (rule->code == NULL) {
		(void)pcre2_get_error_message(errorcode, message,
					      sizeof(message));
		return err_set(err, ERR_CONFIG,
			       "the pattern is wrong at character %zu: %s", at,
			       (const char *)message);
	}
	rule->jit = pcre2_jit_compile(rule->code, PCRE2_JIT_COMPLETE) == 0;
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_ALLOPTIONS, &options);
	rule->anchored =
		rule->pattern[0] == '^' && (options & PCRE2_ANCHORED) != 0;
	rule_find_literal(rule);
	rule_find_second(rule);
	rule_find_first(rule);
	return rule_find_groups(rule, err);
}

void
rule_release(struct rule *rule)
{
	pcre2_code_free(rule->code);
	free(rule->name);
	free(rule->pattern);
	free(rule->needs);
	free(rule->literal);
	*rule = (struct rule){ .name = NULL };
}
