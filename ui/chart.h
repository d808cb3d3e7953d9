/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/canvas.h"

/* The characters that a chart is drawn with. */
enum chart_charset {
	CHART_BRAILLE,
	CHART_BLOCK,
	CHART_ASCII,
	CHART_PIXELS, /* a picture; braille if the terminal shows no pictures */
	CHART_CHARSETS
};

enum chart_line {
	CHART_SOLID,
	CHART_DASHED,
	CHART_DOTS,
	CHART_BAND, /* area from y to top; only the first series, and the axes ignore it */
};

struct chart_series {
	const double *x, *y; /* borrowed; a non-finite point interrupts the line */
	size_t n;
	unsigned int style;
	enum chart_line line;
	const char *label; /* text in the legend; NULL: not in the legend */
	const double *top; /* upper edge of a band */
	uint32_t sign;	   /* character drawn at each point, over the lines; 0: none */
};

/* A vertical line with a label, for example where a stage starts. */
struct chart_mark {
	double x;
	const char *label;
	unsigned int style;
};

#define CHART_MAX_MARKS 16
#define CHART_START	0.04 /* share of x, see skip_start */

/* Formats x for the axis. Values that differ by `apart` must get different texts. */
typedef void (*chart_x_text)(int kind, double x, double apart, char *out, size_t size);

struct chart {
	struct rect rect; /* including the axes */
	enum chart_charset charset;
	const struct chart_series *series;
	size_t n_series;
	const struct chart_mark *marks;
	size_t n_marks;
	double x_lo, x_hi; /* range of the axis; NAN: computed from the points */
	double y_lo, y_hi; /* range of the axis; NAN: computed from the points */
	bool skip_start;   /* scale y by the points after CHART_START of x */
	bool log_y;
	double y_floor, y_ceiling; /* limits of the y axis; NAN: none */
	double y_x_lo, y_x_hi;	   /* scale y by the points in this x range; NAN: visible range */
	int decimals;		   /* of the numbers on a logarithmic axis */
	bool sign;		   /* print + before positive numbers */
	chart_x_text x_text;	   /* NULL: a plain number */
	int x_kind;		   /* passed to x_text */
	bool x_is_time;		   /* x is a time in seconds: ticks at full minutes and hours */
	double cursor;		   /* x of the cursor; NAN: none */
	bool legend;
};

/* Maps the range lo..hi to the cells at..at + size - 1. */
struct scale {
	int at, size;
	double lo, hi; /* NAN: the range is empty */
};

/* Extend the range to contain value. A value that is not finite changes nothing. */
void scale_widen(struct scale *scale, double value);
/* Return the cell of a number. Numbers below or above the range get the first or last cell. */
int scale_cell(const struct scale *scale, double value);

/* Draws lines of dots and intervals over one horizontal axis, with a label left of each line. */
struct strip {
	struct canvas *canvas;
	struct rect rest, line; /* free part of the panel; current line */
	int label;		/* columns for the labels */
	struct scale axis;
};

/* Use `columns` columns after the labels for the axis, and make its range empty. */
void strip_axis(struct strip *strip, int columns);
/* Extend the range by 4 % at both ends; if all values are equal, by 1 % of the value. */
void strip_pad(struct strip *strip);
/* Start a line with a label. False if the panel is full. */
bool strip_begin(struct strip *strip, unsigned int style, const char *label);
/* Return the part of the line right of the axis. */
struct rect strip_right(const struct strip *strip);
void strip_put(struct strip *strip, double value, unsigned int style, uint32_t cp);
/* Draw a dot. If several dots are in one cell, their number is shown, up to 9. */
void strip_dot(struct strip *strip, double value, unsigned int style);
/* Draw the axis as the next line, with its name. False if the panel is full. */
bool strip_rule(struct strip *strip, const char *name);
/* Write a number at its column of the current line, moved inside of the axis if necessary. */
void strip_tick(struct strip *strip, double value, int decimals);

void chart_init(struct chart *chart, struct rect rect);
void chart_draw(const struct chart *chart, struct canvas *canvas);
/* Append the chart as SVG on white, with the legend below. */
void chart_svg(const struct chart *chart, const char *title, struct buf *out);
/* Compute the x range that is drawn. */
void chart_x_range(const struct chart *chart, double *lo, double *hi);
/* Return how many decimals (at most `most`) numbers at a distance of `apart` need so that rounding
 * changes them by at most slack * apart. */
int chart_decimals(double apart, double slack, int most);
/* Width of the y axis. */
#define CHART_AXIS_COLUMNS 8
/* Return the cells of the plot without the axes. */
struct rect chart_plot_rect(const struct chart *chart);
