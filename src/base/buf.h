/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"
#include "base/xalloc.h"

/* A growable byte buffer with a cap given at init. data always ends with a NUL that len does not
 * count. Bytes beyond the cap are dropped and `truncated` is set: a buf never grows past cap. */
struct buf {
	char *data; /* owned; "" while nothing has been appended */
	size_t len;
	size_t room; /* bytes allocated, including the NUL */
	size_t cap;  /* maximum length, excluding the NUL */
	bool truncated;
};

struct buf buf_new(size_t cap_bytes);
void buf_init(struct buf *buf, size_t cap_bytes);
void buf_release(struct buf *buf);
/* A local buf that is released at the end of its block: AUTO_BUF text = buf_new(4096); */
#define AUTO_BUF __attribute__((cleanup(buf_release))) struct buf
/* Remove the content, keep the memory and the cap. */
void buf_clear(struct buf *buf);

void buf_append(struct buf *buf, const void *data, size_t len);
void buf_append_str(struct buf *buf, const char *s);
void buf_append_char(struct buf *buf, char c);
void buf_appendf(struct buf *buf, const char *fmt, ...) LIKE_PRINTF(2, 3);
void buf_vappendf(struct buf *buf, const char *fmt, va_list ap) LIKE_PRINTF(2, 0);
/* buf_vappendf for a variadic function whose last named parameter is fmt. */
#define buf_append_args(buf, fmt)                 \
	do {                                      \
		va_list args;                     \
		va_start(args, fmt);              \
		buf_vappendf((buf), (fmt), args); \
		va_end(args);                     \
	} while (0)
/* The content; borrowed until the buf changes. */
static inline struct str buf_str(const struct buf *buf)
{
	return (struct str){ buf->data, buf->len };
}
/* Remove the first n bytes (n <= len). */
void buf_consume(struct buf *buf, size_t n);
/* Return the content (the caller frees it) and leave the buf empty. */
char *buf_detach(struct buf *buf);
