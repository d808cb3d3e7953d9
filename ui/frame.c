/* SPDX-License-Identifier: MIT */
/* The lines around a view: tabs and state above, status and hints below. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "ui/fmt.h"
#include "ui/plot.h"
#include "ui/theme.h"
#include "ui/ui_impl.h"

#define SAID_MS 8000

/* Tabs with their digits; which columns each takes is kept for the mouse. */
int
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

/* Right of the tabs: reference, pods that live, alerts, time. */
void
frame_draw_state(struct ui *ui, struct canvas *canvas, int left)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t live = 0, all = 0, open = alerts_open(shared->alerts);
	char clock[FMT_SIZE], zone[FMT_SIZE], text[260], label[FMT_LABEL],
		ref[140] = "";
	int room = canvas->width - left - 1;

	for (size_t i = 0; i < model->n_pods; i++) {
		all += model->pods[i].state != POD_GONE;
		live += model->pods[i].state == POD_LIVE ||
			model->pods[i].state == POD_SILENT;
	}
	if (shared->reference != NULL && room > 60) {
		plot_run_label(shared->reference, label);
		(void)snprintf(ref, sizeof(ref), "ref %s · ", label);
	} else if (shared->baseline != NULL && room > 60) {
		(void)snprintf(ref, sizeof(ref), "ref %.80s · ",
			       shared->baseline->name);
	}
	(void)snprintf(text, sizeof(text), "%s%zu/%zu pods · %zu! · %s %s", ref,
		       live, all, open, fmt_clock(shared->now_wall_ms, clock),
		       fmt_zone(shared->now_wall_ms, zone));
	if ((int)utf8_width(str_from(text)) > room)
		(void)snprintf(text, sizeof(text), "%zu/%zu %zu! %s", live, all,
			       open, clock);
	canvas_right(canvas, (struct rect){ left, 0, room + 1, 1 },
		     open > 0 ? STYLE_WARN : STYLE_HINT, str_from(text));
}

/* The newest word: what was just said, else the newest event. */
void
frame_draw_status(struct ui *ui, struct canvas *canvas, int y)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	struct rect line = { 1, y, canvas->width - 2, 1 };
	const struct model_event *event;
	char text[512], clock[FMT_SIZE];

	if (shared->said[0] != '\0' &&
	    shared->now_mono_ms - shared->said_at_ms < SAID_MS) {
		canvas_line(canvas, line, STYLE_STRONG, str_from(shared->said));
		return;
	}
	if (model->n_events == 0)
		return;
	event = model_event_at(model, model->n_events - 1);
	(void)snprintf(text, sizeof(text), "%s %s",
		       fmt_clock(event->wall_ms, clock), event->text);
	canvas_line(canvas, line,
		    event->severity == MODEL_INFO ? STYLE_HINT : STYLE_WARN,
		    str_from(text));
}

/* "key name" when it still fits; returns the next column or -1. */
static int
draw_hint(const struct ui *ui, struct canvas *canvas, int x, int y,
	  enum action action)
{
	char key[KEY_NAME_SIZE];
	const char *name = action_info(action)->name;
	int width;

	keymap_key_name(&ui->keymap, action, key);
	if (key[0] == '\0' ||
	    (ui->shared.read_only && action_is_acting(action)))
		return x;
	width = (int)utf8_width(str_from(key)) + 1 + (int)strlen(name);
	if (x + width > canvas->width - 1)
		return -1;
	x += canvas_text(canvas, x, y, STYLE_KEY, key) + 1;
	x += canvas_text(canvas, x, y, STYLE_HINT, name) + 2;
	return x;
}

/* Help is first and so never the one that is left out. */
void
frame_draw_hints(const struct ui *ui, struct canvas *canvas, int y)
{
	static const enum action last[] = { ACTION_PALETTE, ACTION_EVENTS,
					    ACTION_COPY,    ACTION_EXPORT,
					    ACTION_QUIT,    ACTION_NONE };
	const enum action *const lists[] = { ui_view(ui)->hints, last };
	int x = draw_hint(ui, canvas, 1, y, ACTION_HELP);

	for (size_t i = 0; i < 2; i++) {
		for (const enum action *a = lists[i]; *a != ACTION_NONE; a++) {
			int next =
				x >= 0 ? draw_hint(ui, canvas, x, y, *a) : -1;

			if (next < 0)
				break;
			x = next;
		}
	}
}

/* Where nothing fits: a line a run. */
void
frame_draw_tiny(struct ui *ui, struct canvas *canvas)
{
	const struct model *model = ui->shared.model;
	char label[FMT_LABEL], bpb[FMT_SIZE];
	int y = 1;

	canvas_line(canvas, (struct rect){ 0, 0, canvas->width, 1 },
		    STYLE_TITLE, str_from("? help  enlarge to 60x15"));
	for (size_t i = model->n_runs; i-- > 0 && y < canvas->height; y++) {
		const struct model_run *mr = model->runs[i];
		struct rect line = { 0, y, canvas->width, 1 };

		plot_run_label(mr, label);
		canvas_line(canvas, line, STYLE_NORMAL, str_from(label));
		line.x += line.w - 7;
		line.w = 7;
		if (line.x > 0)
			canvas_right(canvas, line, STYLE_STRONG,
				     str_from(fmt_number(mr->run.last_val_bpb,
							 4, bpb)));
	}
}
