/* SPDX-License-Identifier: MIT */
/* Draws the frame around the views (tabs, status, footer, dialogs), and handles keys and mouse. */
#include "ui/ui.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/file.h"
#include "ui/form.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/words.h"

#define MESSAGE_MS	8000
#define WHEEL_LINES	3
#define CLICK_COLUMNS	2 /* a drag over fewer columns is a click */
#define EXPORT_BYTES	(16U << 20)
#define FRAME_LOCAL_MS	33
#define FRAME_REMOTE_MS 250

#define MAX_CHOICES   2000
#define BOX_WIDTH     110
#define PICK_WIDTH    100
#define PICK_HEIGHT   18
#define EVENT_BYTES   4096
#define DETAIL_LINES  3	    /* below the events: a rule, and the whole text of the selected one */
#define PAGE_LINES    8	    /* PgUp and PgDn scroll a preview by this many lines */
#define EXPLAIN_LINES 5	    /* a rule, and the whole text of the selected choice */
#define EVENT_MS      60000 /* how long the status line shows an event */
#define MAX_HINTS     24
#define HOME_ESCAPES  3 /* this many presses of Esc in a row open the fleet */

#define UI_VIEW_COUNT 8

enum ui_overlay {
	OVERLAY_NONE,
	OVERLAY_HELP,
	OVERLAY_CHOICES,
	OVERLAY_EXPLAINED, /* choices, with the whole text of the selected one */
	OVERLAY_EVENTS,
	OVERLAY_SEARCH,
	OVERLAY_FILTER,
	OVERLAY_BASELINE,
	OVERLAY_EXPORT,	  /* format and file name */
	OVERLAY_CONFIRM,  /* preview of a command, which the user must confirm */
	OVERLAY_QUESTION, /* about a pod, see ui_ask() */
	OVERLAY_FORM,
};

/* What the user drags while a mouse button is down. */
enum ui_drag_kind {
	DRAG_NONE,
	DRAG_CHART, /* a range of x */
	DRAG_LIST   /* the selection of a list */
};

struct ui_drag {
	enum ui_drag_kind kind;
	struct rect area; /* cells of the chart */
	int from, to;	  /* first and current column of the range */
	int y;		  /* row of the last mouse event */
};

/* What choosing an entry does. */
enum choice_kind {
	CHOICE_ACTION,	   /* run the action */
	CHOICE_RUN,	   /* open the run */
	CHOICE_WORD,	   /* nothing: the entry explains a word */
	CHOICE_COLUMN,	   /* sort by the column */
	CHOICE_COPY,	   /* copy the description of the entry */
	CHOICE_OPTION,	   /* write the option into the configuration */
	CHOICE_TRACK,	   /* use the track; see ui_shared.track_choice */
	CHOICE_PLAN,	   /* start the plan of a bench */
	CHOICE_FORM,	   /* open the form for a bench */
	CHOICE_CHECKPOINT, /* bench the best checkpoint of a HarnessGym run */
	CHOICE_SETTINGS	   /* bench the launch settings of its kernels */
};

/* An entry of the help, of the palette, or of another list of choices. */
struct ui_choice {
	enum choice_kind kind;
	size_t i;	/* enum action, or index into runs, columns, options or tracks */
	char *texts[4]; /* owned; keys, name, description (id of a plan), where found; or NULL */
};

/* A line in the list of alerts and events. */
struct ui_event {
	const struct alert *alert;	 /* an alert that has not ended; NULL: see event */
	const struct model_event *event; /* NULL if there is an alert */
	const struct model_run *mr;	 /* NULL: it does not belong to a run */
};

/* A hint of the footer, and the cells that a click must hit. */
struct ui_hint {
	struct rect place;
	enum action action;
};

/* Formats of an export, in the order in which they are offered. */
enum ui_export {
	EXPORT_TABLE,
	EXPORT_CHART,
	EXPORT_CURVES,
	EXPORT_MARKDOWN,
	EXPORT_TEXT,
	EXPORT_COUNT
};

static const struct {
	const char *label, *suffix;
} export_formats[EXPORT_COUNT] = {
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
	PASTE_START, /* no text was pasted yet */
	PASTE_TEXT,
	PASTE_BREAK, /* after a line end or a tab, which becomes a blank if more text follows */
};

struct ui {
	struct ui_setup setup;
	struct ui_shared shared;
	struct keymap keymap;
	void *states[UI_VIEW_COUNT]; /* owned */
	size_t view;
	size_t trail[UI_VIEW_COUNT]; /* views that q and Esc return to */
	size_t n_trail;
	enum ui_overlay overlay;
	bool is_finding; /* the user is typing the filter of a list */
	enum paste_state paste;
	int n_escapes;		       /* how often Esc was pressed in a row */
	const struct model_run *first; /* run that the program selected; NULL: the user did */
	struct ui_drag drag;
	struct list list;	   /* of choices or events */
	struct ui_choice *choices; /* owned */
	size_t n_choices, cap_choices;
	const char *title;	 /* of the choices */
	struct ui_event *events; /* owned; rows of the list of events */
	struct prompt find, search, filter, answer, scores, file;
	struct ui_baseline typed; /* baseline that the user typed; without a name: none */
	char typed_name[FMT_LABEL];
	double typed_scores[UI_MAX_SCORES];
	enum ui_export export;
	char *taken_name; /* owned; a free name to offer if the file exists; NULL: not asked */
	struct form form;
	char *bench_pods;	/* owned; pods that a bench is chosen for */
	struct command pending; /* waits until the user confirms or chooses */
	char *preview;		/* owned; of the pending command */
	int preview_top;	/* first line of the preview that is shown */
	struct ui_question questions[UI_MAX_QUESTIONS];
	size_t n_questions;
	int tabs[UI_VIEW_COUNT][2]; /* columns from and to, as drawn last */
	struct ui_hint hints[MAX_HINTS];
	size_t n_hints;
	bool is_working;		     /* a view has more to do in the background */
	bool is_stale, is_urgent, is_paused; /* urgent: draw the next frame at once */
	unsigned int wants;
	int64_t drawn_at_ms;
	uint64_t wanted[UI_MAX_MARKS + 1]; /* ids of runs to restore: reference, then marks */
	size_t n_looked;		   /* number of runs of the model compared with these */
	size_t seen_events;		   /* number of the newest event in the status line */
	int64_t seen_at_ms;		   /* when that event was first drawn; mono clock */
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
	shared->tracks = setup->tracks;
	shared->alerts = setup->alerts;
	shared->read_only = setup->read_only;
	shared->chart.zoom = 1;
	shared->chart.center = 0.5;
	shared->chart.cursor = -1;
	shared->chart.x_lo = shared->chart.x_hi = shared->chart.cursor_x = (double)NAN;
	shared->chart.smoothing = 2;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		ui->states[i] = xcalloc(1, ui_views[i]->state_size + 1);
	ui->is_stale = true;
	return ui;
}

void ui_configure(struct ui *ui, const struct ui_setup *setup)
{
	struct ui_shared *shared = &ui->shared;

	/* Keep a charset that the user chose by key, unless the configured one changed. */
	if (setup->charset != ui->setup.charset)
		shared->chart.charset = setup->charset;
	ui->setup = *setup;
	ui->keymap = *setup->keymap;
	shared->baseline = ui->typed.name != NULL ? &ui->typed : setup->baseline;
	shared->conf_path = setup->conf_path != NULL ? setup->conf_path : "the configuration";
	shared->group_of = setup->group_of;
	shared->group_user = setup->group_user;
	shared->log_colors = setup->log_colors;
	shared->configured++;
	ui->is_stale = ui->is_urgent = true;
}

const struct track *ui_caps(const struct ui_shared *shared, const struct model_run *mr)
{
	static const struct track none = { .cap_train_s = (double)NAN,
					   .cap_eval_s = (double)NAN,
					   .cap_artifact_bytes = (double)NAN };

	const struct track *track = shared->track != NULL ? shared->track : &none;

	return mr != NULL ? track_for_run(track, &mr->run) : track;
}

char *ui_group_of(const struct ui_shared *shared, const struct model_run *mr)
{
	if (shared->group_of != NULL)
		return shared->group_of(shared->group_user, mr);
	return xstrdup(mr->group);
}

static void command_release(struct command *command)
{
	free(command->text);
	free(command->name);
	memset(command, 0, sizeof(*command));
}

static void free_choices(struct ui *ui)
{
	while (ui->n_choices > 0) {
		ui->n_choices--;
		for (size_t i = 0; i < 4; i++)
			free(ui->choices[ui->n_choices].texts[i]);
	}
}

void ui_free(struct ui *ui)
{
	if (ui == NULL)
		return;
	struct prompt *const prompts[] = { &ui->find,	&ui->search, &ui->filter,
					   &ui->answer, &ui->scores, &ui->file };
	for (size_t i = 0; i < LENGTH(prompts); i++)
		prompt_release(prompts[i]);
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (ui_views[i]->release != NULL)
			ui_views[i]->release(ui->states[i]);
		if (ui_views[i]->list != NULL)
			list_release(ui->states[i]);
		free(ui->states[i]);
	}
	free_choices(ui);
	free(ui->choices);
	list_release(&ui->list);
	command_release(&ui->pending);
	free(ui->preview);
	form_release(&ui->form);
	free(ui->bench_pods);
	free(ui->taken_name);
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
	print_args(shared->said, fmt);
	shared->said_at_ms = shared->now_mono_ms;
}

bool ui_shows_run(const struct ui_shared *shared, const struct model_run *mr)
{
	/* List a run of a bench only while it runs; afterwards the bench shows it. */
	if (mr->log != NULL && mr->log->is_bench && !mr->live)
		return false;
	return !shared->only_marked || ui_is_marked(&shared->marks, mr);
}

uint64_t ui_runs_version(const struct ui_shared *shared)
{
	AUTO_TEXT of = xasprintf(
		"%" PRIu64 " %u %" PRIu64 " %zu %zu %lld %p %u %s %d %p", shared->model->generation,
		shared->configured, shared->alerts->last_number, shared->alerts->n,
		alerts_open(shared->alerts), (long long)shared->now_wall_ms / 10000,
		(const void *)shared->reference, shared->chart.metric.id, shared->chart.metric.own,
		shared->only_marked, (const void *)shared->track);

	return str_hash(str_from(of));
}

bool ui_is_marked(const struct ui_marks *marks, const void *what)
{
	return any_of(i, marks->n, marks->v[i] == what);
}

void ui_toggle_mark(struct ui_shared *shared, struct ui_marks *marks, const void *what, size_t most)
{
	shared->configured += shared->only_marked;
	for (size_t i = 0; i < marks->n; i++) {
		if (marks->v[i] != what)
			continue;
		memmove(marks->v + i, marks->v + i + 1, (--marks->n - i) * sizeof(*marks->v));
		shared->only_marked = shared->only_marked && marks->n > 0;
		return;
	}
	if (marks->n == most)
		ui_show_message(shared, "at most %zu %s can be marked; unmark one first", most,
				marks == &shared->marks ? "runs" : "pods");
	else
		marks->v[marks->n++] = what;
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

/* Until the user selects a run, select the one at the top of the fleet: the first running run, or
 * else the newest. Choose again while logs are being read, and if the selected run is not live. */
static void select_first_run(struct ui *ui)
{
	struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	const struct model_run *best = NULL, *newest = NULL;

	if (model->n_runs == 0 ||
	    (shared->selected != NULL &&
	     (shared->selected != ui->first || (ui->first->live && model->n_reading == 0))))
		return;
	pointer_each (mr, model->runs, model->n_runs) {
		if (newest == NULL || newest->blank || !mr->blank)
			newest = mr;
		if (best == NULL && mr->live && !mr->blank && mr->run.status == RUN_RUNNING)
			best = mr;
	}
	ui->first = best != NULL ? best : newest;
	shared->selected = ui->first;
}

/* Return an id of the run that stays the same across restarts. */
static uint64_t run_id(const struct model *model, const struct model_run *mr)
{
	AUTO_TEXT name = xasprintf("%s\n%s\n%u", model_pod_name(model, mr->pod), mr->path,
				   mr->run.run_index);

	return str_hash(str_from(name));
}

/* Restore the reference and the marks of the last session for runs that appeared in the model. */
static void restore_marks(struct ui *ui)
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
	restore_marks(ui);
	select_first_run(ui);
	if ((parts & (ui_view(ui)->watches | MODEL_EVENTS)) != 0 || ui->overlay == OVERLAY_EVENTS)
		ui->is_stale = true;
}

int64_t ui_frame_in_ms(const struct ui *ui)
{
	int64_t every = ui->setup.remote ? FRAME_REMOTE_MS : FRAME_LOCAL_MS;
	int64_t due = ui->drawn_at_ms + every - ui->shared.now_mono_ms;

	if (ui->is_urgent)
		return 0;
	if (!ui->is_stale || ui->is_paused)
		return -1;
	return due > 0 ? due : 0;
}

bool ui_work(struct ui *ui)
{
	const struct view_ops *view = ui_view(ui);

	if (view->work == NULL)
		return false;
	bool more = view->work(ui->states[ui->view], &ui->shared);
	ui->is_stale |= more || ui->is_working;
	/* The user is waiting for the result: draw it at once. */
	ui->is_urgent |= ui->is_working && !more;
	ui->is_working = more;
	return more;
}

unsigned int ui_take_wants(struct ui *ui)
{
	unsigned int wants = ui->wants;

	ui->wants = 0;
	return wants;
}

/* Execute a command, show its result as a message, and release it; false if it failed. */
static bool run_command(struct ui *ui, struct command *command)
{
	struct err err = { ERR_NONE, "" };
	char said[200] = "";

	if (ui->setup.sink.execute == NULL)
		err_set(&err, ERR_USAGE, "not available on this screen");
	else
		(void)ui->setup.sink.execute(ui->setup.sink.user, command, said, &err);
	if (err.code != ERR_NONE || said[0] != '\0')
		ui_show_message(&ui->shared, "%s", err.code != ERR_NONE ? err.text : said);
	command_release(command);
	return err.code == ERR_NONE;
}

static void notify_view(struct ui *ui)
{
	if (ui->overlay == OVERLAY_NONE && ui_view(ui)->moved != NULL)
		ui_view(ui)->moved(ui->states[ui->view], &ui->shared);
}

/* Show a view; q and Esc then return to the fleet. */
static void show_view(struct ui *ui, size_t view)
{
	ui->view = view;
	ui->n_trail = 0;
}

/* Draw an empty frame in the middle of the screen, and return the area inside. */
static struct rect draw_dialog(struct canvas *canvas, int width, int height, const char *title)
{
	struct rect box;

	box.w = int_min(width, canvas->width - 4);
	box.h = int_min(height, canvas->height - 2);
	box.x = (canvas->width - box.w) / 2;
	box.y = (canvas->height - box.h) / 2;
	canvas_fill(canvas, box, STYLE_NORMAL, ' ');
	return canvas_box(canvas, box, "%s", title);
}

/* Return the action of a key in a list while letters are text. */
static enum action find_list_action(uint32_t code)
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

/* ---- confirmation of a command */

/* Show what a command would do, for confirmation; without preview run it. Takes ownership. */
static void confirm_command(struct ui *ui, struct command *command)
{
	struct err err = { ERR_NONE, "" };
	char *preview = NULL;

	if (ui->shared.read_only && command->id >= COMMAND_ACTING)
		err_set(&err, ERR_USAGE, "not available with --read-only");
	else if (ui->setup.sink.preview != NULL)
		preview = ui->setup.sink.preview(ui->setup.sink.user, command, &err);
	if (err.code != ERR_NONE && preview == NULL) {
		ui_show_message(&ui->shared, "%s", err.text);
		command_release(command);
		return;
	}
	if (preview == NULL) {
		run_command(ui, command);
		return;
	}
	command_release(&ui->pending);
	free(ui->preview);
	ui->pending = *command;
	ui->preview = preview;
	ui->preview_top = 0;
	prompt_set(&ui->answer, "");
	ui->overlay = OVERLAY_CONFIRM;
}

static void handle_confirm_key(struct ui *ui, const struct key *key)
{
	if (key->code == KEYCODE_PAGE_DOWN || key->code == KEYCODE_PAGE_UP) {
		ui->preview_top += key->code == KEYCODE_PAGE_DOWN ? PAGE_LINES : -PAGE_LINES;
		return;
	}
	enum prompt_result result = prompt_key(&ui->answer, key->code);
	if (result != PROMPT_DONE && result != PROMPT_CANCEL)
		return;
	ui->overlay = OVERLAY_NONE;
	/* A single "y" is not enough. */
	if (result == PROMPT_DONE && strcmp(ui->answer.text, "yes") == 0) {
		run_command(ui, &ui->pending);
		return;
	}
	ui_show_message(&ui->shared, "cancelled");
	command_release(&ui->pending);
}

static int draw_confirm(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct str text = str_from(ui->preview);
	struct rect inside = { 0, 0, int_min(BOX_WIDTH, canvas->width - 4) - 4, 0 };
	int lines = canvas_wrap(NULL, inside, STYLE_NORMAL, text, 0), most;

	inside = draw_dialog(canvas, BOX_WIDTH, lines + 4,
			     ui->pending.id == COMMAND_LEARN ? "This writes a file"
							     : "This acts on a pod");
	struct rect last = rect_take_bottom(&inside, 1);
	struct rect hint = rect_take_bottom(&inside, 1);
	most = int_max(lines - inside.h, 0);
	ui->preview_top = int_max(0, int_min(ui->preview_top, most));
	(void)canvas_wrap(canvas, inside, STYLE_NORMAL, text, ui->preview_top);
	if (most > 0)
		canvas_print(canvas, hint, STYLE_HINT,
			     ui->preview_top < most ? "PgDn: more" : "PgUp: back");
	*cursor_y = last.y;
	return prompt_draw(&ui->answer, canvas, last, "type yes to continue: ");
}

/* ---- choices: help, palette, benches */

static struct ui_choice *add_choice(struct ui *ui, enum choice_kind kind, size_t i,
				    const char *name, const char *help)
{
	const struct ui_choice choice = { kind, i, { NULL, xstrdup(name), xstrdup(help), NULL } };

	xpush(ui->choices, ui->n_choices, ui->cap_choices, choice);
	return &ui->choices[ui->n_choices - 1];
}

static const struct {
	const char *section, *key, *value, *help;
} options[] = {
#define X(...) { __VA_ARGS__ },
#include "ui/options.def"
#undef X
};

static void fill_choice_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	static const unsigned int styles[] = { STYLE_KEY, STYLE_STRONG, STYLE_NORMAL, STYLE_DIM };
	const struct ui *ui = user;
	const struct ui_choice *choice = &ui->choices[row];

	cell->also = column == 1 && choice->kind == CHOICE_WORD ? "" : NULL;
	list_cellf(cell, styles[column], "%s",
		   choice->texts[column] != NULL ? choice->texts[column] : "");
}

static void fill_choices(struct ui *ui)
{
	static const struct list_column columns[] = {
		{ "key", 11, .drop = 0 },
		{ "name", 20, .grow = true, .name = true },
		{ "description", 30, .grow = true },
		{ "found in", 20, .drop = 1, .grow = true },
	};
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 4,
					     .cell = fill_choice_cell,
					     .best_first = true,
					     .filtered = 1 };

	list_fill(&ui->list, &ops, ui, ui->n_choices);
}

static void clear_choices(struct ui *ui, enum ui_overlay overlay, const char *title)
{
	free_choices(ui);
	list_release(&ui->list);
	prompt_set(&ui->find, "");
	ui->overlay = overlay;
	ui->title = title;
}

static void add_words(struct ui *ui, bool of_view)
{
	struct words_entry entry;

	for (size_t i = 0; words_entry_at(i, &entry); i++) {
		AUTO_TEXT words = xstrndup(entry.words.p, entry.words.len);
		AUTO_TEXT meaning = xstrndup(entry.meaning.p, entry.meaning.len);

		if (str_eq_cstr(entry.view, ui_view(ui)->name) == of_view)
			add_choice(ui, CHOICE_WORD, 0, words, meaning)->texts[3] =
				xstrndup(entry.view.p, entry.view.len);
	}
}

static void add_action(struct ui *ui, enum action action)
{
	const struct action_info *info = action_info(action);
	struct ui_choice *choice = add_choice(ui, CHOICE_ACTION, action, info->label, info->help);
	struct buf keys = buf_new(LIST_CELL_BYTES), where = keys;

	keymap_key_names(&ui->keymap, action, &keys);
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if ((ui_views[i]->places & info->places) != 0)
			buf_appendf(&where, "%s%s", where.len > 0 ? " " : "", ui_views[i]->name);
	if (info->places == IN_EVENTS)
		buf_append_str(&where, "events");
	choice->texts[0] = buf_detach(&keys);
	choice->texts[3] = buf_detach(&where);
}

/* Offer all actions, the view's first. The help also has all words, the palette all runs. */
static void open_actions(struct ui *ui, enum ui_overlay overlay)
{
	unsigned int places = ui_view(ui)->places;
	const struct model *model = ui->shared.model;

	clear_choices(ui, overlay, overlay == OVERLAY_HELP ? "Help" : "Go to");
	for (int i = 1; i < 2 * ACTION_COUNT; i++) {
		enum action action = (enum action)(i % ACTION_COUNT);
		bool is_of_view = (action_info(action)->places & places) != 0;

		if (action == ACTION_NONE && overlay == OVERLAY_HELP)
			add_words(ui, true);
		if (action != ACTION_NONE && is_of_view == (i < ACTION_COUNT) &&
		    (!ui->shared.read_only || !action_is_acting(action)))
			add_action(ui, action);
	}
	if (overlay == OVERLAY_HELP)
		add_words(ui, false);
	else
		for (size_t i = model->n_runs; i-- > 0 && ui->n_choices < MAX_CHOICES;)
			(void)add_choice(ui, CHOICE_RUN, i, plot_run_label(model->runs[i]).s,
					 model_pod_name(model, model->runs[i]->pod));
	fill_choices(ui);
}

static void open_form(struct ui *ui)
{
	const struct model *model = ui->shared.model;
	const struct model_run *run = ui->shared.selected;
	const char *pods = ui->bench_pods;
	size_t pod = run != NULL ? run->pod : model->n_pods == 1 ? 0 : SIZE_MAX;

	/* Fill in the pod of the selected run, or the only pod. */
	if (pods[0] == '\0' && ui->form.fields[FORM_pods].len == 0 && pod < model->n_pods)
		pods = model->pods[pod].name;
	form_open(&ui->form, pods);
	ui->overlay = OVERLAY_FORM;
}

/* Offer the plans, and the form, for a bench on these pods. Without plans, open the form. It is
 * filled in like the bench with the ID `like`, unless that is NULL. */
static void open_benches(struct ui *ui, const char *pods, const char *like)
{
	const struct model *model = ui->shared.model;
	const struct model_bench *bench =
		array_find(one, model->benches, model->n_benches,
			   like != NULL && one->form != NULL && strcmp(one->id, like) == 0);

	if (ui->shared.read_only) {
		ui_show_message(&ui->shared, "not available with --read-only");
		return;
	}
	xset_text(&ui->bench_pods, xstrdup(pods));
	if (bench != NULL)
		form_fill(&ui->form, bench->form);
	clear_choices(ui, OVERLAY_CHOICES, "Choose a bench");
	(void)add_choice(ui, CHOICE_FORM, 0, "new bench",
			 "fill in a form: variants, metric, blocks, window");
	for (size_t i = 0; i < model->n_benches; i++)
		if (model->benches[i].is_plan && strcmp(model->benches[i].state, "plan") == 0)
			(void)add_choice(ui, CHOICE_PLAN, 0, model->benches[i].name,
					 model->benches[i].id);
	fill_choices(ui);
	if (ui->n_choices == 1)
		open_form(ui);
}

/* Offer the columns of the view's list to sort by; false if the view has no list. */
static bool open_sort(struct ui *ui)
{
	const struct list *list = ui_view(ui)->list != NULL ? ui->states[ui->view] : NULL;

	if (list == NULL || list->ops == NULL)
		return false;
	clear_choices(ui, OVERLAY_EXPLAINED, "Sort by");
	for (size_t i = 0; i <= list->ops->n_columns; i++) {
		const char *title =
			i < list->ops->n_columns ? list->ops->columns[i].title : "default order";
		struct str help = words_explain(ui_view(ui)->name, title);
		AUTO_TEXT meaning = xstrndup(help.p, help.len);

		if (title[0] != '\0')
			(void)add_choice(ui, CHOICE_COLUMN, i, title, meaning);
	}
	fill_choices(ui);
	return true;
}

/* Offer the tracks, each with the number of logs that match it; false without tracks. */
static bool open_tracks(struct ui *ui)
{
	const struct track_set *set = ui->shared.tracks;
	const struct model *model = ui->shared.model;

	if (set == NULL)
		return false;
	clear_choices(ui, OVERLAY_EXPLAINED, "Choose a track");
	(void)add_choice(ui, CHOICE_TRACK, 0, "by the logs",
			 "each run gets the track that its log matches");
	for (size_t i = 0; i < set->n; i++) {
		const struct track *track = &set->v[i];
		size_t n = 0;

		if (strcmp(track->name, TRACK_METRIC) == 0)
			continue;
		for (size_t k = 0; k < model->n_runs; k++)
			n += track_of_run(set, &model->runs[k]->run) == track;
		AUTO_TEXT help =
			xasprintf("%s%s%s", track->title,
				  track->n_marks > 0 ? ". Its logs have a line that matches " : "",
				  track->n_marks > 0 ? track->marks[0].rule.pattern : "");
		struct ui_choice *choice = add_choice(ui, CHOICE_TRACK, i + 1, track->name, help);
		if (n > 0)
			choice->texts[3] = xasprintf("%zu log%s", n, n == 1 ? "" : "s");
	}
	fill_choices(ui);
	return true;
}

/* Offer to copy the text of the command or a cell of the selected row. Releases the command. */
static void open_copy(struct ui *ui, struct command *command)
{
	const struct list *list = ui->states[ui->view];
	char text[LIST_CELL_BYTES];

	clear_choices(ui, OVERLAY_CHOICES, "Copy");
	(void)add_choice(ui, CHOICE_COPY, 0, "all", command->text);
	for (size_t i = 0; i < list->ops->n_columns; i++) {
		list_cell_text(list, i, text);
		if (list->ops->columns[i].title[0] != '\0' && text[0] != '\0' &&
		    strcmp(text, FMT_ABSENT) != 0)
			(void)add_choice(ui, CHOICE_COPY, 0, list->ops->columns[i].title, text);
	}
	command_release(command);
	fill_choices(ui);
}

static void report_order(struct ui *ui, const struct list *list)
{
	const char *by = list_sorted_by(list);

	if (by != NULL)
		ui_show_message(&ui->shared, "sorted by %s, %s", by,
				list->descending ? "descending" : "ascending");
	else
		ui_show_message(&ui->shared, "default order%s",
				list->descending ? ", reversed" : "");
}

static void take_choice(struct ui *ui)
{
	struct list *list = ui->states[ui->view]; /* valid only if the view has a list */
	size_t row = list_row(&ui->list);
	struct command command;

	ui->overlay = OVERLAY_NONE;
	if (row >= ui->n_choices || ui->choices[row].kind == CHOICE_WORD)
		return;
	const struct ui_choice choice = ui->choices[row];
	if (choice.kind == CHOICE_ACTION) {
		ui_action(ui, (enum action)choice.i);
	} else if (choice.kind == CHOICE_RUN) {
		ui->shared.selected = ui->shared.model->runs[choice.i];
		ui_action(ui, ACTION_VIEW_RUN);
	} else if (choice.kind == CHOICE_COLUMN) {
		list_sort_by(list, choice.i);
		notify_view(ui);
		report_order(ui, list);
	} else if (choice.kind == CHOICE_COPY) {
		command = (struct command){ COMMAND_COPY, .text = xstrdup(choice.texts[2]) };
		run_command(ui, &command);
	} else if (choice.kind == CHOICE_TRACK) {
		ui->shared.track_choice = choice.i;
		ui->wants |= UI_WANT_TRACK;
	} else if (choice.kind == CHOICE_OPTION) {
		command =
			(struct command){ COMMAND_OPTION, .text = xstrdup(options[choice.i].value),
					  .name = xasprintf("%s.%s", options[choice.i].section,
							    options[choice.i].key) };
		if (run_command(ui, &command))
			ui->wants |= UI_WANT_RELOAD;
	} else if (choice.kind == CHOICE_FORM) {
		open_form(ui);
	} else if (choice.kind == CHOICE_PLAN) {
		command = (struct command){ COMMAND_BENCH_START, .name = xstrdup(choice.texts[2]) };
		if (ui->bench_pods[0] != '\0') {
			command.id = COMMAND_BENCH_PODS;
			command.text = xstrdup(ui->bench_pods);
		}
		confirm_command(ui, &command);
	} else {
		command = ui->pending;
		ui->pending = (struct command){ .id = COMMAND_NONE };
		command.id =
			choice.kind == CHOICE_SETTINGS ? COMMAND_BENCH_SETTINGS : COMMAND_BENCH_RUN;
		confirm_command(ui, &command);
	}
}

/* Show what the form would run, or an error below its fields. */
static void submit_form(struct ui *ui)
{
	struct command command = { .id = COMMAND_BENCH_FORM };
	struct buf text = buf_new(65536);

	form_json(&ui->form, &text);
	command.text = buf_detach(&text);
	ui->overlay = OVERLAY_NONE;
	ui->shared.said[0] = '\0';
	confirm_command(ui, &command);
	if (ui->overlay != OVERLAY_NONE)
		return;
	form_set_error(&ui->form, ui->shared.said);
	ui->overlay = OVERLAY_FORM;
}

static void handle_form_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result = form_key(&ui->form, key->code);

	if (result == PROMPT_DONE)
		submit_form(ui);
	else if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
}

static int draw_form(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	return form_draw(&ui->form, canvas,
			 draw_dialog(canvas, PICK_WIDTH, FORM_COUNT + 4, "New bench"), cursor_y);
}

/* ---- alerts and events */

static void describe_event(const struct ui *ui, const struct ui_event *line, struct buf *out)
{
	if (line->alert != NULL)
		plot_add_alert(line->alert, ui->shared.model, out);
	else
		buf_append_str(out, line->event->text);
}

static void fill_event_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct ui *ui = user;
	const struct alert *alert = ui->events[row].alert;
	const struct model_event *event = ui->events[row].event;
	AUTO_BUF text = buf_new(EVENT_BYTES);

	if (column == 0) {
		list_cellf(cell, STYLE_DIM, "%s",
			   fmt_when(alert != NULL ? alert->since_wall_ms : event->wall_ms,
				    ui->shared.now_wall_ms)
				   .s);
	} else if (column == 2) {
		describe_event(ui, &ui->events[row], &text);
		list_cellf(
			cell,
			theme_fact(alert != NULL ? FACT_PLAIN : panel_severities[event->severity]),
			"%s", text.data);
	} else if (alert != NULL) {
		list_cellf(cell,
			   theme_fact(alert->acknowledged ? FACT_DIM
							  : panel_severities[alert->severity]),
			   "%-2s %s", alert->acknowledged ? "ok" : "!", alert_name(alert->kind));
	} else {
		list_cellf(cell, STYLE_DIM, "%s%s", event->kind != NULL ? "end of " : "event",
			   event->kind != NULL ? event->kind : "");
	}
}

/* List open alerts, then acknowledged ones, then events, each newest first. */
static void fill_events(struct ui *ui)
{
	static const struct list_column columns[] = {
		{ "", 8, .drop = 0 },
		{ "kind", 16, .drop = 0 },
		{ "what", 30, .grow = true },
	};
	static const struct list_ops ops = { .columns = columns,
					     .n_columns = 3,
					     .cell = fill_event_cell };
	const struct alerts *alerts = ui->shared.alerts;
	const struct model *model = ui->shared.model;
	size_t n = 0;

	ui->events =
		xreallocarray(ui->events, alerts->n + model->n_events + 1, sizeof(*ui->events));
	for (int acknowledged = 0; acknowledged < 2; acknowledged++)
		for (size_t i = alerts->n; i-- > 0;)
			if (alerts->v[i].acknowledged == (acknowledged == 1))
				ui->events[n++] =
					(struct ui_event){ &alerts->v[i], NULL, alerts->v[i].mr };
	for (size_t i = model->n_events; i-- > 0;) {
		const struct model_event *event = model_event_at(model, i);

		/* Skip an event whose alert is in the list. */
		if (alerts_find(alerts, event->alert) == NULL)
			ui->events[n++] = (struct ui_event){ NULL, event, event->mr };
	}
	list_fill(&ui->list, &ops, ui, n);
}

static int draw_events(struct ui *ui, struct canvas *canvas, UNUSED int *cursor_y)
{
	const struct {
		enum action action;
		const char *label;
	} keys[] = {
		{ ACTION_BACK, "back" },
		{ ACTION_ACKNOWLEDGE, "acknowledge" },
		{ ACTION_MUTE, ui->setup.alerts->muted ? "unmute" : "mute" },
		{ ACTION_OPEN, "run" },
		{ ACTION_SEARCH, "filter" },
	};
	AUTO_BUF title = buf_new(256);
	AUTO_BUF text = buf_new(EVENT_BYTES);

	buf_append_str(&title, "Alerts and events");
	for (size_t i = 0; i < LENGTH(keys); i++) {
		char key[KEY_NAME_SIZE];

		keymap_key_name(&ui->keymap, keys[i].action, key);
		if (key[0] != '\0')
			buf_appendf(&title, " · %s %s", key, keys[i].label);
	}
	struct rect r = draw_dialog(canvas, BOX_WIDTH, canvas->height - 4, title.data);
	fill_events(ui);
	if (ui->list.all == 0) {
		canvas_print_top(canvas, &r, STYLE_DIM, "No alerts or events yet.");
		return -1;
	}
	/* Show the whole text of the selected line below the list: its row may be too narrow. */
	struct rect whole = rect_take_bottom(&r, DETAIL_LINES);
	canvas_fill(canvas, rect_take_top(&whole, 1), STYLE_AXIS, 0x2500);
	if (list_row(&ui->list) != SIZE_MAX)
		describe_event(ui, &ui->events[list_row(&ui->list)], &text);
	(void)canvas_wrap(canvas, whole, STYLE_NORMAL, buf_str(&text), 0);
	list_draw(&ui->list, canvas, r);
	(void)canvas_text(canvas, r.x, r.y, STYLE_HEADER, fmt_zone(ui->shared.now_wall_ms).s);
	return -1;
}

/* Update and return the list that receives keys; NULL if there is none. */
static struct list *ui_list(struct ui *ui)
{
	const struct view_ops *view = ui_view(ui);

	if (ui->overlay == OVERLAY_EVENTS)
		fill_events(ui);
	if (ui->overlay != OVERLAY_NONE)
		return &ui->list;
	return view->list != NULL ? view->list(ui->states[ui->view], &ui->shared) : NULL;
}

/* ---- filter of a list */

/* Handle a mouse key while text is typed: a press selects or sorts. False for other keys. */
static bool handle_find_mouse(struct ui *ui, const struct key *key)
{
	if (key->code < KEYCODE_MOUSE_PRESS || key->code > KEYCODE_MOUSE_DRAG)
		return false;
	struct list *list = ui_list(ui);
	if (list != NULL && key->code == KEYCODE_MOUSE_PRESS &&
	    (list_click(list, key->x, key->y) || list_click_header(list, key->x, key->y)))
		notify_view(ui);
	return true;
}

static enum prompt_result edit_filter(struct ui *ui, const struct key *key)
{
	struct list *list = ui_list(ui);

	if (list != NULL && list_act(list, find_list_action(key->code))) {
		notify_view(ui);
		return PROMPT_MORE;
	}
	enum prompt_result result = prompt_key(&ui->find, key->code);
	if (list != NULL && (result == PROMPT_CHANGED || result == PROMPT_CANCEL)) {
		list_filter(list, result == PROMPT_CHANGED ? ui->find.text : "");
		notify_view(ui);
	}
	return result;
}

static int draw_find(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct rect last = { 1, canvas->height - 1, canvas->width - 2, 1 };
	const struct list *list = ui_list(ui);
	int x = prompt_draw(&ui->find, canvas, last, "/");
	char shown[80] = "";

	if (list != NULL)
		print_into(shown, "%zu of %zu · Enter: keep filter · Esc: show all", list->n,
			   list->all);
	(void)rect_take_left(&last, x + 2 - last.x);
	canvas_line_right(canvas, last, STYLE_HINT, str_from(shown));
	*cursor_y = last.y;
	return x;
}

static void handle_choice_key(struct ui *ui, const struct key *key)
{
	if (handle_find_mouse(ui, key)) {
		if (list_click(&ui->list, key->x, key->y))
			take_choice(ui);
		return;
	}
	bool is_left = ui->overlay == OVERLAY_HELP && key->code == 'q' && ui->find.len == 0;
	enum prompt_result result = is_left ? PROMPT_CANCEL : edit_filter(ui, key);
	if (result == PROMPT_DONE)
		take_choice(ui);
	else if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
}

static int draw_choices(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	bool is_help = ui->overlay == OVERLAY_HELP;
	int height = is_help ? canvas->height - 4 : PICK_HEIGHT;
	AUTO_TEXT title = xasprintf("%s%s%s · type to search · %sEsc back%s", ui->title,
				    is_help ? ": " : "", is_help ? ui_view(ui)->name : "",
				    is_help ? "q or " : "", is_help ? " · man hgym-tui" : "");
	struct rect r = draw_dialog(canvas, is_help ? canvas->width : PICK_WIDTH, height, title);
	struct rect line = rect_take_top(&r, 1);
	if (is_help || ui->overlay == OVERLAY_EXPLAINED) {
		/* Show the selected choice's whole text below the list: its row may be narrow. */
		struct rect whole = rect_take_bottom(&r, int_min(EXPLAIN_LINES, r.h / 3));

		canvas_fill(canvas, rect_take_top(&whole, 1), STYLE_AXIS, 0x2500);
		if (list_row(&ui->list) != SIZE_MAX)
			(void)canvas_wrap(canvas, whole, STYLE_NORMAL,
					  str_from(ui->choices[list_row(&ui->list)].texts[2]), 0);
	}
	list_draw(&ui->list, canvas, r);
	*cursor_y = line.y;
	return prompt_draw(&ui->find, canvas, line, "> ");
}

static bool open_overlay(struct ui *ui, enum action action)
{
	bool can_search = ui_view(ui)->search != NULL;

	if (action == ACTION_HELP) {
		open_actions(ui, OVERLAY_HELP);
	} else if (action == ACTION_PALETTE) {
		open_actions(ui, OVERLAY_CHOICES);
	} else if (action == ACTION_SORT_BY) {
		return open_sort(ui);
	} else if (action == ACTION_TRACK) {
		return open_tracks(ui);
	} else if (action == ACTION_OPTIONS) {
		clear_choices(ui, OVERLAY_CHOICES, "Options");
		for (size_t i = 0; i < LENGTH(options); i++) {
			AUTO_TEXT name = xasprintf("%s: %s", options[i].key, options[i].value);

			(void)add_choice(ui, CHOICE_OPTION, i, name, options[i].help);
		}
		fill_choices(ui);
	} else if (action == ACTION_EVENTS) {
		ui->overlay = OVERLAY_EVENTS;
		list_release(&ui->list);
	} else if (action == ACTION_SEARCH && can_search && ui->overlay == OVERLAY_NONE) {
		ui->overlay = OVERLAY_SEARCH;
		prompt_set(&ui->search, "");
	} else if (action == ACTION_SEARCH) {
		const struct list *list = ui_list(ui);

		/* In a view without a list, search for a run by name. */
		if (list == NULL) {
			open_actions(ui, OVERLAY_CHOICES);
			return true;
		}
		prompt_set(&ui->find, list->filter);
		ui->is_finding = true;
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

static void handle_events_key(struct ui *ui, const struct key *key)
{
	enum action action = keymap_find(&ui->keymap, key->code, IN_EVENTS);
	bool is_back = action == ACTION_QUIT || action == ACTION_BACK;
	struct list *list = ui_list(ui);

	if (key->code == KEYCODE_WHEEL_UP || key->code == KEYCODE_WHEEL_DOWN)
		action = find_list_action(key->code);
	if (handle_find_mouse(ui, key) || list_act(list, action))
		return;
	if (is_back && list->filter[0] != '\0') {
		list_filter(list, "");
	} else if (is_back || action == ACTION_EVENTS) {
		ui->overlay = OVERLAY_NONE;
	} else if (action == ACTION_OPEN) {
		size_t row = list_row(list);

		if (row == SIZE_MAX || ui->events[row].mr == NULL) {
			ui_show_message(&ui->shared, "this event does not belong to a run");
			return;
		}
		ui->overlay = OVERLAY_NONE;
		ui->shared.selected = ui->events[row].mr;
		ui_action(ui, ACTION_VIEW_RUN);
	} else if (action == ACTION_HELP || action == ACTION_PALETTE || action == ACTION_SEARCH) {
		(void)open_overlay(ui, action);
	} else if (action == ACTION_ACKNOWLEDGE || action == ACTION_MUTE ||
		   action == ACTION_QUIT_NOW) {
		ui_action(ui, action);
	}
}

/* ---- search, filter, baseline, export: a prompt in the last line */

static struct prompt *find_prompt(struct ui *ui)
{
	return ui->overlay == OVERLAY_FILTER	 ? &ui->filter
	       : ui->overlay == OVERLAY_BASELINE ? &ui->scores
	       : ui->overlay == OVERLAY_EXPORT	 ? &ui->file
						 : &ui->search;
}

/* Parse "name=v1,v2,v3" into ui->typed; -1 with err if it is invalid. */
static int parse_baseline(struct ui *ui, struct str text, struct err *err)
{
	double scores[UI_MAX_SCORES];
	struct str name, number;
	size_t n = 0;

	if (!str_next(&text, '=', &name) || str_trim(name).len == 0 ||
	    str_trim(name).len >= FMT_LABEL || text.len == 0)
		return err_set(err, ERR_USAGE,
			       "expected name=v1,v2,v3: a name and the score of each seed");
	while (str_next(&text, ',', &number)) {
		if (n == UI_MAX_SCORES)
			return err_set(err, ERR_USAGE, "a baseline has at most %d scores",
				       UI_MAX_SCORES);
		if (!str_to_double(str_trim(number), &scores[n]) || !isfinite(scores[n]) ||
		    !(scores[n] > 0))
			return err_set(err, ERR_USAGE, "\"%.*s\" is not a positive number",
				       (int)number.len, number.p);
		n++;
	}
	name = str_trim(name);
	(void)snprintf(ui->typed_name, FMT_LABEL, "%.*s", (int)name.len, name.p);
	memcpy(ui->typed_scores, scores, sizeof(scores));
	ui->typed = (struct ui_baseline){ ui->typed_name, ui->typed_scores, n, (double)NAN };
	return 0;
}

/* Compare with a typed baseline instead of a reference; "" restores the configured baseline. */
static int set_baseline(struct ui *ui, const char *text, struct err *err)
{
	struct ui_shared *shared = &ui->shared;

	if (text[0] == '\0')
		ui->typed.name = NULL;
	else if (parse_baseline(ui, str_from(text), err))
		return -1;
	else
		shared->reference = NULL;
	shared->baseline = ui->typed.name != NULL ? &ui->typed : ui->setup.baseline;
	shared->configured++;
	return 0;
}

static bool has_export(const struct view_ops *view, enum ui_export format)
{
	return format == EXPORT_TEXT				   ? view->text != NULL
	       : format == EXPORT_CHART || format == EXPORT_CURVES ? view->curves > 0
								   : view->list != NULL;
}

/* Choose the format `by` places after the current one, modulo EXPORT_COUNT, and skip formats that
 * the view does not have. The file name gets the suffix of the format. */
static void step_export(struct ui *ui, int by)
{
	const char *name = ui->file.text, *dot = strrchr(file_name(name), '.');
	int stem = (int)(dot != NULL ? (size_t)(dot - name) : strlen(name));

	do {
		ui->export = (ui->export + (unsigned int)by) % EXPORT_COUNT;
	} while (!has_export(ui_view(ui), ui->export));
	AUTO_TEXT text = xasprintf("%.*s.%s", stem, name, export_formats[ui->export].suffix);
	prompt_set(&ui->file, text);
}

static void open_export(struct ui *ui, UNUSED enum action action)
{
	AUTO_TEXT name = xasprintf("hgym-%s", action_info(ui_view(ui)->open)->name);

	ui->overlay = OVERLAY_EXPORT;
	xset_text(&ui->taken_name, NULL);
	ui->export = EXPORT_COUNT - 1;
	prompt_set(&ui->file, name);
	step_export(ui, 1);
}

/* Append the text of the export. If there is none, write the reason to why. */
static void make_export(struct ui *ui, struct buf *out, char why[160])
{
	struct plot_request request = { .metric = ui->shared.chart.metric };
	const struct view_ops *view = ui_view(ui);
	void *state = ui->states[ui->view];

	/* The current view may not be the one that the format was chosen for. */
	if (!has_export(view, ui->export))
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

/* Write the export, and close the prompt unless the file cannot be written. */
static void write_export(struct ui *ui, bool over)
{
	struct command command = { .id = COMMAND_EXPORT, .over = over };
	char why[160] = "there is no data yet";
	struct buf text = buf_new(EXPORT_BYTES);

	make_export(ui, &text, why);
	command.name = xstrdup(ui->file.text);
	command.is_cut = text.truncated;
	command.text = buf_detach(&text);
	if (command.text[0] != '\0') {
		if (!run_command(ui, &command))
			return;
	} else {
		ui_show_message(&ui->shared, "nothing saved: %s", why);
		command_release(&command);
	}
	ui->overlay = OVERLAY_NONE;
}

static void handle_export_key(struct ui *ui, const struct key *key)
{
	enum action action = find_list_action(key->code);

	if (ui->taken_name != NULL) {
		xset_text(&ui->taken_name, NULL);
		if (key->code == 'y' || key->code == 'n')
			write_export(ui, key->code == 'y');
		return;
	}
	if (action != ACTION_NONE) {
		step_export(ui, action == ACTION_UP ? EXPORT_COUNT - 1 : 1);
		return;
	}
	enum prompt_result result = prompt_key(&ui->file, key->code);
	if (result == PROMPT_CANCEL)
		ui->overlay = OVERLAY_NONE;
	if (result != PROMPT_DONE)
		return;
	AUTO_TEXT path = file_expand_home(ui->file.text);
	if (access(path, F_OK) == 0)
		ui->taken_name = file_find_free_name(path);
	else
		write_export(ui, false);
}

/* Disable the part of a filter "a & b" at the cursor, as in "a & #b", or enable it again. */
static void toggle_filter_part(struct prompt *prompt)
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

static void handle_search_key(struct ui *ui, const struct key *key)
{
	bool is_filter = ui->overlay == OVERLAY_FILTER;
	struct prompt *prompt = find_prompt(ui);
	enum prompt_result result = prompt_key(prompt, key->code);
	struct err err = { ERR_NONE, "" };
	int rc = 0;

	if (is_filter && key->code == '\t')
		toggle_filter_part(prompt);
	if (result == PROMPT_DONE && ui->overlay == OVERLAY_BASELINE)
		rc = set_baseline(ui, prompt->text, &err);
	else if (result == PROMPT_DONE)
		rc = ui_view(ui)->search(ui->states[ui->view], &ui->shared, prompt->text, is_filter,
					 &err);
	/* After an error, keep the prompt open for a correction. */
	if (rc != 0)
		ui_show_message(&ui->shared, "%s", err.text);
	else if (result == PROMPT_CANCEL || result == PROMPT_DONE)
		ui->overlay = OVERLAY_NONE;
}

static int draw_search(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	struct rect last = { 1, canvas->height - 1, canvas->width - 2, 1 };
	AUTO_TEXT label = NULL;

	if (ui->overlay == OVERLAY_EXPORT && ui->taken_name != NULL)
		label = xasprintf("file exists: y overwrite, n save as %s, Esc cancel: ",
				  file_name(ui->taken_name));
	else if (ui->overlay == OVERLAY_EXPORT)
		label = xasprintf("Export: %s  [Up/Down: other format, Esc: cancel]  File: ",
				  export_formats[ui->export].label);
	*cursor_y = last.y;
	return prompt_draw(
		find_prompt(ui), canvas, last,
		label != NULL			? label
		: ui->overlay == OVERLAY_SEARCH ? "search (PCRE2, Esc: cancel): "
		: ui->overlay == OVERLAY_FILTER
			? "filter (a & b, !a: not a, Tab: off/on, Esc: cancel): "
			: "baseline name=v1,v2,v3 (empty: as configured, Esc: cancel): ");
}

/* ---- questions of pods */

void ui_ask(struct ui *ui, size_t pod, const char *question, bool secret)
{
	if (ui->n_questions == UI_MAX_QUESTIONS)
		return;
	ui->questions[ui->n_questions++] = (struct ui_question){ pod, xstrdup(question), secret };
	ui->is_stale = true;
}

static void handle_question_key(struct ui *ui, const struct key *key)
{
	enum prompt_result result = PROMPT_DONE;

	/* Do not pass Enter to the prompt: it would keep a secret answer in its history. */
	if (key->code != '\r' && key->code != '\n')
		result = prompt_key(&ui->answer, key->code);
	if (result != PROMPT_DONE && result != PROMPT_CANCEL)
		return;
	struct command command = {
		.id = COMMAND_ANSWER,
		.pod = ui->questions[0].pod,
		.text = result == PROMPT_DONE ? xstrdup(ui->answer.text) : NULL,
	};
	free(ui->questions[0].text);
	memmove(ui->questions, ui->questions + 1, (ui->n_questions - 1) * sizeof(ui->questions[0]));
	ui->n_questions--;
	ui->overlay = OVERLAY_NONE;
	run_command(ui, &command);
	explicit_bzero(ui->answer.text, sizeof(ui->answer.text));
}

static int draw_question(struct ui *ui, struct canvas *canvas, int *cursor_y)
{
	const struct ui_question *q = &ui->questions[0];
	struct rect r = draw_dialog(canvas, PICK_WIDTH, 12, "A pod asks");
	struct rect last = rect_take_bottom(&r, 1);
	struct str rest = str_from(q->text), line;

	(void)rect_take_bottom(&r, 1);
	while (r.h > 0 && str_next(&rest, '\n', &line))
		canvas_line(canvas, rect_take_top(&r, 1), STYLE_NORMAL, line);
	*cursor_y = last.y;
	if (!q->secret)
		return prompt_draw(&ui->answer, canvas, last, "answer (Esc: refuse): ");
	int x = last.x +
		canvas_text(canvas, last.x, last.y, STYLE_KEY, "passphrase (Esc: cancel): ");
	for (size_t i = 0; i < ui->answer.len && i < 40; i++)
		canvas_put(canvas, x++, last.y, STYLE_NORMAL, '*');
	return x;
}

static const struct {
	void (*handle_key)(struct ui *ui, const struct key *key);
	/* Returns the cursor's column; -1: none. */
	int (*draw)(struct ui *ui, struct canvas *canvas, int *cursor_y);
} overlays[] = {
	[OVERLAY_HELP] = { handle_choice_key, draw_choices },
	[OVERLAY_CHOICES] = { handle_choice_key, draw_choices },
	[OVERLAY_EXPLAINED] = { handle_choice_key, draw_choices },
	[OVERLAY_EVENTS] = { handle_events_key, draw_events },
	[OVERLAY_SEARCH] = { handle_search_key, draw_search },
	[OVERLAY_FILTER] = { handle_search_key, draw_search },
	[OVERLAY_BASELINE] = { handle_search_key, draw_search },
	[OVERLAY_EXPORT] = { handle_export_key, draw_search },
	[OVERLAY_CONFIRM] = { handle_confirm_key, draw_confirm },
	[OVERLAY_QUESTION] = { handle_question_key, draw_question },
	[OVERLAY_FORM] = { handle_form_key, draw_form },
};

/* ---- actions that are the same in all views */

/* Report a change to the selected run. The fleet needs no message, because its list shows it. */
static void report_on_run(struct ui *ui, const char *what)
{
	if (ui->shared.selected == NULL)
		ui_show_message(&ui->shared, "no runs yet");
	else if (ui->view != 0)
		ui_show_message(&ui->shared, "%s %s", plot_run_label(ui->shared.selected).s, what);
}

static void step_run(struct ui *ui, enum action action)
{
	const unsigned int shows_it = IN_RUNS | IN_CHARTS;
	struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t i = index_of(k, model->n_runs, model->runs[k] == shared->selected);

	if (action == ACTION_NEXT_RUN && i + 1 < model->n_runs)
		shared->selected = model->runs[i + 1];
	else if (action == ACTION_PREV_RUN && i > 0 && i < model->n_runs)
		shared->selected = model->runs[i - 1];
	if ((ui_view(ui)->places & shows_it) != shows_it)
		report_on_run(ui, "is selected");
}

static void step_failed_run(struct ui *ui, enum action action)
{
	struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	size_t at = 0, by = action == ACTION_ERROR_NEXT ? 1 : model->n_runs - 1;

	while (at + 1 < model->n_runs && model->runs[at] != shared->selected)
		at++;
	for (size_t i = 0; i < model->n_runs; i++) {
		at = (at + by) % model->n_runs;
		enum run_status status = model->runs[at]->run.status;

		if (status != RUN_CRASHED && status != RUN_OOM && status != RUN_DIVERGED &&
		    status != RUN_KILLED)
			continue;
		shared->selected = model->runs[at];
		ui_show_message(shared, "%s %s; 5 shows its log",
				plot_run_label(shared->selected).s, run_status_names[status]);
		return;
	}
	ui_show_message(shared, "no run failed");
}

static void mark_run(struct ui *ui, UNUSED enum action action)
{
	struct ui_shared *shared = &ui->shared;
	size_t before = shared->marks.n;

	if (shared->selected != NULL)
		ui_toggle_mark(shared, &shared->marks, shared->selected, UI_MAX_MARKS);
	if (shared->marks.n != before || shared->selected == NULL)
		report_on_run(ui, shared->marks.n > before ? "is marked" : "is no longer marked");
}

static void set_reference(struct ui *ui, UNUSED enum action action)
{
	struct ui_shared *shared = &ui->shared;

	shared->reference = shared->reference == shared->selected ? NULL : shared->selected;
	shared->configured++;
	report_on_run(ui, shared->reference != NULL ? "is now the reference"
						    : "is no longer the reference");
}

static void show_only_marked(struct ui *ui, UNUSED enum action action)
{
	struct ui_shared *shared = &ui->shared;

	shared->only_marked = !shared->only_marked && shared->marks.n > 0;
	shared->configured++;
	if (shared->marks.n == 0)
		ui_show_message(shared, "no runs are marked; Space marks one");
	else if (shared->only_marked)
		ui_show_message(shared, "only the %zu marked runs; * shows all", shared->marks.n);
	else
		ui_show_message(shared, "all runs");
}

static void step_charset(struct ui *ui, UNUSED enum action action)
{
	static const char *const names[CHART_CHARSETS] = { "braille", "blocks", "ASCII", "pixels" };
	struct chart_settings *chart = &ui->shared.chart;

	chart->charset = (chart->charset + 1) % CHART_CHARSETS;
	ui_show_message(&ui->shared, "charts are drawn in %s", names[chart->charset]);
}

static void act_on_alerts(struct ui *ui, enum action action)
{
	struct alerts *alerts = ui->setup.alerts;

	if (action == ACTION_ACKNOWLEDGE)
		alerts_acknowledge(alerts);
	else
		alerts->muted = !alerts->muted;
	ui_show_message(&ui->shared, "%s",
			action == ACTION_ACKNOWLEDGE ? "all alerts acknowledged"
			: alerts->muted		     ? "bell and notifications are off"
						     : "bell and notifications are on");
}

static void toggle_pause(struct ui *ui, UNUSED enum action action)
{
	ui->is_paused = !ui->is_paused;
	ui_show_message(&ui->shared, ui->is_paused ? "paused; P continues" : "continued");
}

static void step_view(struct ui *ui, enum action action)
{
	size_t by = action == ACTION_NEXT_VIEW ? 1 : UI_VIEW_COUNT - 1;

	show_view(ui, (ui->view + by) % UI_VIEW_COUNT);
}

/* Clear a filter; without one, return to the previous view; in the fleet, ACTION_QUIT quits. */
static void go_back(struct ui *ui, enum action action)
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

/* Explain that a key does nothing here, except for keys that move in a list. */
static void report_no_use(struct ui *ui, enum action action)
{
	const struct action_info *info = action_info(action);
	AUTO_BUF where = buf_new(UI_VIEW_COUNT * 20);

	if (action >= ACTION_UP && action <= ACTION_PAGE_DOWN)
		return;
	for (size_t i = 0; i < UI_VIEW_COUNT; i++)
		if (i != ui->view && (ui_views[i]->places & info->places) != 0)
			buf_appendf(&where, "%s %s", where.len == 0 ? "; use it in" : ",",
				    ui_views[i]->name);
	ui_show_message(&ui->shared, "%s does nothing in %s%s", info->label, ui_view(ui)->name,
			where.data);
}

static void run_frame_action(struct ui *ui, enum action action)
{
	static const struct {
		enum action action;
		void (*run)(struct ui *ui, enum action action);
		unsigned int want; /* enum ui_want; 0: none */
	} actions[] = {
		{ ACTION_MARK, mark_run, 0 },
		{ ACTION_REFERENCE, set_reference, 0 },
		{ ACTION_ONLY_MARKED, show_only_marked, 0 },
		{ ACTION_CHARSET, step_charset, 0 },
		{ ACTION_ACKNOWLEDGE, act_on_alerts, 0 },
		{ ACTION_MUTE, act_on_alerts, 0 },
		{ ACTION_PAUSE, toggle_pause, 0 },
		{ ACTION_EXPORT, open_export, 0 },
		{ ACTION_NEXT_VIEW, step_view, 0 },
		{ ACTION_PREV_VIEW, step_view, 0 },
		{ ACTION_NEXT_RUN, step_run, 0 },
		{ ACTION_PREV_RUN, step_run, 0 },
		{ ACTION_ERROR_NEXT, step_failed_run, 0 },
		{ ACTION_ERROR_PREV, step_failed_run, 0 },
		{ ACTION_BACK, go_back, 0 },
		{ ACTION_QUIT, go_back, 0 },
		{ ACTION_QUIT_NOW, NULL, UI_WANT_QUIT },
		{ ACTION_SUSPEND, NULL, UI_WANT_SUSPEND },
		{ ACTION_REPAINT, NULL, UI_WANT_REPAINT },
		{ ACTION_MOUSE, NULL, UI_WANT_MOUSE },
		{ ACTION_THEME, NULL, UI_WANT_THEME },
		{ ACTION_RELOAD, NULL, UI_WANT_RELOAD },
	};

	for (size_t i = 0; i < LENGTH(actions); i++) {
		if (actions[i].action != action)
			continue;
		ui->wants |= actions[i].want;
		if (actions[i].run != NULL)
			actions[i].run(ui, action);
		return;
	}
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (ui_views[i]->open == action) {
			show_view(ui, i);
			return;
		}
	}
	report_no_use(ui, action);
}

/* Open the view that the current view requested (shared.go); q and Esc return to this one. */
static void follow_view(struct ui *ui)
{
	size_t from = ui->view, n = ui->n_trail;
	enum action open = ui->shared.go;

	ui->shared.go = ACTION_NONE;
	run_frame_action(ui, open);
	if (ui->shared.find != NULL) {
		list_filter(ui_list(ui), ui->shared.find);
		notify_view(ui);
	}
	ui->shared.find = NULL;
	if (ui->view == from)
		return;
	if (n == UI_VIEW_COUNT)
		memmove(ui->trail, ui->trail + 1, --n * sizeof(ui->trail[0]));
	ui->trail[n++] = from;
	ui->n_trail = n;
}

void ui_action(struct ui *ui, enum action action)
{
	struct command command = { .id = COMMAND_NONE };

	ui->is_stale = ui->is_urgent = true;
	if (action == ACTION_NONE || open_overlay(ui, action))
		return;
	struct list *list = ui_list(ui);
	bool used = ui_view(ui)->act(ui->states[ui->view], &ui->shared, action, &command);
	if (!used && list != NULL && list_act(list, action)) {
		used = true;
		notify_view(ui);
		if (action == ACTION_SORT || action == ACTION_SORT_REVERSE)
			report_order(ui, list);
	}
	/* Show a message, because the effect is visible only in a zoomed chart. */
	if (action == ACTION_HOLD_Y && used)
		ui_show_message(&ui->shared, "y axis: scaled to %s",
				ui->shared.chart.hold_y ? "all data" : "the visible part");
	if (command.id == COMMAND_BENCH_PICK) {
		open_benches(ui, command.text, command.name);
		command_release(&command);
	} else if (command.id == COMMAND_BENCH_ARMS) {
		/* The command is kept until the user chooses. */
		command_release(&ui->pending);
		ui->pending = command;
		clear_choices(ui, OVERLAY_CHOICES, "Choose a bench");
		(void)add_choice(ui, CHOICE_CHECKPOINT, 0, "checkpoint",
				 "compare the task's template with the best checkpoint");
		(void)add_choice(ui, CHOICE_SETTINGS, 0, "settings",
				 "compare launch settings of its kernels, as a kernel bench");
		fill_choices(ui);
	} else if (command.id == COMMAND_COPY && list != NULL && list_row(list) != SIZE_MAX) {
		open_copy(ui, &command);
	} else if (command.id == COMMAND_COPY) {
		run_command(ui, &command);
	} else if (command.id != COMMAND_NONE) {
		confirm_command(ui, &command);
	}
	if (ui->shared.go != ACTION_NONE)
		follow_view(ui);
	else if (!used)
		run_frame_action(ui, action);
}

/* ---- the lines around a view */

/* Draw the tabs of the views; returns the column after them. */
static int draw_tabs(struct ui *ui, struct canvas *canvas)
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

/* Draw the reference, connected pods, alerts and time right of the tabs. */
static void draw_state(const struct ui *ui, struct canvas *canvas, int left)
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
	if (room > 60 && shared->reference != NULL)
		ref = plot_run_label(shared->reference);
	else if (room > 60 && shared->baseline != NULL)
		print_into(ref.s, "%.80s", shared->baseline->name);
	print_into(pods, "%s%s%s%s%zu/%zu pods · ", ref.s[0] != '\0' ? "ref " : "", ref.s,
		   ref.s[0] != '\0' ? " · " : "", model->is_shared ? "from db · " : "", live, all);
	print_into(time, " · %s %s", clock.s, fmt_zone(shared->now_wall_ms).s);
	print_into(alerts, "%zu alert%s", open, open == 1 ? "" : "s");
	if (text_width(pods) + text_width(time) + text_width(alerts) > room) {
		print_into(alerts, "%zu!", open);
		print_into(pods, "%zu/%zu pods ", live, all);
		print_into(time, " %.5s", clock.s);
	}
	/* If they do not fit, drop the time, then the pods, but never the alerts. */
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

/* Draw the last message if it is recent, or else the newest event if that is recent. */
static void draw_status(struct ui *ui, struct canvas *canvas, struct rect line)
{
	size_t events = ui->shared.model->n_events + ui->shared.model->first_event;
	const struct ui_shared *shared = &ui->shared;
	const struct model *model = shared->model;
	char reading[64];

	if (model->n_reading > 1) {
		print_into(reading, "reading %zu of %zu logs", model->n_read + 1, model->n_reading);
		line.w -= text_width(reading) + 2;
		(void)canvas_text(canvas, line.x + line.w + 2, line.y, STYLE_STRONG, reading);
	}
	if (shared->said[0] != '\0' && shared->now_mono_ms - shared->said_at_ms < MESSAGE_MS) {
		canvas_print(canvas, line, STYLE_STRONG, "%s", shared->said);
		return;
	}
	/* Count from the first drawing of the event: an alert's cause may be much older. */
	if (events != ui->seen_events)
		ui->seen_at_ms = shared->now_mono_ms;
	ui->seen_events = events;
	const struct model_event *event =
		events > 0 ? model_event_at(model, model->n_events - 1) : NULL;
	if (event != NULL && shared->now_mono_ms - ui->seen_at_ms < EVENT_MS)
		canvas_print(canvas, line, event->severity == MODEL_INFO ? STYLE_HINT : STYLE_WARN,
			     "%s %s", fmt_clock(event->wall_ms).s, event->text);
}

/* Return the width of "key label"; 0 if the action has no key or does nothing in the view. */
static int measure_hint(const struct ui *ui, enum action action)
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

/* Draw "key label" at *x and move *x past it; false if it does not fit before `end`. */
static bool draw_hint(struct ui *ui, struct canvas *canvas, int *x, int end, enum action action)
{
	int width = measure_hint(ui, action), y = canvas->height - 1;
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

/* Draw the hints for keys, with help first, so that it always fits, and quit at the right edge. */
static void draw_footer(struct ui *ui, struct canvas *canvas)
{
	static const enum action common[] = { ACTION_SEARCH, ACTION_SORT, ACTION_PALETTE,
					      ACTION_EVENTS, ACTION_COPY, ACTION_EXPORT,
					      ACTION_NONE };
	const enum action *const lists[] = { ui_view(ui)->hints, common };
	int x = 1, end = canvas->width - 1 - measure_hint(ui, ACTION_QUIT), quit_x = end;
	const struct list *list = ui_list(ui);

	ui->n_hints = 0;
	if (list != NULL && list->filter[0] != '\0') {
		x += canvas_textf(canvas, x, canvas->height - 1, STYLE_KEY, "/%.40s", list->filter);
		x += canvas_textf(canvas, x, canvas->height - 1, STYLE_HINT, "  %zu of %zu  ",
				  list->n, list->all);
		(void)draw_hint(ui, canvas, &x, end, ACTION_BACK);
	}
	(void)draw_hint(ui, canvas, &x, end, ACTION_HELP);
	(void)draw_hint(ui, canvas, &quit_x, canvas->width - 1, ACTION_QUIT);
	for (size_t i = 0; i < 2; i++)
		for (const enum action *a = lists[i]; *a != ACTION_NONE; a++)
			if (!draw_hint(ui, canvas, &x, end - 2, *a))
				break;
}

/* ---- mouse */

static const struct rect *find_chart(const struct ui *ui, int x, int y)
{
	return array_find(area, ui->shared.areas, ui->shared.n_areas, rect_has(area, x, y));
}

/* Convert a column of a chart to a fraction (0..1) of its width. */
static double get_fraction(const struct rect *area, int x)
{
	double part = area->w > 1 ? (double)(x - area->x) / (area->w - 1) : 0;

	return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Select a row of the list, or let the view handle the click; false if nothing is there. */
static bool click_view(struct ui *ui, const struct key *key)
{
	const struct view_ops *view = ui_view(ui);
	struct list *list = ui_list(ui);

	if (list != NULL && list_click(list, key->x, key->y)) {
		notify_view(ui);
		return true;
	}
	return view->click != NULL &&
	       view->click(ui->states[ui->view], &ui->shared, key->x, key->y);
}

/* Handle a press: on a tab, a chart, a hint, the header of a list, or a row. */
static void press_mouse(struct ui *ui, const struct key *key)
{
	const struct rect *area = find_chart(ui, key->x, key->y);

	ui->drag = (struct ui_drag){ .kind = DRAG_NONE, .y = key->y };
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		if (key->y == 0 && key->x >= ui->tabs[i][0] && key->x < ui->tabs[i][1]) {
			show_view(ui, i);
			return;
		}
	}
	if (area != NULL) {
		ui->drag.kind = DRAG_CHART;
		ui->drag.area = *area;
		ui->drag.from = ui->drag.to = key->x;
		ui->shared.chart.cursor = get_fraction(area, key->x);
		return;
	}
	for (size_t i = 0; i < ui->n_hints; i++) {
		if (rect_has(&ui->hints[i].place, key->x, key->y)) {
			ui_action(ui, ui->hints[i].action);
			return;
		}
	}
	struct list *list = ui_list(ui);
	if (list != NULL && list_click_header(list, key->x, key->y)) {
		notify_view(ui);
		report_order(ui, list);
	} else if (click_view(ui, key)) {
		ui->drag.kind = DRAG_LIST;
	}
}

static void handle_mouse(struct ui *ui, const struct key *key)
{
	struct ui_drag *drag = &ui->drag;
	const struct rect *area = find_chart(ui, key->x, key->y);
	bool is_up = key->code == KEYCODE_WHEEL_UP;

	if (key->code == KEYCODE_MOUSE_PRESS) {
		press_mouse(ui, key);
	} else if (key->code == KEYCODE_MOUSE_DRAG) {
		int by = key->y - drag->y;

		if (drag->kind == DRAG_CHART) {
			drag->to = int_max(drag->area.x,
					   int_min(key->x, drag->area.x + drag->area.w - 1));
			ui->shared.chart.cursor = get_fraction(&drag->area, drag->to);
		} else if (drag->kind == DRAG_LIST && by != 0 && !click_view(ui, key)) {
			/* If the drag leaves the list, continue to move the selection. */
			ui_action(ui, by > 0 ? ACTION_DOWN : ACTION_UP);
		}
		drag->y = key->y;
	} else if (!is_up && key->code != KEYCODE_WHEEL_DOWN) {
		if (drag->kind == DRAG_CHART && abs(drag->to - drag->from) >= CLICK_COLUMNS) {
			ui_chart_zoom_to(&ui->shared.chart, get_fraction(&drag->area, drag->from),
					 get_fraction(&drag->area, drag->to));
			ui_show_message(&ui->shared, "zoom %.3gx; 0 shows the whole x axis",
					ui->shared.chart.zoom);
		}
		drag->kind = DRAG_NONE;
	} else if (area != NULL) {
		ui->shared.chart.cursor = get_fraction(area, key->x);
		(void)ui_chart_act(&ui->shared, is_up ? ACTION_ZOOM_IN : ACTION_ZOOM_OUT);
	} else {
		for (int i = 0; i < WHEEL_LINES; i++)
			ui_action(ui, is_up ? ACTION_UP : ACTION_DOWN);
	}
}

/* ---- keys and frames */

/* Handle a key that may be part of a paste; false if the key must be handled as typed. Only an open
 * text field takes a paste, and only its printable characters: a pasted Enter, Esc or Tab is not a
 * command. Line ends and tabs between words become one blank. */
static bool filter_paste(struct ui *ui, const struct key *key)
{
	bool takes_text =
		ui->is_finding || (ui->overlay != OVERLAY_NONE && ui->overlay != OVERLAY_EVENTS &&
				   ui->taken_name == NULL);

	if (key->code == KEYCODE_PASTE_BEGIN || key->code == KEYCODE_PASTE_END) {
		ui->paste = key->code == KEYCODE_PASTE_BEGIN ? PASTE_START : PASTE_NONE;
		return true;
	}
	if (ui->paste == PASTE_NONE)
		return false;
	if (!takes_text) {
		ui_show_message(&ui->shared, "paste ignored: press / first to enter text");
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

void ui_key(struct ui *ui, const struct key *key)
{
	ui->is_stale = ui->is_urgent = true;
	ui->first = NULL;
	if (filter_paste(ui, key))
		return;
	ui->n_escapes = key->code == 27 ? ui->n_escapes + 1 : 0;
	if (ui->is_finding || ui->overlay != OVERLAY_NONE)
		ui->drag.kind = DRAG_NONE;
	if (ui->is_finding) {
		if (!handle_find_mouse(ui, key)) {
			enum prompt_result result = edit_filter(ui, key);

			ui->is_finding = result != PROMPT_DONE && result != PROMPT_CANCEL;
		}
	} else if (ui->overlay != OVERLAY_NONE) {
		overlays[ui->overlay].handle_key(ui, key);
	} else if (key->code >= KEYCODE_MOUSE_PRESS) {
		handle_mouse(ui, key);
	} else {
		enum action action = keymap_find(&ui->keymap, key->code, ui_view(ui)->places);
		enum action elsewhere = keymap_find(&ui->keymap, key->code, UINT_MAX);

		if (action != ACTION_NONE)
			ui_action(ui, action);
		else if (elsewhere != ACTION_NONE)
			report_no_use(ui, elsewhere);
	}
	if (ui->n_escapes < HOME_ESCAPES)
		return;
	/* Open the fleet and close everything except a question about a pod. */
	show_view(ui, 0);
	ui->is_finding = false;
	if (ui->overlay != OVERLAY_QUESTION)
		ui->overlay = OVERLAY_NONE;
	struct list *list = ui_list(ui);
	if (ui->overlay == OVERLAY_NONE)
		list_filter(list, "");
}

void ui_draw(struct ui *ui, struct canvas *canvas, int *cursor_x, int *cursor_y)
{
	const struct ui_drag *drag = &ui->drag;
	struct rect body = { 0, 1, canvas->width, canvas->height - 3 };

	*cursor_x = *cursor_y = -1;
	/* Open the oldest question, unless another overlay is open or a paste would answer it. */
	if (ui->overlay == OVERLAY_NONE && !ui->is_finding && ui->paste == PASTE_NONE &&
	    ui->n_questions > 0) {
		prompt_set(&ui->answer, "");
		ui->overlay = OVERLAY_QUESTION;
	}
	canvas_clear(canvas);
	ui->shared.n_areas = 0;
	ui->is_stale = ui->is_urgent = false;
	ui->drawn_at_ms = ui->shared.now_mono_ms;
	select_first_run(ui);
	if (canvas->width < 60 || canvas->height < 15) {
		/* The screen is too small: draw only the fleet, and how to close an overlay. */
		body = (struct rect){ 0, 0, canvas->width, canvas->height };
		if (ui->overlay == OVERLAY_NONE)
			canvas_print_top(canvas, &body, STYLE_TITLE, "? help  enlarge to 60x15");
		else
			canvas_print_top(canvas, &body, STYLE_WARN,
					 "Esc back  enlarge to 60x15 to see it");
		ui_views[0]->draw(ui->states[0], &ui->shared, canvas, body);
		return;
	}
	draw_state(ui, canvas, draw_tabs(ui, canvas));
	ui_view(ui)->draw(ui->states[ui->view], &ui->shared, canvas, body);
	canvas->clip = (struct rect){ 0, 0, canvas->width, canvas->height };
	if (drag->kind == DRAG_CHART && abs(drag->to - drag->from) >= CLICK_COLUMNS) {
		struct rect range = drag->area;

		range.x = int_min(drag->from, drag->to);
		range.w = abs(drag->to - drag->from) + 1;
		canvas_fill(canvas, range, STYLE_NORMAL | STYLE_REVERSE, 0);
	}
	draw_status(ui, canvas, (struct rect){ 1, canvas->height - 2, canvas->width - 2, 1 });
	draw_footer(ui, canvas);
	if (ui->overlay != OVERLAY_NONE)
		*cursor_x = overlays[ui->overlay].draw(ui, canvas, cursor_y);
	if (ui->is_finding)
		*cursor_x = draw_find(ui, canvas, cursor_y);
}

/* ---- the user's choices, which are saved for the next start */

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
	/* Keep marks of runs that have not appeared in this session. */
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

void ui_load_choices(struct ui *ui, const cJSON *chosen)
{
	double axis = json_get_number(chosen, "x_axis", AXIS_TRAIN);
	const char *text = json_get_string(chosen, "baseline", "");
	size_t n = 0;

	if (axis >= 0 && axis < AXIS_COUNT)
		ui->shared.chart.axis = (enum chart_axis)axis;
	prompt_set(&ui->scores, text);
	(void)set_baseline(ui, ui->scores.text, NULL);
	json_each (run, json_get(chosen, "runs"))
		if (cJSON_IsString(run) && n <= UI_MAX_MARKS)
			ui->wanted[n++] = strtoull(run->valuestring, NULL, 16);
	for (size_t i = 0; i < UI_VIEW_COUNT; i++) {
		const cJSON *order = json_get(json_get(chosen, "orders"), ui_views[i]->name);
		const char *title =
			json_get_string(order, "descending", cJSON_GetStringValue(order));

		if (ui_views[i]->list == NULL || title == NULL)
			continue;
		struct list *list = ui_views[i]->list(ui->states[i], &ui->shared);
		/* The column may no longer exist. */
		for (size_t k = 0; k < list->ops->n_columns; k++) {
			if (strcmp(list->ops->columns[k].title, title) != 0)
				continue;
			list->sort = k + 1;
			list->descending = cJSON_IsObject(order);
		}
	}
}
