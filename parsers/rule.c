/* SPDX-License-Identifier: MIT */
/* Compile one rule: its PCRE2 code, the bytes that a match may start with, and its groups. */
#include "parsers/rule.h"

#include <pthread.h>

#include "base/xalloc.h"

const char *const rule_kind_names[] = { RULE_KIND_LIST(LIST_NAME) NULL };

const char *const rule_stage_names[] = { RULE_STAGE_LIST(LIST_NAME) NULL };

const char *const rule_last_names[] = { RULE_LAST_LIST(LIST_NAME) NULL };

/* Names of groups whose value has a different unit from the metric. */
static const struct {
	const char *name;
	enum metric metric;
	double scale;
} scaled_groups[] = {
	{ "train_s", METRIC_TRAIN_MS, 1000 }, { "train_minutes", METRIC_TRAIN_MS, 60000 },
	{ "eval_s", METRIC_EVAL_MS, 1000 },   { "step_avg_s", METRIC_STEP_AVG_MS, 1000 },
	{ "step_s", METRIC_STEP_MS, 1000 },   { "peak_mem_gib", METRIC_PEAK_MEM_MIB, 1024 },
};

enum metric rule_metric(const char *word, double *scale)
{
	const size_t n = LENGTH(scaled_groups);
	size_t i = index_of(k, n, strcmp(word, scaled_groups[k].name) == 0);

	*scale = i < n ? scaled_groups[i].scale : 1;
	return i < n ? scaled_groups[i].metric : metric_by_name(str_from(word));
}

enum { CODE_NONE, CODE_JIT, CODE_PLAIN };

struct rule_code {
	pcre2_code *code; /* owned */
	atomic_int state; /* CODE_NONE: not compiled for matching yet */
};

static int add_group(struct rule *rule, const char *name, uint32_t number, struct err *err)
{
	static const char *const texts[] = { "stage", "text", "mode", NULL };
	uint32_t *text[] = { &rule->stage_group, &rule->text_group, &rule->mode_group };
	struct rule_group group = { .number = number };
	int is_text = str_index(texts, name);

	if (is_text >= 0) {
		*text[is_text] = number;
		return 0;
	}
	group.metric = rule_metric(name, &group.scale);
	if (group.metric == METRIC_COUNT)
		return err_set(err, ERR_CONFIG, "unknown metric in the group (?<%s>)", name);
	if (rule->n_groups == RULE_MAX_GROUPS)
		return err_set(err, ERR_CONFIG, "more than %d named groups", RULE_MAX_GROUPS);
	rule->groups[rule->n_groups++] = group;
	return 0;
}

/* Find the named groups in the pattern. If it is compiled, PCRE2 must find the same groups, which
 * fails for extended patterns and for "(?|". */
static int find_groups(struct rule *rule, struct err *err)
{
	uint32_t n = 0, n_names = 0, number = 0, names = 0;
	char name[40];

	for (const char *p = steps_next_branch(rule->pattern); *p != '\0';
	     p = steps_next_branch(p + 1)) {
		const char *start = p + (strncmp(p, "(?P<", 4) == 0 ? 4 : 3);
		bool is_named = (strncmp(p, "(?<", 3) == 0 || strncmp(p, "(?'", 3) == 0 ||
				 strncmp(p, "(?P<", 4) == 0) &&
				*start != '=' && *start != '!';

		n += *p == '(' && (is_named || (p[1] != '?' && p[1] != '*'));
		if (!is_named)
			continue;
		n_names++;
		print_into(name, "%.*s", (int)strcspn(start, ">'"), start);
		if (add_group(rule, name, n, err) != 0)
			return -1;
	}
	if (rule->code->code == NULL)
		return 0;
	(void)pcre2_pattern_info(rule->code->code, PCRE2_INFO_CAPTURECOUNT, &number);
	(void)pcre2_pattern_info(rule->code->code, PCRE2_INFO_NAMECOUNT, &names);
	if (number == n && names == n_names)
		return 0;
	return err_set(err, ERR_CONFIG,
		       "write its named groups as (?<name>..), without (?| and (?x)");
}

/* Compile the pattern; NULL with a message in err if it is invalid. */
static pcre2_code *compile_pattern(const char *pattern, struct err *err)
{
	PCRE2_UCHAR message[160];
	int error;
	size_t at;
	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &error, &at, NULL);

	if (code == NULL) {
		(void)pcre2_get_error_message(error, message, sizeof(message));
		(void)err_set(err, ERR_CONFIG, "invalid pattern at character %zu: %s", at,
			      (const char *)message);
	}
	return code;
}

/* Let PCRE2 find the bytes that a match of an anchored pattern may start with. */
static void ask_first_bytes(struct rule *rule)
{
	const unsigned char *map = NULL;
	uint32_t type = 0, unit = 0;
	pcre2_code *code = compile_pattern(rule->pattern + 1, NULL);

	if (code == NULL)
		return;
	(void)pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODETYPE, &type);
	(void)pcre2_pattern_info(code, PCRE2_INFO_FIRSTCODEUNIT, &unit);
	(void)pcre2_pattern_info(code, PCRE2_INFO_FIRSTBITMAP, &map);
	if (type == 1) {
		memset(rule->first, 0, sizeof(rule->first));
		rule->first[(unit & 0xff) / 8] |= (unsigned char)(1U << (unit % 8));
	} else if (map != NULL) {
		memcpy(rule->first, map, sizeof(rule->first));
	}
	pcre2_code_free(code);
}

/* Find what a line must start with, and the steps that replace PCRE2 for a simple pattern. */
static void find_steps(struct rule *rule)
{
	struct steps *steps = &rule->steps;
	unsigned char first;

	memset(rule->first, 0xff, sizeof(rule->first));
	steps->end = STEPS_PART;
	if (rule->pattern[0] != '^' || !steps_read(steps, rule->pattern))
		return;
	if (steps->n > 0 && steps->items[0].len > 0) { /* the first literal */
		memcpy(&first, &steps->items[0].word, 1);
		memset(rule->first, 0, sizeof(rule->first));
		rule->first[first / 8] |= (unsigned char)(1U << (first % 8));
		if (steps->indented)
			rule->first[' ' / 8] |= 1U << (' ' % 8);
	} else if (rule->n_needs == 0) { /* no text excludes most lines */
		ask_first_bytes(rule);
	}
	if (rule->stage_group != 0 || rule->text_group != 0 || rule->mode_group != 0)
		steps->end = STEPS_PART; /* only PCRE2 returns texts of groups */
}

int rule_compile(struct rule *rule, bool is_builtin, struct err *err)
{
	rule->code = xcalloc(1, sizeof(*rule->code)); /* CODE_NONE */
	if (!is_builtin) {
		rule->code->code = compile_pattern(rule->pattern, err);
		if (rule->code->code == NULL)
			return -1;
	}
	if (find_groups(rule, err) != 0)
		return -1;
	find_steps(rule);
	return 0;
}

const pcre2_code *rule_code(const struct rule *rule, bool *has_jit)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct rule_code *c = rule->code;
	int state = atomic_load_explicit(&c->state, memory_order_acquire);

	if (state == CODE_NONE) {
		(void)pthread_mutex_lock(&lock);
		state = atomic_load_explicit(&c->state, memory_order_relaxed);
		if (c->code == NULL)
			c->code = compile_pattern(rule->pattern, NULL);
		if (c->code == NULL)
			abort();
		if (state == CODE_NONE)
			state = pcre2_jit_compile(c->code, PCRE2_JIT_COMPLETE) == 0 ? CODE_JIT
										    : CODE_PLAIN;
		atomic_store_explicit(&c->state, state, memory_order_release);
		(void)pthread_mutex_unlock(&lock);
	}
	*has_jit = state == CODE_JIT;
	return c->code;
}

void rule_release(struct rule *rule)
{
	if (rule->code != NULL)
		pcre2_code_free(rule->code->code);
	free(rule->code);
	free(rule->name);
	free(rule->pattern);
	for (size_t i = 0; i < rule->n_needs; i++)
		free(rule->needs[i]);
	free(rule->needs);
	for (size_t i = 0; i < rule->n_names; i++)
		free(rule->names[i].printed);
	free(rule->names);
	steps_release(&rule->steps);
	*rule = (struct rule){ .name = NULL };
}
