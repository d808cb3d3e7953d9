/* SPDX-License-Identifier: MIT */
/* Read the cost and token counts that agent programs print at the end of a phase. */
#include "parsers/harness/parts.h"

/* Add a number that is known and not negative. */
static void add_known(struct harness_number *sum, struct harness_number more)
{
	if (!harness_is_finite(more) || more.value < 0)
		return;
	*sum = harness_number(sum->present ? sum->value + more.value : more.value);
}

static void add_tokens(struct harness_usage *usage, const cJSON *tokens)
{
	static const char *const cached[] = { "cached_input_tokens", "cache_read_input_tokens" };

	add_known(&usage->input_tokens, harness_number_at(tokens, "input_tokens"));
	add_known(&usage->output_tokens, harness_number_at(tokens, "output_tokens"));
	for (size_t i = 0; i < 2; i++)
		add_known(&usage->cached_tokens, harness_number_at(tokens, cached[i]));
}

/*
 * Claude prints one object of type "result" at the end, with totals. Codex
 * prints one of type "turn.completed" per turn, so that a text without its
 * start gives too little.
 */
static void add_object(struct harness_usage *usage, const cJSON *object, bool cut)
{
	const char *type = json_get_string(object, "type", "");

	if (strcmp(type, "result") == 0) {
		add_known(&usage->cost_usd, harness_number_at(object, "total_cost_usd"));
		add_known(&usage->turns, harness_number_at(object, "num_turns"));
		add_tokens(usage, json_get(object, "usage"));
	} else if (strcmp(type, "turn.completed") == 0 && !cut) {
		add_known(&usage->turns, harness_number(1));
		add_tokens(usage, json_get(object, "usage"));
	}
}

static void add_file(struct harness_usage *usage, const struct harness_file *file)
{
	struct str rest = { file->text, file->len }, line;
	AUTO_JSON object = json_parse(str_trim(rest), JSON_BARE_TEXT, NULL);

	if (cJSON_IsObject(object))
		add_object(usage, object, file->cut);
	while (object == NULL && str_next(&rest, '\n', &line)) {
		cJSON *node = NULL;

		if (str_find(line, "\"type\"") != NULL)
			node = json_parse(str_trim(line), JSON_BARE_TEXT, NULL);
		add_object(usage, node, file->cut);
		cJSON_Delete(node);
	}
}

void harness_usage_read(struct harness_build *b, struct harness_usage *usage, unsigned int number)
{
	static const enum harness_kind kinds[] = { HARNESS_ATTEMPT_OUT, HARNESS_REFLECTION_OUT,
						   HARNESS_BUILD_OUT };
	const struct harness_file *file;

	for (size_t i = 0; i < LENGTH(kinds); i++) {
		file = harness_run_file(b, kinds[i], number);
		if (file != NULL)
			add_file(usage, file);
	}
	for (unsigned int k = 1; k <= HARNESS_MAX_ATTEMPTS; k++) {
		file = harness_try_file(b, HARNESS_REPAIR_OUT, number, k);
		if (file != NULL)
			add_file(usage, file);
	}
}

void harness_usage_sum(struct harness_usage *sum, const struct harness_usage *more)
{
	add_known(&sum->cost_usd, more->cost_usd);
	add_known(&sum->turns, more->turns);
	add_known(&sum->input_tokens, more->input_tokens);
	add_known(&sum->cached_tokens, more->cached_tokens);
	add_known(&sum->output_tokens, more->output_tokens);
}
