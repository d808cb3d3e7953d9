/* SPDX-License-Identifier: MIT */
/* What lies over a view: help, palette, events, search, questions, forms. */
#include "config.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/fold.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/ui_priv.h"

#define MAX_CHOICES  2000
#define RUN_ID_BASE  10000 /* ids of the palette from here on are runs */
#define FORM_ID	     1
#define PLAN_ID_BASE 10
#define BOX_WIDTH    110
#define PICK_WIDTH   100
#define EVENT_BYTES  4096
#define DETAIL_LINES 3 /* a rule, and the selected line as a whole */
#define PAGE_LINES   8 /* of a question */

static void
overlay_clear_choices(struct ui *ui)
{
	for (size_t i = 0; i < ui->n_choices; i++) {
		free(ui->choices[i].key);
		free(ui->choices[i].name);
		free(ui->choices[i].help);
	}
	ui->n_choices = 0;
}

void
overlay_release(struct ui *ui)
{
	overlay_clear_choices(ui);
	free(ui->choices);
	list_release(&ui->list);
	prompt_release(&ui->choice);
	prompt_release(&ui->search);
	prompt_release(&ui->filter);
	prompt_release(&ui->answer);
	command_release(&ui->pending);
	free(ui->question);
	form_release(&ui->form);
	free(ui->bench_pods);
	free(ui->events);
	for (size_t k = 0; k < ui->n_questions; k++)
		free(ui->questions[k].text);
}

/* A framed place in the middle, cleared; what is inside of the frame. */
static struct rect
overlay_box(struct canvas *canvas, int width, int height, const char *title)
{
	struct rect box;

	box.w = int_min(width, canvas->width - 4);
	box.h = int_min(height, canvas->height - 2);
	box.x = (canvas->width - box.w) / 2;
	box.y = (canvas->height - box.h) / 2;
	canvas_fill(canvas, box, STYLE_NORMAL, ' ');
	return panel_box(canvas, box, title);
}

/* What a key that moves does in a list, where letters are text. */
static enum action
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

/* The choices: help, palette, and which bench. */

static void
choice_add(struct ui *ui, const char *key, const char *name, const char *help,
	   int id)
{
	if (ui->n_choices >= MAX_CHOICES)
		return;
	ui->choices = xgrow(ui->choices, ui->n_choices, &ui->cap_choices,
			    sizeof(*ui->choices));
	ui->choices[ui->n_choices++] =
		(struct ui_choice){ xstrdup(key), xstrdup(name), xstrdup(help),
				    id };
}

static void
choice_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct ui *ui = user;
	const struct ui_choice *choice = &ui->choices[row];
	const char *const texts[] = { choice->key, choice->name, choice->help };
	static const unsigned int styles[] = { STYLE_KEY, STYLE_STRONG,
					       STYLE_NORMAL };

	list_cellf(cell, styles[column], "%s", texts[column]);
}

/* After the choices or what is typed changed: the best is selected. */
static void
choices_fill(struct ui *ui)
{
	static const struct list_column columns[] = {
		{ "key", 11, .drop = 0 },
		{ "name", 16, .drop = 0 },
		{ "what it does", 30, .grow = true },
	};
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 3,
					     .cell = choice_cell,
					     .filtered = 1 };

	ui->list.filter = ui->choice.text;
	list_fill(&ui->list, &ops, ui, ui->n_choices);
	ui->list.selected = 0;
}

/* All actions that have a use where the view is. */
static void
choices_add_actions(struct ui *ui)
{
	struct buf keys;

	buf_init(&keys, 128);
	for (int i = 1; i < ACTION_COUNT; i++) {
		const struct action_info *info = action_info((enum action)i);

		if (ui->shared.read_only && action_is_acting((enum action)i))
			continue;
		buf_clear(&keys);
		keymap_key_names(&ui->keymap, (enum action)i, &keys);
		choice_add(ui, keys.data, info->name, info->help, i);
	}
	buf_release(&keys);
}

static void
choices_add_runs(struct ui *ui)
{
	const struct model *model = ui->shared.model;
	char label[FMT_LABEL];

	for (size_t i = model->n_runs; i-- > 0;) {
		size_t pod = model->runs[i]->pod;

		plot_run_label(model->runs[i], label);
		choice_add(ui, "", label,
			   pod < model->n_pods ? model->pods[pod].name : "",
			   RUN_ID_BASE + (int)i);
	}
}

static void
choices_begin(struct ui *ui, enum ui_overlay overlay)
{
	overlay_clear_choices(ui);
	list_release(&ui->list);
	prompt_set(&ui->choice, "");
	ui->overlay = overlay;
}

static void
choices_open(struct ui *ui, enum ui_overlay overlay)
{
	choices_begin(ui, overlay);
	choices_add_actions(ui);
	if (overlay == OVERLAY_PALETTE)
		choices_add_runs(ui);
	choices_fill(ui);
}

static void
form_start(struct ui *ui)
{
	form_open(&ui->form, ui->bench_pods);
	ui->overlay = OVERLAY_FORM;
}

void
overlay_open_bench(struct ui *ui, const char *pods)
{
	const struct model *model = ui->shared.model;

	if (ui->shared.read_only) {
		ui_say(&ui->shared, "--read-only: nothing that acts on a pod");
		return;
	}
	free(ui->bench_pods);
	ui->bench_pods = xstrdup(pods);
	choices_begin(ui, OVERLAY_BENCH);
	choice_add(ui, "", "a new one",
		   "fill a form: variants, metric, blocks, window", FORM_ID);
	for (size_t i = 0; i < model->n_benches; i++) {
		const struct model_bench *bench = &model->benches[i];

		if (bench->is_plan && strcmp(bench->state, "plan") == 0)
			choice_add(ui, "", bench->name, bench->id,
				   PLAN_ID_BASE + (int)i);
	}
	choices_fill(ui);
	if (ui->n_choices == 1)
		form_start(ui);
}

/* The bench that was picked, on the pods that it was picked for. */
static void
bench_picked(struct ui *ui, int id)
{
	const struct model *model = ui->shared.model;
	size_t i = (size_t)(id - PLAN_ID_BASE);
	struct command command = { .id = COMMAND_BENCH_START };

	if (id == FORM_ID) {
		form_start(ui);
		return;
	}
	if (id < PLAN_ID_BASE || i >= model->n_benches ||
	    !model->benches[i].is_plan)
		return;
	command.name = xstrdup(model->benches[i].id);
	if (ui->bench_pods[0] != '\0') {
		command.id = COMMAND_BENCH_PODS;
		command.text = xstrdup(ui->bench_pods);
	}
	overlay_ask(ui, &command);
}

/* Do what the selected line stands for. */
static void
choice_take(struct ui *ui)
{
	bool is_bench = ui->overlay == OVERLAY_BENCH;
	size_t row = list_row(&ui->list);
	int id = row < ui->n_choices ? ui->choices[row].id : 0;

	ui->overlay = OVERLAY_NONE;
	if (is_bench) {
		bench_picked(ui, id);
	} else if (id >= RUN_ID_BASE) {
		ui->shared.selected = ui->shared.model->runs[id - RUN_ID_BASE];
		ui_action(ui, ACTION_VIEW_RUN);
	} else {
		ui_action(ui, (enum action)id);
	}
}

static void
choices_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result;

	if (key->code == KEYCODE_MOUSE_PRESS) {
		if (list_click(&ui->list, key->x, key->y))
			choice_take(ui);
		return;
	}
	if (!ui->choice.pasting &&
	    list_act(&ui->list, overlay_list_action(key->code)))
		return;
	result = prompt_key(&ui->choice, key->code);
	if (result == PROMPT_CHANGED)
		choices_fill(ui);
	else if (result == PROMPT_DONE)
		choice_take(ui);
	else if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
}

static int
choices_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	static const char *const titles[] = {
		[OVERLAY_HELP] = "Help · type to search · Enter does it",
		[OVERLAY_PALETTE] = "Go to · type a part of the name",
		[OVERLAY_BENCH] = "Which bench?",
	};
	const int heights[] = { [OVERLAY_HELP] = canvas->height - 4,
				[OVERLAY_PALETTE] = 18,
				[OVERLAY_BENCH] = 14 };
	struct rect r = overlay_box(canvas, PICK_WIDTH, heights[ui->overlay],
				    titles[ui->overlay]);
	struct rect line = rect_take_top(&r, 1);

	list_draw(&ui->list, canvas, r);
	*cursor_y = line.y;
	return prompt_draw(&ui->choice, canvas, line, "> ");
}

/* Show what it would run; what is wrong with it stands below its fields. */
static void
form_submit(struct ui *ui)
{
	struct command command = { .id = COMMAND_BENCH_FORM };
	struct buf text;

	buf_init(&text, 65536);
	form_json(&ui->form, &text);
	command.text = buf_detach(&text);
	ui->overlay = OVERLAY_NONE;
	ui->shared.said[0] = '\0';
	overlay_ask(ui, &command);
	if (ui->overlay != OVERLAY_NONE)
		return;
	(void)snprintf(ui->form.why, sizeof(ui->form.why), "%s",
		       ui->shared.said);
	ui->overlay = OVERLAY_FORM;
}

static void
form_on_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result = form_key(&ui->form, key->code);

	if (result == PROMPT_DONE)
		form_submit(ui);
	else if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
}

static int
form_on_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	return form_draw(&ui->form, canvas,
			 overlay_box(canvas, PICK_WIDTH, form_lines() + 2,
				     "A new bench"),
			 cursor_y);
}

/* The alerts that hold and what happened. */

static const enum fact_style severities[] = {
	[MODEL_INFO] = FACT_PLAIN,
	[MODEL_WARNING] = FACT_WARN,
	[MODEL_ALARM] = FACT_ALARM,
};

/* Alerts that are acknowledged, or those that are not; the newest first. */
static size_t
events_add_alerts(struct ui *ui, size_t n, bool acknowledged)
{
	const struct alerts *alerts = ui->shared.alerts;

	for (size_t i = alerts->n; i-- > 0;)
		if (alerts->v[i].acknowledged == acknowledged)
			ui->events[n++] =
				(struct ui_event){ &alerts->v[i], NULL,
						   alerts->v[i].mr };
	return n;
}

/* An alert is one line: while it holds its event is left out. */
static size_t
events_add(struct ui *ui)
{
	const struct alerts *alerts = ui->shared.alerts;
	const struct model *model = ui->shared.model;
	size_t n;

	ui->events = xreallocarray(ui->events, alerts->n + model->n_events + 1,
				   sizeof(*ui->events));
	n = events_add_alerts(ui, 0, false);
	n = events_add_alerts(ui, n, true);
	for (size_t i = model->n_events; i-- > 0;) {
		const struct model_event *event = model_event_at(model, i);

		if (alerts_find(alerts, event->alert) == NULL)
			ui->events[n++] =
				(struct ui_event){ NULL, event, event->mr };
	}
	return n;
}

/* What happened to whom, all of it. */
static void
event_say(const struct ui *ui, const struct ui_event *what, struct buf *out)
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
event_kind_cell(const struct ui_event *what, struct list_cell *cell)
{
	const struct alert *alert = what->alert;

	if (alert != NULL)
		list_cellf(cell,
			   theme_fact(alert->acknowledged
					      ? FACT_DIM
					      : severities[alert->severity]),
			   "%-2s %s", alert->acknowledged ? "ok" : "!",
			   alert_name(alert->kind));
	else if (what->event->kind != NULL)
		list_cellf(cell, STYLE_DIM, "over %s", what->event->kind);
	else
		list_cellf(cell, STYLE_DIM, "event");
}

static void
event_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct ui *ui = user;
	const struct ui_event *what = &ui->events[row];
	char clock[FMT_SIZE];
	struct buf text;

	if (column == 0) {
		list_cellf(cell, STYLE_DIM, "%s",
			   fmt_when(what->alert != NULL
					    ? what->alert->since_wall_ms
					    : what->event->wall_ms,
				    ui->shared.now_wall_ms, clock));
	} else if (column == 1) {
		event_kind_cell(what, cell);
	} else {
		buf_init(&text, EVENT_BYTES);
		event_say(ui, what, &text);
		list_cellf(
			cell,
			theme_fact(what->alert != NULL
					   ? FACT_PLAIN
					   : severities[what->event->severity]),
			"%s", text.data);
		buf_release(&text);
	}
}

static void
events_fill(struct ui *ui)
{
	static const struct list_column columns[] = {
		{ "", 8, .drop = 0 },
		{ "kind", 14, .drop = 0 },
		{ "what", 30, .grow = true },
	};
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 3,
					     .cell = event_cell,
					     .filtered = 2 };

	list_fill(&ui->list, &ops, ui, events_add(ui));
}

/* The selected line as a whole, where a row has no room for it. */
static void
event_draw_whole(struct ui *ui, struct canvas *canvas, struct rect r)
{
	struct buf text;

	canvas_fill(canvas, rect_take_top(&r, 1), STYLE_AXIS, 0x2500);
	buf_init(&text, EVENT_BYTES);
	event_say(ui, &ui->events[ui->list.selected], &text);
	(void)fold_draw(canvas, r, STYLE_NORMAL, str_from(text.data), 0);
	buf_release(&text);
}

/* The keys as they are bound; one that has none is not named. */
static void
events_title(const struct ui *ui, struct buf *title)
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

static int
events_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	char zone[FMT_SIZE];
	struct buf title;
	struct rect r;

	(void)cursor_y;
	buf_init(&title, 256);
	events_title(ui, &title);
	r = overlay_box(canvas, BOX_WIDTH, canvas->height - 4, title.data);
	buf_release(&title);
	events_fill(ui);
	if (ui->list.n == 0) {
		canvas_say(canvas, &r, STYLE_DIM, "Nothing happened yet.");
		return -1;
	}
	event_draw_whole(ui, canvas, rect_take_bottom(&r, DETAIL_LINES));
	list_draw(&ui->list, canvas, r);
	(void)canvas_text(canvas, r.x, r.y, STYLE_HEAD,
			  fmt_zone(ui->shared.now_wall_ms, zone));
	return -1;
}

/* To the run of the selected line. */
static void
event_open(struct ui *ui)
{
	size_t row = list_row(&ui->list);
	const struct model_run *mr =
		row != SIZE_MAX ? ui->events[row].mr : NULL;

	if (mr == NULL) {
		ui_say(&ui->shared, "this line is of no run");
		return;
	}
	ui->overlay = OVERLAY_NONE;
	ui->shared.selected = mr;
	ui_action(ui, ACTION_VIEW_RUN);
}

static void
events_key(struct ui *ui, const struct key *key)
{
	enum action action = keymap_find(&ui->keymap, key->code, 0);

	if (key->code == KEYCODE_WHEEL_UP || key->code == KEYCODE_WHEEL_DOWN)
		action = overlay_list_action(key->code);
	if (key->code == KEYCODE_MOUSE_PRESS)
		(void)list_click(&ui->list, key->x, key->y);
	if (list_act(&ui->list, action))
		return;
	if (action == ACTION_QUIT || action == ACTION_BACK ||
	    action == ACTION_EVENTS)
		ui->overlay = OVERLAY_NONE;
	else if (action == ACTION_OPEN)
		event_open(ui);
	else if (action == ACTION_HELP || action == ACTION_PALETTE)
		(void)overlay_open(ui, action);
	else if (action == ACTION_ACKNOWLEDGE || action == ACTION_MUTE ||
		 action == ACTION_QUIT_NOW)
		ui_action(ui, action);
}

/* Search and filter. */

static struct prompt *
search_prompt(struct ui *ui)
{
	return ui->overlay == OVERLAY_FILTER ? &ui->filter : &ui->search;
}

static void
search_key(struct ui *ui, const struct key *key)
{
	bool filter = ui->overlay == OVERLAY_FILTER;
	struct prompt *prompt = search_prompt(ui);
	enum prompt_result result = prompt_key(prompt, key->code);
	struct err err = { ERR_NONE, "" };

	if (result == PROMPT_CANCEL || result == PROMPT_DONE)
		ui->overlay = OVERLAY_NONE;
	if (result == PROMPT_DONE &&
	    ui_view(ui)->search(ui->states[ui->view], &ui->shared, prompt->text,
				filter, &err))
		ui_say(&ui->shared, "%s", err.text);
}

static int
search_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct rect last = { 1, canvas->height - 1, canvas->width - 2, 1 };

	*cursor_y = last.y;
	return prompt_draw(search_prompt(ui), canvas, last,
			   ui->overlay == OVERLAY_SEARCH
				   ? "search (PCRE2): "
				   : "filter (PCRE2, ! inverts, empty: all): ");
}

/* Before something acts on a pod. */

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

/* Only the whole word starts something on a pod. */
static void
ask_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result;

	if (key->code == KEYCODE_PAGE_DOWN || key->code == KEYCODE_PAGE_UP) {
		ui->question_top += key->code == KEYCODE_PAGE_DOWN
					    ? PAGE_LINES
					    : -PAGE_LINES;
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

/* The exact command first, then the question. */
static int
ask_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct str text = str_from(ui->question);
	struct rect inside = { 0, 0, int_min(BOX_WIDTH, canvas->width - 4) - 4,
			       0 };
	int lines = fold_draw(NULL, inside, STYLE_NORMAL, text, 0), most;
	struct rect last, hint;

	inside =
		overlay_box(canvas, BOX_WIDTH, lines + 4, "This acts on a pod");
	last = rect_take_bottom(&inside, 1);
	hint = rect_take_bottom(&inside, 1);
	most = int_max(lines - inside.h, 0);
	ui->question_top = int_max(0, int_min(ui->question_top, most));
	(void)fold_draw(canvas, inside, STYLE_NORMAL, text, ui->question_top);
	if (most > 0)
		canvas_print(canvas, hint, STYLE_HINT,
			     ui->question_top < most ? "PgDn: more"
						     : "PgUp: back");
	*cursor_y = last.y;
	return prompt_draw(&ui->answer, canvas, last, "type yes to go on: ");
}

/* What a pod asks. */

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
question_answer(struct ui *ui, const char *answer)
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
	if (result != PROMPT_DONE && result != PROMPT_CANCEL)
		return;
	question_answer(ui, result == PROMPT_DONE ? ui->answer.text : NULL);
	explicit_bzero(ui->answer.text, sizeof(ui->answer.text));
}

/* Of a secret only the number of characters is shown. */
static int
question_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	const struct ui_question *q = &ui->questions[0];
	struct rect r = overlay_box(canvas, PICK_WIDTH, 12, "A pod asks");
	struct rect last = rect_take_bottom(&r, 1);
	struct str rest = str_from(q->text), line;
	int x;

	(void)rect_take_bottom(&r, 1);
	while (r.h > 0 && str_next(&rest, '\n', &line))
		canvas_line(canvas, rect_take_top(&r, 1), STYLE_NORMAL, line);
	*cursor_y = last.y;
	if (!q->secret)
		return prompt_draw(&ui->answer, canvas, last,
				   "answer (Esc: no): ");
	x = last.x + canvas_text(canvas, last.x, last.y, STYLE_KEY,
				 "passphrase (Esc: none): ");
	for (size_t i = 0; i < ui->answer.len && i < 40; i++)
		canvas_put(canvas, x++, last.y, STYLE_NORMAL, '*');
	return x;
}

static const struct {
	void (*key)(struct ui *ui, const struct key *key);
	/* Returns the cursor's column, -1: it has none. */
	int (*draw)(struct ui *ui, struct canvas *canvas, int *cursor_y);
} overlays[] = {
	[OVERLAY_HELP] = { choices_key, choices_draw },
	[OVERLAY_PALETTE] = { choices_key, choices_draw },
	[OVERLAY_EVENTS] = { events_key, events_draw },
	[OVERLAY_SEARCH] = { search_key, search_draw },
	[OVERLAY_FILTER] = { search_key, search_draw },
	[OVERLAY_ASK] = { ask_key, ask_draw },
	[OVERLAY_QUESTION] = { question_key, question_draw },
	[OVERLAY_BENCH] = { choices_key, choices_draw },
	[OVERLAY_FORM] = { form_on_key, form_on_draw },
};

bool
overlay_open(struct ui *ui, enum action action)
{
	bool can_search = ui_view(ui)->search != NULL;

	if (action == ACTION_HELP) {
		choices_open(ui, OVERLAY_HELP);
	} else if (action == ACTION_PALETTE) {
		choices_open(ui, OVERLAY_PALETTE);
	} else if (action == ACTION_EVENTS) {
		ui->overlay = OVERLAY_EVENTS;
		list_release(&ui->list);
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
overlay_key(struct ui *ui, const struct key *key)
{
	overlays[ui->overlay].key(ui, key);
}

void
overlay_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y)
{
	if (ui->overlay != OVERLAY_NONE)
		*cursor_x = overlays[ui->overlay].draw(ui, canvas, cursor_y);
}
