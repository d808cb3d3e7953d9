/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_LOGTAIL_H
#define HGYM_MODEL_LOGTAIL_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "parsers/format.h"

/*
 * The last lines of a log in bounded memory: at most so many lines, of
 * LOGTAIL_MEAN_BYTES on the average; a line is cut to LOGTAIL_LINE_BYTES.
 */
#define LOGTAIL_MEAN_BYTES 512U
#define LOGTAIL_LINE_BYTES 4096U

struct logtail_line {
	char *text; /* raw bytes, NUL-ended; owned by the tail */
	uint32_t len;
	enum line_class class;
	uint64_t line;	/* 1-based in the file; 0: not known yet */
	uint64_t order; /* of arrival, over all logs of a model */
};

struct logtail;

struct logtail *logtail_new(size_t cap_lines);
void logtail_free(struct logtail *tail);
/* Forget all lines. */
void logtail_clear(struct logtail *tail);
/* Keep at most so many from now on, and as much less of their bytes. */
void logtail_limit(struct logtail *tail, size_t cap_lines);
/* line->text is borrowed, len bytes of it are copied. */
void logtail_push(struct logtail *tail, const struct logtail_line *line);
size_t logtail_count(const struct logtail *tail);
/* i < logtail_count; 0 is the oldest that is kept. */
const struct logtail_line *logtail_at(const struct logtail *tail, size_t i);
/* Lines pushed since the beginning. */
uint64_t logtail_pushed(const struct logtail *tail);

#endif
