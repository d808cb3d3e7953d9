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

/* Differences of numbers below it are still numbers. */
#define HUGE_Y 1e300

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

void
chart_init(struct chart *chart, struct rect rect)
{
	memset(chart, 0, sizeof(*chart));
	chart->rect = rect;
	chart->x_lo = chart->x_hi = chart->y_lo = chart->y_hi = NAN;
	chart->y_floor = chart->y_ceiling = NAN;
	chart->y_x_lo = chart->y_x_hi = NAN;
	chart->cursor = NAN;
	chart->decimals = 2;
}

void
scale_widen(struct scale *scale, double value)
{
	if (!isfinite(value))
		return;
	if (!(scale->lo <= value))
		scale->lo = value;
	if (!(scale->hi >= value))
		scale->hi = value;
}

int
scale_cell(const struct scale *scale, double value)
{
	double part = (value - scale->lo) / (scale->hi - scale->lo);
	int last = scale->size - 1;

	if (!(part > 0))
		return scale->at;
	return scale->at + (part >= 1 ? last : (int)lround(part * last));
}

void
chart_x_range(const struct chart *chart, double *lo, double *hi)
{
	struct scale x = { 0, 0, NAN, NAN };

	for (size_t s = 0; s < chart->n_series; s++)
		for (size_t i = 0; i < chart->series[s].n; i++)
			if (isfinite(chart->series[s].y[i]))
				scale_widen(&x, chart->series[s].x[i]);
	*lo = isfinite(chart->x_lo) ? chart->x_lo : isfinite(x.lo) ? x.lo : 0;
	*hi = isfinite(chart->x_hi) ? chart->x_hi : x.hi;
	if (!(*hi >= *lo))
		*hi = *lo;
	/* One point stands in the middle. */
	if (*hi - *lo <= 1e-12 * fabs(*lo)) {
		*lo -= fmax(0.5, fabs(*lo) * 1e-9);
		*hi += fmax(0.5, fabs(*hi) * 1e-9);
	}
}

struct rect
chart_plot_rect(const struct chart *chart)
{
	const struct rect *r = &chart->rect;

	return (struct rect){ r->x + CHART_AXIS_COLUMNS, r->y,
			      r->w - CHART_AXIS_COLUMNS, r->h - 1 };
}

static double
chart_y_value(const struct chart *chart, double y)
{
	if (!chart->log_y)
		return fabs(y) < HUGE_Y ? y : (double)NAN;
	return y > 0 && y < HUGE_Y ? log10(y) : (double)NAN;
}

/* Widen by a series between two x; where lines leave it too. */
static void
widen_by(const struct chart *chart, const struct chart_series *series,
	 const double x[2], struct scale *y)
{
	for (size_t i = 0; i < series->n; i++) {
		double own = chart_y_value(chart, series->y[i]), before, part;

		if (series->x[i] >= x[0] && series->x[i] <= x[1])
			scale_widen(y, own);
		if (i == 0 || series->line == CHART_DOTS)
			continue;
		before = chart_y_value(chart, series->y[i - 1]);
		for (int edge = 0; edge < 2; edge++) {
			part = (x[edge] - series->x[i - 1]) /
			       (series->x[i] - series->x[i - 1]);
			if (part > 0 && part < 1)
				scale_widen(y, before + (own - before) * part);
		}
	}
}

/* Points that are all the same have air by their size; the numbers at the
 * axis have no room to tell more than these apart. */
static double
air_of(double lo, double hi)
{
	double size = fmax(fabs(lo), fabs(hi));

	if (hi - lo > 1e-9 * size)
		return fmax((hi - lo) * 0.03, size * 1e-4);
	return size > 0 ? size * 0.01 : 0.5;
}

/* The range of y over the points whose x is shown, with some air. */
static void
find_y_range(struct plot *plot)
{
	const struct chart *chart = plot->chart;
	double x[2] = { plot->x_lo, plot->x_hi }, air;
	struct scale y = { 0, 0, NAN, NAN };

	if (isfinite(chart->y_x_lo) && isfinite(chart->y_x_hi)) {
		x[0] = chart->y_x_lo;
		x[1] = chart->y_x_hi;
	}
	/* A loss begins so high that the rest would be a flat line. */
	if (chart->skip_start)
		x[0] += (x[1] - x[0]) * 0.04;
	for (size_t s = 0; s < chart->n_series; s++)
		widen_by(chart, &chart->series[s], x, &y);
	if (isnan(y.lo)) {
		y.lo = chart->log_y ? -1 : 0;
		y.hi = 1;
	}
	air = air_of(y.lo, y.hi);
	plot->y_lo = isfinite(chart->y_lo) ? chart_y_value(chart, chart->y_lo)
					   : y.lo - air;
	plot->y_hi = isfinite(chart->y_hi) ? chart_y_value(chart, chart->y_hi)
					   : y.hi + air;
	/* The air around the points is no reason to show less than nothing. */
	if (y.lo >= 0 && plot->y_lo < 0 && !chart->log_y &&
	    !isfinite(chart->y_lo))
		plot->y_lo = 0;
	if (!chart->log_y && plot->y_lo < chart->y_floor)
		plot->y_lo = chart->y_floor;
	if (!chart->log_y && plot->y_hi > chart->y_ceiling)
		plot->y_hi = chart->y_ceiling;
	if (!(plot->y_hi > plot->y_lo))
		plot->y_hi = plot->y_lo + 1;
}

/* Dots of a cell in each charset. */
static const struct {
	int w, h;
} dots[] = {
	[CHART_BRAILLE] = { 2, 4 },
	[CHART_BLOCK] = { 2, 2 },
	[CHART_ASCII] = { 1, 1 },
};

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

static void
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

static uint32_t
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

static void
show_plot(const struct plot *plot, struct canvas *canvas, int x0, int y0)
{
	for (int row = 0; row < plot->rows; row++) {
		for (int col = 0; col < plot->cols; col++) {
			uint32_t cp = chart_cell_char(plot, col, row);

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

/* The least round number that is not below x: 1, 2, 2.5, 3 or 5 times 10^n. */
static double
round_up(double x)
{
	static const double factors[] = { 1, 2, 2.5, 3, 5, 10 };
	double power = pow(10, floor(log10(x)));
	size_t i = 0;

	while (i < 5 && factors[i] * power < x * (1 - 1e-9))
		i++;
	return factors[i] * power;
}

/* The same for seconds of a clock. */
static double
round_up_time(double x)
{
	static const double steps[] = {
		1,   2,	  5,	10,   15,   30,	   60,	  120,	 300,
		600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] >= x * (1 - 1e-9))
			return steps[i];
	return ceil(x / 86400) * 86400;
}

/* How far ticks are from each other: about n of them, and two at least. */
static double
tick_step(double lo, double hi, int n, bool is_time)
{
	double step = 0;

	for (int tries = 0; tries < 8; tries++, n++) {
		double raw = (hi - lo) / n;

		step = is_time ? round_up_time(raw) : round_up(raw);
		if (floor(hi / step + 1e-9) - ceil(lo / step - 1e-9) >= 1)
			break;
	}
	return step;
}

/* Decimals that show a step of the ticks. */
static int
step_decimals(double step)
{
	int decimals = 0;

	while (step > 0 && fabs(step - round(step)) > 1e-6 * step &&
	       decimals < 9) {
		step *= 10;
		decimals++;
	}
	return decimals;
}

/* A number of the axis in its columns. */
static void
y_text(const struct chart *chart, double y, int decimals, char *out,
       size_t size)
{
	const char *sign = chart->sign && y > 0 ? "+" : "";

	if (fabs(y) < 0.5 * pow(10, -decimals))
		y = 0; /* and no -0 */
	(void)snprintf(out, size, "%s%.*f", sign, decimals, y);
	if (strlen(out) >= CHART_AXIS_COLUMNS)
		(void)snprintf(out, size, "%s%.4g", sign, y);
	if (strlen(out) >= CHART_AXIS_COLUMNS)
		(void)snprintf(out, size, "%s%.1e", sign, y);
	if (strlen(out) >= CHART_AXIS_COLUMNS)
		(void)snprintf(out, size, "%s%.0e", sign, y);
}

/* A number in front of the axis, and its mark on it. */
static void
put_y(struct canvas *canvas, const int at[2], int row, const char *text)
{
	canvas_put(canvas, at[0] + CHART_AXIS_COLUMNS - 1, at[1] + row,
		   STYLE_AXIS, 0x2524);
	canvas_right(
		canvas,
		(struct rect){ at[0], at[1] + row, CHART_AXIS_COLUMNS - 1, 1 },
		STYLE_DIM, str_from(text));
}

/* Of a logarithm: what the rows stand for, at about every fourth. */
static void
draw_log_axis(const struct plot *plot, struct canvas *canvas, const int at[2],
	      int n)
{
	char text[400];

	for (int i = 0; i <= n; i++) {
		int row = (i * (plot->rows - 1) + n / 2) / n;
		double part = (double)row / (plot->rows - 1);

		y_text(plot->chart,
		       pow(10, plot->y_hi - part * (plot->y_hi - plot->y_lo)),
		       plot->chart->decimals, text, sizeof(text));
		put_y(canvas, at, row, text);
	}
}

/* The line of the axis, and round numbers at about every fourth row. */
static void
draw_y_axis(const struct plot *plot, struct canvas *canvas, const int at[2])
{
	int n = plot->rows > 12 ? plot->rows / 3 : plot->rows / 2;
	double range = plot->y_hi - plot->y_lo, step;
	int last = -1;
	char text[400];

	n = n < 1 ? 1 : n;
	for (int row = 0; row < plot->rows; row++)
		canvas_put(canvas, at[0] + CHART_AXIS_COLUMNS - 1, at[1] + row,
			   STYLE_AXIS, 0x2502);
	if (plot->chart->log_y) {
		draw_log_axis(plot, canvas, at, n);
		return;
	}
	step = tick_step(plot->y_lo, plot->y_hi, n, false);
	for (int i = 0; i < plot->rows; i++) {
		double y = (floor(plot->y_hi / step + 1e-9) - i) * step;
		int row = (int)lround((plot->y_hi - y) / range *
				      (plot->rows - 1));

		if (row >= plot->rows)
			break;
		if (row == last || row < 0)
			continue;
		y_text(plot->chart, y, step_decimals(step), text, sizeof(text));
		put_y(canvas, at, row, text);
		last = row;
	}
}

static void
x_text(const struct chart *chart, double x, double apart, char *out,
       size_t size)
{
	if (chart->x_text != NULL)
		chart->x_text(x, apart, out, size);
	else
		(void)snprintf(out, size, "%.6g", x);
}

/* Round numbers, as far as they say something new and have room. */
static void
draw_x_axis(const struct plot *plot, struct canvas *canvas, int x0, int y)
{
	int n = plot->cols > 80 ? 4 : plot->cols > 36 ? 3 : 1, free = 0;
	double range = plot->x_hi - plot->x_lo;
	double step =
		tick_step(plot->x_lo, plot->x_hi, n, plot->chart->x_is_time);
	char before[400] = "", text[400];

	canvas_put(canvas, x0 - 1, y, STYLE_AXIS, 0x2514);
	for (int col = 0; col < plot->cols; col++)
		canvas_put(canvas, x0 + col, y, STYLE_AXIS, 0x2500);
	for (int i = 0; i < plot->cols; i++) {
		double x = (ceil(plot->x_lo / step - 1e-9) + i) * step;
		double part = (x - plot->x_lo) / range;
		int width, at;

		if (!(part <= 1 + 1e-9))
			break;
		x_text(plot->chart, x, step, text, sizeof(text));
		width = (int)utf8_width(str_from(text));
		at = (int)lround(part * (plot->cols - 1)) - width / 2;
		if (at + width > plot->cols)
			at = plot->cols - width;
		if (at < 0)
			at = 0;
		if (at < free || strcmp(text, before) == 0)
			continue;
		(void)canvas_text(canvas, x0 + at, y, STYLE_DIM, text);
		memcpy(before, text, sizeof(before));
		free = at + width + 1;
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
		chart_draw_series(plot, &chart->series[i]);
	show_plot(plot, canvas, origin[0], origin[1]);
}

void
chart_draw(const struct chart *chart, struct canvas *canvas)
{
	struct rect r = chart->rect, inner = chart_plot_rect(chart);
	struct rect before = canvas_clip(canvas, r);
	struct plot plot = { .chart = chart, .cols = inner.w, .rows = inner.h };
	int origin[2] = { inner.x, inner.y };
	size_t cells;

	if (plot.cols >= 4 && plot.rows >= 2) {
		plot.w = plot.cols * dots[chart->charset].w;
		plot.h = plot.rows * dots[chart->charset].h;
		cells = (size_t)plot.cols * (size_t)plot.rows;
		plot.bits = xcalloc((size_t)plot.w, (size_t)plot.h);
		plot.styles = xcalloc(cells, sizeof(*plot.styles));
		plot.glyphs = xcalloc(cells, 1);
		chart_x_range(chart, &plot.x_lo, &plot.x_hi);
		find_y_range(&plot);
		draw_y_axis(&plot, canvas, (int[2]){ r.x, r.y });
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
