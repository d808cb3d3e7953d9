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
#include "ui/chart_impl.h"
#include "ui/theme.h"

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

/* Widen by a series between two x; where lines leave it too. */
static void
widen_by(const struct chart *chart, const struct chart_series *series,
	 const double x[2], double y[2])
{
	for (size_t i = 0; i < series->n; i++) {
		double own = chart_y_value(chart, series->y[i]), before, part;

		if (series->x[i] >= x[0] && series->x[i] <= x[1])
			widen(&y[0], &y[1], own);
		if (i == 0 || series->line == CHART_DOTS)
			continue;
		before = chart_y_value(chart, series->y[i - 1]);
		for (int edge = 0; edge < 2; edge++) {
			part = (x[edge] - series->x[i - 1]) /
			       (series->x[i] - series->x[i - 1]);
			if (part > 0 && part < 1)
				widen(&y[0], &y[1],
				      before + (own - before) * part);
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
	double x[2] = { plot->x_lo, plot->x_hi }, y[2] = { NAN, NAN }, air;

	if (isfinite(chart->y_x_lo) && isfinite(chart->y_x_hi)) {
		x[0] = chart->y_x_lo;
		x[1] = chart->y_x_hi;
	}
	/* A loss begins so high that the rest would be a flat line. */
	if (chart->skip_start)
		x[0] += (x[1] - x[0]) * 0.04;
	for (size_t s = 0; s < chart->n_series; s++)
		widen_by(chart, &chart->series[s], x, y);
	if (isnan(y[0])) {
		y[0] = chart->log_y ? -1 : 0;
		y[1] = 1;
	}
	air = air_of(y[0], y[1]);
	plot->y_lo = isfinite(chart->y_lo) ? chart_y_value(chart, chart->y_lo)
					   : y[0] - air;
	plot->y_hi = isfinite(chart->y_hi) ? chart_y_value(chart, chart->y_hi)
					   : y[1] + air;
	/* The air around the points is no reason to show less than nothing. */
	if (y[0] >= 0 && plot->y_lo < 0 && !chart->log_y &&
	    !isfinite(chart->y_lo))
		plot->y_lo = 0;
	if (!chart->log_y && plot->y_lo < chart->y_floor)
		plot->y_lo = chart->y_floor;
	if (!chart->log_y && plot->y_hi > chart->y_ceiling)
		plot->y_hi = chart->y_ceiling;
	if (!(plot->y_hi > plot->y_lo))
		plot->y_hi = plot->y_lo + 1;
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
		chart_dots(chart->charset, &plot.w, &plot.h);
		plot.w *= plot.cols;
		plot.h *= plot.rows;
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
