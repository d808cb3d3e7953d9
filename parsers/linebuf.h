/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/*
 * Bytes to lines.  A line ends at LF; CR splits it into segments (progress
 * bars rewrite their line), CR LF is one line end.  ANSI escape sequences and
 * NUL bytes are taken out.  Of a segment LINE_MAX_BYTES are kept, the rest is
 * counted and dropped.  Any cut of the bytes gives the same segments.
 *
 * A user who can take many lines at once sets skip: it is offered whole lines
 * with nothing to take out, and those that it takes are not given as segments.
 */
#define LINE_MAX_BYTES 65536U

struct segment {
	struct str text; /* borrowed for the call */
	uint64_t line;	 /* 1-based; segments of a line share it */
	bool ends_line;	 /* the last segment of its line */
	bool cut;	 /* the input ended before the line did */
};

typedef void (*segment_fn)(void *user, const struct segment *segment);
/*
 * Take some of the lines that text begins with (each ends with its LF):
 * returns their bytes, 0 for none, and adds their number to *lines.
 */
typedef size_t (*skip_fn)(void *user, struct str text, uint64_t *lines);

struct linebuf {
	struct buf partial; /* of the segment under way, raw */
	struct buf held;    /* a segment that ended with CR */
	struct buf clean;   /* scratch of the cleaning */
	bool has_held;
	bool cut; /* partial is the last line, without its LF */
	uint64_t lines, bytes, dropped_bytes;
	uint64_t consumed; /* bytes up to the end of the segment at hand */
	segment_fn fn;
	skip_fn skip; /* NULL: none */
	void *user;
};

void linebuf_init(struct linebuf *lb, segment_fn fn, void *user);
void linebuf_release(struct linebuf *lb);
void linebuf_feed(struct linebuf *lb, const void *data, size_t len);
/* End of input: a last line without its LF counts as a line. */
void linebuf_finish(struct linebuf *lb);
