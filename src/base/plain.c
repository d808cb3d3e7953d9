/* SPDX-License-Identifier: MIT */
/* Streams for a locale without UTF-8; see plain.h. */
#include "base/plain.h"

#include <langinfo.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/utf8.h"

/* Characters and their nearest ASCII equivalents. */
static const struct {
	uint32_t cp;
	char ascii;
} ascii_forms[] = {
	{ 0xB1, '~' },	 { 0xB7, '.' },	  { 0x2013, '-' }, { 0x2014, '-' }, { 0x2016, 'Z' },
	{ 0x2026, '~' }, { 0x2190, '<' }, { 0x2191, '^' }, { 0x2192, '>' }, { 0x2193, 'v' },
	{ 0x2206, 'd' }, { 0x394, 'd' },  { 0x3A3, 'S' },  { 0x3C3, 's' },  { 0x2212, '-' },
	{ 0x2248, '~' }, { 0x2264, '<' }, { 0x2265, '>' }, { 0x2500, '-' }, { 0x2501, '=' },
	{ 0x2502, '|' }, { 0x2506, ':' }, { 0x2508, '.' }, { 0x254C, '.' }, { 0x2504, '.' },
	{ 0x2524, '|' }, { 0x2588, '#' }, { 0x2591, '.' }, { 0x2592, '+' }, { 0x25B2, '^' },
	{ 0x25BC, 'v' }, { 0x25B6, 'R' }, { 0x25B8, '>' }, { 0x25BE, 'v' }, { 0x25C6, '*' },
	{ 0x2713, 'D' }, { 0x2717, 'X' }, { 0x25CF, 'o' }, { 0x23CE, '~' }, { 0xD7, 'x' },
	{ 0x221E, '8' }, { 0xB0, 'o' },	  { 0x25AA, '#' }, { 0x25CB, 'o' }, { 0x2022, '*' },
	{ 0x250A, ':' }, { 0x251C, '|' }, { 0x2581, '_' }, { 0x2582, '.' }, { 0x2583, '-' },
	{ 0x2584, '=' }, { 0x2585, '+' }, { 0x2586, '*' },
};

char plain_char(uint32_t cp)
{
	if (cp >= 0x20 && cp < 0x7F)
		return (char)cp;
	for (size_t i = 0; i < LENGTH(ascii_forms); i++)
		if (ascii_forms[i].cp == cp)
			return ascii_forms[i].ascii;
	if (cp >= 0x2500 && cp <= 0x257F)
		return '+';
	if (cp >= 0x2580 && cp <= 0x259F)
		return '#';
	if (cp == 0x2800)
		return ' ';
	return cp > 0x2800 && cp <= 0x28FF ? '*' : '?';
}

static void append_ascii(struct buf *out, struct str s, bool is_json)
{
	while (s.len > 0) {
		uint32_t cp;
		size_t n = utf8_decode(s, &cp);
		char like = cp < 0x80 ? (char)cp : plain_char(cp);

		if (cp < 0x80 || (!is_json && like != '?'))
			buf_append_char(out, like);
		else if (cp < 0x10000)
			buf_appendf(out, "\\u%04x", cp);
		else /* a surrogate pair, as in JSON */
			buf_appendf(out, "\\u%04x\\u%04x", 0xD7C0 + (cp >> 10),
				    0xDC00 + (cp & 0x3FF));
		s = str_skip(s, n);
	}
}

static bool is_ascii; /* the locale has no UTF-8 */

void plain_append(struct buf *out, struct str s)
{
	if (is_ascii)
		append_ascii(out, s, false);
	else
		buf_append(out, s.p, s.len);
}

#if HAVE_STDOUT_COOKIE
/* State of the conversion of stdout or stderr. */
struct outlet {
	int fd;
	bool is_raw, is_json, has_begun;
	char torn[4]; /* first bytes of a character whose rest has not been written yet */
	size_t n_torn;
};

/* Number of bytes at the end of s that start a character without completing it. */
static size_t count_torn(struct str s)
{
	for (size_t n = 1; n <= 3 && n <= s.len; n++) {
		unsigned char c = (unsigned char)s.p[s.len - n];

		if (c >= 0xC0)
			return n < (c >= 0xF0 ? 4U : c >= 0xE0 ? 3U : 2U) ? n : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

static ssize_t outlet_write(void *cookie, const char *data, size_t len)
{
	struct outlet *outlet = cookie;
	AUTO_BUF whole = buf_new(len + sizeof(outlet->torn));
	AUTO_BUF text = buf_new(SIZE_MAX / 2);

	if (outlet->is_raw)
		return fd_write_all(outlet->fd, data, len) == 0 ? (ssize_t)len : 0;
	buf_append(&whole, outlet->torn, outlet->n_torn);
	buf_append(&whole, data, len);
	struct str s = buf_str(&whole);
	outlet->n_torn = count_torn(s);
	s.len -= outlet->n_torn;
	memcpy(outlet->torn, s.p + s.len, outlet->n_torn);
	if (!outlet->has_begun && s.len > 0)
		outlet->is_json = s.p[0] == '{';
	outlet->has_begun |= s.len > 0;
	append_ascii(&text, s, outlet->is_json);
	/* stdio expects 0 after an error. */
	return fd_write_all(outlet->fd, text.data, text.len) == 0 ? (ssize_t)len : 0;
}

static struct outlet outlets[2] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };

static void open_outlet(FILE **stream, struct outlet *outlet, int mode)
{
	static const cookie_io_functions_t io = { .write = outlet_write };
	FILE *file = fopencookie(outlet, "w", io);

	if (file == NULL)
		return;
	(void)setvbuf(file, NULL, mode, mode == _IONBF ? 0 : BUFSIZ);
	*stream = file;
}

void plain_streams(void)
{
	is_ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	if (!is_ascii)
		return;
	open_outlet(&stdout, &outlets[0], isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
	open_outlet(&stderr, &outlets[1], _IONBF);
}

void plain_keep_bytes(FILE *stream)
{
	if (stream == stdout)
		outlets[0].is_raw = true;
}
#else
/* With a libc that cannot replace streams, only output to a terminal is converted. */
void plain_streams(void)
{
	is_ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

void plain_keep_bytes(UNUSED FILE *stream)
{
}
#endif
