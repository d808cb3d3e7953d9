/* SPDX-License-Identifier: MIT */
/* Text of any width in a place of some; for questions and reports. */
#include "config.h"

#include "ui/fold.h"

#include "base/utf8.h"
#include "ui/theme.h"

/* The bytes of text that fit into so many columns, cut between words. */
static size_t
fit(struct str text, int width)
{
	size_t n = 0, blank = 0;
	int used = 0;

	while (n < text.len) {
		size_t bytes = 1;
		int columns;

		while (n + bytes < text.len &&
		       ((unsigned char)text.p[n + bytes] & 0xC0) == 0x80)
			bytes++;
		columns = (int)utf8_width((struct str){ text.p + n, bytes });
		if (used + columns > width && n > 0)
			return blank > n / 3 ? blank : n;
		used += columns;
		n += bytes;
		if (text.p[n - 1] == ' ')
			blank = n;
	}
	return n;
}

/* Columns that what goes on below a line is set in. */
static int
indent_of(struct str line, int width)
{
	int n = 0;

	while ((size_t)n < line.len && line.p[n] == ' ')
		n++;
	n = n > 0 ? n + 2 : 0;
	return n < width / 3 ? n : 0;
}

int
fold_line(struct canvas *canvas, struct rect r, unsigned int style,
	  struct str line, int top)
{
	int indent = indent_of(line, r.w), x = 0, y = -top;

	do {
		size_t n = fit(line, r.w - x);

		if (canvas != NULL && y >= 0 && y < r.h)
			canvas_line(
				canvas,
				(struct rect){ r.x + x, r.y + y, r.w - x, 1 },
				style, (struct str){ line.p, n });
		line.p += n;
		line.len -= n;
		x = indent;
		y++;
	} while (line.len > 0);
	return y + top;
}

int
fold_draw(struct canvas *canvas, struct rect r, const char *text, int top)
{
	struct str rest = str_from(text), line;
	int y = 0;

	while (str_next(&rest, '\n', &line)) {
		int at = y > top ? y - top : 0;
		struct rect place = { r.x, r.y + at, r.w, r.h - at };

		y += fold_line(canvas, place, STYLE_NORMAL, line,
			       top > y ? top - y : 0);
	}
	return y;
}
