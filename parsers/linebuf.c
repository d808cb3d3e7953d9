/* SPDX-License-Identifier: MIT */
/* Bytes to lines; the first thing that touches what a pod sends. */
#include "config.h"

#include "parsers/linebuf.h"

#include <string.h>

enum { ESC = 0x1b, BEL = 0x07 };

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

/* 16 bytes at once, in the compiler's portable notation. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

/* Whether a control other than LF and TAB is there: CR, ESC, NUL .. */
static bool
has_controls(const char *p, size_t len)
{
	bytes16 found = { 0 };
	unsigned char any = 0;
	size_t i = 0;

	for (; i + sizeof(found) <= len; i += sizeof(found)) {
		bytes16 v;

		memcpy(&v, p + i, sizeof(v));
		found |= (bytes16)((v < 0x20) & (v != '\n') & (v != '\t'));
	}
	for (size_t k = 0; k < sizeof(found); k++)
		any |= found[k];
	for (; i < len; i++)
		any |= (unsigned char)p[i] < 0x20 && p[i] != '\n' &&
		       p[i] != '\t';
	return any != 0;
}

void
linebuf_feed(struct linebuf *lb, const void *data, size_t len)
{
	const char *p = data, *end = p + len;
	bool controls = has_controls(p, len);
	bool has_cr = controls && memchr(p, '\r', len) != NULL;
	bool dirty = controls && is_dirty(p, len);

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		const char *stop = lf != NULL ? lf : end;
		const char *cr =
			has_cr ? memchr(p, '\r', (size_t)(stop - p)) : NULL;

		if (cr != NULL)
			stop = cr;
		if (stop == end) {
			add_partial(lb, p, (size_t)(end - p), dirty);
			break;
		}
		lb->consumed =
			lb->bytes + (uint64_t)(stop + 1 - (const char *)data);
		take_piece(lb, p, (size_t)(stop - p), dirty);
		p = stop + 1;
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
