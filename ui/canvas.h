/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/utf8.h"

/* A grid of cells. Views draw into it, the terminal shows it, and tests read it. Drawing is
 * clipped, a wide character never crosses an edge, and no cell contains a control character. */
struct cell {
	uint32_t cp;	/* 0: right half of a wide character */
	uint32_t mark;	/* combining character; 0: none */
	uint16_t style; /* enum style, possibly with STYLE_BOLD, STYLE_REVERSE, STYLE_UNDERLINE */
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

/* Width of a text in columns. */
static inline int text_width(const char *text)
{
	return (int)utf8_width(str_from(text));
}

bool rect_has(const struct rect *rect, int x, int y);
/* Cut h rows (or w columns) off an edge of *rest, or as many as there are; return that part. */
struct rect rect_take_top(struct rect *rest, int h);
struct rect rect_take_bottom(struct rect *rest, int h);
struct rect rect_take_left(struct rect *rest, int w);

/* Pixels over some cells, see ui/picture.h. */
struct picture {
	struct rect cells;
	int w, h;      /* pixels: cells.w * cell_w, cells.h * cell_h */
	uint8_t *inks; /* owned; w * h; 0: transparent */
};

#define CANVAS_MAX_SIDE	    1000
#define CANVAS_MAX_PICTURES 16

struct canvas {
	int width, height;
	struct cell *cells; /* owned; width * height */
	struct rect clip;
	int cell_w, cell_h; /* pixels of a cell; 0: the terminal shows no pictures */
	struct picture pictures[CANVAS_MAX_PICTURES];
	size_t n_pictures;
};

void canvas_init(struct canvas *canvas);
void canvas_release(struct canvas *canvas);
/* Change the size (each side 0..CANVAS_MAX_SIDE) and clear the canvas. */
void canvas_resize(struct canvas *canvas, int width, int height);
void canvas_clear(struct canvas *canvas);

/* Restrict drawing to rect inside the current clip; returns that clip, to be restored later. */
struct rect canvas_clip(struct canvas *canvas, struct rect rect);

/* Draw text from (x, y) to the right. Returns its width in columns, including clipped ones. */
int canvas_text(struct canvas *canvas, int x, int y, unsigned int style, const char *text);
/* The same for formatted text; a text that the clip cuts off ends in "…". */
int canvas_textf(struct canvas *canvas, int x, int y, unsigned int style, const char *fmt, ...)
	LIKE_PRINTF(5, 6);
/* Draw text into a line of rect.w columns; a longer text ends in "…". */
void canvas_line(struct canvas *canvas, struct rect rect, unsigned int style, struct str text);
/* The same for formatted text. */
void canvas_print(struct canvas *canvas, struct rect rect, unsigned int style, const char *fmt, ...)
	LIKE_PRINTF(4, 5);
/* The same into the first line of *rest, and cut it off. If *rest is empty, do nothing. */
void canvas_print_top(struct canvas *canvas, struct rect *rest, unsigned int style, const char *fmt,
		      ...) LIKE_PRINTF(4, 5);
/* Append the text. If it needs more than `width` columns, "…" replaces its middle, because the end
 * of a name often contains the seed: "big-em…eed42". */
void canvas_elide(struct str text, int width, struct buf *out);
/* Draw a line, elided if it is too long. */
void canvas_line_elided(struct canvas *canvas, struct rect rect, unsigned int style,
			struct str text);
/* Draw a line aligned to the right. */
void canvas_line_right(struct canvas *canvas, struct rect rect, unsigned int style,
		       struct str text);

/* Draw text with long lines wrapped between words, indented if the line is, without its first `top`
 * rows. Returns the number of rows of the whole text; with canvas NULL, only count them. */
int canvas_wrap(struct canvas *canvas, struct rect rect, unsigned int style, struct str text,
		int top);

void canvas_put(struct canvas *canvas, int x, int y, unsigned int style, uint32_t cp);
/* Set the style and, unless cp is 0, the character of every cell of rect. */
void canvas_fill(struct canvas *canvas, struct rect rect, unsigned int style, uint32_t cp);
/* Add a transparent picture over these cells, which become PICTURE_CELL, a blank that texts do not
 * contain. The picture belongs to the canvas until the canvas is cleared. NULL if a part of the
 * picture would be clipped, or if the pictures would become too many or too large. */
#define PICTURE_CELL 0xA0
struct picture *canvas_picture(struct canvas *canvas, struct rect rect);
/* Draw a frame with a title in its upper edge; returns the area inside. */
struct rect canvas_box(struct canvas *canvas, struct rect rect, const char *fmt, ...)
	LIKE_PRINTF(3, 4);

/* Return the cell at (x, y), which must be inside the canvas. */
const struct cell *canvas_at(const struct canvas *canvas, int x, int y);

/* Append the screen as lines of text without trailing blanks. */
void canvas_dump(const struct canvas *canvas, bool ascii, struct buf *out);

/* Append the styles of the cells: one letter per style, a blank for NORMAL, a digit for a style
 * with extra attributes. A list of these letters and digits follows the screen. */
void canvas_dump_styles(const struct canvas *canvas, struct buf *out);
