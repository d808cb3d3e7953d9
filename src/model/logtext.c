/* SPDX-License-Identifier: MIT */
/* Raw lines of a log as they are shown and searched; for the log view. */
#include "config.h"

#include "model/logtext.h"

#include <string.h>

#include "base/utf8.h"

#define TAB_COLUMNS	  8U
#define CHARACTER_BYTES	  4U
#define MARKS_OF_A_COLUMN 8U /* combining ones, before a line is cut */

/* Behind an escape sequence that begins at p. */
static const char *
skip_escape(const char *p, const char *end)
{
	if (++p >= end)
		return end;
	if (*p == '[') {
		for (p++; p < end && (*p < 0x40 || *p > 0x7E); p++)
			;
		return p < end ? p + 1 : end;
	}
	if (*p == ']' || *p == 'P' || *p == '_' || *p == '^' || *p == 'X') {
		for (p++; p < end; p++) {
			if (*p == '\a')
				return p + 1;
			if (*p == '\033')
				return p + 1 < end ? p + 2 : end;
		}
		return end;
	}
	return p + 1;
}

/* What stands behind the last CR that something stands behind. */
static struct str
last_segment(struct str raw)
{
	const char *cr;

	while (raw.len > 0 && raw.p[raw.len - 1] == '\r')
		raw.len--;
	cr = raw.len > 0 ? memrchr(raw.p, '\r', raw.len) : NULL;
	if (cr == NULL)
		return raw;
	return (struct str){ cr + 1, raw.len - (size_t)(cr + 1 - raw.p) };
}

/* Append without escape sequences, until out holds so many bytes. */
static void
strip_escapes(struct buf *out, struct str s, size_t most)
{
	const char *p = s.p, *end = s.p + s.len;

	while (p < end && out->len < most) {
		const char *escape = memchr(p, '\033', (size_t)(end - p));
		size_t n = (size_t)((escape != NULL ? escape : end) - p);

		if (n > most - out->len)
			n = most - out->len;
		buf_append(out, p, n);
		p = escape != NULL ? skip_escape(escape, end) : end;
	}
}

void
logtext_visible(struct buf *out, struct str raw)
{
	strip_escapes(out, last_segment(raw), SIZE_MAX);
}

/* Blanks up to the next stop; returns the column behind them. */
static size_t
append_tab(struct buf *out, size_t column)
{
	do
		buf_append_char(out, ' ');
	while (++column % TAB_COLUMNS != 0);
	return column;
}

void
logtext_show(struct buf *out, struct str raw, size_t columns)
{
	size_t most = columns * CHARACTER_BYTES * MARKS_OF_A_COLUMN;
	size_t column = 0;
	struct buf plain;
	struct str rest;

	buf_init(&plain, most + 1);
	strip_escapes(&plain, last_segment(raw), most);
	rest = (struct str){ plain.data, plain.len };
	while (rest.len > 0 && column < columns) {
		const char *tab = memchr(rest.p, '\t', rest.len);
		struct str piece = { rest.p, tab != NULL
						     ? (size_t)(tab - rest.p)
						     : rest.len };
		size_t whole = piece.len, begin = out->len;

		piece.len = utf8_prefix(piece, columns - column);
		utf8_sanitize(out, piece);
		column += utf8_width(
			(struct str){ out->data + begin, out->len - begin });
		if (piece.len < whole)
			break;
		rest.p += whole;
		rest.len -= whole;
		if (tab == NULL)
			continue;
		column = append_tab(out, column);
		rest.p++;
		rest.len--;
	}
	buf_release(&plain);
}

bool
logtext_is_plain(struct str block)
{
	const char *p = block.p, *end = block.p + block.len;

	if (block.len == 0)
		return true;
	if (memchr(p, '\033', block.len) != NULL)
		return false;
	while ((p = memchr(p, '\r', (size_t)(end - p))) != NULL) {
		if (++p < end && *p != '\n')
			return false;
		if (p >= end)
			break;
	}
	return true;
}
