/* SPDX-License-Identifier: MIT */
/* Split bytes into lines. This is the first code that handles bytes from a pod. */
#include "parsers/linebuf.h"

#include "base/bytes16.h"

enum { ESC = 0x1b, BEL = 0x07 };

/* Bytes processed at once: they fit in the cache, and no line is longer than LINE_MAX_BYTES. */
#define PIECE_BYTES 32768U

void linebuf_init(struct linebuf *lb, segment_fn fn, void *user)
{
	*lb = (struct linebuf){ .fn = fn, .user = user };
	buf_init(&lb->partial, LINE_MAX_BYTES);
	buf_init(&lb->held, LINE_MAX_BYTES);
	buf_init(&lb->clean, LINE_MAX_BYTES);
}

void linebuf_release(struct linebuf *lb)
{
	buf_release(&lb->partial);
	buf_release(&lb->held);
	buf_release(&lb->clean);
}

/* Return the length of the escape sequence at s (s.p[0] is ESC): CSI up to its final byte, OSC and
 * other strings up to BEL or ST, else two bytes (ECMA-48). */
static size_t escape_length(struct str s)
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

/* Return the number of bytes before the first ESC or NUL of s. */
static size_t plain_length(struct str s)
{
	const char *esc = memchr(s.p, ESC, s.len);
	size_t len = esc != NULL ? (size_t)(esc - s.p) : s.len;
	const char *nul = memchr(s.p, '\0', len);

	return nul != NULL ? (size_t)(nul - s.p) : len;
}

struct str linebuf_clean(struct buf *copy, struct str s)
{
	size_t n = s.len > 0 ? plain_length(s) : 0;

	if (n == s.len)
		return s;
	buf_clear(copy);
	for (;;) {
		buf_append(copy, s.p, n);
		if (n == s.len)
			break;
		s = str_skip(s, n);
		n = s.p[0] == ESC ? escape_length(s) : 1;
		s = str_skip(s, n);
		n = s.len > 0 ? plain_length(s) : 0;
	}
	return buf_str(copy);
}

static void emit_segment(struct linebuf *lb, struct str raw, bool ends_line)
{
	struct segment segment = { linebuf_clean(&lb->clean, raw), lb->lines + 1, ends_line,
				   ends_line && lb->cut };

	lb->lines += ends_line;
	lb->fn(lb->user, &segment);
}

/* Emit the segment that ended with CR, now that the next byte is known. */
static void flush_held(struct linebuf *lb, bool ends_line)
{
	lb->has_held = false;
	emit_segment(lb, buf_str(&lb->held), ends_line);
}

static void end_segment(struct linebuf *lb, struct str raw, char end)
{
	if (end == '\n' && raw.len == 0 && lb->has_held) {
		flush_held(lb, true);
		return;
	}
	if (end == '\r' && raw.len == 0)
		return; /* after CR CR the held segment still waits */
	if (lb->has_held)
		flush_held(lb, false);
	if (end == '\n') {
		emit_segment(lb, raw, true);
		return;
	}
	buf_clear(&lb->held);
	buf_append(&lb->held, raw.p, raw.len);
	lb->has_held = raw.len > 0;
}

static void add_partial(struct linebuf *lb, const char *p, size_t n)
{
	size_t room = LINE_MAX_BYTES - lb->partial.len;

	if (n > room) {
		lb->dropped_bytes += n - room;
		n = room;
	}
	buf_append(&lb->partial, p, n);
}

/* Finish the current segment with the n bytes at p; p[n] is its LF or CR. */
static void finish_segment(struct linebuf *lb, const char *p, size_t n)
{
	if (lb->partial.len == 0 && n <= LINE_MAX_BYTES) {
		end_segment(lb, (struct str){ p, n }, p[n]);
		return;
	}
	add_partial(lb, p, n);
	end_segment(lb, buf_str(&lb->partial), p[n]);
	buf_clear(&lb->partial);
}

/* Feed bytes that may contain CR, escape sequences and a cut line. `before`: bytes before p. */
static void feed_unclean(struct linebuf *lb, const char *p, const char *end, uint64_t before)
{
	const char *start = p;

	for (;;) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		const char *stop = lf != NULL ? lf : end;
		const char *cr = memchr(p, '\r', (size_t)(stop - p));

		stop = cr != NULL ? cr : stop;
		if (stop == end)
			break;
		lb->consumed = before + (uint64_t)(stop + 1 - start);
		finish_segment(lb, p, (size_t)(stop - p));
		p = stop + 1;
	}
	add_partial(lb, p, (size_t)(end - p));
}

/* Which of the 16 bytes at p are control characters other than LF and TAB? */
static bytes16 controls_at(const char *p)
{
	bytes16 v = bytes16_load(p);

	return (bytes16)((v < 0x20) & (v != '\n') & (v != '\t'));
}

/* Find the first control character at p other than LF and TAB, or return end. */
static const char *find_control(const char *p, const char *end)
{
	while (end - p >= 64 && !bytes16_any(controls_at(p) | controls_at(p + 16) |
					     controls_at(p + 32) | controls_at(p + 48)))
		p += 64;
	while (p < end && ((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t'))
		p++;
	return p;
}

/* The fast path: whole lines with nothing to remove. `before`: bytes of the log before the text;
 * `crs`: number of CRs that each line had in the log. */
static void feed_clean(struct linebuf *lb, struct str text, uint64_t before, uint64_t crs)
{
	struct segment segment = { .ends_line = true };
	uint64_t first = lb->lines;
	size_t at = 0;

	while (at < text.len) {
		struct str rest = { text.p + at, text.len - at };

		if (lb->skip != NULL && (at += lb->skip(lb->user, rest, &lb->lines)) == text.len)
			break;
		segment.text.p = text.p + at;
		const char *lf = memchr(segment.text.p, '\n', text.len - at);
		segment.text.len = (size_t)(lf - segment.text.p);
		segment.line = ++lb->lines;
		at += segment.text.len + 1;
		lb->consumed = before + at + crs * (lb->lines - first);
		lb->fn(lb->user, &segment);
	}
}

static bool is_crlf(const char *p, const char *end)
{
	return end - p >= 2 && p[0] == '\r' && p[1] == '\n';
}

/* Feed the lines at p that end with CR LF, without their CRs; returns the start of the rest. */
static const char *feed_crlf(struct linebuf *lb, const char *p, const char *end, uint64_t before)
{
	const char *cr;

	buf_clear(&lb->clean);
	while (is_crlf(cr = find_control(p, end), end) &&
	       memchr(p, '\n', (size_t)(cr - p)) == NULL) {
		buf_append(&lb->clean, p, (size_t)(cr - p));
		buf_append_char(&lb->clean, '\n');
		p = cr + 2;
	}
	feed_clean(lb, buf_str(&lb->clean), before, 1);
	return p;
}

/* Feed a piece of the input: lines without control characters together, the others one by one.
 * `before`: bytes of the log before the piece. */
static void feed_piece(struct linebuf *lb, struct str piece, uint64_t before)
{
	const char *p = piece.p, *end = piece.p + piece.len;

	while (p < end) {
		uint64_t at = before + (uint64_t)(p - piece.p);
		bool fresh = lb->partial.len == 0 && !lb->has_held;
		const char *stop = fresh ? find_control(p, end) : p;
		const char *lf = memrchr(p, '\n', (size_t)(stop - p));

		if (lf != NULL) {
			feed_clean(lb, str_between(p, lf + 1), at, 0);
			p = lf + 1;
		} else if (fresh && is_crlf(stop, end)) {
			p = feed_crlf(lb, p, end, at);
		} else {
			lf = memchr(stop, '\n', (size_t)(end - stop));
			stop = lf != NULL ? lf + 1 : end;
			feed_unclean(lb, p, stop, at);
			p = stop;
		}
	}
}

void linebuf_feed(struct linebuf *lb, const void *data, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < PIECE_BYTES ? len - at : PIECE_BYTES;
		feed_piece(lb, (struct str){ (const char *)data + at, n }, lb->bytes + at);
	}
	lb->bytes += len;
}

void linebuf_finish(struct linebuf *lb)
{
	lb->consumed = lb->bytes;
	lb->cut = lb->partial.len > 0;
	if (lb->partial.len > 0 || lb->has_held)
		finish_segment(lb, "\n", 0);
}
