/* SPDX-License-Identifier: MIT */
/* Text of any width in a place of some; for questions and reports. */
#include "config.h"

#include "ui/fold.h"

/* The bytes of text that fit into so many columns, cut between words. */
static size_t
fold_fit(struct str text, int width)
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
			return text.p[n] == ' ' ? n + 1
			       : blank > n / 3	? blank
						: n;
		used += columns;
		n += bytes;
		if (text.p[n - 1] == ' ')
			blank = n;
	}
	return n;
}

/* Columns that what goes on below a line is set in. */
static int
fold_indent(struct str line, int width)
{
	int n = 0;

	while ((size_t)n < line.len && line.p[n] == ' ')
		n++;
	n = n > 0 ? n + 2 : 0;
	return n < width / 3 ? n : 0;
}

/* One line of it, from its row `top` on; how many rows it has. */
static int
fold_line(struct canvas *canvas, struct rect r, unsigned int style,
	  struct str line, int top)
{
	int indent = fold_indent(line, r.w), x = 0, y = -top;

	do {
		struct str row = { line.p, fold_fit(line, r.w - x) };

		line.p += row.len;
		line.len -= row.len;
		while (row.len > 0 && line.len > 0 && row.p[row.len - 1] == ' ')
			row.len--;
		if (canvas != NULL && y >= 0 && y < r.h)
			canvas_line(
				canvas,
				(struct rect){ r.x + x, r.y + y, r.w - x, 1 },
				style, row);
		x = indent;
		y++;
	} while (line.len > 0);
	return y + top;
}

int
fold_draw(struct canvas *canvas, struct rect r, unsigned int style,
	  struct str text, int top)
{
	struct str line;
	int y = 0;

	while (str_next(&text, '\n', &line)) {
		struct rect place = r;

		(void)rect_take_top(&place, y - top);
		y += fold_line(canvas, place, style, line, int_max(top - y, 0));
	}
	return y;
}
