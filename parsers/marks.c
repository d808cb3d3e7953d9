/* SPDX-License-Identifier: MIT */
/* Patterns that recognize what a log is of. */
#include "parsers/marks.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/buf.h"
#include "base/xalloc.h"

#define MATCH_LIMIT 100000U
#define DEPTH_LIMIT 1000U

struct mark {
	size_t name; /* index in names */
	char *needs; /* owned; NULL: none */
	char first;  /* the first byte of every match in a line; 0: any */
	bool in_source;
	unsigned int weight;
	pcre2_code *code; /* owned */
};

struct mark_set {
	struct mark marks[MARKS_MAX];
	size_t n;
	char *names[MARK_NAMES_MAX]; /* owned */
	size_t n_names;
	pcre2_match_context *limits;
};

struct marks {
	const struct mark_set *set;
	pcre2_match_data *data;
	bool found[MARKS_MAX];
	bool decided; /* no other name can reach the sum of the first one */
};

struct mark_set *mark_set_new(void)
{
	struct mark_set *set = xcalloc(1, sizeof(*set));

	set->limits = pcre2_match_context_create(NULL);
	(void)pcre2_set_match_limit(set->limits, MATCH_LIMIT);
	(void)pcre2_set_depth_limit(set->limits, DEPTH_LIMIT);
	return set;
}

void mark_set_free(struct mark_set *set)
{
	if (set == NULL)
		return;
	for (size_t i = 0; i < set->n; i++) {
		pcre2_code_free(set->marks[i].code);
		free(set->marks[i].needs);
	}
	for (size_t i = 0; i < set->n_names; i++)
		free(set->names[i]);
	pcre2_match_context_free(set->limits);
	free(set);
}

int mark_set_add(struct mark_set *set, const char *name, const struct mark_text *text,
		 struct err *err)
{
	size_t k = 0;
	PCRE2_UCHAR why[256];
	PCRE2_SIZE at = 0;
	int number = 0;

	while (k < set->n_names && strcmp(set->names[k], name) != 0)
		k++;
	if (set->n == MARKS_MAX || k == MARK_NAMES_MAX)
		return err_set(err, ERR_LIMIT, "at most %u tracks with %u patterns together",
			       MARK_NAMES_MAX, MARKS_MAX);
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text->match, PCRE2_ZERO_TERMINATED,
					 PCRE2_NEVER_BACKSLASH_C, &number, &at, NULL);
	if (code == NULL) {
		(void)pcre2_get_error_message(number, why, sizeof(why));
		return err_set(err, ERR_CONFIG, "invalid pattern: %s at character %zu of \"%s\"",
			       (const char *)why, (size_t)at + 1, text->match);
	}
	if (k == set->n_names)
		set->names[set->n_names++] = xstrdup(name);
	char first = text->match[0] == '^' ? text->match[1] : '\0';
	bool is_letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
	set->marks[set->n++] = (struct mark){
		.name = k,
		.needs = xstrdup_null(text->needs),
		.first = is_letter && strchr(text->match, '|') == NULL ? first : '\0',
		.in_source = text->in_source,
		.weight = text->weight,
		.code = code,
	};
	return 0;
}

struct marks *marks_new(const struct mark_set *set)
{
	struct marks *marks = xcalloc(1, sizeof(*marks));

	marks->set = set;
	if (set != NULL)
		marks->data = pcre2_match_data_create(1, NULL);
	marks_reset(marks);
	return marks;
}

void marks_free(struct marks *marks)
{
	if (marks == NULL)
		return;
	pcre2_match_data_free(marks->data);
	free(marks);
}

void marks_reset(struct marks *marks)
{
	memset(marks->found, 0, sizeof(marks->found));
	marks->decided = marks->set == NULL || marks->set->n == 0;
}

/* The sum of the weights of a name: of the marks found, or of all. */
static unsigned int sum_of(const struct marks *marks, size_t name, bool all)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < marks->set->n; i++)
		if (marks->set->marks[i].name == name && (all || marks->found[i]))
			sum += marks->set->marks[i].weight;
	return sum;
}

static unsigned int best_sum(const struct marks *marks, size_t *best)
{
	unsigned int most = 0;

	for (size_t k = 0; k < marks->set->n_names; k++) {
		unsigned int sum = sum_of(marks, k, false);

		if (sum > most) {
			most = sum;
			*best = k;
		}
	}
	return most;
}

static void note_found(struct marks *marks, size_t i)
{
	size_t best = 0;

	marks->found[i] = true;
	unsigned int most = best_sum(marks, &best);
	marks->decided = most >= MARKS_ENOUGH;
	for (size_t k = 0; k < marks->set->n_names; k++)
		marks->decided &= k == best || sum_of(marks, k, true) < most;
}

static bool is_match(const struct marks *marks, const struct mark *mark, struct str line)
{
	return pcre2_match(mark->code, (PCRE2_SPTR)line.p, line.len, 0, 0, marks->data,
			   marks->set->limits) >= 0;
}

void marks_read_line(struct marks *marks, struct str line)
{
	const struct mark_set *set = marks->set;

	for (size_t i = 0; !marks->decided && line.len > 0 && i < set->n; i++) {
		const struct mark *mark = &set->marks[i];

		if (mark->in_source || marks->found[i] ||
		    (mark->first != '\0' && mark->first != line.p[0]) ||
		    (mark->needs != NULL && str_find(line, mark->needs) == NULL))
			continue;
		if (is_match(marks, mark, line))
			note_found(marks, i);
	}
}

void marks_read_source(struct marks *marks, struct str text)
{
	const struct mark_set *set = marks->set;

	for (size_t i = 0; !marks->decided && i < set->n; i++) {
		const struct mark *mark = &set->marks[i];
		struct str rest = text, line;

		if (!mark->in_source || marks->found[i] ||
		    (mark->needs != NULL && str_find(text, mark->needs) == NULL))
			continue;
		while (!marks->found[i] && str_next(&rest, '\n', &line))
			if (line.len > 0 && is_match(marks, mark, line))
				note_found(marks, i);
	}
}

char *marks_names(const struct marks *marks)
{
	AUTO_BUF names = buf_new(4096);
	size_t best;

	if (marks->set == NULL || marks->set->n == 0)
		return NULL;
	unsigned int most = best_sum(marks, &best);
	for (size_t k = 0; most >= MARKS_ENOUGH && k < marks->set->n_names; k++)
		if (sum_of(marks, k, false) == most)
			buf_appendf(&names, "%s%s", names.len > 0 ? "," : "", marks->set->names[k]);
	return xstrndup(names.data, names.len);
}
