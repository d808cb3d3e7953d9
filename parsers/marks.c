/* SPDX-License-Identifier: MIT */
/* Search a log for patterns that recognize its subject. */
#include "parsers/marks.h"

#include "base/buf.h"
#include "parsers/scan.h"

#define SOURCE_BYTES (1U << 20)
#define ROWS	     8U
#define OTHER_LINES  1000U

void mark_release(struct mark *mark)
{
	rule_release(&mark->rule);
	free(mark->needs);
}

void mark_set_release(struct mark_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		mark_release(&set->v[i]);
	set->n = 0;
}

int mark_set_add(struct mark_set *set, const struct mark *mark, struct err *err)
{
	if (set->n == MARKS_MAX)
		return err_set(err, ERR_LIMIT, "more than %u patterns", MARKS_MAX);
	struct mark *added = &set->v[set->n++];
	*added = *mark;
	if (rule_compile(&added->rule, mark->is_builtin, err) != 0)
		return -1;
	for (size_t b = 0; b < sizeof(set->first) && !added->in_source; b++)
		set->first[b] |= added->rule.first[b];
	set->most = added->weight > set->most ? added->weight : set->most;
	return 0;
}

void marks_init(struct marks *marks, const struct mark_set *set, struct scanner *scanner)
{
	*marks = (struct marks){ .set = set, .scanner = scanner, .source_left = SOURCE_BYTES };
	for (size_t kind = 0; kind <= RULE_KIND_COUNT; kind++)
		marks->left[kind] = kind < RULE_KIND_COUNT ? ROWS : OTHER_LINES;
}

void marks_read_line(struct marks *marks, struct str line, unsigned int kind)
{
	const struct mark_set *set = marks->set;
	unsigned char first = line.len > 0 ? (unsigned char)line.p[0] : 0;
	uint64_t head = load_word(line.p, line.len);

	if (marks->left[kind] == 0 || !(set->first[first / 8] >> (first % 8) & 1))
		return;
	marks->left[kind]--;
	for (size_t i = 0; i < set->n; i++) {
		const struct mark *mark = &set->v[i];

		if (mark->rule.first[first / 8] >> (first % 8) & 1 &&
		    (head & mark->rule.steps.head_mask) == mark->rule.steps.head &&
		    !marks->found[i] && !mark->in_source &&
		    (mark->needs == NULL || str_find(line, mark->needs) != NULL))
			marks->found[i] = scanner_matches(marks->scanner, &mark->rule, line);
		if (marks->found[i] && mark->weight == set->most)
			memset(marks->left, 0, sizeof(marks->left));
	}
}

void marks_read_source(struct marks *marks, struct str text)
{
	const struct mark_set *set = marks->set;

	text.len = text.len < marks->source_left ? text.len : marks->source_left;
	marks->source_left -= text.len;
	for (size_t i = 0; text.len > 0 && i < set->n; i++) {
		const char *needs = set->v[i].needs;
		const char *at = text.p, *end = text.p + text.len;

		/* Search each line that contains the literal. */
		while (set->v[i].in_source && !marks->found[i] && at < end &&
		       (needs == NULL || (at = str_find(str_between(at, end), needs)) != NULL)) {
			while (at > text.p && at[-1] != '\n')
				at--;
			struct str rest = str_between(at, end), line;
			(void)str_next(&rest, '\n', &line);
			marks->found[i] = scanner_matches(marks->scanner, &set->v[i].rule, line);
			at = line.p + line.len + 1;
		}
	}
}

char *marks_names(const struct marks *marks)
{
	const struct mark_set *set = marks->set;
	AUTO_BUF names = buf_new(4096);
	size_t most = MARKS_ENOUGH;

	if (set->n == 0)
		return NULL;
	for (size_t i = 0; i < set->n;) {
		const char *name = set->v[i].rule.name;
		size_t sum = 0;

		for (; i < set->n && strcmp(set->v[i].rule.name, name) == 0; i++)
			sum += marks->found[i] ? set->v[i].weight : 0;
		if (sum > most)
			buf_clear(&names);
		if (sum >= most)
			buf_appendf(&names, "%s%s", names.len > 0 ? "," : "", name);
		most = sum > most ? sum : most;
	}
	return xstrndup(names.data, names.len);
}
