/* SPDX-License-Identifier: MIT */
/* Help, palette, events, search and questions over a view. */
#include "config.h"

#include "ui/overlay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/fmt.h"
#include "ui/fold.h"
#include "ui/plot.h"
#include "ui/theme.h"

#define RUN_ID_BASE 10000 /* ids of the palette from here on are runs */

void
overlay_release(struct ui *ui)
{
	pick_release(&ui->pick);
	prompt_release(&ui->search);
	prompt_release(&ui->filter);
	prompt_release(&ui->answer);
	command_release(&ui->pending);
	free(ui->question);
	form_release(&ui->form);
	free(ui->bench_pods);
	free(ui->happenings);
	for (size_t k = 0; k < ui->n_questions; k++)
		free(ui->questions[k].text);
}

void
ui_ask(struct ui *ui, size_t pod, const char *question, bool secret)
{
	if (ui->n_questions == UI_MAX_QUESTIONS)
		return;
	ui->questions[ui->n_questions++] =
		(struct ui_question){ pod, xstrdup(question), secret };
	ui->stale = true;
}

/* The oldest question, where nothing else is open. */
void
overlay_next_question(struct ui *ui)
{
	if (ui->overlay != OVERLAY_NONE || ui->n_questions == 0)
		return;
	prompt_set(&ui->answer, "");
	ui->overlay = OVERLAY_QUESTION;
}

/* Give the answer; NULL for none. */
static void
answer_question(struct ui *ui, const char *answer)
{
	struct command command = {
		.id = COMMAND_ANSWER,
		.pod = ui->questions[0].pod,
		.text = xstrdup_null(answer),
	};

	free(ui->questions[0].text);
	memmove(ui->questions, ui->questions + 1,
		(ui->n_questions - 1) * sizeof(ui->questions[0]));
	ui->n_questions--;
	ui->overlay = OVERLAY_NONE;
	ui_execute(ui, &command);
}

/* A secret is kept in no history. */
static void
question_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result = PROMPT_DONE;

	if (key->code != '\r' && key->code != '\n')
		result = prompt_key(&ui->answer, key->code);
	if (result == PROMPT_DONE)
		answer_question(ui, ui->answer.text);
	else if (result == PROMPT_CANCEL)
		answer_question(ui, NULL);
	if (result == PROMPT_DONE || result == PROMPT_CANCEL)
		explicit_bzero(ui->answer.text, sizeof(ui->answer.text));
}

/* All actions that have a use where the view is. */
static void
add_actions(struct ui *ui)
{
	struct buf keys;

	buf_init(&keys, 128);
	for (int i = 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);

		if (ui->shared.read_only && action_is_acting((enum action)i))
			continue;
		buf_clear(&keys);
		keymap_key_names(&ui->keymap, (enum action)i, &keys);
		pick_add(&ui->pick, keys.data, info->name, info->help, i);
	}
	buf_release(&keys);
}

static void
add_runs(struct ui *ui)
{
	const struct model *model = ui->shared.model;
	char label[FMT_LABEL];

	for (size_t i = model->n_runs; i-- > 0;) {
		size_t pod = model->runs[i]->pod;

		plot_run_label(model->runs[i], label);
		pick_add(&ui->pick, "", label,
			 pod < model->n_pods ? model->pods[pod].name : "",
			 RUN_ID_BASE + (int)i);
	}
}

static void
open_pick(struct ui *ui, enum ui_overlay overlay)
{
	pick_clear(&ui->pick);
	prompt_set(&ui->pick.prompt, "");
	add_actions(ui);
	if (overlay == OVERLAY_PALETTE)
		add_runs(ui);
	pick_update(&ui->pick);
	ui->overlay = overlay;
}

bool
overlay_open(struct ui *ui, enum action action)
{
	bool can_search = ui_view(ui)->search != NULL;

	if (action == ACTION_HELP) {
		open_pick(ui, OVERLAY_HELP);
	} else if (action == ACTION_PALETTE) {
		open_pick(ui, OVERLAY_PALETTE);
	} else if (action == ACTION_EVENTS) {
		ui->overlay = OVERLAY_EVENTS;
		ui->events.selected = 0;
	} else if (action == ACTION_SEARCH && can_search) {
		ui->overlay = OVERLAY_SEARCH;
		prompt_set(&ui->search, "");
	} else if (action == ACTION_FILTER && can_search) {
		ui->overlay = OVERLAY_FILTER;
		prompt_set(&ui->filter, "");
	} else {
		return false;
	}
	return true;
}

void
overlay_ask(struct ui *ui, struct command *command)
{
	struct err err = { ERR_NONE, "" };
	char *preview = NULL;

	/* A check reads, as the followers of the logs do. */
	if (ui->shared.read_only && command->id != COMMAND_CHECK) {
		ui_say(&ui->shared, "--read-only: nothing that acts on a pod");
		command_release(command);
		return;
	}
	if (ui->setup.sink.preview != NULL)
		preview = ui->setup.sink.preview(ui->setup.sink.user, command,
						 &err);
	if (preview == NULL && err.code != ERR_NONE) {
		ui_say(&ui->shared, "%s", err.text);
		command_release(command);
		return;
	}
	if (preview == NULL) {
		ui_execute(ui, command);
		return;
	}
	command_release(&ui->pending);
	free(ui->question);
	ui->pending = *command;
	ui->question = preview;
	ui->question_top = 0;
	prompt_set(&ui->answer, "");
	ui->overlay = OVERLAY_ASK;
}

/* Do what the picked line stands for. */
static void
run_picked(struct ui *ui, int id)
{
	if (ui->overlay == OVERLAY_BENCH) {
		overlay_bench_picked(ui, id);
		return;
	}
	ui->overlay = OVERLAY_NONE;
	if (id >= RUN_ID_BASE) {
		ui->shared.selected = ui->shared.model->runs[id - RUN_ID_BASE];
		ui_action(ui, ACTION_VIEW_RUN);
	} else if (id > 0) {
		ui_action(ui, (enum action)id);
	}
}

/* Keys that move in the list rather than in the text. */
enum action
overlay_list_action(uint32_t code)
{
	static const struct {
		uint32_t code;
		enum action action;
	} moves[] = {
		{ KEYCODE_UP, ACTION_UP },
		{ KEYCODE_DOWN, ACTION_DOWN },
		{ 'p' - 'a' + 1, ACTION_UP },
		{ 'n' - 'a' + 1, ACTION_DOWN },
		{ KEYCODE_PAGE_UP, ACTION_PAGE_UP },
		{ KEYCODE_PAGE_DOWN, ACTION_PAGE_DOWN },
		{ KEYCODE_WHEEL_UP, ACTION_UP },
		{ KEYCODE_WHEEL_DOWN, ACTION_DOWN },
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
		if (moves[i].code == code)
			return moves[i].action;
	return ACTION_NONE;
}

static void
pick_key(struct ui *ui, const struct key *key)
{
	struct pick *pick = &ui->pick;

	if (key->code == KEYCODE_MOUSE_PRESS) {
		if (table_click(&pick->table, key->x, key->y))
			run_picked(ui, pick_selected(pick));
		return;
	}
	if (!pick->prompt.pasting &&
	    table_act(&pick->table, overlay_list_action(key->code)))
		return;
	switch (prompt_key(&pick->prompt, key->code)) {
	case PROMPT_CHANGED:
		pick_update(pick);
		break;
	case PROMPT_DONE:
		run_picked(ui, pick_selected(pick));
		break;
	case PROMPT_CANCEL:
		ui->overlay = OVERLAY_NONE;
		break;
	case PROMPT_MORE:
		break;
	}
}

static void
search_key(struct ui *ui, const struct key *key)
{
	bool filter = ui->overlay == OVERLAY_FILTER;
	struct prompt *prompt = filter ? &ui->filter : &ui->search;
	enum prompt_result result = prompt_key(prompt, key->code);
	struct err err = { ERR_NONE, "" };

	if (result == PROMPT_CANCEL || result == PROMPT_DONE)
		ui->overlay = OVERLAY_NONE;
	if (result != PROMPT_DONE)
		return;
	if (ui_view(ui)->search(ui->states[ui->view], &ui->shared, prompt->text,
				filter, &err))
		ui_say(&ui->shared, "%s", err.text);
}

/* Only the whole word starts something on a pod. */
static void
ask_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result;

	if (key->code == KEYCODE_PAGE_DOWN || key->code == KEYCODE_PAGE_UP) {
		ui->question_top += key->code == KEYCODE_PAGE_DOWN ? 8 : -8;
		if (ui->question_top < 0)
			ui->question_top = 0;
		return;
	}
	result = prompt_key(&ui->answer, key->code);
	if (result != PROMPT_DONE && result != PROMPT_CANCEL)
		return;
	ui->overlay = OVERLAY_NONE;
	if (result == PROMPT_DONE && strcmp(ui->answer.text, "yes") == 0) {
		ui_execute(ui, &ui->pending);
		return;
	}
	ui_say(&ui->shared, "nothing was started");
	command_release(&ui->pending);
}

void
overlay_key(struct ui *ui, const struct key *key)
{
	if (ui->overlay == OVERLAY_HELP || ui->overlay == OVERLAY_PALETTE ||
	    ui->overlay == OVERLAY_BENCH)
		pick_key(ui, key);
	else if (ui->overlay == OVERLAY_FORM)
		overlay_form_key(ui, key);
	else if (ui->overlay == OVERLAY_EVENTS)
		overlay_events_key(ui, key);
	else if (ui->overlay == OVERLAY_ASK)
		ask_key(ui, key);
	else if (ui->overlay == OVERLAY_QUESTION)
		question_key(ui, key);
	else
		search_key(ui, key);
}

/* A framed place in the middle, cleared. */
struct rect
overlay_box(struct canvas *canvas, int width, int height, const char *title)
{
	struct rect box;

	box.w = width < canvas->width - 4 ? width : canvas->width - 4;
	box.h = height < canvas->height - 2 ? height : canvas->height - 2;
	box.x = (canvas->width - box.w) / 2;
	box.y = (canvas->height - box.h) / 2;
	canvas_fill(canvas, box, STYLE_NORMAL, ' ');
	canvas_box(canvas, box, title);
	return (struct rect){ box.x + 2, box.y + 1, box.w - 4, box.h - 2 };
}

#define ASK_WIDTH 110

/* The exact command first, then the question. */
static int
draw_ask(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct rect inside = { 0, 0, ASK_WIDTH - 4, 0 }, r;
	int lines;

	if (inside.w > canvas->width - 8)
		inside.w = canvas->width - 8;
	lines = fold_draw(NULL, inside, ui->question, 0);
	r = overlay_box(canvas, ASK_WIDTH, lines + 4, "This acts on a pod");
	inside = (struct rect){ r.x, r.y, r.w, r.h - 2 };
	if (ui->question_top > lines - inside.h)
		ui->question_top = lines > inside.h ? lines - inside.h : 0;
	(void)fold_draw(canvas, inside, ui->question, ui->question_top);
	if (lines > inside.h)
		canvas_line(canvas, (struct rect){ r.x, r.y + r.h - 2, r.w, 1 },
			    STYLE_HINT,
			    str_from(ui->question_top + inside.h < lines
					     ? "PgDn: more"
					     : "PgUp: back"));
	*cursor_y = r.y + r.h - 1;
	return prompt_draw(&ui->answer, canvas,
			   (struct rect){ r.x, *cursor_y, r.w, 1 },
			   "type yes to go on: ");
}

/* A pod's question; of a secret only the number of characters is shown. */
static int
draw_question(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	const struct ui_question *q = &ui->questions[0];
	struct rect r = overlay_box(canvas, 100, 12, "A pod asks");
	struct str rest = str_from(q->text), line;
	int y = r.y, x;

	while (y < r.y + r.h - 2 && str_next(&rest, '\n', &line))
		canvas_line(canvas, (struct rect){ r.x, y++, r.w, 1 },
			    STYLE_NORMAL, line);
	*cursor_y = r.y + r.h - 1;
	if (!q->secret)
		return prompt_draw(&ui->answer, canvas,
				   (struct rect){ r.x, *cursor_y, r.w, 1 },
				   "answer (Esc: no): ");
	x = r.x + canvas_text(canvas, r.x, *cursor_y, STYLE_KEY,
			      "passphrase (Esc: none): ");
	for (size_t i = 0; i < ui->answer.len && i < 40; i++)
		canvas_put(canvas, x++, *cursor_y, STYLE_NORMAL, '*');
	return x;
}

void
overlay_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y)
{
	struct rect last = { 1, canvas->height - 1, canvas->width - 2, 1 };
	struct rect r;

	switch (ui->overlay) {
	case OVERLAY_HELP:
	case OVERLAY_PALETTE:
		r = overlay_box(
			canvas, 100,
			ui->overlay == OVERLAY_HELP ? canvas->height - 4 : 18,
			ui->overlay == OVERLAY_HELP
				? "Help · type to search · Enter does it"
				: "Go to · type a part of the name");
		*cursor_y = r.y;
		*cursor_x = pick_draw(&ui->pick, canvas, r, "> ");
		break;
	case OVERLAY_BENCH:
		r = overlay_box(canvas, 100, 14, "Which bench?");
		*cursor_y = r.y;
		*cursor_x = pick_draw(&ui->pick, canvas, r, "> ");
		break;
	case OVERLAY_FORM:
		r = overlay_box(canvas, 100, form_lines() + 2, "A new bench");
		*cursor_x = form_draw(&ui->form, canvas, r, cursor_y);
		break;
	case OVERLAY_EVENTS:
		overlay_events_draw(ui, canvas);
		break;
	case OVERLAY_SEARCH:
	case OVERLAY_FILTER:
		*cursor_y = last.y;
		*cursor_x = prompt_draw(
			ui->overlay == OVERLAY_SEARCH ? &ui->search
						      : &ui->filter,
			canvas, last,
			ui->overlay == OVERLAY_SEARCH
				? "search (PCRE2): "
				: "filter (PCRE2, ! inverts, empty: all): ");
		break;
	case OVERLAY_ASK:
		*cursor_x = draw_ask(ui, canvas, cursor_y);
		break;
	case OVERLAY_QUESTION:
		*cursor_x = draw_question(ui, canvas, cursor_y);
		break;
	case OVERLAY_NONE:
		break;
	}
}
