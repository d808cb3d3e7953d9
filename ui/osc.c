/* SPDX-License-Identifier: MIT */
/* Makes the escape sequences for the clipboard and for notifications. */
#include "ui/osc.h"

#include "base/base64.h"
#include "base/utf8.h"

#define TEXT_BYTES 2048

/* Append a sequence. tmux passes it on only if it is wrapped in a DCS with every ESC doubled. */
static void append_wrapped(struct buf *out, const struct buf *sequence, bool tmux)
{
	if (!tmux) {
		buf_append(out, sequence->data, sequence->len);
		return;
	}
	buf_append_str(out, "\033Ptmux;");
	for (size_t i = 0; i < sequence->len; i++) {
		if (sequence->data[i] == '\033')
			buf_append_char(out, '\033');
		buf_append_char(out, sequence->data[i]);
	}
	buf_append_str(out, "\033\\");
}

int osc_copy(struct buf *out, struct str text, bool tmux)
{
	AUTO_BUF sequence = buf_new(2 * OSC_COPY_MAX_BYTES);

	if (text.len > OSC_COPY_MAX_BYTES)
		return -1;
	buf_append_str(&sequence, "\033]52;c;");
	base64_encode(&sequence, text);
	buf_append_char(&sequence, '\a');
	append_wrapped(out, &sequence, tmux);
	return 0;
}

/* Append text sanitized and without semicolons, which separate fields. */
static void append_field(struct buf *out, struct str text)
{
	size_t from = out->len;

	utf8_sanitize(out, text);
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == ';')
			out->data[i] = ',';
}

void osc_notify(struct buf *out, struct str title, struct str text, bool tmux)
{
	static const char *const forms[][2] = { { "\033]777;notify;", ";" }, { "\033]9;", ": " } };
	AUTO_BUF sequence = buf_new(TEXT_BYTES);

	for (size_t i = 0; i < 2; i++) {
		buf_clear(&sequence);
		buf_append_str(&sequence, forms[i][0]);
		append_field(&sequence, title);
		buf_append_str(&sequence, forms[i][1]);
		append_field(&sequence, text);
		buf_append_char(&sequence, '\a');
		append_wrapped(out, &sequence, tmux);
	}
}
