/* SPDX-License-Identifier: MIT */
/* Growable byte buffers with a cap; used wherever text is built. */
#include "base/buf.h"

#include <assert.h>

static char empty[1];

struct buf buf_new(size_t cap_bytes)
{
	return (struct buf){ .data = empty, .cap = cap_bytes };
}

void buf_init(struct buf *buf, size_t cap_bytes)
{
	*buf = buf_new(cap_bytes);
}

void buf_release(struct buf *buf)
{
	if (buf->room > 0)
		free(buf->data);
	buf_init(buf, buf->cap);
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->truncated = false;
	if (buf->room > 0)
		buf->data[0] = '\0';
}

/* Allocate space for `more` bytes; returns how many of them fit under the cap. */
static size_t buf_reserve(struct buf *buf, size_t more)
{
	size_t room;

	if (more > buf->cap - buf->len) {
		more = buf->cap - buf->len;
		buf->truncated = true;
	}
	if (buf->len + more + 1 <= buf->room)
		return more;
	room = buf->room > 0 ? buf->room * 2 : 64;
	while (room < buf->len + more + 1)
		room *= 2;
	if (room > buf->cap + 1)
		room = buf->cap + 1;
	buf->data = xrealloc(buf->room > 0 ? buf->data : NULL, room);
	buf->room = room;
	buf->data[buf->len] = '\0';
	return more;
}

void buf_append(struct buf *buf, const void *data, size_t len)
{
	len = buf_reserve(buf, len);
	if (len == 0)
		return;
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_append_str(struct buf *buf, const char *s)
{
	buf_append(buf, s, strlen(s));
}

void buf_append_char(struct buf *buf, char c)
{
	if (buf->len + 1 >= buf->room) {
		buf_append(buf, &c, 1);
		return;
	}
	buf->data[buf->len++] = c;
	buf->data[buf->len] = '\0';
}

void buf_vappendf(struct buf *buf, const char *fmt, va_list ap)
{
	char small[256];
	char *text;
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(small, sizeof(small), fmt, ap);
	if (n >= 0 && (size_t)n < sizeof(small)) {
		buf_append(buf, small, (size_t)n);
	} else if (n >= 0) {
		text = xmalloc((size_t)n + 1);
		(void)vsnprintf(text, (size_t)n + 1, fmt, again);
		buf_append(buf, text, (size_t)n);
		free(text);
	}
	va_end(again);
}

void buf_appendf(struct buf *buf, const char *fmt, ...)
{
	buf_append_args(buf, fmt);
}

void buf_consume(struct buf *buf, size_t n)
{
	assert(n <= buf->len);
	if (n == 0)
		return;
	memmove(buf->data, buf->data + n, buf->len - n);
	buf->len -= n;
	buf->data[buf->len] = '\0';
}

char *buf_detach(struct buf *buf)
{
	char *text = buf->room > 0 ? buf->data : xstrdup("");

	buf_init(buf, buf->cap);
	return text;
}
