/* SPDX-License-Identifier: MIT */
/* Bytes to lines; the first thing that touches what a pod sends. */
#include "config.h"

#include "parsers/linebuf.h"

#include <string.h>

#include "parsers/bytes16.h"

enum { ESC = 0x1b, BEL = 0x07 };

/*
 * Looked at and taken in one go: little enough to stay in the processor's
 * cache, and no line within it is longer than LINE_MAX_BYTES.
 */
#define PIECE_BYTES 32768U

void
linebuf_init(struct linebuf *lb, segment_fn fn, void *user)
{
	*lb = (struct linebuf){ .fn = fn, .user = user };
	buf_init(&lb->partial, LINE_MAX_BYTES);
	buf_init(&lb->held, LINE_MAX_BYTES);
	buf_init(&lb->clean, LINE_MAX_BYTES);
}

void
linebuf_release(struct linebuf *lb)
{
	buf_release(&lb->partial);
	buf_release(&lb->held);
	buf_release(&lb->clean);
}

/*
 * Length of the escape sequence at s (s.p[0] is ESC): CSI up to its final
 * byte, OSC and other strings up to BEL or ST, else two bytes (ECMA-48).
 */
static size_t
escape_length(struct str s)
{
	size_t i = 2;

	if (s.len < 2)
		return s.len;
	if (s.p[1] == '[') {
		while (i < s.len && s.p[i] >= 0x20 && s.p[i] < 0x40)
			i++;
		return i < s.len ? i + 1 : s.len;
	}
	if (strchr("]PX^_", s.p[1]) != NULL && s.p[1] != '\0') {
		for (; i < s.len; i++) {
			if (s.p[i] == BEL)
				return i + 1;
			if (s.p[i] == ESC)
				return i + 2 < s.len ? i + 2 : s.len;
		}
		return s.len;
	}
	return 2;
}

/* s without escape sequences and NUL bytes, in lb->clean. */
static struct str
clean_text(struct linebuf *lb, struct str s)
{
	buf_clear(&lb->clean);
	while (s.len > 0) {
		size_t n = 1;

		if (s.p[0] == ESC)
			n = escape_length(s);
		else if (s.p[0] != '\0')
			buf_append_char(&lb->clean, s.p[0]);
		s.p += n;
		s.len -= n;
	}
	return (struct str){ lb->clean.data, lb->clean.len };
}

static bool
is_dirty(const void *data, size_t len)
{
	return len > 0 && (memchr(data, ESC, len) != NULL ||
			   memchr(data, '\0', len) != NULL);
}

static void
emit(struct linebuf *lb, struct str raw, bool dirty, bool ends_line)
{
	struct segment segment = { raw, lb->lines + 1, ends_line,
				   ends_line && lb->cut };

	if (dirty)
		segment.text = clean_text(lb, raw);
	if (ends_line)
		lb->lines++;
	lb->fn(lb->user, &segment);
}

/* Give out the segment that waited to see whether LF follows its CR. */
static void
flush_held(struct linebuf *lb, bool ends_line)
{
	lb->has_held = false;
	emit(lb, (struct str){ lb->held.data, lb->held.len },
	     is_dirty(lb->held.data, lb->held.len), ends_line);
}

static void
end_segment(struct linebuf *lb, struct str raw, bool dirty, char end)
{
	if (end == '\n' && raw.len == 0 && lb->has_held) {
		flush_held(lb, true);
		return;
	}
	if (end == '\r' && raw.len == 0)
		return; /* CR CR: what is held is still held */
	if (lb->has_held)
		flush_held(lb, false);
	if (end == '\n') {
		emit(lb, raw, dirty, true);
		return;
	}
	buf_clear(&lb->held);
	buf_append(&lb->held, raw.p, raw.len);
	lb->has_held = raw.len > 0;
}

static void
add_partial(struct linebuf *lb, const char *p, size_t n, bool dirty)
{
	size_t room = LINE_MAX_BYTES - lb->partial.len;

	if (n > room) {
		lb->dropped_bytes += n - room;
		n = room;
	}
	buf_append(&lb->partial, p, n);
	lb->dirty = lb->dirty || dirty;
}

/* A whole piece up to its end, joined with what came before it. */
static void
take_piece(struct linebuf *lb, const char *p, size_t n, bool dirty)
{
	char end = p[n];

	if (lb->partial.len == 0) {
		if (n > LINE_MAX_BYTES) {
			lb->dropped_bytes += n - LINE_MAX_BYTES;
			n = LINE_MAX_BYTES;
		}
		end_segment(lb, (struct str){ p, n }, dirty, end);
		return;
	}
	add_partial(lb, p, n, dirty);
	dirty = lb->dirty;
	end_segment(lb, (struct str){ lb->partial.data, lb->partial.len },
		    dirty, end);
	buf_clear(&lb->partial);
	lb->dirty = false;
}

/* Whether a control other than LF and TAB is there: CR, ESC, NUL .. */
static bool
has_controls(const char *p, size_t len)
{
	bytes16 found = { 0 };
	bool any = false;
	size_t i = 0;

	for (; i + sizeof(found) <= len; i += sizeof(found)) {
		bytes16 v = bytes16_load(p + i);

		found |= (bytes16)((v < 0x20) & (v != '\n') & (v != '\t'));
	}
	for (; i < len; i++)
		any |= (unsigned char)p[i] < 0x20 && p[i] != '\n' &&
		       p[i] != '\t';
	return any || bytes16_any(found);
}

/* Whole lines that the user takes at once; returns where the next begins. */
static const char *
skip_lines(struct linebuf *lb, const char *p, const char *last_lf)
{
	struct str text = { p, (size_t)(last_lf + 1 - p) };

	return p + lb->skip(lb->user, text, &lb->lines);
}

/* The LF or CR that ends the segment at p, or end. */
static const char *
segment_end(const char *p, const char *end, bool has_cr)
{
	const char *lf = memchr(p, '\n', (size_t)(end - p));
	const char *stop = lf != NULL ? lf : end;
	const char *cr = has_cr ? memchr(p, '\r', (size_t)(stop - p)) : NULL;

	return cr != NULL ? cr : stop;
}

/* A piece of the input; `before` are the bytes of the log in front of it. */
static void
feed_piece(struct linebuf *lb, const char *p, size_t len, uint64_t before)
{
	const char *start = p, *end = p + len;
	const char *last_lf = memrchr(p, '\n', len);
	bool controls = has_controls(p, len);
	bool has_cr = controls && memchr(p, '\r', len) != NULL;
	bool dirty = controls && is_dirty(p, len);
	bool may_skip = lb->skip != NULL && !controls && last_lf != NULL;

	while (p < end) {
		const char *stop;

		if (may_skip && p <= last_lf && lb->partial.len == 0 &&
		    !lb->has_held)
			p = skip_lines(lb, p, last_lf);
		stop = segment_end(p, end, has_cr);
		if (stop == end) {
			add_partial(lb, p, (size_t)(end - p), dirty);
			break;
		}
		lb->consumed = before + (uint64_t)(stop + 1 - start);
		take_piece(lb, p, (size_t)(stop - p), dirty);
		p = stop + 1;
	}
}

void
linebuf_feed(struct linebuf *lb, const void *data, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < PIECE_BYTES ? len - at : PIECE_BYTES;
		feed_piece(lb, (const char *)data + at, n, lb->bytes + at);
	}
	lb->bytes += len;
}

void
linebuf_finish(struct linebuf *lb)
{
	lb->consumed = lb->bytes;
	lb->cut = lb->partial.len > 0;
	if (lb->partial.len > 0 || lb->has_held)
		take_piece(lb, "\n", 0, false);
}
