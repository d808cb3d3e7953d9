/* SPDX-License-Identifier: MIT */
/* Recognize documents that quote the lines of a log. */
#include "parsers/document.h"

static bool is_heading(struct str line)
{
	size_t n = 0;

	while (n < line.len && n < 6 && line.p[n] == '#')
		n++;
	return n > 0 && n + 1 < line.len && line.p[n] == ' ' && line.p[n + 1] != ' ';
}

/* "```text", "~~~" */
static bool is_fence(struct str line)
{
	return str_starts_with(line, "```") || str_starts_with(line, "~~~");
}

/* Is the line quoted if it is in a document? A fence is handled by itself. */
static bool is_quote(struct str line)
{
	return line.p[0] == '\t' || line.p[0] == '|' || str_starts_with(line, "    ") ||
	       (line.len > 1 && line.p[1] == ' ' && strchr(">-*", line.p[0]) != NULL);
}

/* Words that end like a sentence or continue one, or many of them. Without a heading, a log may
 * have printed a line with a digit. */
static bool is_sentence(const struct document *d, struct str line)
{
	size_t n_blanks = 0;

	for (size_t i = 0; i < line.len; i++)
		n_blanks += line.p[i] == ' ';
	if (!d->has_heading && (str_has_digit(line) || memchr(line.p, '=', line.len) != NULL))
		return false;
	return line.p[0] != ' ' &&
	       (n_blanks >= 4 || d->state == DOCUMENT_START || d->is_in_sentence ||
		strchr(".:!?", line.p[line.len - 1]) != NULL);
}

bool document_quotes(struct document *d, struct str line)
{
	struct str text = str_trim(line);

	if (d->fence != '\0') {
		if (is_fence(text) && text.p[0] == d->fence)
			d->fence = '\0';
		return true;
	}
	if (text.len == 0) {
		d->is_in_sentence = false;
		d->has_blank = true;
		return false;
	}
	if (d->state == DOCUMENT_FRONT ||
	    (d->state == DOCUMENT_START && str_eq_cstr(text, "---"))) {
		bool is_end = d->state == DOCUMENT_FRONT && str_eq_cstr(text, "---");

		d->state = is_end ? DOCUMENT_START : DOCUMENT_FRONT;
		return false;
	}
	if (d->state == DOCUMENT_TEXT && is_fence(text)) {
		d->fence = text.p[0];
		return true;
	}
	if (d->state == DOCUMENT_TEXT && is_quote(line))
		return d->has_heading && d->has_blank && (d->has_sentence || line.p[0] == '>');
	bool is_ruled = d->is_in_sentence && text.len > 2 && str_has_only(text, "=-");
	d->is_in_sentence = !is_ruled && !is_heading(line) && is_sentence(d, line);
	d->has_heading = d->has_heading || is_ruled || is_heading(line);
	d->has_sentence = (d->has_sentence && !is_ruled) || d->is_in_sentence;
	d->state =
		is_ruled || is_heading(line) || d->is_in_sentence ? DOCUMENT_TEXT : DOCUMENT_NONE;
	return false;
}
