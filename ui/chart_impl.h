/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_CHART_IMPL_H
#define HGYM_UI_CHART_IMPL_H

#include <stdint.h>

#include "ui/chart.h"

/* What chart.c and chart_dots.c share; nobody else includes it. */

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

/* The dots of a cell in the charset of the chart. */
void chart_dots(enum chart_charset charset, int *width, int *height);
/* y as it is drawn; what cannot be drawn is NaN and parts the line. */
double chart_y_value(const struct chart *chart, double y);
/* Set the dots of a series. */
void chart_draw_series(struct plot *plot, const struct chart_series *series);
/* The character for the dots of a cell; 0: none is set. */
uint32_t chart_cell_char(const struct plot *plot, int col, int row);

#endif
