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

/* What the reference of all differences is called; "" when there is none. */
static void
reference_text(const struct ui_shared *shared, char out[140])
{
	char label[FMT_LABEL];

	out[0] = '\0';
	if (shared->reference != NULL) {
		plot_run_label(shared->reference, label);
		(void)snprintf(out, 140, "ref %s · ", label);
	} else if (shared->baseline != NULL) {
		(void)snprintf(out, 140, "ref %.80s · ",
			       shared->baseline->name);
	}
}

static int
width_of(const char *text)
{
	return (int)utf8_width(str_from(text));
}

/* Right of the tabs: reference, pods that live, alerts, time. */
void
frame_draw_state(struct ui *ui, struct canvas *canvas, int left)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t live = 0, all = 0, open = alerts_open(shared->alerts);
	int room = canvas->width - left - 1, x;
	char clock[FMT_SIZE], zone[FMT_SIZE], ref[140], texts[2][300];
	char alerts[2][40];
	bool brief;

	for (size_t i = 0; i < model->n_pods; i++) {
		all += model->pods[i].state != POD_GONE;
		live += model->pods[i].state == POD_LIVE ||
			model->pods[i].state == POD_SILENT;
	}
	reference_text(shared, ref);
	(void)fmt_clock(shared->now_wall_ms, clock);
	(void)snprintf(texts[0], sizeof(texts[0]), "%s%s%zu/%zu pods · ",
		       room > 60 ? ref : "", model->is_shared ? "reads · " : "",
		       live, all);
	(void)snprintf(texts[1], sizeof(texts[1]), " · %s %s", clock,
		       fmt_zone(shared->now_wall_ms, zone));
	(void)snprintf(alerts[0], sizeof(alerts[0]), "%zu alert%s", open,
		       open == 1 ? "" : "s");
	(void)snprintf(alerts[1], sizeof(alerts[1]), "%zu!", open);
	brief = width_of(texts[0]) + width_of(texts[1]) + width_of(alerts[0]) >
		room;
	if (brief) {
		(void)snprintf(texts[0], sizeof(texts[0]), "%zu/%zu pods ",
			       live, all);
		(void)snprintf(texts[1], sizeof(texts[1]), " %.5s", clock);
	}
	/* The alerts are what is left out last. */
	for (int i = 2; i-- > 0;)
		if (width_of(texts[0]) + width_of(texts[1]) +
			    width_of(alerts[brief]) >
		    room)
			texts[i][0] = '\0';
	x = canvas->width - 1 -
	    (width_of(texts[0]) + width_of(texts[1]) + width_of(alerts[brief]));
	x = x < left ? left : x;
	x += canvas_text(canvas, x, 0, STYLE_HINT, texts[0]);
	x += canvas_text(canvas, x, 0, open > 0 ? STYLE_WARN : STYLE_HINT,
			 alerts[brief]);
	(void)canvas_text(canvas, x, 0, STYLE_HINT, texts[1]);
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

/* Columns of "key name"; 0 when it has no key. */
static int
hint_width(const struct ui *ui, enum action action)
{
	char key[KEY_NAME_SIZE];

	keymap_key_name(&ui->keymap, action, key);
	if (key[0] == '\0' || (action == ACTION_COPY && !ui_view(ui)->copies) ||
	    (action == ACTION_EXPORT && ui_view(ui)->export == NULL) ||
	    (ui->shared.read_only && action_is_acting(action)))
		return 0;
	return (int)(utf8_width(str_from(key)) + 1 +
		     strlen(action_info(action)->name));
}

/* "key name" when it still fits before `end`; the next column or -1. */
static int
draw_hint(const struct ui *ui, struct canvas *canvas, const int place[3],
	  enum action action)
{
	int x = place[0], y = place[1], width = hint_width(ui, action);
	char key[KEY_NAME_SIZE];

	keymap_key_name(&ui->keymap, action, key);
	if (width == 0)
		return x;
	if (x + width > place[2])
		return -1;
	x += canvas_text(canvas, x, y, STYLE_KEY, key) + 1;
	x += canvas_text(canvas, x, y, STYLE_HINT, action_info(action)->name);
	return x + 2;
}

/*
 * Help is first and so never the one that is left out; the way out stands at
 * the right, where it does not move.
 */
void
frame_draw_hints(const struct ui *ui, struct canvas *canvas, int y)
{
	static const enum action last[] = { ACTION_PALETTE, ACTION_EVENTS,
					    ACTION_COPY, ACTION_EXPORT,
					    ACTION_NONE };
	const enum action *const lists[] = { ui_view(ui)->hints, last };
	int end = canvas->width - 1 - hint_width(ui, ACTION_QUIT);
	int x = draw_hint(ui, canvas, (int[3]){ 1, y, end }, ACTION_HELP);

	(void)draw_hint(ui, canvas, (int[3]){ end, y, canvas->width - 1 },
			ACTION_QUIT);
	for (size_t i = 0; i < 2; i++) {
		for (const enum action *a = lists[i]; *a != ACTION_NONE; a++) {
			int next = x >= 0 ? draw_hint(ui, canvas,
						      (int[3]){ x, y, end - 2 },
						      *a)
					  : -1;

			if (next < 0)
				break;
			x = next;
		}
	}
}

/* Where nothing fits: the fleet's rows alone; what is asked is not lost. */
void
frame_draw_tiny(struct ui *ui, struct canvas *canvas)
{
	canvas_line(canvas, (struct rect){ 0, 0, canvas->width, 1 },
		    ui->overlay == OVERLAY_NONE ? STYLE_TITLE : STYLE_WARN,
		    str_from(ui->overlay == OVERLAY_NONE
				     ? "? help  enlarge to 60x15"
				     : "Esc back  enlarge to 60x15 to see it"));
	ui_views[0]->draw(
		ui->states[0], &ui->shared, canvas,
		(struct rect){ 0, 1, canvas->width, canvas->height - 1 });
}
