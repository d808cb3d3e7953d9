/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>

#include "base/str.h"

/*
 * Growable bytes with a cap given at init.  data is always NUL-ended (the NUL
 * is not counted in len).  What would pass the cap is dropped and `truncated`
 * is set: a buf never grows past cap, whatever is appended.
 */
struct buf {
	char *data; /* owned; "" when nothing was appended yet */
	size_t len;
	size_t room; /* bytes allocated, the NUL included */
	size_t cap;  /* bytes at most, the NUL not included */
	bool truncated;
};

struct buf buf_new(size_t cap_bytes);
void buf_init(struct buf *buf, size_t cap_bytes);
void buf_release(struct buf *buf);
/* A local one that is released where its block ends:
 *	AUTO_BUF text = buf_new(4096); */
#define AUTO_BUF __attribute__((cleanup(buf_release))) struct buf
/* Forget the content, keep the memory and the cap. */
void buf_clear(struct buf *buf);

void buf_append(struct buf *buf, const void *data, size_t len);
void buf_append_str(struct buf *buf, const char *s);
void buf_append_char(struct buf *buf, char c);
void buf_appendf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vappendf(struct buf *buf, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
/* What it holds; borrowed until it changes. */
static inline struct str buf_str(const struct buf *buf)
{
	return (struct str){ buf->data, buf->len };
}
/* Remove the first n bytes (n <= len). */
void buf_consume(struct buf *buf, size_t n);
/* Give the content away (caller frees), leave the buf empty. */
char *buf_detach(struct buf *buf);
