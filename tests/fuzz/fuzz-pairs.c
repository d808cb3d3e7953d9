/* SPDX-License-Identifier: MIT */
/* Pairs of arbitrary lines are inside the line, and have the meaning that they claim. */
#include "parsers/pairs.h"

#include <math.h>
#include <string.h>

#include "parsers/format.h"
#include "parsers/learn.h"
#include "parsers/meaning.h"
#include "parsers/row.h"
#include "parsers/templates.h"
#include "tests/fuzz/fuzz.h"

static void must_lie_in(struct str part, const char *line, size_t len)
{
	MUST(part.len == 0 || (part.p == NULL) == (part.len == 0));
	if (part.len == 1 && *part.p == 's') /* the result for a duration, set by us */
		return;
	MUST(part.len == 0 || (part.p >= line && part.p + part.len <= line + len));
}

static void check_line(struct str line)
{
	struct pair pairs[PAIRS_MAX];
	size_t n = pairs_read(line, pairs);
	double scale;

	MUST(n <= PAIRS_MAX);
	for (size_t i = 0; i < n; i++) {
		must_lie_in(pairs[i].name, line.p, line.len);
		must_lie_in(pairs[i].unit, line.p, line.len);
		MUST(meaning_of(&pairs[i], &scale) <= METRIC_COUNT);
		MUST(scale > 0);
	}
}

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Check that a line with a known shape is read as it would be alone. */
static void check_shape(struct row_shape *shape, struct str line)
{
	struct pair pairs[PAIRS_MAX];

	if (!row_shape_read(shape, line))
		return;
	MUST(pairs_read(line, pairs) == shape->n);
	for (size_t i = 0; i < shape->n; i++) {
		MUST(str_eq(pairs[i].name, shape->pairs[i].name));
		MUST(str_eq(pairs[i].unit, shape->pairs[i].unit));
		MUST(is_same(pairs[i].value, shape->pairs[i].value));
		MUST(is_same(pairs[i].total, shape->pairs[i].total));
	}
}

struct target {
	uint64_t lines;
	struct learn *learn;
};

static void check_row(void *user, const struct record *record, const struct log_line *place)
{
	struct target *target = user;

	MUST(record->rule->kind == RULE_TRAIN || record->rule->kind == RULE_VAL);
	MUST(record->n_pairs <= PAIRS_MAX);
	MUST(place->line > 0 && place->line <= target->lines);
	learn_row(target->learn, record, place);
}

/* Check that a learned rule file can be loaded. */
static void check_learned(const struct learn *learn)
{
	struct err err = { ERR_NONE, "" };
	struct buf file, report;

	buf_init(&file, 1 << 20);
	buf_init(&report, 1 << 20);
	if (learn_print(learn, "learned", &file, &report) > 0) {
		static struct format_set *set; /* its name replaces the previous set */

		if (set == NULL)
			set = format_set_new_builtin();
		if (format_set_load_text(set, "learned", buf_str(&file), &err) != 0) {
			(void)fprintf(stderr, "%s\n%s\n", err.text, file.data);
			abort();
		}
	}
	buf_release(&file);
	buf_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = { (const char *)data, size }, text;
	struct target target = { 0, learn_new() };
	struct templates *templates = templates_new(check_row, &target);
	struct row_shape *shape = NULL;

	while (size > 0 && str_next(&rest, '\n', &text)) {
		/* An exactly sized copy, so that a read past the end is detected. */
		char *copy = malloc(text.len + 1);
		struct log_line line = { .text = { copy, text.len },
					 .line = ++target.lines,
					 .rank = -1,
					 .plain = true };

		MUST(copy != NULL);
		memcpy(copy, text.p, text.len);
		copy = realloc(copy, text.len > 0 ? text.len : 1);
		MUST(copy != NULL);
		line.text.p = copy;
		check_line(line.text);
		if (shape != NULL)
			check_shape(shape, line.text);
		else
			shape = row_shape_new(line.text, false);
		if (templates_read_similar(templates, &line) == SIMILAR_NONE)
			(void)templates_read(templates, &line);
		free(copy);
	}
	templates_finish(templates);
	templates_free(templates);
	row_shape_free(shape);
	check_learned(target.learn);
	learn_free(target.learn);
	return 0;
}
