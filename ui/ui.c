/* SPDX-License-Identifier: MIT */
/* The frame around the views: what a key and the mouse do, the lines about. */
#include "ui/ui.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "ui/form.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define SAID_MS	    8000
#define WHEEL_LINES 3
/* A hand that only clicks may slip by a column. */
#define SLIP_COLUMNS	2
#define EXPORT_BYTES	(16U << 20)
#define FRAME_LOCAL_MS	33
#define FRAME_REMOTE_MS 250

#define MAX_CHOICES 2000
/* Ids of choices: an action, the form, from there on benches, then runs. */
#define FORM_ID	     ACTION_COUNT
#define POINT_ID     (ACTION_COUNT + 1)
#define SETTINGS_ID  (ACTION_COUNT + 2)
#define BENCH_ID     (ACTION_COUNT + 3)
#define RUN_ID	     (1 << 20)
#define BOX_WIDTH    110
#define PICK_WIDTH   100
#define PICK_HEIGHT  18
#define EVENT_BYTES  4096
#define DETAIL_LINES 3 /* a rule, and the selected line as a whole */
#define PAGE_LINES   8 /* of a question */
#define MAX_HINTS    24
#define ESCAPES_HOME 3 /* Esc so often in a row leads to the fleet */

#define UI_VIEW_COUNT 8

enum ui_overlay {
	OVERLAY_NONE,
	OVERLAY_HELP,
	OVERLAY_PALETTE,
	OVERLAY_EVENTS,
	OVERLAY_SEARCH,
	OVERLAY_FILTER,
	OVERLAY_BASELINE,
	OVERLAY_EXPORT,	  /* what of the view, and to which file */
	OVERLAY_ASK,	  /* before something acts on a pod */
	OVERLAY_QUESTION, /* of a pod */
	OVERLAY_BENCH,	  /* which bench file, or the form */
	OVERLAY_FORM,
};

/* What the button that is held down does. */
enum ui_drag_kind {
	DRAG_NONE,
	DRAG_CHART, /* takes a part of x */
	DRAG_LIST   /* takes the selection along */
};

struct ui_drag {
	enum ui_drag_kind kind;
	struct rect area; /* of the chart */
	int from, to;	  /* columns of the chart */
	int y;		  /* where it was last */
};

/* A line of the events: an alert that holds, or an event that is none. */
struct ui_event {
	const struct alert *alert; /* while it is drawn; NULL: event is it */
	const struct model_event *event;
	const struct model_run *mr; /* NULL: of no run */
};

/* A hint of the last line, for the mouse. */
struct ui_hint {
	struct rect place;
	enum action action;
};

/* What an export can hold, in the order in which it is offered. */
enum ui_export {
	EXPORT_TABLE,
	EXPORT_CHART,
	EXPORT_CURVES,
	EXPORT_MARKDOWN,
	EXPORT_TEXT,
	EXPORT_COUNT
};

static const struct {
	const char *what, *suffix;
} ui_exports[EXPORT_COUNT] = {
	[EXPORT_TABLE] = { "table (CSV)", "csv" },
	[EXPORT_CHART] = { "chart (SVG)", "svg" },
	[EXPORT_CURVES] = { "curves (CSV)", "csv" },
	[EXPORT_MARKDOWN] = { "table (Markdown)", "md" },
	[EXPORT_TEXT] = { "text", "txt" },
};

struct ui_question {
	size_t pod;
	char *text; /* owned */
	bool secret;
};

/* Progress of a bracketed paste. */
enum paste_state {
	PASTE_NONE,
	PASTE_START, /* no text yet */
	PASTE_TEXT,
	PASTE_BREAK, /* after a line end or a tab: a blank if more text follows */
};

struct ui {
	struct ui_setup setup;
	struct ui_shared shared;
	struct keymap keymap;
	void *states[UI_VIEW_COUNT]; /* owned */
	size_t view;
	size_t trail[UI_VIEW_COUNT]; /* q and Esc go back along it */
	size_t n_trail;
	enum ui_overlay overlay;
	bool finding; /* the filter of the list that has the keys is typed */
	enum paste_state paste;
	int escapes;		       /* Esc, in a row */
	const struct model_run *first; /* selected by no key; NULL: by one */
	struct ui_drag drag;
	struct list list; /* of choices or events */
	int *choices;	  /* owned; ids of what the palette has */
	size_t n_choices, cap_choices;
	struct ui_event *events;		    /* owned; as drawn last */
	struct prompt find, search, filter, answer; /* find: of lists */
	struct prompt scores;			    /* of the baseline that is typed */
	struct ui_baseline typed;		    /* what it says; no name: nothing */
	char typed_name[FMT_LABEL];
	double typed_scores[UI_MAX_SCORES];
	struct prompt file;    /* that an export goes to */
	enum ui_export export; /* what it is to hold */
	bool is_there;	       /* a key says what becomes of the file */
	struct form form;
	char *bench_pods;				/* owned; what OVERLAY_BENCH is for */
	struct command pending;				/* what is asked for */
	char *question;					/* owned */
	int question_top;				/* its first line that is shown */
	struct ui_question questions[UI_MAX_QUESTIONS]; /* of pods */
	size_t n_questions;
	int tabs[UI_VIEW_COUNT][2];
	struct ui_hint hints[MAX_HINTS]; /* as drawn last */
	size_t n_hints;
	bool working;		   /* a view has more to do in the background */
	bool stale, asked, paused; /* asked: a key wants its frame at once */
	unsigned int wants;
	int64_t drawn_at_ms;
	uint64_t wanted[UI_MAX_MARKS + 1]; /* runs to mark; 0: reference */
	size_t n_looked;		   /* runs that were none of these */
};

static const struct view_ops *const ui_views[UI_VIEW_COUNT] = {
	&view_fleet, &view_run,	  &view_board, &view_compare,
	&view_logs,  &view_bench, &view_pods,  &view_harness,
};

static const struct view_ops *ui_view(const struct ui *ui)
{
	return ui_views[ui->view];
}

struct ui *ui_new(const struct ui_setup *setup)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));
	struct ui_shared *shared = &ui->shared;

	ui->setup.charset = CHART_BRAILLE;
	ui_configure(ui, setup);
	shared->model = setup->model;
	shared->track = setup->track;
	shared->alerts = setup->alerts;
	shared->read_only = setup->read_only;
	shared->chart.zoom = 1;
	shared->chart.center = 0.5;
	shared->chart.cursor = -1;
	shared->chart.smoothing = 2;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		ui->states[i] = xcalloc(1, ui_views[i]->state_size + 1);
	ui->stale = true;
	return ui;
}

void ui_configure(struct ui *ui, const struct ui_setup *setup)
{
	struct ui_shared *shared = &ui->shared;

	/* What a key chose stays until the configuration says otherwise. */
	if (setup->charset != ui->setup.charset)
		shared->chart.charset = setup->charset;
	ui->setup = *setup;
	ui->keymap = *setup->keymap;
	shared->baseline = ui->typed.name != NULL ? &ui->typed : setup->baseline;
	shared->group_of = setup->group_of;
	shared->group_user = setup->group_user;
	shared->log_colors = setup->log_colors;
	shared->configured++;
	ui->stale = ui->asked = true;
}

const struct track *ui_caps(const struct ui_shared *shared)
{
	static const struct track none = { .cap_train_s = (double)NAN,
					   .cap_eval_s = (double)NAN,
					   .cap_artifact_bytes = (double)NAN };

	return shared->track != NULL ? shared->track : &none;
}

char *ui_group_of(const struct ui_shared *shared, const struct model_run *mr)
{
	if (shared->group_of != NULL)
		return shared->group_of(shared->group_user, mr);
	return xstrdup(mr->group);
}

void ui_free(struct ui *ui)
{
	if (ui == NULL)
		return;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (ui_views[i]->release != NULL)
			ui_views[i]->release(ui->states[i]);
		if (ui_views[i]->list != NULL)
			list_release(ui->states[i]);
		free(ui->states[i]);
	}
	free(ui->choices);
	list_release(&ui->list);
	prompt_release(&ui->find);
	prompt_release(&ui->search);
	prompt_release(&ui->filter);
	prompt_release(&ui->scores);
	prompt_release(&ui->file);
	prompt_release(&ui->answer);
	command_release(&ui->pending);
	free(ui->question);
	form_release(&ui->form);
	free(ui->bench_pods);
	free(ui->events);
	for (size_t k = 0; k < ui->n_questions; k++)
		free(ui->questions[k].text);
	free(ui);
}

struct ui_shared *ui_shared(struct ui *ui)
{
	return &ui->shared;
}

void ui_show_message(struct ui_shared *shared, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(shared->said, sizeof(shared->said), fmt, ap);
	va_end(ap);
	shared->said_at_ms = shared->now_mono_ms;
}

bool ui_shows_run(const struct ui_shared *shared, const struct model_run *mr)
{
	return !shared->only_marked || ui_is_marked(&shared->marks, mr);
}

bool ui_is_marked(const struct ui_marks *marks, const void *what)
{
	return any_of(i, marks->n, marks->v[i] == what);
}

void ui_toggle_mark(struct ui_shared *shared, struct ui_marks *marks, const void *what, size_t most)
{
	for (size_t i = 0; i < marks->n; i++) {
		if (marks->v[i] != what)
			continue;
		memmove(marks->v + i, marks->v + i + 1, (--marks->n - i) * sizeof(*marks->v));
		shared->only_marked = shared->only_marked && marks->n > 0;
		shared->configured++;
		return;
	}
	if (marks->n == most)
		ui_show_message(shared, "at most %zu %s can be marked", most,
				marks == &shared->marks ? "runs" : "pods");
	else
		marks->v[marks->n++] = what;
	shared->configured++;
}

char *ui_pod_names(const struct ui_shared *shared, size_t pod)
{
	const struct ui_marks *marks = &shared->pod_marks;
	struct buf names = buf_new(65536);

	for (size_t i = 0; i < marks->n; i++)
		buf_appendf(&names, "%s%s", i > 0 ? "," : "", (const char *)marks->v[i]);
	if (marks->n == 0 && pod < shared->model->n_pods)
		buf_append_str(&names, shared->model->pods[pod].name);
	return buf_detach(&names);
}

void ui_set_now(struct ui *ui, int64_t wall_ms, int64_t mono_ms)
{
	ui->shared.now_wall_ms = wall_ms;
	ui->shared.now_mono_ms = mono_ms;
}

/*
 * The run to begin with: one that lives and spoke last, else the newest, and
 * while logs are read and no key was pressed the newest of those.
 */
static void ui_select_first(struct ui *ui)
{
	struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	const struct model_run *best = NULL, *newest = NULL;

	if (model->n_runs == 0 ||
	    (shared->selected != NULL && (shared->selected != ui->first || ui->first->live)))
		return;
	for (size_t i = 0; i < model->n_runs; i++) {
		const struct model_run *mr = model->runs[i];

		if (newest == NULL || newest->blank || !mr->blank)
			newest = mr;
		if (mr->live && !mr->blank && mr->run.status == RUN_RUNNING &&
		    (best == NULL || mr->last_byte_wall_ms > best->last_byte_wall_ms))
			best = mr;
	}
	ui->first = best != NULL ? best : newest;
	shared->selected = ui->first;
}

/* What finds a run again at the next start. */
static uint64_t run_id(const struct model *model, const struct model_run *mr)
{
	AUTO_TEXT name = xasprintf("%s\n%s\n%u", model_pod_name(model, mr->pod), mr->path,
				   mr->run.run_index);

	return str_hash(str_from(name));
}

/* Mark the runs that were marked when the program was left last. */
static void ui_mark_again(struct ui *ui)
{
	const struct model *model = ui->shared.model;

	for (; ui->n_looked < model->n_runs; ui->n_looked++) {
		const struct model_run *mr = model->runs[ui->n_looked];
		uint64_t id = run_id(model, mr);

		for (size_t i = 0; i <= UI_MAX_MARKS; i++) {
			if (ui->wanted[i] != id)
				continue;
			ui->wanted[i] = 0;
			if (i == 0)
				ui->shared.reference = mr;
			else
				ui_toggle_mark(&ui->shared, &ui->shared.marks, mr, UI_MAX_MARKS);
		}
	}
}

void ui_changed(struct ui *ui, unsigned int parts)
{
	ui_mark_again(ui);
	ui_select_first(ui);
	if ((parts & (ui_view(ui)->watches | MODEL_EVENTS)) != 0 || ui->overlay == OVERLAY_EVENTS)
		ui->stale = true;
}

int64_t ui_frame_in_ms(const struct ui *ui)
{
	int64_t every = ui->setup.remote ? FRAME_REMOTE_MS : FRAME_LOCAL_MS;
	int64_t due = ui->drawn_at_ms + every - ui->shared.now_mono_ms;

	if (ui->asked)
		return 0;
	if (!ui->stale || ui->paused)
		return -1;
	return due > 0 ? due : 0;
}

bool ui_work(struct ui *ui)
{
	const struct view_ops *view = ui_view(ui);

	if (view->work == NULL)
		return false;
	bool more = view->work(ui->states[ui->view], &ui->shared);
	if (more || ui->working)
		ui->stale = true;
	/* What was waited for is shown at once. */
	if (ui->working && !more)
		ui->asked = true;
	ui->working = more;
	return more;
}

unsigned int ui_take_wants(struct ui *ui)
{
	unsigned int wants = ui->wants;

	ui->wants = 0;
	return wants;
}

bool ui_is_working(const struct ui *ui)
{
	return ui->working;
}

/* Execute the command and release it; false: it failed, as is said. */
static bool ui_execute(struct ui *ui, struct command *command)
{
	struct err err = { ERR_NONE, "" };
	char said[200] = "";

	if (ui->setup.sink.execute == NULL)
		err_set(&err, ERR_USAGE, "nothing here can do that");
	else
		(void)ui->setup.sink.execute(ui->setup.sink.user, command, said, &err);
	if (err.code != ERR_NONE || said[0] != '\0')
		ui_show_message(&ui->shared, "%s", err.code != ERR_NONE ? err.text : said);
	command_release(command);
	return err.code == ERR_NONE;
}

void command_release(struct command *command)
{
	free(command->text);
	free(command->name);
	memset(command, 0, sizeof(*command));
}

/* The selection of the list that has the keys moved. */
static void ui_list_moved(struct ui *ui)
{
	if (ui->overlay == OVERLAY_NONE && ui_view(ui)->moved != NULL)
		ui_view(ui)->moved(ui->states[ui->view], &ui->shared);
}

/* Show a view; q and Esc go to the fleet from there. */
static void ui_go_to(struct ui *ui, size_t view)
{
	ui->view = view;
	ui->n_trail = 0;
}

/* A framed place in the middle, cleared; what is inside of the frame. */
static struct rect overlay_box(struct canvas *canvas, int width, int height, const char *title)
{
	struct rect box;

	box.w = int_min(width, canvas->width - 4);
	box.h = int_min(height, canvas->height - 2);
	box.x = (canvas->width - box.w) / 2;
	box.y = (canvas->height - box.h) / 2;
	canvas_fill(canvas, box, STYLE_NORMAL, ' ');
	return canvas_box(canvas, box, "%s", title);
}

/* What a key that moves does in a list, where letters are text. */
static enum action overlay_list_action(uint32_t code)
{
	static const struct {
		uint32_t code;
		enum action action;
	} moves[] = {
		{ KEYCODE_UP, ACTION_UP },	     { KEYCODE_DOWN, ACTION_DOWN },
		{ 'p' - 'a' + 1, ACTION_UP },	     { 'n' - 'a' + 1, ACTION_DOWN },
		{ KEYCODE_PAGE_UP, ACTION_PAGE_UP }, { KEYCODE_PAGE_DOWN, ACTION_PAGE_DOWN },
		{ KEYCODE_WHEEL_UP, ACTION_UP },     { KEYCODE_WHEEL_DOWN, ACTION_DOWN },
	};

	for (size_t i = 0; i < LENGTH(moves); i++)
		if (moves[i].code == code)
			return moves[i].action;
	return ACTION_NONE;
}

/* Before something acts on a pod. */

/* Ask before a command (taken over) is executed. */
static void overlay_ask(struct ui *ui, struct command *command)
{
	struct err err = { ERR_NONE, "" };
	char *preview = NULL;

	if (ui->shared.read_only && command->id >= COMMAND_ACTING)
		err_set(&err, ERR_USAGE, "--read-only: nothing that acts on a pod");
	else if (ui->setup.sink.preview != NULL)
		preview = ui->setup.sink.preview(ui->setup.sink.user, command, &err);
	if (preview == NULL && err.code != ERR_NONE) {
		ui_show_message(&ui->shared, "%s", err.text);
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
static void ask_key(struct ui *ui, const struct key *key)
{
	if (key->code == KEYCODE_PAGE_DOWN || key->code == KEYCODE_PAGE_UP) {
		ui->question_top += key->code == KEYCODE_PAGE_DOWN ? PAGE_LINES : -PAGE_LINES;
		return;
	}
	enum prompt_result result = prompt_key(&ui->answer, key->code);
	if (result != PROMPT_DONE && result != PROMPT_CANCEL)
		return;
	ui->overlay = OVERLAY_NONE;
	if (result == PROMPT_DONE && strcmp(ui->answer.text, "yes") == 0) {
		ui_execute(ui, &ui->pending);
		return;
	}
	ui_show_message(&ui->shared, "nothing was started");
	command_release(&ui->pending);
}

/* The exact command first, then the question. */
static int ask_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct str text = str_from(ui->question);
	struct rect inside = { 0, 0, int_min(BOX_WIDTH, canvas->width - 4) - 4, 0 };
	int lines = canvas_wrap(NULL, inside, STYLE_NORMAL, text, 0), most;

	inside = overlay_box(canvas, BOX_WIDTH, lines + 4,
			     ui->pending.id == COMMAND_LEARN ? "This writes a file"
							     : "This acts on a pod");
	struct rect last = rect_take_bottom(&inside, 1);
	struct rect hint = rect_take_bottom(&inside, 1);
	most = int_max(lines - inside.h, 0);
	ui->question_top = int_max(0, int_min(ui->question_top, most));
	(void)canvas_wrap(canvas, inside, STYLE_NORMAL, text, ui->question_top);
	if (most > 0)
		canvas_print(canvas, hint, STYLE_HINT,
			     ui->question_top < most ? "PgDn: more" : "PgUp: back");
	*cursor_y = last.y;
	return prompt_draw(&ui->answer, canvas, last, "type yes to go on: ");
}

/* The choices: help, palette, and which bench. */

static void choice_add(struct ui *ui, int id)
{
	if (ui->n_choices < MAX_CHOICES)
		xpush(ui->choices, ui->n_choices, ui->cap_choices, id);
}

/* The views that an action works in; nothing where it works in all. */
static void choice_add_where(const struct action_info *info, struct buf *out)
{
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if ((ui_views[i]->places & info->places) != 0)
			buf_appendf(out, "%s%s", out->len > 0 ? " " : "", ui_views[i]->name);
	if (info->places == IN_EVENTS)
		buf_append_str(out, "events");
}

/* A cell: its key, its name, what it does or is, and where. */
static void choice_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	static const unsigned int styles[] = { STYLE_KEY, STYLE_STRONG, STYLE_NORMAL, STYLE_DIM };
	const struct ui *ui = user;
	const struct model *model = ui->shared.model;
	const char *name = "a new one";
	const char *help = "fill a form: variants, metric, blocks, window";
	AUTO_BUF keys = buf_new(LIST_CELL_BYTES);
	AUTO_BUF where = buf_new(LIST_CELL_BYTES);
	int id = ui->choices[row];
	struct plot_label label;

	if (id < ACTION_COUNT) {
		name = action_info((enum action)id)->label;
		help = action_info((enum action)id)->help;
		keymap_key_names(&ui->keymap, (enum action)id, &keys);
		choice_add_where(action_info((enum action)id), &where);
	} else if (id >= RUN_ID) {
		const struct model_run *mr = model->runs[id - RUN_ID];

		label = plot_run_label(mr);
		name = label.s;
		help = model_pod_name(model, mr->pod);
	} else if (id == POINT_ID) {
		name = "checkpoint";
		help = "the run's best checkpoint against its workspace";
	} else if (id == SETTINGS_ID) {
		name = "settings";
		help = "what its kernels were told, as arms of a kernel bench";
	} else if (id >= BENCH_ID) {
		size_t i = (size_t)(id - BENCH_ID);

		name = i < model->n_benches ? model->benches[i].name : "";
		help = i < model->n_benches ? model->benches[i].id : "";
	}
	list_cellf(cell, styles[column], "%s",
		   column == 0	 ? keys.data
		   : column == 1 ? name
		   : column == 2 ? help
				 : where.data);
}

static void choices_fill(struct ui *ui)
{
	static const struct list_column columns[] = {
		{ "key", 11, .drop = 0 },
		{ "name", 16, .grow = true, .name = true },
		{ "what it does", 30, .grow = true },
		{ "where", 20, .drop = 1, .grow = true },
	};
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 4,
					     .cell = choice_cell,
					     .best_first = true,
					     .filtered = 1 };

	list_fill(&ui->list, &ops, ui, ui->n_choices);
}

static void choices_begin(struct ui *ui, enum ui_overlay overlay)
{
	ui->n_choices = 0;
	list_release(&ui->list);
	prompt_set(&ui->find, "");
	ui->overlay = overlay;
}

/* All actions, those of the view first; in the palette all runs too, the
 * newest first. */
static void choices_open(struct ui *ui, enum ui_overlay overlay)
{
	unsigned int places = ui_view(ui)->places;

	choices_begin(ui, overlay);
	for (int i = 1; i < 2 * ACTION_COUNT; i++) {
		enum action action = (enum action)(i % ACTION_COUNT);
		bool is_here = (action_info(action)->places & places) != 0;

		if (action != ACTION_NONE && is_here == (i < ACTION_COUNT) &&
		    (!ui->shared.read_only || !action_is_acting(action)))
			choice_add(ui, (int)action);
	}
	for (size_t i = ui->shared.model->n_runs; overlay == OVERLAY_PALETTE && i-- > 0;)
		choice_add(ui, RUN_ID + (int)i);
	choices_fill(ui);
}

static void form_start(struct ui *ui)
{
	form_open(&ui->form, ui->bench_pods);
	ui->overlay = OVERLAY_FORM;
}

/* Pick a bench file or fill the form, for those pods. */
static void overlay_open_bench(struct ui *ui, const char *pods)
{
	const struct model *model = ui->shared.model;

	if (ui->shared.read_only) {
		ui_show_message(&ui->shared, "--read-only: nothing that acts on a pod");
		return;
	}
	free(ui->bench_pods);
	ui->bench_pods = xstrdup(pods);
	choices_begin(ui, OVERLAY_BENCH);
	choice_add(ui, FORM_ID);
	for (size_t i = 0; i < model->n_benches; i++)
		if (model->benches[i].is_plan && strcmp(model->benches[i].state, "plan") == 0)
			choice_add(ui, BENCH_ID + (int)i);
	choices_fill(ui);
	if (ui->n_choices == 1)
		form_start(ui);
}

/* Which bench of a HarnessGym run; the command waits for that. */
static void overlay_open_arms(struct ui *ui, struct command *command)
{
	command_release(&ui->pending);
	ui->pending = *command;
	choices_begin(ui, OVERLAY_BENCH);
	choice_add(ui, POINT_ID);
	choice_add(ui, SETTINGS_ID);
	choices_fill(ui);
}

static void arms_picked(struct ui *ui, bool settings)
{
	struct command command = ui->pending;

	ui->pending = (struct command){ .id = COMMAND_NONE };
	command.id = settings ? COMMAND_BENCH_SETTINGS : COMMAND_BENCH_RUN;
	overlay_ask(ui, &command);
}

/* The plan that was picked, on the pods that it was picked for. */
static void bench_picked(struct ui *ui, size_t i)
{
	const struct model *model = ui->shared.model;
	struct command command = { .id = COMMAND_BENCH_START };

	if (i >= model->n_benches || !model->benches[i].is_plan)
		return;
	command.name = xstrdup(model->benches[i].id);
	if (ui->bench_pods[0] != '\0') {
		command.id = COMMAND_BENCH_PODS;
		command.text = xstrdup(ui->bench_pods);
	}
	overlay_ask(ui, &command);
}

/* Do what the selected line stands for. */
static void choice_take(struct ui *ui)
{
	size_t row = list_row(&ui->list);
	int id = row < ui->n_choices ? ui->choices[row] : 0;

	ui->overlay = OVERLAY_NONE;
	if (id == FORM_ID) {
		form_start(ui);
	} else if (id < ACTION_COUNT) {
		ui_action(ui, (enum action)id);
	} else if (id < BENCH_ID) {
		arms_picked(ui, id == SETTINGS_ID);
	} else if (id < RUN_ID) {
		bench_picked(ui, (size_t)(id - BENCH_ID));
	} else {
		ui->shared.selected = ui->shared.model->runs[id - RUN_ID];
		ui_action(ui, ACTION_VIEW_RUN);
	}
}

/* Show what it would run; what is wrong with it stands below its fields. */
static void form_submit(struct ui *ui)
{
	struct command command = { .id = COMMAND_BENCH_FORM };
	struct buf text = buf_new(65536);

	form_json(&ui->form, &text);
	command.text = buf_detach(&text);
	ui->overlay = OVERLAY_NONE;
	ui->shared.said[0] = '\0';
	overlay_ask(ui, &command);
	if (ui->overlay != OVERLAY_NONE)
		return;
	print_into(ui->form.why, "%s", ui->shared.said);
	ui->overlay = OVERLAY_FORM;
}

static void form_on_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result = form_key(&ui->form, key->code);

	if (result == PROMPT_DONE)
		form_submit(ui);
	else if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
}

static int form_on_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	return form_draw(&ui->form, canvas,
			 overlay_box(canvas, PICK_WIDTH, FORM_COUNT + 4, "A new bench"), cursor_y);
}

/* The alerts that hold and what happened. */

/* Alerts that are acknowledged, or those that are not; the newest first. */
static size_t events_add_alerts(struct ui *ui, size_t n, bool acknowledged)
{
	const struct alerts *alerts = ui->shared.alerts;

	for (size_t i = alerts->n; i-- > 0;)
		if (alerts->v[i].acknowledged == acknowledged)
			ui->events[n++] = (struct ui_event){ &alerts->v[i], NULL, alerts->v[i].mr };
	return n;
}

/* An alert is one line: while it holds its event is left out. */
static size_t events_add(struct ui *ui)
{
	const struct alerts *alerts = ui->shared.alerts;
	const struct model *model = ui->shared.model;
	size_t n;

	ui->events =
		xreallocarray(ui->events, alerts->n + model->n_events + 1, sizeof(*ui->events));
	n = events_add_alerts(ui, 0, false);
	n = events_add_alerts(ui, n, true);
	for (size_t i = model->n_events; i-- > 0;) {
		const struct model_event *event = model_event_at(model, i);

		if (alerts_find(alerts, event->alert) == NULL)
			ui->events[n++] = (struct ui_event){ NULL, event, event->mr };
	}
	return n;
}

/* What happened to whom, all of it. */
static void event_say(const struct ui *ui, const struct ui_event *what, struct buf *out)
{
	if (what->alert != NULL)
		plot_add_alert(what->alert, ui->shared.model, out);
	else
		buf_append_str(out, what->event->text);
}

static void event_kind_cell(const struct ui_event *what, struct list_cell *cell)
{
	const struct alert *alert = what->alert;

	if (alert != NULL)
		list_cellf(cell,
			   theme_fact(alert->acknowledged ? FACT_DIM
							  : panel_severities[alert->severity]),
			   "%-2s %s", alert->acknowledged ? "ok" : "!", alert_name(alert->kind));
	else if (what->event->kind != NULL)
		list_cellf(cell, STYLE_DIM, "over %s", what->event->kind);
	else
		list_cellf(cell, STYLE_DIM, "event");
}

static void event_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct ui *ui = user;
	const struct ui_event *what = &ui->events[row];
	AUTO_BUF text = buf_new(EVENT_BYTES);

	if (column == 0) {
		int64_t wall_ms =
			what->alert != NULL ? what->alert->since_wall_ms : what->event->wall_ms;

		list_cellf(cell, STYLE_DIM, "%s", fmt_when(wall_ms, ui->shared.now_wall_ms).s);
	} else if (column == 1) {
		event_kind_cell(what, cell);
	} else {
		event_say(ui, what, &text);
		list_cellf(cell,
			   theme_fact(what->alert != NULL
					      ? FACT_PLAIN
					      : panel_severities[what->event->severity]),
			   "%s", text.data);
	}
}

static void events_fill(struct ui *ui)
{
	static const struct list_column columns[] = {
		{ "", 8, .drop = 0 },
		{ "kind", 14, .drop = 0 },
		{ "what", 30, .grow = true },
	};
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 3,
					     .cell = event_cell };

	list_fill(&ui->list, &ops, ui, events_add(ui));
}

/* The keys as they are bound; one that has none is not named. */
static void events_title(const struct ui *ui, struct buf *title)
{
	const struct {
		enum action action;
		const char *does;
	} keys[] = {
		{ ACTION_BACK, "back" },
		{ ACTION_ACKNOWLEDGE, "acknowledge" },
		{ ACTION_MUTE, ui->setup.alerts->muted ? "unmute" : "mute" },
		{ ACTION_OPEN, "the run" },
		{ ACTION_SEARCH, "find" },
	};

	buf_append_str(title, "Alerts and events");
	for (size_t i = 0; i < LENGTH(keys); i++) {
		char key[KEY_NAME_SIZE];

		keymap_key_name(&ui->keymap, keys[i].action, key);
		if (key[0] != '\0')
			buf_appendf(title, " · %s %s", key, keys[i].does);
	}
}

static int events_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	AUTO_BUF title = buf_new(256);
	AUTO_BUF text = buf_new(EVENT_BYTES);

	(void)cursor_y;
	events_title(ui, &title);
	struct rect r = overlay_box(canvas, BOX_WIDTH, canvas->height - 4, title.data);
	events_fill(ui);
	if (ui->list.all == 0) {
		canvas_print_top(canvas, &r, STYLE_DIM, "Nothing happened yet.");
		return -1;
	}
	/* The selected line as a whole, where a row has no room for it. */
	struct rect whole = rect_take_bottom(&r, DETAIL_LINES);
	canvas_fill(canvas, rect_take_top(&whole, 1), STYLE_AXIS, 0x2500);
	if (list_row(&ui->list) != SIZE_MAX)
		event_say(ui, &ui->events[list_row(&ui->list)], &text);
	(void)canvas_wrap(canvas, whole, STYLE_NORMAL, buf_str(&text), 0);
	list_draw(&ui->list, canvas, r);
	(void)canvas_text(canvas, r.x, r.y, STYLE_HEADER, fmt_zone(ui->shared.now_wall_ms).s);
	return -1;
}

/* The list that has the keys, up to date; NULL: none. */
static struct list *ui_list(struct ui *ui)
{
	const struct view_ops *view = ui_view(ui);

	if (ui->overlay == OVERLAY_EVENTS)
		events_fill(ui);
	if (ui->overlay != OVERLAY_NONE)
		return &ui->list;
	return view->list != NULL ? view->list(ui->states[ui->view], &ui->shared) : NULL;
}

/* What is typed to find a row of a list: it shows those that match. */

/* A click into the list; false: the key is none. */
static bool find_click(struct ui *ui, const struct key *key)
{
	if (key->code < KEYCODE_MOUSE_PRESS || key->code > KEYCODE_MOUSE_DRAG)
		return false;
	struct list *list = ui_list(ui);
	if (list != NULL && key->code == KEYCODE_MOUSE_PRESS &&
	    (list_click(list, key->x, key->y) || list_click_header(list, key->x, key->y)))
		ui_list_moved(ui);
	return true;
}

static enum prompt_result find_key(struct ui *ui, const struct key *key)
{
	struct list *list = ui_list(ui);

	if (list != NULL && list_act(list, overlay_list_action(key->code))) {
		ui_list_moved(ui);
		return PROMPT_MORE;
	}
	enum prompt_result result = prompt_key(&ui->find, key->code);
	if (list != NULL && (result == PROMPT_CHANGED || result == PROMPT_CANCEL)) {
		list_filter(list, result == PROMPT_CHANGED ? ui->find.text : "");
		ui_list_moved(ui);
	}
	return result;
}

static void find_on_key(struct ui *ui, const struct key *key)
{
	if (find_click(ui, key))
		return;
	enum prompt_result result = find_key(ui, key);
	ui->finding = result != PROMPT_DONE && result != PROMPT_CANCEL;
}

static int find_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct rect last = { 1, canvas->height - 1, canvas->width - 2, 1 };
	const struct list *list = ui_list(ui);
	int x = prompt_draw(&ui->find, canvas, last, "/");
	char shown[80] = "";

	if (list != NULL)
		print_into(shown, "%zu of %zu · Enter keeps them · Esc shows all", list->n,
			   list->all);
	(void)rect_take_left(&last, x + 2 - last.x);
	canvas_line_right(canvas, last, STYLE_HINT, str_from(shown));
	*cursor_y = last.y;
	return x;
}

/* / finds a row of a list; where there is none, a run in all of them. */
static void find_open(struct ui *ui)
{
	const struct list *list = ui_list(ui);

	if (list == NULL) {
		choices_open(ui, OVERLAY_PALETTE);
		return;
	}
	prompt_set(&ui->find, list->filter);
	ui->finding = true;
}

static void choices_key(struct ui *ui, const struct key *key)
{
	if (find_click(ui, key)) {
		if (list_click(&ui->list, key->x, key->y))
			choice_take(ui);
		return;
	}
	enum prompt_result result = find_key(ui, key);
	if (result == PROMPT_DONE)
		choice_take(ui);
	else if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
}

static int choices_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	bool is_help = ui->overlay == OVERLAY_HELP;
	int height = is_help ? canvas->height - 4 : PICK_HEIGHT;
	char title[120];

	print_into(title, "%s%s · type to search · Esc back",
		   is_help			  ? "Help of "
		   : ui->overlay == OVERLAY_BENCH ? "Which bench?"
						  : "Go to",
		   is_help ? ui_view(ui)->name : "");
	struct rect r = overlay_box(canvas, PICK_WIDTH, height, title);
	struct rect line = rect_take_top(&r, 1);
	list_draw(&ui->list, canvas, r);
	*cursor_y = line.y;
	return prompt_draw(&ui->find, canvas, line, "> ");
}

/* Open the overlay of that action; false when it has none. */
static bool overlay_open(struct ui *ui, enum action action)
{
	bool can_search = ui_view(ui)->search != NULL;

	if (action == ACTION_HELP) {
		choices_open(ui, OVERLAY_HELP);
	} else if (action == ACTION_PALETTE) {
		choices_open(ui, OVERLAY_PALETTE);
	} else if (action == ACTION_EVENTS) {
		ui->overlay = OVERLAY_EVENTS;
		list_release(&ui->list);
	} else if (action == ACTION_SEARCH && can_search && ui->overlay == OVERLAY_NONE) {
		ui->overlay = OVERLAY_SEARCH;
		prompt_set(&ui->search, "");
	} else if (action == ACTION_SEARCH) {
		find_open(ui);
	} else if (action == ACTION_BASELINE) {
		ui->overlay = OVERLAY_BASELINE;
		prompt_set(&ui->scores, ui->scores.text);
	} else if (action == ACTION_FILTER && can_search) {
		ui->overlay = OVERLAY_FILTER;
		prompt_set(&ui->filter, "");
	} else {
		return false;
	}
	return true;
}

/* To the run of the selected line. */
static void event_open(struct ui *ui)
{
	size_t row = list_row(&ui->list);
	const struct model_run *mr = row != SIZE_MAX ? ui->events[row].mr : NULL;

	if (mr == NULL) {
		ui_show_message(&ui->shared, "this line is of no run");
		return;
	}
	ui->overlay = OVERLAY_NONE;
	ui->shared.selected = mr;
	ui_action(ui, ACTION_VIEW_RUN);
}

static void events_key(struct ui *ui, const struct key *key)
{
	enum action action = keymap_find(&ui->keymap, key->code, IN_EVENTS);
	struct list *list = ui_list(ui);

	if (key->code == KEYCODE_WHEEL_UP || key->code == KEYCODE_WHEEL_DOWN)
		action = overlay_list_action(key->code);
	if (find_click(ui, key) || list_act(list, action))
		return;
	if ((action == ACTION_QUIT || action == ACTION_BACK) && list->filter[0] != '\0')
		list_filter(list, "");
	else if (action == ACTION_QUIT || action == ACTION_BACK || action == ACTION_EVENTS)
		ui->overlay = OVERLAY_NONE;
	else if (action == ACTION_OPEN)
		event_open(ui);
	else if (action == ACTION_HELP || action == ACTION_PALETTE || action == ACTION_SEARCH)
		(void)overlay_open(ui, action);
	else if (action == ACTION_ACKNOWLEDGE || action == ACTION_MUTE || action == ACTION_QUIT_NOW)
		ui_action(ui, action);
}

/* Search and filter. */

static struct prompt *search_prompt(struct ui *ui)
{
	return ui->overlay == OVERLAY_FILTER	 ? &ui->filter
	       : ui->overlay == OVERLAY_BASELINE ? &ui->scores
	       : ui->overlay == OVERLAY_EXPORT	 ? &ui->file
						 : &ui->search;
}

/* Take "name=v1,v2,v3" over; -1 with err. */
static int baseline_parse(struct ui *ui, struct str text, struct err *err)
{
	double scores[UI_MAX_SCORES];
	struct str name, number;
	size_t n = 0;

	if (!str_next(&text, '=', &name) || str_trim(name).len == 0 ||
	    str_trim(name).len >= FMT_LABEL || text.len == 0)
		return err_set(err, ERR_USAGE,
			       "a baseline is name=v1,v2,v3: its name, and the "
			       "score of each seed");
	while (str_next(&text, ',', &number)) {
		if (n == UI_MAX_SCORES || !str_to_double(str_trim(number), &scores[n]) ||
		    !isfinite(scores[n]) || !(scores[n] > 0))
			return err_set(err, ERR_USAGE,
				       n == UI_MAX_SCORES ? "too many scores at \"%.*s\""
							  : "\"%.*s\" is no score",
				       (int)number.len, number.p);
		n++;
	}
	name = str_trim(name);
	(void)snprintf(ui->typed_name, FMT_LABEL, "%.*s", (int)name.len, name.p);
	memcpy(ui->typed_scores, scores, sizeof(scores));
	ui->typed = (struct ui_baseline){ ui->typed_name, ui->typed_scores, n, (double)NAN };
	return 0;
}

/* The baseline that was typed is what all are compared to; "": none is. */
static int baseline_take(struct ui *ui, const char *text, struct err *err)
{
	struct ui_shared *shared = &ui->shared;

	if (text[0] == '\0')
		ui->typed.name = NULL;
	else if (baseline_parse(ui, str_from(text), err))
		return -1;
	else
		shared->reference = NULL;
	shared->baseline = ui->typed.name != NULL ? &ui->typed : ui->setup.baseline;
	shared->configured++;
	return 0;
}

/* What of the view goes to which file. */

/* Whether the view has what an export could hold. */
static bool export_has(const struct view_ops *view, enum ui_export what)
{
	return what == EXPORT_TEXT			       ? view->text != NULL
	       : what == EXPORT_CHART || what == EXPORT_CURVES ? view->curves > 0
							       : view->list != NULL;
}

/* The next of what the view has, `by` further; the file gets its suffix. */
static void export_step(struct ui *ui, int by)
{
	const char *name = ui->file.text, *dot = strrchr(file_name(name), '.');
	int stem = (int)(dot != NULL ? (size_t)(dot - name) : strlen(name));

	do {
		ui->export = (ui->export + (unsigned int)by) % EXPORT_COUNT;
	} while (!export_has(ui_view(ui), ui->export));
	AUTO_TEXT text = xasprintf("%.*s.%s", stem, name, ui_exports[ui->export].suffix);
	prompt_set(&ui->file, text);
}

static void act_export(struct ui *ui, enum action action)
{
	AUTO_TEXT name = xasprintf("hgym-%s", action_info(ui_view(ui)->open)->name);

	(void)action;
	ui->overlay = OVERLAY_EXPORT;
	ui->is_there = false;
	ui->export = EXPORT_COUNT - 1;
	prompt_set(&ui->file, name);
	export_step(ui, 1);
}

/* Text of the export; without any, why holds why. */
static void export_text(struct ui *ui, struct buf *out, char why[160])
{
	struct plot_request request = { .metric = ui->shared.chart.metric };
	const struct view_ops *view = ui_view(ui);
	void *state = ui->states[ui->view];

	if (!export_has(view, ui->export)) /* it was changed meanwhile */
		return;
	plot_request_runs(&request, &ui->shared);
	if (request.n_runs > view->curves)
		request.n_runs = view->curves;
	if (ui->export == EXPORT_TEXT) {
		view->text(state, &ui->shared, out);
	} else if (ui->export == EXPORT_TABLE || ui->export == EXPORT_MARKDOWN) {
		const struct list *list = view->list(state, &ui->shared);

		if (list != NULL)
			list_export(list, ui->export == EXPORT_TABLE, out);
	} else if (request.n_runs > 0) {
		plot_request_settle(&request, &ui->shared);
		plot_why_none(request.runs[0], request.metric, request.axis, why, 160);
		plot_export(&request, &ui->shared, ui->export == EXPORT_CHART, out);
	}
}

/* Write it; a file that cannot be written stays, to be put right. */
static void export_write(struct ui *ui, bool over)
{
	struct command command = { .id = COMMAND_EXPORT, .over = over };
	char why[160] = "there is none here yet";
	struct buf text = buf_new(EXPORT_BYTES);

	export_text(ui, &text, why);
	command.name = xstrdup(ui->file.text);
	command.is_cut = text.truncated;
	command.text = buf_detach(&text);
	if (command.text[0] != '\0') {
		if (!ui_execute(ui, &command))
			return;
	} else {
		ui_show_message(&ui->shared, "nothing was written: %s", why);
		command_release(&command);
	}
	ui->overlay = OVERLAY_NONE;
}

static void export_key(struct ui *ui, const struct key *key)
{
	AUTO_TEXT path = file_expand_home(ui->file.text);
	enum action action = overlay_list_action(key->code);

	if (ui->is_there) {
		ui->is_there = false;
		if (key->code == 'y' || key->code == 'n')
			export_write(ui, key->code == 'y');
		return;
	}
	if (action != ACTION_NONE) {
		export_step(ui, action == ACTION_UP ? EXPORT_COUNT - 1 : 1);
		return;
	}
	enum prompt_result result = prompt_key(&ui->file, key->code);
	if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
	else if (result == PROMPT_DONE && access(path, F_OK) == 0)
		ui->is_there = true;
	else if (result == PROMPT_DONE)
		export_write(ui, false);
}

/* Turn the part of a & b that the cursor is in on or off: "a & #b". */
static void filter_switch(struct prompt *prompt)
{
	size_t at = prompt->cursor;

	while (at > 0 && prompt->text[at - 1] != '&')
		at--;
	at += strspn(prompt->text + at, " ");
	bool is_off = prompt->text[at] == '#';
	if (!is_off && prompt->len == PROMPT_BYTES)
		return;
	AUTO_TEXT text = xasprintf("%.*s%s%s", (int)at, prompt->text, is_off ? "" : "#",
				   prompt->text + at + is_off);
	prompt_set(prompt, text);
	prompt->cursor = prompt->len > 0 ? at : 0;
}

static void search_key(struct ui *ui, const struct key *key)
{
	bool filter = ui->overlay == OVERLAY_FILTER;
	struct prompt *prompt = search_prompt(ui);
	enum prompt_result result = prompt_key(prompt, key->code);
	struct err err = { ERR_NONE, "" };
	int rc = 0;

	if (filter && key->code == '\t')
		filter_switch(prompt);
	if (result == PROMPT_DONE && ui->overlay == OVERLAY_BASELINE)
		rc = baseline_take(ui, prompt->text, &err);
	else if (result == PROMPT_DONE)
		rc = ui_view(ui)->search(ui->states[ui->view], &ui->shared, prompt->text, filter,
					 &err);
	/* A wrong one stays, to be put right. */
	if (rc != 0)
		ui_show_message(&ui->shared, "%s", err.text);
	else if (result == PROMPT_CANCEL || result == PROMPT_DONE)
		ui->overlay = OVERLAY_NONE;
}

static int search_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct rect last = { 1, canvas->height - 1, canvas->width - 2, 1 };
	char label[160];

	print_into(label,
		   ui->is_there ? "it is there: y writes over it, n beside "
				  "it, Esc back: "
				: "%s (Up, Down: another, Esc back) to: ",
		   ui_exports[ui->export].what);
	*cursor_y = last.y;
	return prompt_draw(search_prompt(ui), canvas, last,
			   ui->overlay == OVERLAY_EXPORT   ? label
			   : ui->overlay == OVERLAY_SEARCH ? "search (PCRE2, Esc back): "
			   : ui->overlay == OVERLAY_FILTER
				   ? "filter (! not, a & b, Tab: off, Esc back): "
				   : "baseline, name=v1,v2,v3 (empty: the "
				     "configured, Esc back): ");
}

/* What a pod asks. */

void ui_ask(struct ui *ui, size_t pod, const char *question, bool secret)
{
	if (ui->n_questions == UI_MAX_QUESTIONS)
		return;
	ui->questions[ui->n_questions++] = (struct ui_question){ pod, xstrdup(question), secret };
	ui->stale = true;
}

/* Open the oldest question, unless something else is open or a paste would answer it. */
static void overlay_next_question(struct ui *ui)
{
	if (ui->overlay != OVERLAY_NONE || ui->finding || ui->paste != PASTE_NONE ||
	    ui->n_questions == 0)
		return;
	prompt_set(&ui->answer, "");
	ui->overlay = OVERLAY_QUESTION;
}

/* Give the answer; NULL for none. */
static void question_answer(struct ui *ui, const char *answer)
{
	struct command command = {
		.id = COMMAND_ANSWER,
		.pod = ui->questions[0].pod,
		.text = xstrdup_null(answer),
	};

	free(ui->questions[0].text);
	memmove(ui->questions, ui->questions + 1, (ui->n_questions - 1) * sizeof(ui->questions[0]));
	ui->n_questions--;
	ui->overlay = OVERLAY_NONE;
	ui_execute(ui, &command);
}

/* A secret is kept in no history. */
static void question_key(struct ui *ui, const struct key *key)
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
static int question_draw(struct ui *ui, struct canvas *canvas, int *cursor_y)
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
		return prompt_draw(&ui->answer, canvas, last, "answer (Esc: no): ");
	x = last.x + canvas_text(canvas, last.x, last.y, STYLE_KEY, "passphrase (Esc: none): ");
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
	[OVERLAY_BASELINE] = { search_key, search_draw },
	[OVERLAY_EXPORT] = { export_key, search_draw },
	[OVERLAY_ASK] = { ask_key, ask_draw },
	[OVERLAY_QUESTION] = { question_key, question_draw },
	[OVERLAY_BENCH] = { choices_key, choices_draw },
	[OVERLAY_FORM] = { form_on_key, form_on_draw },
};

/* What a view does not show of a run is said. */
static void ui_say_run(struct ui *ui, const char *what)
{

	if (ui->shared.selected == NULL) {
		ui_show_message(&ui->shared, "there is no run yet");
		return;
	}
	if (ui->view == 0)
		return;
	ui_show_message(&ui->shared, "%s %s", plot_run_label(ui->shared.selected).s, what);
}

/* The run next to the selected one, in order of appearance. */
static void act_step_run(struct ui *ui, enum action action)
{
	const unsigned int shows = IN_RUNS | IN_CHARTS; /* who is selected */
	struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t i = 0;

	while (i < model->n_runs && model->runs[i] != shared->selected)
		i++;
	if (action == ACTION_NEXT_RUN && i + 1 < model->n_runs)
		shared->selected = model->runs[i + 1];
	else if (action == ACTION_PREV_RUN && i > 0 && i < model->n_runs)
		shared->selected = model->runs[i - 1];
	if ((ui_view(ui)->places & shows) != shows)
		ui_say_run(ui, "is selected");
}

static void act_mark(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;
	size_t before = shared->marks.n;

	(void)action;
	if (shared->selected != NULL)
		ui_toggle_mark(shared, &shared->marks, shared->selected, UI_MAX_MARKS);
	if (shared->marks.n != before || shared->selected == NULL)
		ui_say_run(ui, shared->marks.n > before ? "is marked" : "is not marked any more");
}

static void act_reference(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;

	(void)action;
	shared->reference = shared->reference == shared->selected ? NULL : shared->selected;
	shared->configured++;
	ui_say_run(ui, shared->reference != NULL ? "is what all others are compared to"
						 : "is no reference any more");
}

static void act_only_marked(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;

	(void)action;
	shared->only_marked = !shared->only_marked && shared->marks.n > 0;
	shared->configured++;
	if (shared->marks.n == 0)
		ui_show_message(shared, "no run is marked; Space marks");
	else if (shared->only_marked)
		ui_show_message(shared, "the %zu marked runs alone; * shows all", shared->marks.n);
	else
		ui_show_message(shared, "all runs");
}

static void act_charset(struct ui *ui, enum action action)
{
	static const char *const names[CHART_CHARSETS] = { "braille", "blocks", "ASCII", "pixels" };
	struct chart_settings *chart = &ui->shared.chart;

	(void)action;
	chart->charset = (chart->charset + 1) % CHART_CHARSETS;
	ui_show_message(&ui->shared, "charts are drawn in %s", names[chart->charset]);
}

static void act_alerts(struct ui *ui, enum action action)
{
	struct alerts *alerts = ui->setup.alerts;

	if (action == ACTION_ACKNOWLEDGE)
		alerts_acknowledge(alerts);
	else
		alerts->muted = !alerts->muted;
	ui_show_message(&ui->shared, "%s",
			action == ACTION_ACKNOWLEDGE ? "all alerts acknowledged"
			: alerts->muted		     ? "bell and notices are muted"
						     : "bell and notices are on");
}

static void act_pause(struct ui *ui, enum action action)
{
	(void)action;
	ui->paused = !ui->paused;
	ui_show_message(&ui->shared, ui->paused ? "paused; P goes on" : "going on");
}

static void act_step_view(struct ui *ui, enum action action)
{
	size_t by = action == ACTION_NEXT_VIEW ? 1 : UI_VIEW_COUNT - 1;

	ui_go_to(ui, (ui->view + by) % UI_VIEW_COUNT);
}

/* One layer back: a filter, a view, and from the fleet q leaves. */
static void act_back(struct ui *ui, enum action action)
{
	struct list *list = ui_list(ui);

	if (list != NULL && list->filter[0] != '\0')
		list_filter(list, "");
	else if (ui->n_trail > 0)
		ui->view = ui->trail[--ui->n_trail];
	else if (ui->view != 0)
		ui->view = 0;
	else if (action == ACTION_QUIT)
		ui->wants |= UI_WANT_QUIT;
}

/* From wherever this is; what a pod asks stays. */
static void ui_go_home(struct ui *ui)
{
	ui_go_to(ui, 0);
	ui->finding = false;
	if (ui->overlay != OVERLAY_QUESTION)
		ui->overlay = OVERLAY_NONE;
	struct list *list = ui_list(ui);
	if (ui->overlay == OVERLAY_NONE)
		list_filter(list, "");
}

/* A key is never without an answer, but where a list just ends. */
static void act_no_use(struct ui *ui, enum action action)
{
	if (action < ACTION_UP || action > ACTION_PAGE_DOWN)
		ui_show_message(&ui->shared, "%s does nothing in %s", action_info(action)->label,
				ui_view(ui)->name);
}

/* What an action does where the view leaves it. */
static void ui_act(struct ui *ui, enum action action)
{
	static const struct {
		enum action action;
		void (*act)(struct ui *ui, enum action action);
		unsigned int want; /* what the owner does */
	} acts[] = {
		{ ACTION_MARK, act_mark, 0 },
		{ ACTION_REFERENCE, act_reference, 0 },
		{ ACTION_ONLY_MARKED, act_only_marked, 0 },
		{ ACTION_CHARSET, act_charset, 0 },
		{ ACTION_ACKNOWLEDGE, act_alerts, 0 },
		{ ACTION_MUTE, act_alerts, 0 },
		{ ACTION_PAUSE, act_pause, 0 },
		{ ACTION_EXPORT, act_export, 0 },
		{ ACTION_NEXT_VIEW, act_step_view, 0 },
		{ ACTION_PREV_VIEW, act_step_view, 0 },
		{ ACTION_NEXT_RUN, act_step_run, 0 },
		{ ACTION_PREV_RUN, act_step_run, 0 },
		{ ACTION_BACK, act_back, 0 },
		{ ACTION_QUIT, act_back, 0 },
		{ ACTION_QUIT_NOW, NULL, UI_WANT_QUIT },
		{ ACTION_SUSPEND, NULL, UI_WANT_SUSPEND },
		{ ACTION_REPAINT, NULL, UI_WANT_REPAINT },
		{ ACTION_MOUSE, NULL, UI_WANT_MOUSE },
		{ ACTION_THEME, NULL, UI_WANT_THEME },
		{ ACTION_RELOAD, NULL, UI_WANT_RELOAD },
		{ ACTION_TRACK, NULL, UI_WANT_TRACK },
	};

	for (size_t i = 0; i < LENGTH(acts); i++) {
		if (acts[i].action != action)
			continue;
		ui->wants |= acts[i].want;
		if (acts[i].act != NULL)
			acts[i].act(ui, action);
		return;
	}
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (ui_views[i]->open == action) {
			ui_go_to(ui, i);
			return;
		}
	}
	act_no_use(ui, action);
}

/* Show a view on top of this one; q and Esc come back here. */
static void ui_go_into(struct ui *ui, enum action open)
{
	size_t from = ui->view, n = ui->n_trail;

	ui->shared.go = ACTION_NONE;
	ui_act(ui, open);
	if (ui->shared.find != NULL) {
		list_filter(ui_list(ui), ui->shared.find);
		ui_list_moved(ui);
	}
	ui->shared.find = NULL;
	if (ui->view == from)
		return;
	if (n == UI_VIEW_COUNT)
		memmove(ui->trail, ui->trail + 1, --n * sizeof(ui->trail[0]));
	ui->trail[n++] = from;
	ui->n_trail = n;
}

static void ui_say_order(struct ui *ui, const struct list *list)
{
	const char *by = list_sorted_by(list);

	if (by != NULL)
		ui_show_message(&ui->shared, "sorted by %s, the %s first", by,
				list->descending ? "greatest" : "least");
	else
		ui_show_message(&ui->shared, "in their own order%s",
				list->descending ? ", turned round" : "");
}

/* The view's own use of an action, or its list's. */
static bool ui_act_view(struct ui *ui, enum action action, struct command *out)
{
	struct list *list = ui_list(ui);

	if (ui_view(ui)->act(ui->states[ui->view], &ui->shared, action, out))
		return true;
	if (list == NULL || !list_act(list, action))
		return false;
	ui_list_moved(ui);
	if (action == ACTION_SORT || action == ACTION_SORT_REVERSE)
		ui_say_order(ui, list);
	return true;
}

void ui_action(struct ui *ui, enum action action)
{
	struct command command = { .id = COMMAND_NONE };

	ui->stale = ui->asked = true;
	if (action == ACTION_NONE || overlay_open(ui, action))
		return;
	bool used = ui_act_view(ui, action, &command);
	/* It shows only where a part of x is shown. */
	if (action == ACTION_HOLD_Y && used)
		ui_show_message(&ui->shared, "y is by %s",
				ui->shared.chart.hold_y ? "all of x" : "the part that is shown");
	if (command.id == COMMAND_BENCH_PICK) {
		overlay_open_bench(ui, command.text);
		command_release(&command);
	} else if (command.id == COMMAND_BENCH_ARMS) {
		overlay_open_arms(ui, &command);
	} else if (command.id == COMMAND_COPY) {
		ui_execute(ui, &command);
	} else if (command.id != COMMAND_NONE) {
		overlay_ask(ui, &command);
	}
	if (ui->shared.go != ACTION_NONE)
		ui_go_into(ui, ui->shared.go);
	else if (!used)
		ui_act(ui, action);
}

/* Tabs with their digits; which columns each takes is kept for the mouse. */
static int frame_draw_tabs(struct ui *ui, struct canvas *canvas)
{
	bool wide = canvas->width >= 110;
	int x = wide ? 1 : 0;

	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		unsigned int style = i == ui->view ? STYLE_TAB_ON : STYLE_TAB;

		ui->tabs[i][0] = x;
		x += canvas_textf(canvas, x, 0, style, wide ? " %zu %s " : "%zu%s", i + 1,
				  ui_views[i]->name);
		ui->tabs[i][1] = x;
		x += wide ? 0 : 1;
	}
	return x;
}

/* What the reference of all differences is called; "" when there is none. */
static struct plot_label frame_reference(const struct ui_shared *shared)
{
	struct plot_label label = plot_run_label(shared->reference);

	if (shared->reference == NULL && shared->baseline != NULL)
		print_into(label.s, "%.80s", shared->baseline->name);
	return label;
}

/* Right of the tabs: reference, pods that live, alerts, time. */
static void frame_draw_state(struct ui *ui, struct canvas *canvas, int left)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t live = 0, all = 0, open = alerts_open(shared->alerts);
	int room = canvas->width - left - 1, x, taken;
	struct fmt clock = fmt_clock(shared->now_wall_ms);
	struct plot_label ref = { "" };
	char pods[200], alerts[40], time[100];

	for (size_t i = 0; i < model->n_pods; i++) {
		all += model->pods[i].state != POD_GONE;
		live += model->pods[i].state == POD_LIVE || model->pods[i].state == POD_SILENT;
	}
	if (room > 60)
		ref = frame_reference(shared);
	print_into(pods, "%s%s%s%s%zu/%zu pods · ", ref.s[0] != '\0' ? "ref " : "", ref.s,
		   ref.s[0] != '\0' ? " · " : "", model->is_shared ? "reads · " : "", live, all);
	print_into(time, " · %s %s", clock.s, fmt_zone(shared->now_wall_ms).s);
	print_into(alerts, "%zu alert%s", open, open == 1 ? "" : "s");
	if (text_width(pods) + text_width(time) + text_width(alerts) > room) {
		print_into(alerts, "%zu!", open);
		print_into(pods, "%zu/%zu pods ", live, all);
		print_into(time, " %.5s", clock.s);
	}
	/* The alerts are what is left out last. */
	taken = text_width(pods) + text_width(alerts);
	if (taken + text_width(time) > room)
		time[0] = '\0';
	if (taken > room)
		pods[0] = '\0';
	x = canvas->width - 1 - (text_width(pods) + text_width(alerts) + text_width(time));
	x = int_max(x, left);
	x += canvas_text(canvas, x, 0, STYLE_HINT, pods);
	x += canvas_text(canvas, x, 0, open > 0 ? STYLE_WARN : STYLE_HINT, alerts);
	(void)canvas_text(canvas, x, 0, STYLE_HINT, time);
}

/* The newest word: what was just said, else the newest event. */
static void frame_draw_status(struct ui *ui, struct canvas *canvas, struct rect line)
{
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	const struct model_event *event;
	char reading[64];

	if (model->n_reading > 1) {
		print_into(reading, "reading %zu of %zu logs", model->n_read + 1, model->n_reading);
		line.w -= text_width(reading) + 2;
		(void)canvas_text(canvas, line.x + line.w + 2, line.y, STYLE_STRONG, reading);
	}
	if (shared->said[0] != '\0' && shared->now_mono_ms - shared->said_at_ms < SAID_MS) {
		canvas_print(canvas, line, STYLE_STRONG, "%s", shared->said);
	} else if (model->n_events > 0) {
		event = model_event_at(model, model->n_events - 1);
		canvas_print(canvas, line, event->severity == MODEL_INFO ? STYLE_HINT : STYLE_WARN,
			     "%s %s", fmt_clock(event->wall_ms).s, event->text);
	}
}

/* Columns of "key name"; 0 when it has no key, or no use in the view. */
static int frame_hint_width(const struct ui *ui, enum action action)
{
	const struct view_ops *view = ui_view(ui);
	char key[KEY_NAME_SIZE];

	keymap_key_name(&ui->keymap, action, key);
	if (key[0] == '\0' || (action == ACTION_COPY && !view->copies) ||
	    (action == ACTION_SORT && view->list == NULL) ||
	    (ui->shared.read_only && action_is_acting(action)))
		return 0;
	return text_width(key) + 1 + text_width(action_info(action)->label);
}

/* "key name" at *x, which goes on; false: it does not fit before `end`. */
static bool frame_draw_hint(struct ui *ui, struct canvas *canvas, int *x, int end,
			    enum action action)
{
	int width = frame_hint_width(ui, action), y = canvas->height - 1;
	char key[KEY_NAME_SIZE];

	if (width == 0)
		return true;
	if (*x + width > end)
		return false;
	if (ui->n_hints < MAX_HINTS)
		ui->hints[ui->n_hints++] = (struct ui_hint){ { *x, y, width, 1 }, action };
	keymap_key_name(&ui->keymap, action, key);
	*x += canvas_text(canvas, *x, y, STYLE_KEY, key) + 1;
	*x += canvas_text(canvas, *x, y, STYLE_HINT, action_info(action)->label);
	*x += 2;
	return true;
}

/*
 * Help is first and so never the one that is left out; the way out stands at
 * the right, where it does not move.
 */
static void frame_draw_hints(struct ui *ui, struct canvas *canvas)
{
	static const enum action last[] = { ACTION_SEARCH, ACTION_SORT, ACTION_PALETTE,
					    ACTION_EVENTS, ACTION_COPY, ACTION_EXPORT,
					    ACTION_NONE };
	const enum action *const lists[] = { ui_view(ui)->hints, last };
	int x = 1, end = canvas->width - 1 - frame_hint_width(ui, ACTION_QUIT);
	const struct list *list = ui_list(ui);
	int at = end;

	ui->n_hints = 0;
	if (list != NULL && list->filter[0] != '\0') {
		x += canvas_textf(canvas, x, canvas->height - 1, STYLE_KEY, "/%.40s", list->filter);
		x += canvas_textf(canvas, x, canvas->height - 1, STYLE_HINT, "  %zu of %zu  ",
				  list->n, list->all);
		(void)frame_draw_hint(ui, canvas, &x, end, ACTION_BACK);
	}
	(void)frame_draw_hint(ui, canvas, &x, end, ACTION_HELP);
	(void)frame_draw_hint(ui, canvas, &at, canvas->width - 1, ACTION_QUIT);
	for (size_t i = 0; i < 2; i++)
		for (const enum action *a = lists[i]; *a != ACTION_NONE; a++)
			if (!frame_draw_hint(ui, canvas, &x, end - 2, *a))
				break;
}

/* Where nothing fits: the fleet's rows alone; what is asked is not lost. */
static void frame_draw_tiny(struct ui *ui, struct canvas *canvas)
{
	struct rect rest = { 0, 0, canvas->width, canvas->height };

	if (ui->overlay == OVERLAY_NONE)
		canvas_print_top(canvas, &rest, STYLE_TITLE, "? help  enlarge to 60x15");
	else
		canvas_print_top(canvas, &rest, STYLE_WARN, "Esc back  enlarge to 60x15 to see it");
	ui_views[0]->draw(ui->states[0], &ui->shared, canvas, rest);
}

static void mouse_draw(const struct ui *ui, struct canvas *canvas)
{
	const struct ui_drag *d = &ui->drag;
	struct rect r = d->area;

	if (d->kind != DRAG_CHART || abs(d->to - d->from) < SLIP_COLUMNS)
		return;
	r.x = d->from < d->to ? d->from : d->to;
	r.w = abs(d->to - d->from) + 1;
	canvas_fill(canvas, r, STYLE_NORMAL | STYLE_REVERSE, 0);
}

static void frame_draw(struct ui *ui, struct canvas *canvas)
{
	struct rect body = { 0, 1, canvas->width, canvas->height - 3 };

	frame_draw_state(ui, canvas, frame_draw_tabs(ui, canvas));
	ui_view(ui)->draw(ui->states[ui->view], &ui->shared, canvas, body);
	canvas->clip = (struct rect){ 0, 0, canvas->width, canvas->height };
	mouse_draw(ui, canvas);
	frame_draw_status(ui, canvas, (struct rect){ 1, canvas->height - 2, canvas->width - 2, 1 });
	frame_draw_hints(ui, canvas);
}

/* The chart at a place; NULL: none. */
static const struct rect *mouse_area(const struct ui *ui, int x, int y)
{
	for (size_t i = 0; i < ui->shared.n_areas; i++)
		if (rect_has(&ui->shared.areas[i], x, y))
			return &ui->shared.areas[i];
	return NULL;
}

/* A column as a part of what the chart shows. */
static double mouse_part(const struct rect *area, int x)
{
	double part = area->w > 1 ? (double)(x - area->x) / (area->w - 1) : 0;

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* A click that is no selection; false: it is none. */
static bool mouse_press_button(struct ui *ui, const struct key *key)
{
	struct list *list = ui_list(ui);

	for (size_t i = 0; i < ui->n_hints; i++) {
		if (!rect_has(&ui->hints[i].place, key->x, key->y))
			continue;
		ui_action(ui, ui->hints[i].action);
		return true;
	}
	if (list == NULL || !list_click_header(list, key->x, key->y))
		return false;
	ui_list_moved(ui);
	ui_say_order(ui, list);
	return true;
}

static bool mouse_click(struct ui *ui, const struct key *key)
{
	const struct view_ops *view = ui_view(ui);
	struct list *list = ui_list(ui);

	if (list != NULL && list_click(list, key->x, key->y)) {
		ui_list_moved(ui);
		return true;
	}
	return view->click != NULL &&
	       view->click(ui->states[ui->view], &ui->shared, key->x, key->y);
}

static void mouse_wheel(struct ui *ui, const struct key *key)
{
	const struct rect *area = mouse_area(ui, key->x, key->y);
	bool up = key->code == KEYCODE_WHEEL_UP;

	if (area != NULL) {
		ui->shared.chart.cursor = mouse_part(area, key->x);
		(void)ui_chart_act(&ui->shared, up ? ACTION_ZOOM_IN : ACTION_ZOOM_OUT);
		return;
	}
	for (int i = 0; i < WHEEL_LINES; i++)
		ui_action(ui, up ? ACTION_UP : ACTION_DOWN);
}

static void mouse_press(struct ui *ui, const struct key *key)
{
	const struct rect *area = mouse_area(ui, key->x, key->y);
	size_t tab = 0;

	while (tab < UI_VIEW_COUNT &&
	       (key->y != 0 || key->x < ui->tabs[tab][0] || key->x >= ui->tabs[tab][1]))
		tab++;
	ui->drag = (struct ui_drag){ .kind = DRAG_NONE, .y = key->y };
	if (tab < UI_VIEW_COUNT) {
		ui_go_to(ui, tab);
	} else if (area != NULL) {
		ui->drag.kind = DRAG_CHART;
		ui->drag.area = *area;
		ui->drag.from = ui->drag.to = key->x;
		ui->shared.chart.cursor = mouse_part(area, key->x);
	} else if (mouse_press_button(ui, key)) {
		return;
	} else if (mouse_click(ui, key)) {
		ui->drag.kind = DRAG_LIST;
	}
}

static void mouse_drag(struct ui *ui, const struct key *key)
{
	const struct rect *area = &ui->drag.area;
	int by = key->y - ui->drag.y;

	if (ui->drag.kind == DRAG_CHART) {
		ui->drag.to = int_max(area->x, int_min(key->x, area->x + area->w - 1));
		ui->shared.chart.cursor = mouse_part(area, ui->drag.to);
	} else if (ui->drag.kind == DRAG_LIST && by != 0 && !mouse_click(ui, key)) {
		/* Beyond the list's edge it goes on. */
		ui_action(ui, by > 0 ? ACTION_DOWN : ACTION_UP);
	}
	ui->drag.y = key->y;
}

static void mouse_release(struct ui *ui)
{
	const struct ui_drag *d = &ui->drag;

	if (d->kind == DRAG_CHART && abs(d->to - d->from) >= SLIP_COLUMNS) {
		ui_chart_zoom_to(&ui->shared.chart, mouse_part(&d->area, d->from),
				 mouse_part(&d->area, d->to));
		ui_show_message(&ui->shared, "%.3gx; 0 shows all of x again",
				ui->shared.chart.zoom);
	}
	ui->drag.kind = DRAG_NONE;
}

/*
 * A click goes to a tab, selects a row, or sets a chart's cursor; a drag takes
 * a part of x to be shown, or the selection along a list; the wheel zooms a
 * chart and moves in a list.
 */
static void frame_mouse(struct ui *ui, const struct key *key)
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

/*
 * Handle a key that is part of a paste; false if the key is to be used like a typed one.  Only an
 * open text field takes a paste, and of it only printable characters: pasted Enter, Esc and Tab
 * are not commands.  Line ends and tabs between two words become one blank.
 */
static bool ui_filter_paste(struct ui *ui, const struct key *key)
{
	bool takes_text = ui->finding || (ui->overlay != OVERLAY_NONE &&
					  ui->overlay != OVERLAY_EVENTS && !ui->is_there);

	if (key->code == KEYCODE_PASTE_BEGIN || key->code == KEYCODE_PASTE_END) {
		ui->paste = key->code == KEYCODE_PASTE_BEGIN ? PASTE_START : PASTE_NONE;
		return true;
	}
	if (ui->paste == PASTE_NONE)
		return false;
	if (!takes_text) {
		ui_show_message(&ui->shared,
				"ignored pasted text: no text field is open; / opens one");
		return true;
	}
	bool is_break = key->code == '\r' || key->code == '\n' || key->code == '\t';
	if (is_break && ui->paste == PASTE_TEXT)
		ui->paste = PASTE_BREAK;
	if (key->code < ' ' || key->code >= KEYCODE_BASE)
		return true;
	if (ui->paste == PASTE_BREAK) {
		ui->paste = PASTE_TEXT;
		ui_key(ui, &(struct key){ .code = ' ' });
	}
	ui->paste = PASTE_TEXT;
	return false;
}

static void ui_key_of_view(struct ui *ui, const struct key *key)
{
	if (key->code >= KEYCODE_MOUSE_PRESS) {
		frame_mouse(ui, key);
		return;
	}
	enum action action = keymap_find(&ui->keymap, key->code, ui_view(ui)->places);
	if (action != ACTION_NONE) {
		ui_action(ui, action);
		return;
	}
	action = keymap_find(&ui->keymap, key->code, UINT_MAX);
	if (action != ACTION_NONE)
		act_no_use(ui, action);
}

void ui_key(struct ui *ui, const struct key *key)
{
	ui->stale = ui->asked = true;
	ui->first = NULL;
	if (ui_filter_paste(ui, key))
		return;
	ui->escapes = key->code == 27 ? ui->escapes + 1 : 0;
	if (ui->finding || ui->overlay != OVERLAY_NONE)
		ui->drag.kind = DRAG_NONE;
	if (ui->finding)
		find_on_key(ui, key);
	else if (ui->overlay != OVERLAY_NONE)
		overlays[ui->overlay].key(ui, key);
	else
		ui_key_of_view(ui, key);
	if (ui->escapes >= ESCAPES_HOME)
		ui_go_home(ui);
}

void ui_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y)
{
	*cursor_x = *cursor_y = -1;
	overlay_next_question(ui);
	canvas_clear(canvas);
	ui->shared.n_areas = 0;
	ui->stale = ui->asked = false;
	ui->drawn_at_ms = ui->shared.now_mono_ms;
	ui_select_first(ui);
	if (canvas->width < 60 || canvas->height < 15) {
		frame_draw_tiny(ui, canvas);
		return;
	}
	frame_draw(ui, canvas);
	if (ui->overlay != OVERLAY_NONE)
		*cursor_x = overlays[ui->overlay].draw(ui, canvas, cursor_y);
	if (ui->finding)
		*cursor_x = find_draw(ui, canvas, cursor_y);
}

static void add_run_id(cJSON *array, uint64_t id)
{
	char text[20];

	print_into(text, "%016llx", (unsigned long long)id);
	cJSON_AddItemToArray(array, cJSON_CreateString(text));
}

void ui_save_choices(const struct ui *ui, cJSON *out)
{
	const struct ui_shared *shared = &ui->shared;
	cJSON *runs = cJSON_AddArrayToObject(out, "runs");
	cJSON *orders = cJSON_AddObjectToObject(out, "orders");

	add_run_id(runs, shared->reference != NULL ? run_id(shared->model, shared->reference)
						   : ui->wanted[0]);
	for (size_t i = 0; i < shared->marks.n; i++)
		add_run_id(runs, run_id(shared->model, shared->marks.v[i]));
	/* Those of pods that have not answered yet. */
	for (size_t i = 1; i <= UI_MAX_MARKS; i++)
		if (ui->wanted[i] != 0)
			add_run_id(runs, ui->wanted[i]);
	if (ui->typed.name != NULL)
		json_add_string(out, "baseline", ui->scores.text);
	json_add_number(out, "x_axis", shared->chart.axis);
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		const struct list *list = ui->states[i];

		if (ui_views[i]->list != NULL && list_sorted_by(list) != NULL)
			json_add_string(list->descending
						? cJSON_AddObjectToObject(orders, ui_views[i]->name)
						: orders,
					list->descending ? "descending" : ui_views[i]->name,
					list_sorted_by(list));
	}
}

/* Sort a list as it was; a column that is not there any more sorts nothing. */
static void list_choose(struct list *list, const cJSON *order)
{
	const char *title = json_get_string(order, "descending", cJSON_GetStringValue(order));

	for (size_t i = 0; title != NULL && i < list->ops->n_columns; i++) {
		if (strcmp(list->ops->columns[i].title, title) != 0)
			continue;
		list->sort = i + 1;
		list->descending = cJSON_IsObject(order);
	}
}

void ui_load_choices(struct ui *ui, const cJSON *chosen)
{
	double axis = json_get_number(chosen, "x_axis", AXIS_TRAIN);
	const char *text = json_get_string(chosen, "baseline", "");
	const cJSON *runs = json_get(chosen, "runs"), *run;
	size_t n = 0;

	if (axis >= 0 && axis < AXIS_COUNT)
		ui->shared.chart.axis = (enum chart_axis)axis;
	prompt_set(&ui->scores, text);
	(void)baseline_take(ui, ui->scores.text, NULL);
	for (run = runs != NULL ? runs->child : NULL; run != NULL && n <= UI_MAX_MARKS;
	     run = run->next)
		if (cJSON_IsString(run))
			ui->wanted[n++] = strtoull(run->valuestring, NULL, 16);
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if (ui_views[i]->list != NULL)
			list_choose(ui_views[i]->list(ui->states[i], &ui->shared),
				    json_get(json_get(chosen, "orders"), ui_views[i]->name));
}
