/* SPDX-License-Identifier: MIT */
/* What the mouse does over a view; called by the frame. */
#include "config.h"

#include "ui/mouse.h"

#include <stdlib.h>

#include "ui/theme.h"

#define WHEEL_LINES 3
/* A hand that only clicks may slip by a column. */
#define SLIP_COLUMNS 2

void
ui_area_add(struct ui_shared *shared, const struct chart *chart)
{
	if (shared->n_areas < UI_MAX_AREAS)
		shared->areas[shared->n_areas++] = chart_plot_rect(chart);
}

static bool
is_inside(const struct rect *r, int x, int y)
{
	return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}

/* The chart at a place; NULL: none. */
static const struct rect *
area_at(const struct ui *ui, int x, int y)
{
	for (size_t i = 0; i < ui->shared.n_areas; i++)
		if (is_inside(&ui->shared.areas[i], x, y))
			return &ui->shared.areas[i];
	return NULL;
}

/* A column as a part of what the chart shows. */
static double
part_of(const struct rect *area, int x)
{
	double part = area->w > 1 ? (double)(x - area->x) / (area->w - 1) : 0;

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

static size_t
tab_at(const struct ui *ui, int x, int y)
{
	if (y != 0)
		return UI_VIEW_COUNT;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if (x >= ui->tabs[i][0] && x < ui->tabs[i][1])
			return i;
	return UI_VIEW_COUNT;
}

static bool
click(struct ui *ui, const struct key *key)
{
	const struct view_ops *view = ui_view(ui);

	return view->click != NULL &&
	       view->click(ui->states[ui->view], &ui->shared, key->x, key->y);
}

static void
wheel(struct ui *ui, const struct key *key)
{
	const struct rect *area = area_at(ui, key->x, key->y);
	bool up = key->code == KEYCODE_WHEEL_UP;

	if (area != NULL) {
		ui->shared.chart.cursor = part_of(area, key->x);
		(void)ui_chart_act(&ui->shared.chart,
				   up ? ACTION_ZOOM_IN : ACTION_ZOOM_OUT);
		return;
	}
	for (int i = 0; i < WHEEL_LINES; i++)
		ui_action(ui, up ? ACTION_UP : ACTION_DOWN);
}

static void
press(struct ui *ui, const struct key *key)
{
	const struct rect *area = area_at(ui, key->x, key->y);
	size_t tab = tab_at(ui, key->x, key->y);

	ui->drag = (struct ui_drag){ .kind = DRAG_NONE, .y = key->y };
	if (tab < UI_VIEW_COUNT) {
		ui_go_to(ui, tab);
	} else if (area != NULL) {
		ui->drag.kind = DRAG_CHART;
		ui->drag.area = *area;
		ui->drag.from = ui->drag.to = key->x;
		ui->shared.chart.cursor = part_of(area, key->x);
	} else if (click(ui, key)) {
		ui->drag.kind = DRAG_LIST;
	}
}

static void
drag(struct ui *ui, const struct key *key)
{
	const struct rect *area = &ui->drag.area;
	int by = key->y - ui->drag.y;

	if (ui->drag.kind == DRAG_CHART) {
		ui->drag.to = key->x < area->x ? area->x
			      : key->x >= area->x + area->w
				      ? area->x + area->w - 1
				      : key->x;
		ui->shared.chart.cursor = part_of(area, ui->drag.to);
	} else if (ui->drag.kind == DRAG_LIST && by != 0 && !click(ui, key)) {
		/* Beyond the list's edge it goes on. */
		ui_action(ui, by > 0 ? ACTION_DOWN : ACTION_UP);
	}
	ui->drag.y = key->y;
}

static void
release(struct ui *ui)
{
	const struct ui_drag *d = &ui->drag;

	if (d->kind == DRAG_CHART && abs(d->to - d->from) >= SLIP_COLUMNS) {
		ui_chart_zoom_to(&ui->shared.chart, part_of(&d->area, d->from),
				 part_of(&d->area, d->to));
		ui_say(&ui->shared, "%.3gx; 0 shows all of x again",
		       ui->shared.chart.zoom);
	}
	ui->drag.kind = DRAG_NONE;
}

void
mouse_key(struct ui *ui, const struct key *key)
{
	if (key->code == KEYCODE_WHEEL_UP || key->code == KEYCODE_WHEEL_DOWN)
		wheel(ui, key);
	else if (key->code == KEYCODE_MOUSE_PRESS)
		press(ui, key);
	else if (key->code == KEYCODE_MOUSE_DRAG)
		drag(ui, key);
	else
		release(ui);
}

void
mouse_draw(const struct ui *ui, struct canvas *canvas)
{
	const struct ui_drag *d = &ui->drag;
	struct rect r = d->area;

	if (d->kind != DRAG_CHART || abs(d->to - d->from) < SLIP_COLUMNS)
		return;
	r.x = d->from < d->to ? d->from : d->to;
	r.w = abs(d->to - d->from) + 1;
	canvas_restyle(canvas, r, STYLE_NORMAL | STYLE_REVERSE);
}
