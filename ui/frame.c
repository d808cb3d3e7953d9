/* SPDX-License-Identifier: MIT */
/* The lines around a view, and what the mouse does over it. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/fmt.h"
#include "ui/plot.h"
#include "ui/theme.h"
#include "ui/ui_priv.h"

#define SAID_MS	    8000
#define WHEEL_LINES 3
/* A hand that only clicks may slip by a column. */
#define SLIP_COLUMNS 2

/* Tabs with their digits; which columns each takes is kept for the mouse. */
static int
frame_draw_tabs(struct ui *ui, struct canvas *canvas)
{
	bool wide = canvas->width >= 110;
	int x = wide ? 1 : 0;

	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		unsigned int style = i == ui->view ? STYLE_TAB_ON : STYLE_TAB;

		ui->tabs[i][0] = x;
		x += canvas_textf(canvas, x, 0, style,
				  wide ? " %zu %s " : "%zu%s", i + 1,
				  ui_views[i]->name);
		ui->tabs[i][1] = x;
		x += wide ? 0 : 1;
	}
	return x;
}

/* What the reference of all differences is called; "" when there is none. */
static void
frame_reference(const struct ui_shared *shared, char out[FMT_LABEL])
{
	out[0] = '\0';
	if (shared->reference != NULL)
		plot_run_label(shared->reference, out);
	else if (shared->baseline != NULL)
		(void)snprintf(out, FMT_LABEL, "%.80s", shared->baseline->name);
}

/* Right of the tabs: reference, pods that live, alerts, time. */
static void
frame_draw_state(struct ui *ui, struct canvas *canvas, int left)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t live = 0, all = 0, open = alerts_open(shared->alerts);
	int room = canvas->width - left - 1, x, taken;
	char pods[200], alerts[40], time[100], ref[FMT_LABEL] = "";
	char clock[FMT_SIZE], zone[FMT_SIZE];

	for (size_t i = 0; i < model->n_pods; i++) {
		all += model->pods[i].state != POD_GONE;
		live += model->pods[i].state == POD_LIVE ||
			model->pods[i].state == POD_SILENT;
	}
	if (room > 60)
		frame_reference(shared, ref);
	(void)fmt_clock(shared->now_wall_ms, clock);
	(void)snprintf(pods, sizeof(pods), "%s%s%s%s%zu/%zu pods · ",
		       ref[0] != '\0' ? "ref " : "", ref,
		       ref[0] != '\0' ? " · " : "",
		       model->is_shared ? "reads · " : "", live, all);
	(void)snprintf(time, sizeof(time), " · %s %s", clock,
		       fmt_zone(shared->now_wall_ms, zone));
	(void)snprintf(alerts, sizeof(alerts), "%zu alert%s", open,
		       open == 1 ? "" : "s");
	if (text_width(pods) + text_width(time) + text_width(alerts) > room) {
		(void)snprintf(alerts, sizeof(alerts), "%zu!", open);
		(void)snprintf(pods, sizeof(pods), "%zu/%zu pods ", live, all);
		(void)snprintf(time, sizeof(time), " %.5s", clock);
	}
	/* The alerts are what is left out last. */
	taken = text_width(pods) + text_width(alerts);
	if (taken + text_width(time) > room)
		time[0] = '\0';
	if (taken > room)
		pods[0] = '\0';
	x = canvas->width - 1 -
	    (text_width(pods) + text_width(alerts) + text_width(time));
	x = int_max(x, left);
	x += canvas_text(canvas, x, 0, STYLE_HINT, pods);
	x += canvas_text(canvas, x, 0, open > 0 ? STYLE_WARN : STYLE_HINT,
			 alerts);
	(void)canvas_text(canvas, x, 0, STYLE_HINT, time);
}

/* The newest word: what was just said, else the newest event. */
static void
frame_draw_status(struct ui *ui, struct canvas *canvas, struct rect line)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	const struct model_event *event;
	char clock[FMT_SIZE];

	if (shared->said[0] != '\0' &&
	    shared->now_mono_ms - shared->said_at_ms < SAID_MS) {
		canvas_print(canvas, line, STYLE_STRONG, "%s", shared->said);
	} else if (model->n_events > 0) {
		event = model_event_at(model, model->n_events - 1);
		canvas_print(
			canvas, line,
			event->severity == MODEL_INFO ? STYLE_HINT : STYLE_WARN,
			"%s %s", fmt_clock(event->wall_ms, clock), event->text);
	}
}

/* Columns of "key name"; 0 when it has no key, or no use in the view. */
static int
frame_hint_width(const struct ui *ui, enum action action)
{
	const struct view_ops *view = ui_view(ui);
	char key[KEY_NAME_SIZE];

	keymap_key_name(&ui->keymap, action, key);
	if (key[0] == '\0' || (action == ACTION_COPY && !view->copies) ||
	    (action == ACTION_EXPORT && view->export == NULL) ||
	    (ui->shared.read_only && action_is_acting(action)))
		return 0;
	return text_width(key) + 1 + text_width(action_info(action)->name);
}

/* "key name" at *x, which goes on; false: it does not fit before `end`. */
static bool
frame_draw_hint(const struct ui *ui, struct canvas *canvas, int *x, int end,
		enum action action)
{
	int width = frame_hint_width(ui, action), y = canvas->height - 1;
	char key[KEY_NAME_SIZE];

	if (width == 0)
		return true;
	if (*x + width > end)
		return false;
	keymap_key_name(&ui->keymap, action, key);
	*x += canvas_text(canvas, *x, y, STYLE_KEY, key) + 1;
	*x += canvas_text(canvas, *x, y, STYLE_HINT, action_info(action)->name);
	*x += 2;
	return true;
}

/*
 * Help is first and so never the one that is left out; the way out stands at
 * the right, where it does not move.
 */
static void
frame_draw_hints(const struct ui *ui, struct canvas *canvas)
{
	static const enum action last[] = { ACTION_PALETTE, ACTION_EVENTS,
					    ACTION_COPY, ACTION_EXPORT,
					    ACTION_NONE };
	const enum action *const lists[] = { ui_view(ui)->hints, last };
	int x = 1, end = canvas->width - 1 - frame_hint_width(ui, ACTION_QUIT);
	int at = end;

	(void)frame_draw_hint(ui, canvas, &x, end, ACTION_HELP);
	(void)frame_draw_hint(ui, canvas, &at, canvas->width - 1, ACTION_QUIT);
	for (size_t i = 0; i < 2; i++)
		for (const enum action *a = lists[i]; *a != ACTION_NONE; a++)
			if (!frame_draw_hint(ui, canvas, &x, end - 2, *a))
				break;
}

/* Where nothing fits: the fleet's rows alone; what is asked is not lost. */
void
frame_draw_tiny(struct ui *ui, struct canvas *canvas)
{
	struct rect rest = { 0, 0, canvas->width, canvas->height };

	if (ui->overlay == OVERLAY_NONE)
		canvas_say(canvas, &rest, STYLE_TITLE,
			   "? help  enlarge to 60x15");
	else
		canvas_say(canvas, &rest, STYLE_WARN,
			   "Esc back  enlarge to 60x15 to see it");
	ui_views[0]->draw(ui->states[0], &ui->shared, canvas, rest);
}

static void
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

void
frame_draw(struct ui *ui, struct canvas *canvas)
{
	struct rect body = { 0, 1, canvas->width, canvas->height - 3 };

	frame_draw_state(ui, canvas, frame_draw_tabs(ui, canvas));
	ui_view(ui)->draw(ui->states[ui->view], &ui->shared, canvas, body);
	canvas->clip = (struct rect){ 0, 0, canvas->width, canvas->height };
	mouse_draw(ui, canvas);
	frame_draw_status(
		ui, canvas,
		(struct rect){ 1, canvas->height - 2, canvas->width - 2, 1 });
	frame_draw_hints(ui, canvas);
}

void
ui_area_add(struct ui_shared *shared, const struct chart *chart)
{
	if (shared->n_areas < UI_MAX_AREAS)
		shared->areas[shared->n_areas++] = chart_plot_rect(chart);
}

/* The chart at a place; NULL: none. */
static const struct rect *
mouse_area(const struct ui *ui, int x, int y)
{
	for (size_t i = 0; i < ui->shared.n_areas; i++)
		if (rect_has(&ui->shared.areas[i], x, y))
			return &ui->shared.areas[i];
	return NULL;
}

/* A column as a part of what the chart shows. */
static double
mouse_part(const struct rect *area, int x)
{
	double part = area->w > 1 ? (double)(x - area->x) / (area->w - 1) : 0;

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

static size_t
mouse_tab(const struct ui *ui, int x, int y)
{
	if (y != 0)
		return UI_VIEW_COUNT;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if (x >= ui->tabs[i][0] && x < ui->tabs[i][1])
			return i;
	return UI_VIEW_COUNT;
}

static bool
mouse_click(struct ui *ui, const struct key *key)
{
	const struct view_ops *view = ui_view(ui);
	void *state = ui->states[ui->view];
	struct list *list =
		view->list != NULL ? view->list(state, &ui->shared) : NULL;

	if (list != NULL && list_click(list, key->x, key->y)) {
		if (view->moved != NULL)
			view->moved(state, &ui->shared);
		return true;
	}
	return view->click != NULL &&
	       view->click(state, &ui->shared, key->x, key->y);
}

static void
mouse_wheel(struct ui *ui, const struct key *key)
{
	const struct rect *area = mouse_area(ui, key->x, key->y);
	bool up = key->code == KEYCODE_WHEEL_UP;

	if (area != NULL) {
		ui->shared.chart.cursor = mouse_part(area, key->x);
		(void)ui_chart_act(&ui->shared.chart,
				   up ? ACTION_ZOOM_IN : ACTION_ZOOM_OUT);
		return;
	}
	for (int i = 0; i < WHEEL_LINES; i++)
		ui_action(ui, up ? ACTION_UP : ACTION_DOWN);
}

static void
mouse_press(struct ui *ui, const struct key *key)
{
	const struct rect *area = mouse_area(ui, key->x, key->y);
	size_t tab = mouse_tab(ui, key->x, key->y);

	ui->drag = (struct ui_drag){ .kind = DRAG_NONE, .y = key->y };
	if (tab < UI_VIEW_COUNT) {
		ui_go_to(ui, tab);
	} else if (area != NULL) {
		ui->drag.kind = DRAG_CHART;
		ui->drag.area = *area;
		ui->drag.from = ui->drag.to = key->x;
		ui->shared.chart.cursor = mouse_part(area, key->x);
	} else if (mouse_click(ui, key)) {
		ui->drag.kind = DRAG_LIST;
	}
}

static void
mouse_drag(struct ui *ui, const struct key *key)
{
	const struct rect *area = &ui->drag.area;
	int by = key->y - ui->drag.y;

	if (ui->drag.kind == DRAG_CHART) {
		ui->drag.to = int_max(area->x,
				      int_min(key->x, area->x + area->w - 1));
		ui->shared.chart.cursor = mouse_part(area, ui->drag.to);
	} else if (ui->drag.kind == DRAG_LIST && by != 0 &&
		   !mouse_click(ui, key)) {
		/* Beyond the list's edge it goes on. */
		ui_action(ui, by > 0 ? ACTION_DOWN : ACTION_UP);
	}
	ui->drag.y = key->y;
}

static void
mouse_release(struct ui *ui)
{
	const struct ui_drag *d = &ui->drag;

	if (d->kind == DRAG_CHART && abs(d->to - d->from) >= SLIP_COLUMNS) {
		ui_chart_zoom_to(&ui->shared.chart,
				 mouse_part(&d->area, d->from),
				 mouse_part(&d->area, d->to));
		ui_say(&ui->shared, "%.3gx; 0 shows all of x again",
		       ui->shared.chart.zoom);
	}
	ui->drag.kind = DRAG_NONE;
}

void
frame_mouse(struct ui *ui, const struct key *key)
{
	if (key->code == KEYCODE_WHEEL_UP || key->code == KEYCODE_WHEEL_DOWN)
		mouse_wheel(ui, key);
	else if (key->code == KEYCODE_MOUSE_PRESS)
		mouse_press(ui, key);
	else if (key->code == KEYCODE_MOUSE_DRAG)
		mouse_drag(ui, key);
	else
		mouse_release(ui);
}
