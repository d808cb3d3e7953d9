/* SPDX-License-Identifier: MIT */
/* Lines to stderr that wait for a slow terminal; see say.h. */
#include "base/say.h"

#include <errno.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/plain.h"
#include "base/utf8.h"

#define WAITING_BYTES (64U << 10)
#define LINE_BYTES    8192U /* maximum length of a line */

static struct buf waiting;
static size_t left_out; /* lines dropped because too many were waiting */

bool say_send(void)
{
	while (waiting.len > 0) {
		ssize_t n = fd_write_now(STDERR_FILENO, waiting.data, waiting.len);

		if (n == 0 || (n < 0 && errno == EAGAIN))
			return false;
		/* Write error: the output has no reader. */
		buf_consume(&waiting, n < 0 ? waiting.len : (size_t)n);
		if (waiting.len == 0 && left_out > 0) {
			buf_appendf(&waiting, "(%zu lines left out)\n", left_out);
			left_out = 0;
		}
	}
	buf_release(&waiting);
	return true;
}

void say_line(const char *line)
{
	if (!isatty(STDERR_FILENO)) {
		(void)fprintf(stderr, "%s\n", line);
		return;
	}
	if (waiting.cap == 0)
		buf_init(&waiting, WAITING_BYTES);
	if (left_out > 0 || waiting.len > WAITING_BYTES - LINE_BYTES) {
		left_out++;
	} else {
		plain_append(&waiting, str_from(line));
		buf_append_char(&waiting, '\n');
	}
	(void)say_send();
}

void say_error(const char *fmt, ...)
{
	AUTO_BUF text = buf_new(4096);

	buf_append_args(&text, fmt);
	AUTO_TEXT clean = utf8_copy(buf_str(&text), 4096);
	(void)fprintf(stderr, "hgym-tui: %s\n", clean);
}
