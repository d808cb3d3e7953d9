/* SPDX-License-Identifier: MIT */
/* The dots of a chart's series and the characters that show them. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/chart_impl.h"

/* Differences of numbers below it are still numbers. */
#define HUGE_Y 1e300

/* Dots of a cell in each charset. */
static const struct {
	int w, h;
} dots[] = {
	[CHART_BRAILLE] = { 2, 4 },
	[CHART_BLOCK] = { 2, 2 },
	[CHART_ASCII] = { 1, 1 },
};

void
chart_dots(enum chart_charset charset, int *width, int *height)
{
	*width = dots[charset].w;
	*height = dots[charset].h;
}

double
chart_y_value(const struct chart *chart, double y)
{
	if (!chart->log_y)
		return fabs(y) < HUGE_Y ? y : (double)NAN;
	return y > 0 && y < HUGE_Y ? log10(y) : (double)NAN;
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

/*
 * Cut a line to what lies not far outside of the plot, so that it is short
 * and its slope stays (Liang and Barsky, 1984).  False: none of it is there.
 */
static bool
clip_line(const struct plot *plot, double from[2], double to[2])
{
	const double size[2] = { plot->w, plot->h };
	double begin = 0, end = 1, d[2];

	for (int i = 0; i < 2; i++) {
		double low, high;

		d[i] = to[i] - from[i];
		if (d[i] == 0) {
			if (from[i] < -1 || from[i] > size[i])
				return false;
			continue;
		}
		low = (-1 - from[i]) / d[i];
		high = (size[i] - from[i]) / d[i];
		begin = fmax(begin, fmin(low, high));
		end = fmin(end, fmax(low, high));
	}
	if (begin > end)
		return false;
	for (int i = 0; i < 2; i++) {
		to[i] = from[i] + d[i] * end;
		from[i] += d[i] * begin;
	}
	return true;
}

static void
draw_segment(struct plot *plot, const double from[2], const double to[2],
	     const struct chart_series *series)
{
	double a[2] = { from[0], from[1] }, b[2] = { to[0], to[1] };

	if (clip_line(plot, a, b))
		draw_line(plot,
			  (int[2]){ (int)lround(a[0]), (int)lround(a[1]) },
			  (int[2]){ (int)lround(b[0]), (int)lround(b[1]) },
			  series);
}

/* A point that no line leads to or from is a cross, or it would be lost. */
static void
draw_point(struct plot *plot, const double at[2], bool alone,
	   const struct chart_series *series)
{
	int x, y;

	if (!(at[0] > -1 && at[0] < plot->w && at[1] > -1 && at[1] < plot->h))
		return;
	x = (int)lround(at[0]);
	y = (int)lround(at[1]);
	set_dot(plot, x, y, series);
	if (!alone || plot->chart->charset == CHART_ASCII)
		return;
	set_dot(plot, x - 1, y, series);
	set_dot(plot, x + 1, y, series);
	set_dot(plot, x, y - 1, series);
	set_dot(plot, x, y + 1, series);
}

/* Where point i is in dots; false: nowhere. */
static bool
place(const struct plot *plot, const struct chart_series *series, size_t i,
      double at[2])
{
	double y = chart_y_value(plot->chart, series->y[i]);

	if (!isfinite(series->x[i]) || !isfinite(y))
		return false;
	at[0] = (series->x[i] - plot->x_lo) / (plot->x_hi - plot->x_lo) *
		(plot->w - 1);
	at[1] = (plot->y_hi - y) / (plot->y_hi - plot->y_lo) * (plot->h - 1);
	return isfinite(at[0]) && isfinite(at[1]);
}

void
chart_draw_series(struct plot *plot, const struct chart_series *series)
{
	bool is_line = series->line != CHART_DOTS, joined = false;
	double last[2] = { 0, 0 }, at[2], next[2];

	for (size_t i = 0; i < series->n; i++) {
		if (!place(plot, series, i, at)) {
			joined = false;
			continue;
		}
		if (joined && is_line)
			draw_segment(plot, last, at, series);
		else
			draw_point(plot, at,
				   is_line &&
					   (i + 1 == series->n ||
					    !place(plot, series, i + 1, next)),
				   series);
		memcpy(last, at, sizeof(last));
		joined = true;
	}
}

static bool
dot_at(const struct plot *plot, int x, int y)
{
	return plot->bits[(size_t)y * (size_t)plot->w + (size_t)x] != 0;
}

uint32_t
chart_cell_char(const struct plot *plot, int col, int row)
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
