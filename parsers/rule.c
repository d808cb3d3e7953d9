/* SPDX-License-Identifier: MIT */
/* Compile one rule: its PCRE2 code, the bytes that a match may start with, and its groups. */
#include "parsers/rule.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/xalloc.h"

const char *const rule_kind_names[] = { RULE_KIND_LIST(LIST_NAME) NULL };

const char *const rule_stage_names[] = { RULE_STAGE_LIST(LIST_NAME) NULL };

const char *const rule_last_names[] = { RULE_LAST_LIST(LIST_NAME) NULL };

/* Names of groups whose value is in another unit than the metric. */
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

static int find_groups(struct rule *rule, struct err *err)
{
	static const char *const texts[] = { "stage", "text", "mode", NULL };
	uint32_t *text[] = { &rule->stage_group, &rule->text_group, &rule->mode_group };
	uint32_t count = 0, entry_size = 0;
	PCRE2_SPTR table = NULL;

	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMECOUNT, &count);
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMEENTRYSIZE, &entry_size);
	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; i < count; i++, table += entry_size) {
		const char *name = (const char *)table + 2;
		struct rule_group group = { .number = (uint32_t)table[0] << 8 | table[1] };
		int is_text = str_index(texts, name);

		if (is_text >= 0) {
			*text[is_text] = group.number;
			continue;
		}
		group.metric = rule_metric(name, &group.scale);
		if (group.metric == METRIC_COUNT)
			return err_set(err, ERR_CONFIG, "unknown metric in the group (?<%s>)",
				       name);
		if (rule->n_groups == RULE_MAX_GROUPS)
			return err_set(err, ERR_CONFIG, "more than %d named groups",
				       RULE_MAX_GROUPS);
		rule->groups[rule->n_groups++] = group;
	}
	return 0;
}

/* Let PCRE2 find the bytes that a match may start with. */
static void ask_first_bytes(struct rule *rule)
{
	const unsigned char *map = NULL;
	uint32_t type = 0, unit = 0;
	int number;
	size_t at;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)rule->pattern + 1, PCRE2_ZERO_TERMINATED, 0,
					 &number, &at, NULL);

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

/* Find what a line must start with, and the steps that replace PCRE2 if the pattern is simple. */
static void find_steps(struct rule *rule)
{
	struct steps *steps = &rule->steps;
	uint32_t options = 0;
	unsigned char first;

	(void)pcre2_pattern_info(rule->code, PCRE2_INFO_ALLOPTIONS, &options);
	memset(rule->first, 0xff, sizeof(rule->first));
	steps->end = STEPS_PART;
	if (rule->pattern[0] != '^' || (options & PCRE2_ANCHORED) == 0 ||
	    !steps_read(steps, rule->pattern))
		return;
	if (steps->n == 0 || steps->items[0].len == 0) {
		ask_first_bytes(rule);
	} else { /* the first literal */
		memcpy(&first, &steps->items[0].word, 1);
		memset(rule->first, 0, sizeof(rule->first));
		rule->first[first / 8] |= (unsigned char)(1U << (first % 8));
		if (steps->indented)
			rule->first[' ' / 8] |= 1U << (' ' % 8);
	}
	if (rule->stage_group != 0 || rule->text_group != 0 || rule->mode_group != 0)
		steps->end = STEPS_PART; /* PCRE2 finds texts */
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
		return err_set(err, ERR_CONFIG, "invalid pattern at character %zu: %s", at,
			       (const char *)message);
	}
	if (find_groups(rule, err) != 0)
		return -1;
	find_steps(rule);
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
