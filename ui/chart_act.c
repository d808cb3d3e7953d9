/* SPDX-License-Identifier: MIT */
/* Actions on the chart settings that all views share. */
#include "config.h"

#include "ui/plot.h"
#include "ui/view.h"

#define ZOOM_MAX 256

/* Keep the middle where all of what is shown lies inside. */
static void
keep_inside(struct chart_settings *chart)
{
	double half = 0.5 / chart->zoom;

	if (chart->center < half)
		chart->center = half;
	if (chart->center > 1 - half)
		chart->center = 1 - half;
}

void
ui_chart_zoom_to(struct chart_settings *chart, double a, double b)
{
	double span = 1 / chart->zoom;
	double lo = chart->center - span / 2 + span * (a < b ? a : b);
	double part = span * (a < b ? b - a : a - b);

	if (part < 1.0 / ZOOM_MAX)
		part = 1.0 / ZOOM_MAX;
	chart->zoom = part < 1 ? 1 / part : 1;
	chart->center = lo + part / 2;
	chart->cursor = -1;
	keep_inside(chart);
}

static void
zoom(struct chart_settings *chart, double factor)
{
	double middle = chart->cursor >= 0 ? chart->cursor : 0.5;
	double at = chart->center + (middle - 0.5) / chart->zoom;
	double span;

	chart->zoom *= factor;
	if (chart->zoom > ZOOM_MAX)
		chart->zoom = ZOOM_MAX;
	if (chart->zoom <= 1)
		chart->zoom = 1;
	span = 1 / chart->zoom;
	chart->center = at - (middle - 0.5) * span;
	keep_inside(chart);
}

/* Move the cursor; at the edges of a zoomed chart the window goes with it. */
static void
move_cursor(struct chart_settings *chart, double by)
{
	double span = 1 / chart->zoom;

	if (chart->cursor < 0) {
		chart->cursor = by > 0 ? 0 : 1;
		return;
	}
	chart->cursor += by;
	if (chart->cursor > 1 || chart->cursor < 0) {
		chart->center += by * span;
		keep_inside(chart);
		chart->cursor = chart->cursor > 1 ? 1 : 0;
	}
}

/* All of x; how it is drawn stays. */
static void
reset(struct chart_settings *chart)
{
	chart->zoom = 1;
	chart->center = 0.5;
	chart->cursor = -1;
}

unsigned int
ui_chart_act(struct chart_settings *chart, enum action action)
{
	if (action == ACTION_METRIC_NEXT)
		chart->metric = (chart->metric + 1) % PLOT_COUNT;
	else if (action == ACTION_METRIC_PREV)
		chart->metric = (chart->metric + PLOT_COUNT - 1) % PLOT_COUNT;
	else if (action == ACTION_X_AXIS)
		chart->axis = (chart->axis + 1) % AXIS_COUNT;
	else if (action == ACTION_LOG_AXIS)
		chart->log_y = !chart->log_y;
	else if (action == ACTION_SMOOTH_MORE)
		chart->smoothing += chart->smoothing + 1 < PLOT_SMOOTHING_COUNT;
	else if (action == ACTION_SMOOTH_LESS)
		chart->smoothing -= chart->smoothing > 0;
	else if (action == ACTION_ZOOM_IN)
		zoom(chart, 2);
	else if (action == ACTION_ZOOM_OUT)
		zoom(chart, 0.5);
	else if (action == ACTION_ZOOM_RESET)
		reset(chart);
	else if (action == ACTION_HOLD_Y)
		chart->hold_y = !chart->hold_y;
	else if (action == ACTION_LEFT)
		move_cursor(chart, -0.01);
	else if (action == ACTION_RIGHT)
		move_cursor(chart, 0.01);
	else
		return UI_IGNORED;
	return UI_HANDLED;
}
