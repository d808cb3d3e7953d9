/* SPDX-License-Identifier: MIT */
/* Draws into a grid of cells, with clipping, wide characters and wrapping, and dumps the result. */
#include "ui/canvas.h"

#include <assert.h>

#include "base/plain.h"
#include "ui/theme.h"

#define LINE_BYTES     8192
#define PICTURE_PIXELS (12U << 20) /* total of all pictures; more than 3840x2160 */

void canvas_init(struct canvas *canvas)
{
	memset(canvas, 0, sizeof(*canvas));
}

static void canvas_drop_pictures(struct canvas *canvas)
{
	while (canvas->n_pictures > 0)
		free(canvas->pictures[--canvas->n_pictures].inks);
}

void canvas_release(struct canvas *canvas)
{
	canvas_drop_pictures(canvas);
	free(canvas->cells);
	canvas_init(canvas);
}

void canvas_clear(struct canvas *canvas)
{
	size_t n = (size_t)canvas->width * (size_t)canvas->height;

	canvas_drop_pictures(canvas);
	canvas->clip = (struct rect){ 0, 0, canvas->width, canvas->height };
	for (size_t i = 0; i < n; i++)
		canvas->cells[i] = (struct cell){ ' ', 0, STYLE_NORMAL };
}

void canvas_resize(struct canvas *canvas, int width, int height)
{
	assert(width >= 0 && width <= CANVAS_MAX_SIDE);
	assert(height >= 0 && height <= CANVAS_MAX_SIDE);
	canvas->width = width;
	canvas->height = height;
	canvas->cells = xreallocarray(canvas->cells, (size_t)width * (size_t)height + 1,
				      sizeof(*canvas->cells));
	canvas_clear(canvas);
}

bool rect_has(const struct rect *r, int x, int y)
{
	return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}

struct rect rect_take_top(struct rect *rest, int h)
{
	struct rect top = *rest;

	top.h = int_max(int_min(h, rest->h), 0);
	rest->y += top.h;
	rest->h -= top.h;
	return top;
}

struct rect rect_take_bottom(struct rect *rest, int h)
{
	struct rect top = rect_take_top(rest, rest->h - h), bottom = *rest;

	*rest = top;
	return bottom;
}

struct rect rect_take_left(struct rect *rest, int w)
{
	struct rect left = *rest;

	left.w = int_max(int_min(w, rest->w), 0);
	rest->x += left.w;
	rest->w -= left.w;
	return left;
}

struct rect canvas_clip(struct canvas *canvas, struct rect rect)
{
	struct rect before = canvas->clip;
	int right = int_min(rect.x + rect.w, before.x + before.w);
	int bottom = int_min(rect.y + rect.h, before.y + before.h);

	canvas->clip.x = int_max(rect.x, before.x);
	canvas->clip.y = int_max(rect.y, before.y);
	canvas->clip.w = int_max(right - canvas->clip.x, 0);
	canvas->clip.h = int_max(bottom - canvas->clip.y, 0);
	return before;
}

static struct cell *cell_at(const struct canvas *canvas, int x, int y)
{
	return &canvas->cells[(size_t)y * (size_t)canvas->width + (size_t)x];
}

const struct cell *canvas_at(const struct canvas *canvas, int x, int y)
{
	assert(x >= 0 && x < canvas->width && y >= 0 && y < canvas->height);
	return cell_at(canvas, x, y);
}

/* The cell is about to be overwritten: if it is half of a wide character, blank the other half. */
static void blank_other_half(struct canvas *canvas, int x, int y)
{
	struct cell *cell = cell_at(canvas, x, y);

	if (cell->cp == 0 && x > 0)
		*cell_at(canvas, x - 1, y) = (struct cell){ ' ', 0, cell->style };
	if (x + 1 < canvas->width && cell_at(canvas, x + 1, y)->cp == 0)
		*cell_at(canvas, x + 1, y) = (struct cell){ ' ', 0, cell->style };
}

/* Could a terminal act on the character instead of showing it? */
static bool is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0xAD ||
	       (cp >= 0x200B && cp <= 0x200F) || (cp >= 0x2028 && cp <= 0x202E) ||
	       (cp >= 0x2060 && cp <= 0x206F) || cp == 0xFEFF || (cp >= 0xFFF9 && cp <= 0xFFFB) ||
	       cp >= 0xE0000;
}

void canvas_put(struct canvas *canvas, int x, int y, unsigned int style, uint32_t cp)
{
	if (is_control(cp))
		cp = 0xB7;
	if (!rect_has(&canvas->clip, x, y))
		return;
	blank_other_half(canvas, x, y);
	*cell_at(canvas, x, y) = (struct cell){ cp, 0, (uint16_t)style };
	if (utf8_cp_width(cp) < 2)
		return;
	if (!rect_has(&canvas->clip, x + 1, y)) {
		cell_at(canvas, x, y)->cp = ' ';
		return;
	}
	blank_other_half(canvas, x + 1, y);
	cell_at(canvas, x, y)->cp = cp;
	*cell_at(canvas, x + 1, y) = (struct cell){ 0, 0, (uint16_t)style };
}

/* Draw s from column x; returns the column after it. */
static int draw_str(struct canvas *canvas, int x, int y, unsigned int style, struct str s)
{
	while (s.len > 0) {
		uint32_t cp;

		s = str_skip(s, utf8_decode(s, &cp));
		if (cp == '\t')
			cp = ' ';
		int width = is_control(cp) ? 1 : utf8_cp_width(cp);
		if (width > 0)
			canvas_put(canvas, x, y, style, cp);
		else if (x > 0 && rect_has(&canvas->clip, x - 1, y) &&
			 cell_at(canvas, x - 1, y)->cp > ' ')
			cell_at(canvas, x - 1, y)->mark = cp;
		x += width;
	}
	return x;
}

int canvas_text(struct canvas *canvas, int x, int y, unsigned int style, const char *text)
{
	return draw_str(canvas, x, y, style, str_from(text)) - x;
}

int canvas_textf(struct canvas *canvas, int x, int y, unsigned int style, const char *fmt, ...)
{
	int columns, end = canvas->clip.x + canvas->clip.w;
	AUTO_BUF text = buf_new(LINE_BYTES);

	buf_append_args(&text, fmt);
	columns = canvas_text(canvas, x, y, style, text.data);
	/* A number that is cut off must not look like another number. */
	if (x < end && x + columns > end)
		canvas_put(canvas, end - 1, y, style, 0x2026);
	return columns;
}

/* Count the columns that draw_str needs for s, but stop after `most`. */
static int count_columns(struct str s, int most)
{
	int columns = 0;

	while (s.len > 0 && columns <= most) {
		uint32_t cp;

		s = str_skip(s, utf8_decode(s, &cp));
		columns += is_control(cp) ? 1 : utf8_cp_width(cp);
	}
	return columns;
}

void canvas_line(struct canvas *canvas, struct rect rect, unsigned int style, struct str text)
{
	if (rect.w <= 0)
		return;
	struct rect before = canvas_clip(canvas, rect);
	if (count_columns(text, rect.w) <= rect.w) {
		(void)draw_str(canvas, rect.x, rect.y, style, text);
	} else {
		struct rect whole =
			canvas_clip(canvas, (struct rect){ rect.x, rect.y, rect.w - 1, 1 });

		(void)draw_str(canvas, rect.x, rect.y, style, text);
		canvas->clip = whole;
		canvas_put(canvas, rect.x + rect.w - 1, rect.y, style, 0x2026);
	}
	canvas->clip = before;
}

void canvas_print(struct canvas *canvas, struct rect rect, unsigned int style, const char *fmt, ...)
{
	AUTO_BUF text = buf_new(LINE_BYTES);

	buf_append_args(&text, fmt);
	canvas_line(canvas, rect, style, buf_str(&text));
}

void canvas_print_top(struct canvas *canvas, struct rect *rest, unsigned int style, const char *fmt,
		      ...)
{
	struct rect line = rect_take_top(rest, 1);
	AUTO_BUF text = buf_new(LINE_BYTES);

	buf_append_args(&text, fmt);
	if (line.h > 0)
		canvas_line(canvas, line, style, buf_str(&text));
}

void canvas_elide(struct str text, int width, struct buf *out)
{
	size_t columns = utf8_width(text), tail = (size_t)width / 2;
	struct str start = text;

	if (columns <= (size_t)width || width < 3) {
		buf_append(out, text.p, text.len);
		return;
	}
	start.len = utf8_prefix(text, (size_t)width - tail - 1);
	text = str_skip(text, utf8_prefix(text, columns - tail));
	/* The cut may be in the middle of a wide character. */
	text = str_skip(text, utf8_width(text) > tail ? utf8_prefix(text, 2) : 0);
	/* A part of the text may have been replaced by "…" before. */
	start.len -= str_ends_with(start, "…") ? strlen("…") : 0;
	text = str_skip(text, str_starts_with(text, "…") ? strlen("…") : 0);
	buf_appendf(out, "%.*s…%.*s", (int)start.len, start.p, (int)text.len, text.p);
}

void canvas_line_elided(struct canvas *canvas, struct rect rect, unsigned int style,
			struct str text)
{
	AUTO_BUF line = buf_new(LINE_BYTES);

	canvas_elide(text, rect.w, &line);
	canvas_line(canvas, rect, style, buf_str(&line));
}

void canvas_line_right(struct canvas *canvas, struct rect rect, unsigned int style, struct str text)
{
	int columns = count_columns(text, rect.w);
	int free_columns = int_max(rect.w - columns, 0);

	rect.x += free_columns;
	rect.w -= free_columns;
	canvas_line(canvas, rect, style, text);
}

/* Return how many bytes of text go into a row of this width. The row ends after a blank, unless
 * that would leave more than two thirds of it empty. */
static size_t find_break(struct str text, int width)
{
	size_t n = 0, blank = 0;
	int used = 0;

	while (n < text.len) {
		size_t bytes = 1;

		while (n + bytes < text.len && ((unsigned char)text.p[n + bytes] & 0xC0) == 0x80)
			bytes++;
		int columns = (int)utf8_width((struct str){ text.p + n, bytes });
		if (used + columns > width && n > 0)
			return text.p[n] == ' ' ? n + 1 : blank > n / 3 ? blank : n;
		used += columns;
		n += bytes;
		if (text.p[n - 1] == ' ')
			blank = n;
	}
	return n;
}

/* Draw the rows of a wrapped line of text from row `top` on; returns its total number of rows. */
static int wrap_line(struct canvas *canvas, struct rect r, unsigned int style, struct str line,
		     int top)
{
	int indent = 0, x = 0, y = -top;

	/* Indent the next rows of an indented line two columns more. */
	while ((size_t)indent < line.len && line.p[indent] == ' ')
		indent++;
	indent += indent > 0 ? 2 : 0;
	if (indent >= r.w / 3)
		indent = 0;
	do {
		struct str row = { line.p, find_break(line, r.w - x) };

		line = str_skip(line, row.len);
		while (row.len > 0 && line.len > 0 && row.p[row.len - 1] == ' ')
			row.len--;
		if (canvas != NULL && y >= 0 && y < r.h)
			canvas_line(canvas, (struct rect){ r.x + x, r.y + y, r.w - x, 1 }, style,
				    row);
		x = indent;
		y++;
	} while (line.len > 0);
	return y + top;
}

int canvas_wrap(struct canvas *canvas, struct rect r, unsigned int style, struct str text, int top)
{
	struct str line;
	int y = 0;

	while (str_next(&text, '\n', &line)) {
		struct rect place = r;

		(void)rect_take_top(&place, y - top);
		y += wrap_line(canvas, place, style, line, int_max(top - y, 0));
	}
	return y;
}

void canvas_fill(struct canvas *canvas, struct rect rect, unsigned int style, uint32_t cp)
{
	struct rect before = canvas_clip(canvas, rect), clip = canvas->clip;

	for (int y = clip.y; y < clip.y + clip.h; y++)
		for (int x = clip.x; x < clip.x + clip.w; x++)
			if (cp != 0)
				canvas_put(canvas, x, y, style, cp);
			else
				cell_at(canvas, x, y)->style = (uint16_t)style;
	canvas->clip = before;
}

struct picture *canvas_picture(struct canvas *canvas, struct rect rect)
{
	struct picture *picture = &canvas->pictures[canvas->n_pictures];
	size_t w = (size_t)rect.w * (size_t)canvas->cell_w;
	size_t h = (size_t)rect.h * (size_t)canvas->cell_h, all = 0;

	for (size_t i = 0; i < canvas->n_pictures; i++)
		all += (size_t)canvas->pictures[i].w * (size_t)canvas->pictures[i].h;
	if (w * h == 0 || w * h + all > PICTURE_PIXELS ||
	    canvas->n_pictures == CANVAS_MAX_PICTURES || !rect_has(&canvas->clip, rect.x, rect.y) ||
	    !rect_has(&canvas->clip, rect.x + rect.w - 1, rect.y + rect.h - 1))
		return NULL;
	canvas_fill(canvas, rect, STYLE_NORMAL, PICTURE_CELL);
	*picture = (struct picture){ rect, (int)w, (int)h, xcalloc(h, w) };
	canvas->n_pictures++;
	return picture;
}

struct rect canvas_box(struct canvas *canvas, struct rect r, const char *fmt, ...)
{
	int right = r.x + r.w - 1, bottom = r.y + r.h - 1;
	struct rect inside = { r.x + 2, r.y + 1, r.w - 4, r.h - 2 };
	AUTO_BUF title = buf_new(LINE_BYTES);

	if (r.w < 2 || r.h < 2)
		return inside;
	for (int x = r.x + 1; x < right; x++) {
		canvas_put(canvas, x, r.y, STYLE_BORDER, 0x2500);
		canvas_put(canvas, x, bottom, STYLE_BORDER, 0x2500);
	}
	for (int y = r.y + 1; y < bottom; y++) {
		canvas_put(canvas, r.x, y, STYLE_BORDER, 0x2502);
		canvas_put(canvas, right, y, STYLE_BORDER, 0x2502);
	}
	canvas_put(canvas, r.x, r.y, STYLE_BORDER, 0x250C);
	canvas_put(canvas, right, r.y, STYLE_BORDER, 0x2510);
	canvas_put(canvas, r.x, bottom, STYLE_BORDER, 0x2514);
	canvas_put(canvas, right, bottom, STYLE_BORDER, 0x2518);
	if (r.w <= 6)
		return inside;
	buf_append_args(&title, fmt);
	/* Draw the title in the upper edge, between two blanks. */
	r = (struct rect){ r.x + 3, r.y, int_min(text_width(title.data), r.w - 6), 1 };
	canvas_line(canvas, r, STYLE_TITLE, str_from(title.data));
	canvas_put(canvas, r.x - 1, r.y, STYLE_BORDER, ' ');
	canvas_put(canvas, r.x + r.w, r.y, STYLE_BORDER, ' ');
	return inside;
}

void canvas_dump(const struct canvas *canvas, bool ascii, struct buf *out)
{
	AUTO_BUF line = buf_new(CANVAS_MAX_SIDE * 8);
	char bytes[4];

	for (int y = 0; y < canvas->height; y++) {
		buf_clear(&line);
		for (int x = 0; x < canvas->width; x++) {
			const struct cell *cell = cell_at(canvas, x, y);

			if (ascii) {
				buf_append_char(&line, cell->cp == 0 ? ' ' : plain_char(cell->cp));
				continue;
			}
			if (cell->cp == 0)
				continue;
			buf_append(&line, bytes, utf8_encode(cell->cp, bytes));
			if (cell->mark != 0)
				buf_append(&line, bytes, utf8_encode(cell->mark, bytes));
		}
		size_t end = line.len;
		while (end > 0 && line.data[end - 1] == ' ')
			end--;
		buf_append(out, line.data, end);
		buf_append_char(out, '\n');
	}
}

#define MAX_LOOKS 64

/* The styles that occur, in the order of their first cell, and the letter of each. */
struct looks {
	uint16_t style[MAX_LOOKS];
	char letter[MAX_LOOKS];
	size_t n, n_digits;
};

static char find_letter(struct looks *looks, uint16_t style)
{
	unsigned int id = style & STYLE_MASK;

	for (size_t i = 0; i < looks->n; i++)
		if (looks->style[i] == style)
			return looks->letter[i];
	if (style == STYLE_NORMAL)
		return ' ';
	if (looks->n == MAX_LOOKS)
		return '?';
	looks->style[looks->n] = style;
	looks->letter[looks->n] = id != style && looks->n_digits < 10
					  ? (char)('0' + looks->n_digits++)
				  : id < 26 ? (char)('a' + id)
					    : (char)('A' + id - 26);
	return looks->letter[looks->n++];
}

void canvas_dump_styles(const struct canvas *canvas, struct buf *out)
{
	struct looks looks = { .n = 0 };

	for (int y = 0; y < canvas->height; y++) {
		int blanks = 0;

		for (int x = 0; x < canvas->width; x++) {
			const struct cell *cell = cell_at(canvas, x, y);
			char letter = find_letter(&looks, cell->style);

			blanks++;
			if (letter == ' ')
				continue;
			while (--blanks > 0)
				buf_append_char(out, ' ');
			buf_append_char(out, letter);
		}
		buf_append_char(out, '\n');
	}
	for (size_t i = 0; i < looks.n; i++)
		buf_appendf(out, "%c %s%s%s\n", looks.letter[i],
			    theme_style(THEME_DARK, looks.style[i])->name,
			    looks.style[i] & STYLE_REVERSE ? " reverse" : "",
			    looks.style[i] & STYLE_BOLD ? " bold" : "");
}
