/* SPDX-License-Identifier: MIT */
/* The alerts that hold and what happened, over any view. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "ui/fmt.h"
#include "ui/fold.h"
#include "ui/overlay.h"
#include "ui/plot.h"
#include "ui/theme.h"

#define BOX_WIDTH    110
#define TEXT_BYTES   4096
#define DETAIL_LINES 3 /* a rule, and the selected line as a whole */

static const unsigned int severity_styles[] = {
	[MODEL_INFO] = STYLE_NORMAL,
	[MODEL_WARNING] = STYLE_WARN,
	[MODEL_ALARM] = STYLE_ALARM,
};

static void
add(struct ui *ui, const struct alert *alert, const struct model_event *event)
{
	ui->happenings[ui->n_happenings++] =
		(struct ui_happening){ alert, event,
				       alert != NULL ? alert->mr : event->mr };
}

/* Alerts that are acknowledged, or those that are not; the newest first. */
static void
add_alerts(struct ui *ui, bool acknowledged)
{
	const struct alerts *alerts = ui->shared.alerts;

	for (size_t i = alerts->n; i-- > 0;)
		if (alerts->v[i].acknowledged == acknowledged)
			add(ui, &alerts->v[i], NULL);
}

/* An alert is one line: while it holds its event is left out. */
static void
add_all(struct ui *ui)
{
	const struct alerts *alerts = ui->shared.alerts;
	const struct model *model = ui->shared.model;

	ui->happenings =
		xreallocarray(ui->happenings, alerts->n + model->n_events + 1,
			      sizeof(*ui->happenings));
	ui->n_happenings = 0;
	add_alerts(ui, false);
	add_alerts(ui, true);
	for (size_t i = model->n_events; i-- > 0;) {
		const struct model_event *event = model_event_at(model, i);

		if (alerts_find(alerts, event->alert) == NULL)
			add(ui, NULL, event);
	}
}

/* What happened to whom, all of it. */
static void
say_what(const struct ui *ui, const struct ui_happening *what, struct buf *out)
{
	const struct alert *alert = what->alert;
	const struct model *model = ui->shared.model;
	char label[FMT_LABEL] = "";

	if (alert == NULL) {
		buf_append_str(out, what->event->text);
		return;
	}
	if (alert->mr != NULL)
		plot_run_label(alert->mr, label);
	buf_appendf(out, "%s%s%s: %s",
		    alert->pod < model->n_pods ? model->pods[alert->pod].name
					       : "",
		    label[0] != '\0' ? " " : "", label, alert->text);
}

static void
kind_cell(const struct ui_happening *what, struct table_cell *cell)
{
	const struct alert *alert = what->alert;

	if (alert == NULL)
		table_cellf(cell, STYLE_DIM, "%s%s",
			    what->event->kind != NULL ? "over " : "event",
			    what->event->kind != NULL ? what->event->kind : "");
	else
		table_cellf(cell,
			    alert->acknowledged
				    ? STYLE_DIM
				    : severity_styles[alert->severity],
			    "%-2s %s", alert->acknowledged ? "ok" : "!",
			    alert_name(alert->kind));
}

static void
happening_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct ui *ui = user;
	const struct ui_happening *what = &ui->happenings[row];
	char clock[FMT_SIZE];
	struct buf text;

	if (column == 0) {
		table_cellf(cell, STYLE_DIM, "%s",
			    fmt_when(what->alert != NULL
					     ? what->alert->since_wall_ms
					     : what->event->wall_ms,
				     ui->shared.now_wall_ms, clock));
	} else if (column == 1) {
		kind_cell(what, cell);
	} else {
		buf_init(&text, TEXT_BYTES);
		say_what(ui, what, &text);
		table_cellf(cell,
			    what->alert != NULL
				    ? STYLE_NORMAL
				    : severity_styles[what->event->severity],
			    "%s", text.data);
		buf_release(&text);
	}
}

/* The selected line as a whole, where a row has no room for it. */
static void
draw_selected(struct ui *ui, struct canvas *canvas, struct rect r)
{
	struct buf text;

	canvas_fill(canvas, (struct rect){ r.x, r.y, r.w, 1 }, STYLE_AXIS,
		    0x2500);
	buf_init(&text, TEXT_BYTES);
	say_what(ui, &ui->happenings[ui->events.selected], &text);
	(void)fold_draw(canvas,
			(struct rect){ r.x, r.y + 1, r.w, DETAIL_LINES - 1 },
			text.data, 0);
	buf_release(&text);
}

/* The keys as they are bound; one that has none is not named. */
static void
make_title(const struct ui *ui, struct buf *title)
{
	const struct {
		enum action action;
		const char *does;
	} keys[] = {
		{ ACTION_ACKNOWLEDGE, "acknowledge" },
		{ ACTION_MUTE, ui->setup.alerts->muted ? "unmute" : "mute" },
		{ ACTION_OPEN, "the run" },
	};

	buf_append_str(title, "Alerts and events");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char key[KEY_NAME_SIZE];

		keymap_key_name(&ui->keymap, keys[i].action, key);
		if (key[0] != '\0')
			buf_appendf(title, " · %s %s", key, keys[i].does);
	}
}

void
overlay_events_draw(struct ui *ui, struct canvas *canvas)
{
	char zone[FMT_SIZE];
	const struct table_column columns[] = {
		{ fmt_zone(ui->shared.now_wall_ms, zone), 8, false, 0, false },
		{ "kind", 14, false, 0, false },
		{ "what", 30, false, 0, true },
	};
	const struct table_spec spec = { columns, 3,	    happening_cell,
					 ui,	  SIZE_MAX, false };
	struct buf title;
	struct rect r;

	buf_init(&title, 256);
	make_title(ui, &title);
	r = overlay_box(canvas, BOX_WIDTH, canvas->height - 4, title.data);
	buf_release(&title);
	add_all(ui);
	table_set_rows(&ui->events, ui->n_happenings);
	if (ui->n_happenings == 0)
		canvas_line(canvas, r, STYLE_DIM,
			    str_from("Nothing happened yet."));
	if (ui->n_happenings == 0)
		return;
	r.h -= DETAIL_LINES;
	table_draw(&ui->events, canvas, r, &spec);
	draw_selected(ui, canvas,
		      (struct rect){ r.x, r.y + r.h, r.w, DETAIL_LINES });
}

/* To the run of the selected line. */
static void
open_selected(struct ui *ui)
{
	size_t row = ui->events.selected;
	const struct model_run *mr =
		row < ui->n_happenings ? ui->happenings[row].mr : NULL;

	if (mr == NULL) {
		ui_say(&ui->shared, "this line is of no run");
		return;
	}
	ui->overlay = OVERLAY_NONE;
	ui->shared.selected = mr;
	ui_action(ui, ACTION_VIEW_RUN);
}

void
overlay_events_key(struct ui *ui, const struct key *key)
{
	enum action action = keymap_find(&ui->keymap, key->code, 0);

	if (key->code == KEYCODE_WHEEL_UP || key->code == KEYCODE_WHEEL_DOWN)
		action = overlay_list_action(key->code);
	if (key->code == KEYCODE_MOUSE_PRESS)
		(void)table_click(&ui->events, key->x, key->y);
	if (table_act(&ui->events, action))
		return;
	if (action == ACTION_QUIT || action == ACTION_BACK ||
	    action == ACTION_EVENTS)
		ui->overlay = OVERLAY_NONE;
	else if (action == ACTION_OPEN)
		open_selected(ui);
	else if (action == ACTION_HELP || action == ACTION_PALETTE)
		(void)overlay_open(ui, action);
	else if (action == ACTION_ACKNOWLEDGE || action == ACTION_MUTE ||
		 action == ACTION_QUIT_NOW)
		ui_action(ui, action);
}
