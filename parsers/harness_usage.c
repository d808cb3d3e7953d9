/* SPDX-License-Identifier: MIT */
/* What the agent's program tells of its own cost, at the end of a phase. */
#include "parsers/harness_parts.h"

/* Add what is told; a number below 0 is none. */
static void usage_add(struct harness_number *sum, struct harness_number more)
{
	if (!harness_is_finite(more) || more.value < 0)
		return;
	*sum = harness_number(sum->present ? sum->value + more.value : more.value);
}

static void usage_add_tokens(struct harness_usage *usage, const cJSON *tokens)
{
	static const char *const cached[] = { "cached_input_tokens", "cache_read_input_tokens" };

	usage_add(&usage->input_tokens, harness_number_at(tokens, "input_tokens"));
	usage_add(&usage->output_tokens, harness_number_at(tokens, "output_tokens"));
	for (size_t i = 0; i < 2; i++)
		usage_add(&usage->cached_tokens, harness_number_at(tokens, cached[i]));
}

/*
 * Claude ends with one object of type "result" for all; Codex prints one of
 * type "turn.completed" a turn, so that a text without its start tells too
 * little.
 */
static void usage_read_object(struct harness_usage *usage, const cJSON *object, bool cut)
{
	const char *type = json_get_string(object, "type", "");

	if (strcmp(type, "result") == 0) {
		usage_add(&usage->cost_usd, harness_number_at(object, "total_cost_usd"));
		usage_add(&usage->turns, harness_number_at(object, "num_turns"));
		usage_add_tokens(usage, json_get(object, "usage"));
	} else if (strcmp(type, "turn.completed") == 0 && !cut) {
		usage_add(&usage->turns, harness_number(1));
		usage_add_tokens(usage, json_get(object, "usage"));
	}
}

static void usage_read_text(struct harness_usage *usage, const struct harness_file *file)
{
	struct str rest = { file->text, file->len }, line;
	AUTO_JSON object = json_parse(str_trim(rest), JSON_BARE_TEXT, NULL);

	if (cJSON_IsObject(object))
		usage_read_object(usage, object, file->cut);
	while (object == NULL && str_next(&rest, '\n', &line)) {
		cJSON *node = NULL;

		if (str_find(line, "\"type\"") != NULL)
			node = json_parse(str_trim(line), JSON_BARE_TEXT, NULL);
		usage_read_object(usage, node, file->cut);
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
			usage_read_text(usage, file);
	}
	for (unsigned int k = 1; k <= HARNESS_MAX_ATTEMPTS; k++) {
		file = harness_try_file(b, HARNESS_REPAIR_OUT, number, k);
		if (file != NULL)
			usage_read_text(usage, file);
	}
}

void harness_usage_sum(struct harness_usage *sum, const struct harness_usage *more)
{
	usage_add(&sum->cost_usd, more->cost_usd);
	usage_add(&sum->turns, more->turns);
	usage_add(&sum->input_tokens, more->input_tokens);
	usage_add(&sum->cached_tokens, more->cached_tokens);
	usage_add(&sum->output_tokens, more->output_tokens);
}
