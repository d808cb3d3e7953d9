/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ui/canvas.h"

/* How a chart is drawn; each is good where the one before is not. */
enum chart_charset {
	CHART_BRAILLE,
	CHART_BLOCK,
	CHART_ASCII,
	CHART_PIXELS, /* braille on a canvas that has no pictures */
	CHART_CHARSETS
};

enum chart_line {
	CHART_SOLID,
	CHART_DASHED,
	CHART_DOTS,
	CHART_BAND, /* from y to top; the first series, no axis is by it */
};

struct chart_series {
	const double *x, *y; /* borrowed; points that are not finite part it */
	size_t n;
	unsigned int style;
	enum chart_line line;
	const char *label; /* NULL: not in the legend */
	const double *top; /* of a band */
};

/* A vertical line with a word, e.g. where a stage begins. */
struct chart_mark {
	double x;
	const char *label;
	unsigned int style;
};

#define CHART_MAX_MARKS 16
#define CHART_START	0.04 /* of x, see skip_start */

/*
 * An x of some kind as text; apart is how far from each other the values are
 * that have to look different.
 */
typedef void (*chart_x_text)(int kind, double x, double apart, char *out, size_t size);

struct chart {
	struct rect rect; /* the axes included */
	enum chart_charset charset;
	const struct chart_series *series;
	size_t n_series;
	const struct chart_mark *marks;
	size_t n_marks;
	double x_lo, x_hi; /* NAN: from the points */
	double y_lo, y_hi; /* NAN: from the points */
	bool skip_start;   /* y by the points behind CHART_START of x */
	bool log_y;
	double y_floor, y_ceiling; /* no axis goes beyond; NAN: none */
	double y_x_lo, y_x_hi;	   /* y by these x; NAN: by what is shown */
	int decimals;		   /* of the numbers at a logarithm */
	bool sign;		   /* + before those above 0 */
	chart_x_text x_text;	   /* NULL: as a number */
	int x_kind;		   /* of x, for x_text */
	bool x_is_time;		   /* seconds of a clock */
	double cursor;		   /* a vertical line there; NAN: none */
	bool legend;
};

/* Columns (or rows) of the screen for numbers from lo to hi. */
struct scale {
	int at, size;
	double lo, hi; /* NAN: no number yet */
};

/* Take the number in, unless it is not finite. */
void scale_widen(struct scale *scale, double value);
/* The cell of a number; of one beyond an end, that end. */
int scale_cell(const struct scale *scale, double value);

/* A chart with everything unset. */
void chart_init(struct chart *chart, struct rect rect);
void chart_draw(const struct chart *chart, struct canvas *canvas);
/* The same as SVG, on white, its legend below. */
void chart_svg(const struct chart *chart, const char *title, struct buf *out);
/* The x range that it is drawn with. */
void chart_x_range(const struct chart *chart, double *lo, double *hi);
/* As many decimals as tell values that lie so far from each other, to a part
 * of that distance. */
int chart_decimals(double apart, double slack, int most);
/* Columns left of the plot that the y axis takes. */
#define CHART_AXIS_COLUMNS 8
/* Where the points are drawn, in cells. */
struct rect chart_plot_rect(const struct chart *chart);
