/* SPDX-License-Identifier: MIT */
/* Raw lines of a log as they are shown and searched; for the log view. */
#include "config.h"

#include "model/logtext.h"

#include <string.h>

#include "base/utf8.h"

#define TAB_COLUMNS	  8U
#define CHARACTER_BYTES	  4U
#define MARKS_OF_A_COLUMN 8U /* combining ones, before a line is cut */

/* ESC, intermediates, a final byte; what is none of it stays text. */
static const char *
skip_short(const char *p, const char *end)
{
	while (p < end && *p >= 0x20 && *p <= 0x2F)
		p++;
	return p < end && *p >= 0x30 && *p <= 0x7E ? p + 1 : p;
}

/* CSI: up to its final byte; ESC and what is no ASCII break it. */
static const char *
skip_csi(const char *p, const char *end)
{
	while (p < end && *p != '\033' && (unsigned char)*p < 0x80) {
		if (*p >= 0x40 && *p <= 0x7E)
			return p + 1;
		p++;
	}
	return p;
}

/* A string such as a title: up to BEL or ESC \; another ESC breaks it. */
static const char *
skip_string(const char *p, const char *end)
{
	for (; p < end; p++) {
		if (*p == '\a')
			return p + 1;
		if (*p == '\033')
			return p + 1 < end && p[1] == '\\' ? p + 2 : p;
	}
	return end;
}

/* Behind an escape sequence that begins at p. */
static const char *
skip_escape(const char *p, const char *end)
{
	if (++p >= end)
		return end;
	if (*p == '[')
		return skip_csi(p + 1, end);
	if (*p == ']' || *p == 'P' || *p == '_' || *p == '^' || *p == 'X')
		return skip_string(p + 1, end);
	return skip_short(p, end);
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

/*
 * Append without escape sequences, until out holds so many bytes; *look goes
 * on to the one behind them, and what they begin is noted in runs (NULL: not).
 */
static void
strip_escapes(struct buf *out, struct str s, size_t most, uint8_t *look,
	      struct logsgr_runs *runs)
{
	const char *p = s.p, *end = s.p + s.len;

	while (p < end && out->len < most) {
		const char *escape = memchr(p, '\033', (size_t)(end - p));
		size_t n = (size_t)((escape != NULL ? escape : end) - p);

		buf_append(out, p, n < most - out->len ? n : most - out->len);
		p = escape != NULL ? skip_escape(escape, end) : end;
		if (escape == NULL || look == NULL)
			continue;
		*look = logsgr_behind(
			*look, (struct str){ escape, (size_t)(p - escape) });
		if (runs != NULL)
			logsgr_runs_add(runs, out->len, *look);
	}
}

/*
 * From places in the plain text to those in what is shown of it: there a
 * character is one, too, but a tab is blanks up to the next stop.
 */
static void
move_runs(struct logsgr_runs *runs, struct str plain, struct str shown)
{
	size_t from = 0, to = 0, column = 0, i = 0;

	while (i < runs->n && to < shown.len) {
		uint32_t cp, seen;

		if (runs->v[i].at <= from) {
			runs->v[i++].at = (uint32_t)to;
			continue;
		}
		from += utf8_decode(
			(struct str){ plain.p + from, plain.len - from }, &cp);
		to += utf8_decode((struct str){ shown.p + to, shown.len - to },
				  &seen);
		column += (size_t)utf8_cp_width(seen);
		for (; cp == '\t' && column % TAB_COLUMNS != 0; column++)
			to++;
	}
	runs->n = i;
}

void
logtext_visible(struct buf *out, struct str raw)
{
	strip_escapes(out, last_segment(raw), SIZE_MAX, NULL, NULL);
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

/* Append plain text, at most about `columns` columns of it. */
static void
show_plain(struct buf *out, struct str rest, size_t columns)
{
	size_t column = 0;

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
}

void
logtext_show(struct buf *out, struct str raw, size_t columns,
	     struct logsgr_runs *runs)
{
	size_t most = columns * CHARACTER_BYTES * MARKS_OF_A_COLUMN;
	struct str last = last_segment(raw);
	size_t begin = out->len;
	struct buf plain;
	uint8_t look = 0;

	buf_init(&plain, most + 1);
	if (runs != NULL) {
		/* The look behind what is not shown. */
		strip_escapes(&plain,
			      (struct str){ raw.p, (size_t)(last.p - raw.p) },
			      SIZE_MAX, &look, NULL);
		buf_clear(&plain);
		runs->n = 0;
		logsgr_runs_add(runs, 0, look);
	}
	strip_escapes(&plain, last, most, runs != NULL ? &look : NULL, runs);
	show_plain(out, (struct str){ plain.data, plain.len }, columns);
	if (runs != NULL)
		move_runs(runs, (struct str){ plain.data, plain.len },
			  (struct str){ out->data + begin, out->len - begin });
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
