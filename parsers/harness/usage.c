/* SPDX-License-Identifier: MIT */
/* Read the cost and token counts that agent programs print at the end of a phase. */
#include "parsers/harness/parts.h"

/* Add a number to the sum, unless it is unknown or negative. */
static void add_known(struct harness_number *sum, struct harness_number more)
{
	if (!harness_is_finite(more) || more.value < 0)
		return;
	*sum = harness_number(sum->present ? sum->value + more.value : more.value);
}

/* Claude reports input that it writes to its cache separately from other input. */
static void add_tokens(union harness_usage *usage, const cJSON *tokens)
{
	const struct {
		struct harness_number *sum;
		const char *key;
	} parts[] = {
		{ &usage->input_tokens, "input_tokens" },
		{ &usage->input_tokens, "cache_creation_input_tokens" },
		{ &usage->output_tokens, "output_tokens" },
		{ &usage->cached_tokens, "cached_input_tokens" },
		{ &usage->cached_tokens, "cache_read_input_tokens" },
	};

	for (size_t i = 0; i < LENGTH(parts); i++)
		add_known(parts[i].sum, harness_number_at(tokens, parts[i].key));
}

/* Claude prints one object of type "result" at the end, with totals. Codex prints an object of type
 * "turn.completed" per turn, so the sum over a text without its start is too small. */
static void add_object(union harness_usage *usage, const cJSON *object, bool cut)
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

static void add_grouped(struct harness_number *sum, struct str text)
{
	struct harness_number number = { false, 0 };

	for (size_t i = 0; i < text.len; i++) {
		if (str_is_digit(text.p[i]))
			number = harness_number(number.value * 10 + text.p[i] - '0');
		else if (strchr(":, ", text.p[i]) == NULL)
			break;
	}
	add_known(sum, number);
}

/* Add the usage that a file reports; file can be NULL. */
static void add_file(union harness_usage *usage, const struct harness_file *file)
{
	struct str rest, line;

	if (file == NULL)
		return;
	rest = (struct str){ file->text, file->len };
	AUTO_JSON object = json_parse(str_trim(rest), JSON_BARE_TEXT, NULL);

	if (cJSON_IsObject(object))
		add_object(usage, object, file->cut);
	while (object == NULL && str_next(&rest, '\n', &line)) {
		const char *used = str_find(line, "tokens used");

		/* Codex without --json: "tokens used: 12,345", or the number on the next line. */
		if (used != NULL) {
			struct str text = str_trim(str_between(used + 11, line.p + line.len));
			if (text.len == 0)
				(void)str_next(&rest, '\n', &text);
			add_grouped(&usage->all_tokens, text);
		}
		if (str_find(line, "\"type\"") == NULL)
			continue;
		AUTO_JSON node = json_parse(str_trim(line), JSON_BARE_TEXT, NULL);
		add_object(usage, node, file->cut);
	}
}

void harness_usage_read(struct harness_build *b, union harness_usage *usage, unsigned int number)
{
	static const enum harness_kind kinds[] = { HARNESS_ATTEMPT_OUT,	   HARNESS_REFLECTION_OUT,
						   HARNESS_BUILD_OUT,	   HARNESS_ATTEMPT_ERR,
						   HARNESS_REFLECTION_ERR, HARNESS_BUILD_ERR };

	for (size_t i = 0; i < LENGTH(kinds); i++)
		add_file(usage, harness_run_file(b, kinds[i], number));
	for (unsigned int k = 1; k <= HARNESS_MAX_ATTEMPTS; k++)
		add_file(usage, harness_try_file(b, HARNESS_REPAIR_OUT, number, k));
}

void harness_usage_sum(union harness_usage *sum, const union harness_usage *more)
{
	for (size_t i = 0; i < LENGTH(sum->all); i++)
		add_known(&sum->all[i], more->all[i]);
}
