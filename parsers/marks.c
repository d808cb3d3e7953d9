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
	size_t n = set->n++;
	struct mark *added = &set->v[n];
	*added = *mark;
	if (rule_compile(&added->rule, mark->is_builtin, err) != 0)
		return -1;
	added->like = index_of(i, n,
			       mark->needs != NULL && set->v[i].needs != NULL &&
				       strcmp(set->v[i].needs, mark->needs) == 0);
	for (size_t b = 0; b < 256 && !added->in_source; b++)
		if ((added->rule.first[b / 8] >> (b % 8) & 1) != 0)
			set->of_first[b][n / 64] |= UINT64_C(1) << (n % 64);
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
	const uint64_t *candidates = set->of_first[line.len > 0 ? (unsigned char)line.p[0] : 0];
	uint64_t head = load_word(line.p, line.len);
	signed char has_needs[MARKS_MAX]; /* -1: not searched yet */

	if (marks->left[kind] == 0 || !any_of(w, MARKS_MAX / 64, candidates[w] != 0))
		return;
	marks->left[kind]--;
	memset(has_needs, -1, set->n);
	for (size_t w = 0; w < MARKS_MAX / 64; w++) {
		for (uint64_t left = candidates[w]; left != 0; left &= left - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(left);
			const struct mark *mark = &set->v[i];
			signed char *has = &has_needs[mark->like];

			if (marks->found[i] ||
			    (head & mark->rule.steps.head_mask) != mark->rule.steps.head)
				continue;
			if (*has < 0)
				*has = mark->needs == NULL || str_find(line, mark->needs) != NULL;
			marks->found[i] =
				*has > 0 && scanner_matches(marks->scanner, &mark->rule, line);
			if (marks->found[i] && mark->weight == set->most)
				memset(marks->left, 0, sizeof(marks->left));
		}
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
