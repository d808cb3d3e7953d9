/* SPDX-License-Identifier: MIT */
/* Lists of facts as text and as Markdown; for every command with a report. */
#include "config.h"

#include "report/facts_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "base/xalloc.h"

#define COLUMNS	   80
#define INDENT	   2
#define LABEL	   17 /* columns of a label, and a blank behind it */
#define GAP	   2  /* between the columns of a table */
#define MAX_VALUE  65536
#define MD_SPECIAL "|\\`*_<"

/* The value and what is remarked of it. */
static void
put_value(struct buf *out, const struct fact *fact)
{
	char text[FACT_SIZE];

	buf_append_str(out, fact_value(fact, text));
	if (fact->note != NULL)
		buf_appendf(out, " (%s)", fact->note);
}

static void
pad(struct buf *out, size_t from, size_t to)
{
	for (; from < to; from++)
		buf_append_char(out, ' ');
}

/* Words from that column on; further lines begin there too. */
static void
put_folded(struct buf *out, const char *text, size_t indent)
{
	struct str rest = str_from(text), word;
	size_t column = indent;

	while (str_next(&rest, ' ', &word)) {
		size_t width = utf8_width(word);

		if (column > indent && column + 1 + width > COLUMNS) {
			buf_append_char(out, '\n');
			pad(out, 0, indent);
			column = indent;
		} else if (column > indent) {
			buf_append_char(out, ' ');
			column++;
		}
		utf8_sanitize(out, word);
		column += width;
	}
	buf_append_char(out, '\n');
}

static void
print_facts(struct buf *out, const struct fact *fact, size_t n)
{
	struct buf value;
	size_t indent = INDENT;

	buf_init(&value, MAX_VALUE);
	for (size_t i = 0; i < n; i++, fact++) {
		size_t width = utf8_width(str_from(fact->label));

		pad(out, 0, INDENT);
		if (width > 0) {
			utf8_sanitize(out, str_from(fact->label));
			indent = INDENT + (width > LABEL ? width : LABEL) + 1;
			pad(out, INDENT + width, indent);
		} else {
			pad(out, INDENT, indent);
		}
		buf_clear(&value);
		put_value(&value, fact);
		put_folded(out, value.data, indent);
	}
	buf_release(&value);
}

/* A cell of a table: a heading, or a fact as text, owned by the caller. */
static char *
cell_text(const struct facts *facts, const struct facts_section *s, size_t cell)
{
	struct buf raw, clean;
	char *text;

	buf_init(&raw, MAX_VALUE);
	buf_init(&clean, MAX_VALUE);
	if (cell < s->n_columns)
		buf_append_str(&raw, s->columns[cell].label);
	else
		put_value(&raw, &facts->v[s->first + cell - s->n_columns]);
	utf8_sanitize(&clean, (struct str){ raw.data, raw.len });
	text = xstrdup(clean.data);
	buf_release(&raw);
	buf_release(&clean);
	return text;
}

static void
print_table(struct buf *out, const struct facts *facts,
	    const struct facts_section *s)
{
	size_t n = s->n_columns, cells = n + s->n;
	size_t *widths = xcalloc(n, sizeof(*widths));
	char **texts = xcalloc(cells, sizeof(*texts));

	for (size_t i = 0; i < cells; i++) {
		size_t width;

		texts[i] = cell_text(facts, s, i);
		width = utf8_width(str_from(texts[i]));
		if (width > widths[i % n])
			widths[i % n] = width;
	}
	for (size_t i = 0; i < cells; i++) {
		size_t width = utf8_width(str_from(texts[i]));
		bool is_text = s->columns[i % n].kind == FMT_TEXT;

		if (i % n == 0)
			pad(out, 0, INDENT);
		if (!is_text)
			pad(out, width, widths[i % n]);
		buf_append_str(out, texts[i]);
		if (is_text && i % n + 1 < n)
			pad(out, width, widths[i % n]);
		/* No blanks at the end of a line. */
		while (i % n + 1 == n && out->len > 0 &&
		       out->data[out->len - 1] == ' ')
			out->data[--out->len] = '\0';
		if (i % n + 1 == n)
			buf_append_char(out, '\n');
		else
			pad(out, 0, GAP);
		free(texts[i]);
	}
	free(texts);
	free(widths);
}

void
facts_print_text(struct buf *out, const struct facts *facts)
{
	for (size_t i = 0; i < facts->n_sections; i++) {
		const struct facts_section *s = &facts->sections[i];

		if (s->n == 0)
			continue;
		if (out->len > 0)
			buf_append_char(out, '\n');
		if (s->title[0] != '\0') {
			utf8_sanitize(out, str_from(s->title));
			buf_append_str(out, "\n\n");
		}
		if (s->columns != NULL)
			print_table(out, facts, s);
		else
			print_facts(out, &facts->v[s->first], s->n);
	}
}

static void
put_md(struct buf *out, const char *text)
{
	struct buf clean;

	buf_init(&clean, MAX_VALUE);
	utf8_sanitize(&clean, str_from(text));
	for (size_t i = 0; i < clean.len; i++) {
		if (strchr(MD_SPECIAL, clean.data[i]) != NULL)
			buf_append_char(out, '\\');
		buf_append_char(out, clean.data[i]);
	}
	buf_release(&clean);
}

/* What is loud is bold. */
static bool
is_bold(const struct fact *fact)
{
	return fact->style == FACT_STRONG || fact->style == FACT_ALARM ||
	       fact->style == FACT_BETTER || fact->style == FACT_WORSE ||
	       fact->style == FACT_DONE;
}

/* A fact with a label is an item of a list, one without a paragraph. */
static void
print_md_fact(struct buf *out, const struct fact *fact)
{
	const char *mark = fact->label[0] == '\0' && is_bold(fact) ? "**" : "";
	struct buf value;

	buf_init(&value, MAX_VALUE);
	put_value(&value, fact);
	if (fact->label[0] != '\0') {
		buf_append_str(out, "- ");
		put_md(out, fact->label);
		buf_append_str(out, ": ");
	}
	buf_append_str(out, mark);
	put_md(out, value.data);
	buf_appendf(out, "%s\n", mark);
	buf_release(&value);
}

static void
print_md_table(struct buf *out, const struct facts *facts,
	       const struct facts_section *s)
{
	size_t n = s->n_columns;

	for (size_t i = 0; i < n + s->n; i++) {
		char *text = cell_text(facts, s, i);

		buf_append_str(out, i % n == 0 ? "| " : " ");
		put_md(out, text);
		buf_append_str(out, i % n + 1 == n ? " |\n" : " |");
		free(text);
		for (size_t k = 0; i + 1 == n && k < n; k++)
			buf_append_str(out, s->columns[k].kind == FMT_TEXT
						    ? "|---"
						    : "|---:");
		if (i + 1 == n)
			buf_append_str(out, "|\n");
	}
}

void
facts_print_md(struct buf *out, const struct facts *facts)
{
	for (size_t i = 0; i < facts->n_sections; i++) {
		const struct facts_section *s = &facts->sections[i];

		if (s->n == 0)
			continue;
		if (out->len > 0)
			buf_append_char(out, '\n');
		if (s->title[0] != '\0') {
			buf_append_str(out, "### ");
			put_md(out, s->title);
			buf_append_str(out, "\n\n");
		}
		if (s->columns != NULL) {
			print_md_table(out, facts, s);
			continue;
		}
		for (size_t k = 0; k < s->n; k++) {
			const struct fact *fact = &facts->v[s->first + k];

			/* Paragraphs stand apart, items do not. */
			if (k > 0 && (fact[0].label[0] == '\0' ||
				      fact[-1].label[0] == '\0'))
				buf_append_char(out, '\n');
			print_md_fact(out, fact);
		}
	}
}
