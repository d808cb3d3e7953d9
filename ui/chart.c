/* SPDX-License-Identifier: MIT */
/* Line charts of cells: braille dots, quarter blocks or ASCII. */
#include "config.h"

#include "ui/chart.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "ui/theme.h"

void
chart_init(struct chart *chart, struct rect rect)
{
	memset(chart, 0, sizeof(*chart));
	chart->rect = rect;
	chart->x_lo = chart->x_hi = chart->y_lo = chart->y_hi = NAN;
	chart->cursor = NAN;
	chart->y_format = "%.4g";
}

/* Dots of a cell in each charset. */
static const struct {
	int w, h;
} dots[] = {
	[CHART_BRAILLE] = { 2, 4 },
	[CHART_BLOCK] = { 2, 2 },
	[CHART_ASCII] = { 1, 1 },
};

/* The plot: dots of w x h cells, and the style of each cell. */
struct plot {
	const struct chart *chart;
	int cols, rows;	  /* cells */
	int w, h;	  /* dots */
	uint8_t *bits;	  /* one a dot */
	uint16_t *styles; /* one a cell */
	uint8_t *glyphs;  /* ASCII letter of the series, one a cell */
	double x_lo, x_hi, y_lo, y_hi;
};

static double
y_value(const struct chart *chart, double y)
{
	if (!chart->log_y)
		return y;
	return y > 0 ? log10(y) : (double)NAN;
}

static void
widen(double *lo, double *hi, double value)
{
	if (!isfinite(value))
		return;
	if (!(*lo <= value))
		*lo = value;
	if (!(*hi >= value))
		*hi = value;
}

void
chart_x_range(const struct chart *chart, double *lo, double *hi)
{
	*lo = *hi = NAN;
	for (size_t s = 0; s < chart->n_series; s++)
		for (size_t i = 0; i < chart->series[s].n; i++)
			if (isfinite(chart->series[s].y[i]))
				widen(lo, hi, chart->series[s].x[i]);
	if (isfinite(chart->x_lo))
		*lo = chart->x_lo;
	if (isfinite(chart->x_hi))
		*hi = chart->x_hi;
	if (!isfinite(*lo))
		*lo = 0;
	if (!(*hi > *lo))
		*hi = *lo + 1;
}

/* The range of y over the points whose x is shown, with some air. */
static void
find_y_range(struct plot *plot)
{
	const struct chart *chart = plot->chart;
	double lo = NAN, hi = NAN, air;
	double from = plot->x_lo;

	/* A loss begins so high that the rest would be a flat line. */
	if (chart->skip_start)
		from += (plot->x_hi - plot->x_lo) * 0.04;

	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];

		for (size_t i = 0; i < series->n; i++)
			if (series->x[i] >= from && series->x[i] <= plot->x_hi)
				widen(&lo, &hi, y_value(chart, series->y[i]));
	}
	if (isnan(lo)) {
		lo = 0;
		hi = 1;
	}
	air = hi > lo ? (hi - lo) * 0.03 : fmax(fabs(hi) * 0.01, 1e-9);
	plot->y_lo =
		isfinite(chart->y_lo) ? y_value(chart, chart->y_lo) : lo - air;
	plot->y_hi =
		isfinite(chart->y_hi) ? y_value(chart, chart->y_hi) : hi + air;
	/* The air around the points is no reason to show less than nothing. */
	if (lo >= 0 && plot->y_lo < 0 && !isfinite(chart->y_lo))
		plot->y_lo = 0;
	if (!(plot->y_hi > plot->y_lo))
		plot->y_hi = plot->y_lo + 1;
}

static void
set_dot(struct plot *plot, int x, int y, const struct chart_series *series)
{
	enum chart_charset set = plot->chart->charset;
	size_t cell;

	if (x < 0 || x >= plot->w || y < 0 || y >= plot->h)
		return;
	if (series->line == CHART_DASHED && x / dots[set].w % 2 == 1)
		return;
	plot->bits[(size_t)y * (size_t)plot->w + (size_t)x] = 1;
	cell = (size_t)(y / dots[set].h) * (size_t)plot->cols +
	       (size_t)(x / dots[set].w);
	plot->styles[cell] = (uint16_t)series->style;
	plot->glyphs[cell] =
		(uint8_t) "*+ox#%@&"[(series - plot->chart->series) % 8];
	if (series->line == CHART_DOTS)
		plot->glyphs[cell] = '.';
}

static void
draw_line(struct plot *plot, const int from[2], const int to[2],
	  const struct chart_series *series)
{
	int x = from[0], y = from[1];
	int dx = abs(to[0] - x), dy = -abs(to[1] - y);
	int sx = x < to[0] ? 1 : -1, sy = y < to[1] ? 1 : -1;
	int error = dx + dy;

	for (;;) {
		int twice = 2 * error;

		set_dot(plot, x, y, series);
		if (x == to[0] && y == to[1])
			return;
		if (twice >= dy) {
			error += dy;
			x += sx;
		}
		if (twice <= dx) {
			error += dx;
			y += sy;
		}
	}
}

/* A value as a dot, kept near the plot so that lines stay short. */
static int
to_dot(double part, int size)
{
	double at = part * (size - 1);

	return (int)lround(fmin(fmax(at, -(double)size), 2.0 * size));
}

/* Draw a series; false points part the line. */
static void
draw_series(struct plot *plot, const struct chart_series *series)
{
	bool joined = false;
	int last[2] = { 0, 0 };

	for (size_t i = 0; i < series->n; i++) {
		double y = y_value(plot->chart, series->y[i]);
		int at[2];

		if (!isfinite(series->x[i]) || !isfinite(y)) {
			joined = false;
			continue;
		}
		at[0] = to_dot((series->x[i] - plot->x_lo) /
				       (plot->x_hi - plot->x_lo),
			       plot->w);
		at[1] = to_dot((plot->y_hi - y) / (plot->y_hi - plot->y_lo),
			       plot->h);
		if (joined && series->line != CHART_DOTS)
			draw_line(plot, last, at, series);
		else
			set_dot(plot, at[0], at[1], series);
		memcpy(last, at, sizeof(last));
		joined = true;
	}
}

static bool
dot_at(const struct plot *plot, int x, int y)
{
	return plot->bits[(size_t)y * (size_t)plot->w + (size_t)x] != 0;
}

/* The character for the dots of a cell; 0: none is set. */
static uint32_t
cell_char(const struct plot *plot, int col, int row)
{
	static const uint8_t braille[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	static const uint32_t quarters[16] = { 0,      0x2598, 0x259D, 0x2580,
					       0x2596, 0x258C, 0x259E, 0x259B,
					       0x2597, 0x259A, 0x2590, 0x259C,
					       0x2584, 0x2599, 0x259F, 0x2588 };
	enum chart_charset set = plot->chart->charset;
	unsigned int bits = 0;

	for (int y = 0; y < dots[set].h; y++) {
		for (int x = 0; x < dots[set].w; x++) {
			if (!dot_at(plot, col * dots[set].w + x,
				    row * dots[set].h + y))
				continue;
			bits |= set == CHART_BRAILLE ? braille[y][x]
						     : 1U << (y * 2 + x);
		}
	}
	if (bits == 0)
		return 0;
	if (set == CHART_BRAILLE)
		return 0x2800 + bits;
	if (set == CHART_BLOCK)
		return quarters[bits];
	return plot->glyphs[(size_t)row * (size_t)plot->cols + (size_t)col];
}

static void
show_plot(const struct plot *plot, struct canvas *canvas, int x0, int y0)
{
	for (int row = 0; row < plot->rows; row++) {
		for (int col = 0; col < plot->cols; col++) {
			uint32_t cp = cell_char(plot, col, row);

			if (cp != 0)
				canvas_put(canvas, x0 + col, y0 + row,
					   plot->styles[(size_t)row *
								(size_t)plot
									->cols +
							(size_t)col],
					   cp);
		}
	}
}

/* Numbers at every fourth row or so, and the line that carries them. */
static void
draw_y_axis(const struct plot *plot, struct canvas *canvas, int x0, int y0)
{
	int every = plot->rows > 12 ? 4 : plot->rows > 6 ? 3 : 2;

	for (int row = 0; row < plot->rows; row++) {
		bool named = row % every == 0;
		double part =
			plot->rows > 1 ? (double)row / (plot->rows - 1) : 0;
		double y = plot->y_hi - part * (plot->y_hi - plot->y_lo);
		char text[32];

		canvas_put(canvas, x0 + CHART_AXIS_COLUMNS - 1, y0 + row,
			   STYLE_AXIS, named ? 0x2524 : 0x2502);
		if (!named)
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		(void)snprintf(text, sizeof(text), plot->chart->y_format,
			       plot->chart->log_y ? pow(10, y) : y);
#pragma GCC diagnostic pop
		canvas_right(canvas,
			     (struct rect){ x0, y0 + row,
					    CHART_AXIS_COLUMNS - 1, 1 },
			     STYLE_DIM, str_from(text));
	}
}

static void
x_text(const struct chart *chart, double x, char *out, size_t size)
{
	if (chart->x_text != NULL)
		chart->x_text(x, out, size);
	else
		(void)snprintf(out, size, "%.6g", x);
}

static void
draw_x_axis(const struct plot *plot, struct canvas *canvas, int x0, int y)
{
	int ticks = plot->cols > 80 ? 4 : plot->cols > 36 ? 3 : 1;

	canvas_put(canvas, x0 - 1, y, STYLE_AXIS, 0x2514);
	for (int col = 0; col < plot->cols; col++)
		canvas_put(canvas, x0 + col, y, STYLE_AXIS, 0x2500);
	for (int i = 0; i <= ticks; i++) {
		double part = (double)i / ticks;
		char text[32];
		int width, at;

		x_text(plot->chart,
		       plot->x_lo + part * (plot->x_hi - plot->x_lo), text,
		       sizeof(text));
		width = (int)utf8_width(str_from(text));
		at = (int)lround(part * (plot->cols - 1)) - width / 2;
		if (at + width > plot->cols)
			at = plot->cols - width;
		if (at < 0)
			at = 0;
		(void)canvas_text(canvas, x0 + at, y, STYLE_DIM, text);
	}
}

/* Vertical lines behind the series: marks and the cursor. */
static void
draw_vertical(const struct plot *plot, struct canvas *canvas,
	      const struct chart_mark *mark, const int origin[2])
{
	double part = (mark->x - plot->x_lo) / (plot->x_hi - plot->x_lo);
	int col = (int)lround(part * (plot->cols - 1));

	if (!(part >= 0 && part <= 1))
		return;
	for (int row = 0; row < plot->rows; row++)
		canvas_put(canvas, origin[0] + col, origin[1] + row,
			   mark->style, 0x2506);
	if (mark->label != NULL) {
		int width = (int)utf8_width(str_from(mark->label));

		if (col + 1 + width > plot->cols)
			col -= width + 1;
		(void)canvas_text(canvas, origin[0] + col + 1, origin[1],
				  mark->style, mark->label);
	}
}

static uint32_t
legend_char(const struct chart *chart, size_t i)
{
	if (chart->charset == CHART_ASCII)
		return (uint32_t) "*+ox#%@&"[i % 8];
	return chart->series[i].line == CHART_SOLID ? 0x2501 : 0x254C;
}

/* Labels of the series, in the upper right corner. */
static void
draw_legend(const struct chart *chart, struct canvas *canvas,
	    const struct rect *area)
{
	int widest = 0, y = area->y;

	for (size_t i = 0; i < chart->n_series; i++)
		if (chart->series[i].label != NULL) {
			int width = (int)utf8_width(
				str_from(chart->series[i].label));

			widest = width > widest ? width : widest;
		}
	if (widest + 4 > area->w)
		widest = area->w - 4;
	for (size_t i = 0; i < chart->n_series && widest > 3; i++) {
		int x = area->x + area->w - widest - 2;

		if (chart->series[i].label == NULL || y >= area->y + area->h)
			continue;
		canvas_put(canvas, x, y, chart->series[i].style,
			   legend_char(chart, i));
		canvas_line(canvas, (struct rect){ x + 2, y, widest, 1 },
			    STYLE_NORMAL, str_from(chart->series[i].label));
		y++;
	}
}

static void
draw_plot(struct plot *plot, struct canvas *canvas, const int origin[2])
{
	const struct chart *chart = plot->chart;

	for (size_t i = 0; i < chart->n_marks; i++)
		draw_vertical(plot, canvas, &chart->marks[i], origin);
	if (isfinite(chart->cursor))
		draw_vertical(
			plot, canvas,
			&(struct chart_mark){ chart->cursor, NULL, STYLE_KEY },
			origin);
	for (size_t i = 0; i < chart->n_series; i++)
		draw_series(plot, &chart->series[i]);
	show_plot(plot, canvas, origin[0], origin[1]);
}

void
chart_draw(const struct chart *chart, struct canvas *canvas)
{
	struct rect r = chart->rect;
	struct rect before = canvas_clip(canvas, r);
	struct plot plot = { .chart = chart };
	int origin[2] = { r.x + CHART_AXIS_COLUMNS, r.y };
	size_t cells;

	plot.cols = r.w - CHART_AXIS_COLUMNS;
	plot.rows = r.h - 1;
	if (plot.cols >= 4 && plot.rows >= 2) {
		plot.w = plot.cols * dots[chart->charset].w;
		plot.h = plot.rows * dots[chart->charset].h;
		cells = (size_t)plot.cols * (size_t)plot.rows;
		plot.bits = xcalloc((size_t)plot.w, (size_t)plot.h);
		plot.styles = xcalloc(cells, sizeof(*plot.styles));
		plot.glyphs = xcalloc(cells, 1);
		chart_x_range(chart, &plot.x_lo, &plot.x_hi);
		find_y_range(&plot);
		draw_y_axis(&plot, canvas, r.x, r.y);
		draw_x_axis(&plot, canvas, origin[0], r.y + plot.rows);
		draw_plot(&plot, canvas, origin);
		if (chart->legend)
			draw_legend(chart, canvas,
				    &(struct rect){ origin[0], r.y, plot.cols,
						    plot.rows });
		free(plot.bits);
		free(plot.styles);
		free(plot.glyphs);
	}
	canvas_unclip(canvas, before);
}
