/* SPDX-License-Identifier: MIT */
/* One PCRE2 rule: JIT code, where a match may begin, groups to metrics. */
#include "parsers/rule.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/xalloc.h"

const char *const rule_kind_names[] = { RULE_KIND_LIST(LIST_NAME) NULL };

const char *const rule_stage_names[] = { RULE_STAGE_LIST(LIST_NAME) NULL };

const char *const rule_last_names[] = { RULE_LAST_LIST(LIST_NAME) NULL };

/* Groups that give a metric in another unit than the metric's own. */
static const struct {
	const char *name;
	enum metric metric;
	double scale;
} scaled_groups[] = {
	{ "train_s", METRIC_TRAIN_MS, 1000 },	       { "eval_s", METRIC_EVAL_MS, 1000 },
	{ "step_avg_s", METRIC_STEP_AVG_MS, 1000 },    { "step_s", METRIC_STEP_MS, 1000 },
	{ "peak_mem_gib", METRIC_PEAK_MEM_MIB, 1024 },
};

enum metric rule_metric(const char *word, double *scale)
{
	*scale = 1;
	for (size_t i = 0; i < LENGTH(scaled_groups); i++) {
		if (strcmp(word, scaled_groups[i].name) == 0) {
			*scale = scaled_groups[i].scale;
			return scaled_groups[i].metric;
		}
	}
	return metric_by_name(str_from(word));
}

/* File one named group; -1 when its name means nothing. */
static int rule_add_group(struct rule *rule, const char *name, uint32_t number, struct err *err)
{
	static const char *const texts[] = { "stage", "text", "mode", NULL };
	struct rule_group group = { .number = number };
	uint32_t *text[] = { &rule->stage_group, &rule->text_group, &rule->mode_group };
	int i = str_index(texts, name);

	if (i >= 0) {
		*text[i] = number;
		return 0;
	}
	group.metric = rule_metric(name, &group.scale);
	if (group.metric == METRIC_COUNT)
		return err_set(err, ERR_CONFIG, "the group (?<%s>) names no metric", name);
	if (rule->n_groups == RULE_MAX_GROUPS)
		return err_set(err, ERR_CONFIG, "more than %d named groups", RULE_MAX_GROUPS);
	rule->groups[rule->n_groups++] = group;
	return 0;
}

static int rule_find_groups(struct rule *rule, struct err *err)
{
	uint32_t count = 0, entry_size = 0;
	PCRE2_SPTR table = NULL;

	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMECOUNT, &count);
	if (count == 0)
		return 0;
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMEENTRYSIZE, &entry_size);
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; i < count; i++, table += entry_size) {
		uint32_t number = (uint32_t)table[0] << 8 | table[1];

		if (rule_add_group(rule, (const char *)table + 2, number, err) != 0)
			return -1;
	}
	return 0;
}

/* The byte that every match begins with, behind the blanks of an indent. */
static bool rule_first_of_head(struct rule *rule)
{
	const struct steps *steps = &rule->steps;
	unsigned char first;

	if (steps->n == 0 || steps->items[0].len == 0)
		return false;
	memcpy(&first, &steps->items[0].word, 1);
	memset(rule->first, 0, sizeof(rule->first));
	rule->first[first / 8] |= (unsigned char)(1U << (first % 8));
	if (steps->indented)
		rule->first[' ' / 8] |= 1U << (' ' % 8);
	return true;
}

/* The bytes that a match of body may begin with, as PCRE2 finds them. */
static void rule_find_first(struct rule *rule, const char *body)
{
	const unsigned char *map = NULL;
	uint32_t type = 0, unit = 0;
	int number;
	size_t at;
	pcre2_code *code =
		pcre2_compile((PCRE2_SPTR)body, PCRE2_ZERO_TERMINATED, 0, &number, &at, NULL);

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

/* What a line must have before PCRE2 is asked, or instead of it. */
static void rule_find_steps(struct rule *rule)
{
	uint32_t options = 0;

	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_ALLOPTIONS, &options);
	memset(rule->first, 0xff, sizeof(rule->first));
	rule->steps.end = STEPS_PART;
	if (rule->pattern[0] != '^' || (options & PCRE2_ANCHORED) == 0 ||
	    !steps_read(&rule->steps, rule->pattern))
		return;
	if (!rule_first_of_head(rule))
		rule_find_first(rule, rule->pattern + 1);
	if (rule->stage_group != 0 || rule->text_group != 0 || rule->mode_group != 0)
		rule->steps.end = STEPS_PART; /* not all groups are numbers */
}

int rule_compile(struct rule *rule, struct err *err)
{
	PCRE2_UCHAR message[160];
	int errorcode;
	size_t at;

	rule->jit = xcalloc(1, sizeof(*rule->jit)); /* JIT_UNTRIED */
	rule->needs_len = rule->needs != NULL ? strlen(rule->needs) : 0;
	rule->code = pcre2_compile((PCRE2_SPTR)rule->pattern, PCRE2_ZERO_TERMINATED, 0, &errorcode,
				   &at, NULL);
	if (rule->code == NULL) {
		(void)pcre2_get_error_message(errorcode, message, sizeof(message));
		return err_set(err, ERR_CONFIG, "the pattern is wrong at character %zu: %s", at,
			       (const char *)message);
	}
	if (rule_find_groups(rule, err) != 0)
		return -1;
	rule_find_steps(rule);
	return 0;
}

enum { JIT_UNTRIED, JIT_READY, JIT_NONE };

bool rule_has_jit(const struct rule *rule)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int state = atomic_load_explicit(rule->jit, memory_order_acquire);

	if (state != JIT_UNTRIED)
		return state == JIT_READY;
	(void)pthread_mutex_lock(&lock);
	state = atomic_load_explicit(rule->jit, memory_order_relaxed);
	if (state == JIT_UNTRIED) {
		state = pcre2_jit_compile(rule->code, PCRE2_JIT_COMPLETE) == 0 ? JIT_READY
									       : JIT_NONE;
		atomic_store_explicit(rule->jit, state, memory_order_release);
	}
	(void)pthread_mutex_unlock(&lock);
	return state == JIT_READY;
}

void rule_release(struct rule *rule)
{
	pcre2_code_free(rule->code);
	free(rule->jit);
	free(rule->name);
	free(rule->pattern);
	free(rule->needs);
	for (size_t i = 0; i < rule->n_names; i++)
		free(rule->names[i].printed);
	free(rule->names);
	steps_release(&rule->steps);
	*rule = (struct rule){ .name = NULL };
}
