/* SPDX-License-Identifier: MIT */
/* Recognize documents that quote the lines of a log. */
#include "parsers/document.h"

#include "base/bytes16.h"

/* A longer fenced block is not a quotation: a log may print a single ```. */
#define MOST_FENCED 1000

/* Does the line start or end a block: "```text", "~~~", "<pre>", "</pre>"? */
static bool is_fence(struct str text)
{
	return str_starts_with(text, "```") ||
	       (str_starts_with(text, "~~~") && (text.len < 5 || !str_has_only(text, "~"))) ||
	       (str_starts_with(text, "<pre") && str_find(text, "</pre") == NULL) ||
	       str_starts_with(text, "</pre");
}

/* Is this markup: a tag, a picture, a block of MkDocs, or an item of a numbered list? */
static bool is_markup(struct str text)
{
	return text.p[0] == '<' || str_starts_with(text, "![") || str_starts_with(text, "[![") ||
	       str_starts_with(text, "!!! ") || str_starts_with(text, "=== \"") ||
	       (text.len > 2 && str_is_digit(text.p[0]) && text.p[1] == '.' && text.p[2] == ' ');
}

/* Does the line end like a sentence or continue one? Below a heading, less evidence is enough. */
static bool is_sentence(const struct document *d, struct str line)
{
	bool has_end = strchr(".:!?", line.p[line.len - 1]) != NULL;
	bool has_value = str_has_digit(line) || memchr(line.p, '=', line.len) != NULL;
	bool continues = has_end || d->is_in_sentence;

	if (line.p[0] == ' ' || line.p[0] == '[' || (has_value && !has_end && !d->has_heading))
		return false;
	if (d->has_heading ? continues || !has_value
			   : !has_value && (continues || d->state == DOCUMENT_START))
		return true;
	return bytes16_count(line.p, line.len, ' ') >= 4;
}

bool document_quotes(struct document *d, struct str line)
{
	struct str text = str_trim(line);

	if (d->fence != '\0') {
		bool is_end = ++d->n_fenced > MOST_FENCED;

		if (is_end)
			d->state = DOCUMENT_NONE;
		if (is_end || (is_fence(text) && text.p[0] == d->fence))
			d->fence = '\0';
		return !is_end;
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
		d->n_fenced = 0;
		return true;
	}
	bool is_quote = line.p[0] == '\t' || line.p[0] == '|' || str_starts_with(line, "    ") ||
			(line.len > 1 && line.p[1] == ' ' && strchr(">-*", line.p[0]) != NULL);
	if (d->state == DOCUMENT_TEXT && is_quote)
		return d->has_heading && d->has_blank && (d->has_sentence || line.p[0] == '>');
	bool is_ruled = d->is_in_sentence && text.len > 2 && str_has_only(text, "=-~");
	size_t n = index_of(i, line.len < 6 ? line.len : 6, line.p[i] != '#');
	bool is_title =
		is_ruled || (n > 0 && n + 1 < line.len && line.p[n] == ' ' && line.p[n + 1] != ' ');
	bool is_marked = is_title || is_markup(text);
	d->is_in_sentence = !is_marked && is_sentence(d, line);
	d->has_heading |= is_title;
	d->has_sentence = (d->has_sentence && !is_ruled) || d->is_in_sentence;
	d->state = is_marked || d->is_in_sentence ? DOCUMENT_TEXT : DOCUMENT_NONE;
	return false;
}
