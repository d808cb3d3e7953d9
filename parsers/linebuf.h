/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Splits bytes into lines. A line ends at LF. CR splits a line into segments, since progress bars
 * rewrite their line; CR LF is one line end. Escape sequences and NUL bytes are removed. The first
 * LINE_MAX_BYTES of a segment are kept, the others are counted and dropped. The segments do not
 * depend on how the input is divided.
 *
 * A caller that can process many lines at once sets skip, which gets whole lines that need no
 * cleaning. Lines that skip consumes are not passed on as segments. */
#define LINE_MAX_BYTES 65536U

struct segment {
	struct str text; /* borrowed for the call */
	uint64_t line;	 /* 1-based; segments of a line share it */
	bool ends_line;	 /* the last segment of its line */
	bool cut;	 /* the input ended before the line did */
};

typedef void (*segment_fn)(void *user, const struct segment *segment);
/* Consume some of the lines that text starts with; each ends with its LF. Returns their bytes, 0
 * for none, and adds their number to *lines. */
typedef size_t (*skip_fn)(void *user, struct str text, uint64_t *lines);

struct linebuf {
	struct buf partial; /* of the current segment, raw */
	struct buf held;    /* a segment that ended with CR */
	struct buf clean;   /* buffer for linebuf_clean */
	bool has_held;
	bool cut; /* partial is the last line, without LF */
	uint64_t lines, bytes, dropped_bytes;
	uint64_t consumed; /* bytes up to the end of the current segment */
	segment_fn fn;
	skip_fn skip; /* NULL: none */
	void *user;
};

void linebuf_init(struct linebuf *lb, segment_fn fn, void *user);
void linebuf_release(struct linebuf *lb);
void linebuf_feed(struct linebuf *lb, const void *data, size_t len);
/* End of input: a last line without LF counts as a line. */
void linebuf_finish(struct linebuf *lb);
/* Return s without escape sequences and NUL bytes; it is copied only if it has any. */
struct str linebuf_clean(struct buf *copy, struct str s);
