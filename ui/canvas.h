/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"

/*
 * Cells that the views draw into; the terminal shows them, tests read them.
 * Everything is clipped, wide characters never straddle an edge, and no
 * control character gets into a cell, whatever the text holds.
 */
struct cell {
	uint32_t cp;	/* 0: the right half of a wide character */
	uint32_t mark;	/* one combining character, 0: none */
	uint16_t style; /* enum style and STYLE_BOLD .. */
};

struct rect {
	int x, y, w, h;
};

static inline int int_min(int a, int b)
{
	return a < b ? a : b;
}

static inline int int_max(int a, int b)
{
	return a > b ? a : b;
}

/* Columns that a text takes. */
static inline int text_width(const char *text)
{
	return (int)utf8_width(str_from(text));
}

bool rect_has(const struct rect *rect, int x, int y);
/* Take so much (at most all of it) off an edge of *rest; what was taken. */
struct rect rect_take_top(struct rect *rest, int h);
struct rect rect_take_bottom(struct rect *rest, int h);
struct rect rect_take_left(struct rect *rest, int w);

/* Pixels over some cells: see ui/picture.h. */
struct picture {
	struct rect cells;
	int w, h;      /* pixels: whole ones a cell */
	uint8_t *inks; /* owned; w * h; 0: none */
};

#define CANVAS_MAX_SIDE	    1000
#define CANVAS_MAX_PICTURES 16

struct canvas {
	int width, height;
	struct cell *cells; /* owned; width * height */
	struct rect clip;
	int cell_w, cell_h; /* pixels of a cell; 0: there are no pictures */
	struct picture pictures[CANVAS_MAX_PICTURES];
	size_t n_pictures;
};

void canvas_init(struct canvas *canvas);
void canvas_release(struct canvas *canvas);
/* Blank, of that size (0..CANVAS_MAX_SIDE each). */
void canvas_resize(struct canvas *canvas, int width, int height);
void canvas_clear(struct canvas *canvas);

/* Draw inside rect (and the clip that was) only; returns what was. */
struct rect canvas_clip(struct canvas *canvas, struct rect rect);
void canvas_unclip(struct canvas *canvas, struct rect before);

/* Text from (x, y) to the right; returns how many columns it takes. */
int canvas_text(struct canvas *canvas, int x, int y, unsigned int style, const char *text);
/* The same; what the clip cuts off at the right ends in "…". */
int canvas_textf(struct canvas *canvas, int x, int y, unsigned int style, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Text into a line of rect.w columns; what is too long ends in "…". */
void canvas_line(struct canvas *canvas, struct rect rect, unsigned int style, struct str text);
/* The same of formatted text. */
void canvas_print(struct canvas *canvas, struct rect rect, unsigned int style, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same at the top of *rest, which loses that line; none left: nothing. */
void canvas_print_top(struct canvas *canvas, struct rect *rest, unsigned int style, const char *fmt,
		      ...) __attribute__((format(printf, 4, 5)));
/* A line of which what is too long loses the first `spare` bytes, and then
 * its middle: "big-em…eed42". */
void canvas_line_elided(struct canvas *canvas, struct rect rect, unsigned int style,
			struct str text, size_t spare);
/* A line, set to the right. */
void canvas_line_right(struct canvas *canvas, struct rect rect, unsigned int style,
		       struct str text);

/*
 * Draw text from its line `top` on, long lines folded between words and set
 * in below their beginning; returns how many lines it takes in all.  canvas
 * NULL: count only.
 */
int canvas_wrap(struct canvas *canvas, struct rect rect, unsigned int style, struct str text,
		int top);

void canvas_put(struct canvas *canvas, int x, int y, unsigned int style, uint32_t cp);
/* Every cell of rect gets this style and, unless it is 0, character. */
void canvas_fill(struct canvas *canvas, struct rect rect, unsigned int style, uint32_t cp);
/*
 * An empty picture over those cells, which become PICTURE_CELL: a blank that
 * no text has.  It is the canvas's until that is cleared.  NULL: there can be
 * none, because not all of it could be seen or for its size.
 */
#define PICTURE_CELL 0xA0
struct picture *canvas_picture(struct canvas *canvas, struct rect rect);
/* A frame with a title in its upper edge; what is inside of it. */
struct rect canvas_box(struct canvas *canvas, struct rect rect, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The cell at (x, y), inside the canvas. */
const struct cell *canvas_at(const struct canvas *canvas, int x, int y);

/* The screen as lines of text without blanks at their ends. */
void canvas_dump(const struct canvas *canvas, bool ascii, struct buf *out);

/*
 * How the cells look, a letter of its style each, a blank for NORMAL, a digit
 * for a style with more attributes; below a line a look that occurs.
 */
void canvas_dump_styles(const struct canvas *canvas, struct buf *out);
