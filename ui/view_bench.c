/* SPDX-License-Identifier: MIT */
/* Bench: A/B throughput benches, their verdicts, and plans to start. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "ui/bench_panel.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/view.h"

struct bench {
	struct table table;
	uint64_t selected; /* the bench that is, by its id; 0: none yet */
	int scroll;	   /* lines of its report above the window */
	bool as_text;	   /* the report instead of the picture */
};

/* Columns from which picture and report stand side by side. */
#define WIDE	   150
#define TEXT_WIDTH 84
/* Lines under the picture from which the report begins there. */
#define LEAST_TEXT 8

/*
 * Benches come in front of the others: the selection stays on its own, but
 * where it is the newest it follows, and that of a plan goes to the bench
 * that was begun with it.
 */
static void
hold_selection(struct bench *view, const struct model *model)
{
	struct table *table = &view->table;
	const struct model_bench *benches = model->benches;
	size_t i = 0;

	while (i < model->n_benches &&
	       str_hash(str_from(benches[i].id)) != view->selected)
		i++;
	if (i < model->n_benches && table->selected > 0) {
		bool begun = i > table->selected && benches[i].is_plan &&
			     strcmp(benches[0].name, benches[i].name) == 0;

		table->selected = begun ? 0 : i;
	}
	table_set_rows(table, model->n_benches);
}

/* It was moved there, or held. */
static void
note_selection(struct bench *view, const struct model *model)
{
	uint64_t id = 0;

	if (model->n_benches > 0)
		id = str_hash(
			str_from(model->benches[view->table.selected].id));
	if (view->selected != id)
		view->scroll = 0;
	view->selected = id;
}

static unsigned int
state_style(const char *state)
{
	if (strcmp(state, "running") == 0)
		return STYLE_LIVE;
	if (strcmp(state, "done") == 0)
		return STYLE_DONE;
	if (strcmp(state, "plan") == 0)
		return STYLE_HINT;
	return STYLE_WARN;
}

/* What a bench says of itself; one that nobody drives stands still, and one
 * that cannot reach a pod, or get its GPUs, waits. */
static const char *
state_word(const struct model_bench *bench)
{
	const struct bench_live *live = bench->live;

	if (live == NULL || !live->running)
		return bench->state;
	if (!live->driven)
		return "left";
	for (size_t i = 0; i < live->n_pods; i++)
		if (live->waits[i][0] != '\0')
			return "waits";
	return bench->state;
}

/* The first line of a report that is not empty. */
static struct str
first_line(const char *report)
{
	struct str rest = str_from(report), line = { "", 0 };

	while (str_next(&rest, '\n', &line))
		if (str_trim(line).len > 0)
			return str_trim(line);
	return line;
}

static void
verdict_cell(const struct model_bench *bench, struct table_cell *cell)
{
	char words[200];
	struct str line;

	if (bench->live != NULL) {
		bench_panel_words(bench->live, words, sizeof(words));
		table_cellf(cell,
			    bench->live->running ? STYLE_HINT : STYLE_NORMAL,
			    "%s", words);
		return;
	}
	if (bench->is_plan) {
		const char *slash = strrchr(bench->id, '/');

		table_cellf(cell, STYLE_DIM, "to start: %.180s",
			    slash != NULL ? slash + 1 : bench->id);
		return;
	}
	line = first_line(bench->report != NULL ? bench->report : bench->id);
	table_cellf(cell, STYLE_NORMAL, "%.*s",
		    (int)(line.len < 200 ? line.len : 200), line.p);
}

/* "11-20 21:30", in UTC. */
static void
began_cell(const struct model_bench *bench, struct table_cell *cell)
{
	char text[CLOCK_RFC3339_SIZE];

	if (bench->started_ms == 0) {
		table_cellf(cell, STYLE_DIM, FMT_ABSENT);
		return;
	}
	clock_rfc3339(bench->started_ms, text);
	table_cellf(cell, STYLE_NORMAL, "%.5s %.5s", text + 5, text + 11);
}

static void
bench_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct model *model = user;
	const struct model_bench *bench = &model->benches[row];
	char text[FMT_SIZE];

	switch (column) {
	case 0:
		table_cellf(cell, STYLE_NORMAL, "%s", bench->name);
		break;
	case 1:
		table_cellf(cell, state_style(state_word(bench)), "%s",
			    state_word(bench));
		break;
	case 2:
		began_cell(bench, cell);
		break;
	case 3:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_number(bench->cost_usd, 2, text));
		break;
	default:
		verdict_cell(bench, cell);
		break;
	}
}

static void
draw_report(const struct bench *view, const struct model_bench *bench,
	    struct canvas *canvas, struct rect r)
{
	struct str rest = str_from(
		bench->report != NULL ? bench->report : "no runs to judge yet");
	struct str line;
	int y = r.y - view->scroll;

	for (; y < r.y + r.h && str_next(&rest, '\n', &line); y++)
		if (y >= r.y)
			canvas_line(canvas, (struct rect){ r.x, y, r.w, 1 },
				    STYLE_NORMAL, line);
}

/* The picture of a bench, its report beside it where there is room. */
static void
draw_bench(const struct bench *view, const struct model_bench *bench,
	   struct canvas *canvas, struct rect r)
{
	struct rect picture = r, text = r;
	int below;

	if (bench->live == NULL || view->as_text) {
		draw_report(view, bench, canvas,
			    panel_box(canvas, r, bench->name));
		return;
	}
	if (r.w >= WIDE && !bench->live->running) {
		picture.w = r.w - TEXT_WIDTH;
		text.x = r.x + picture.w;
		text.w = TEXT_WIDTH;
		draw_report(view, bench, canvas,
			    panel_box(canvas, text, "report"));
	}
	picture = panel_box(canvas, picture, bench->name);
	below = bench_panel_draw(bench->live, canvas, picture) + 1;
	if (text.x != r.x || bench->live->running ||
	    picture.y + picture.h - below < LEAST_TEXT)
		return;
	text = (struct rect){ picture.x, below, picture.w,
			      picture.y + picture.h - below };
	draw_report(view, bench, canvas, text);
}

static void
bench_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	   struct rect r)
{
	static const char *const empty[] = {
		"No benches yet.",
		"Name plans in the configuration (\"benches\"); b starts one.",
		"hgym-tui bench run bench.json does the same (it asks first);",
		"hgym-tui bench judge judges logs that exist already.", NULL
	};
	static const struct table_column columns[] = {
		{ "BENCH", 18, false, 0, true },
		{ "STATE", 11, false, 0, false },
		{ "BEGAN UTC", 11, false, 2, false },
		{ "COST $", 7, true, 3, false },
		{ "VERDICT", 30, false, 0, true },
	};
	struct bench *view = state;
	const struct model *model = shared->model;
	/* The table does not write to the model. */
	union {
		const struct model *read;
		void *user;
	} shown = { model };
	const struct table_spec spec = { columns,    5,	       bench_cell,
					 shown.user, SIZE_MAX, false };
	int rows, most;

	hold_selection(view, model);
	note_selection(view, model);
	if (model->n_benches == 0) {
		panel_empty(canvas, r, empty);
		return;
	}
	rows = (int)model->n_benches + 3;
	most = r.h / 4 > 5 ? r.h / 4 : 5;
	if (rows > most)
		rows = most;
	table_draw(&view->table, canvas,
		   panel_box(canvas, (struct rect){ r.x, r.y, r.w, rows },
			     "Benches"),
		   &spec);
	draw_bench(view, &model->benches[view->table.selected], canvas,
		   (struct rect){ r.x, r.y + rows, r.w, r.h - rows });
}

/* Start the plan, or pick one where none is selected. */
static unsigned int
start_one(const struct bench *view, struct ui_shared *shared,
	  struct command *out)
{
	const struct model *model = shared->model;
	const struct model_bench *bench =
		view->table.rows > 0 ? &model->benches[view->table.selected]
				     : NULL;

	if (bench != NULL && bench->is_plan && shared->n_pod_marks == 0) {
		out->id = COMMAND_BENCH_START;
		out->name = xstrdup(bench->id);
	} else if (bench != NULL && bench->is_plan) {
		out->id = COMMAND_BENCH_PODS;
		out->name = xstrdup(bench->id);
		out->text = ui_pod_names(shared, MODEL_NONE);
	} else {
		out->id = COMMAND_BENCH_PICK;
		out->text = ui_pod_names(shared, MODEL_NONE);
	}
	return UI_HANDLED | UI_COMMAND;
}

/* The control of the selected bench against itself, on its pods or those that
 * are marked. */
static unsigned int
audit(const struct bench *view, struct ui_shared *shared, struct command *out)
{
	const struct model_bench *bench =
		&shared->model->benches[view->table.selected];

	out->id = COMMAND_BENCH_AUDIT;
	out->name = xstrdup(bench->id);
	if (shared->n_pod_marks > 0)
		out->text = ui_pod_names(shared, MODEL_NONE);
	return UI_HANDLED | UI_COMMAND;
}

static unsigned int
stop(const struct bench *view, struct ui_shared *shared, struct command *out)
{
	const struct model_bench *bench =
		&shared->model->benches[view->table.selected];

	if (bench->is_plan ||
	    (strcmp(bench->state, "running") != 0 && bench->still_up == NULL)) {
		ui_say(shared, bench->is_plan ? "this is a plan: nothing runs"
					      : "this bench is over");
		return UI_HANDLED;
	}
	out->id = COMMAND_BENCH_STOP;
	out->name = xstrdup(bench->id);
	return UI_HANDLED | UI_COMMAND;
}

static unsigned int
bench_act(void *state, struct ui_shared *shared, enum action action,
	  struct command *out)
{
	struct bench *view = state;

	hold_selection(view, shared->model);
	if (action == ACTION_BENCH_START)
		return start_one(view, shared, out);
	if (view->table.rows == 0)
		return UI_IGNORED;
	if (action == ACTION_AUDIT)
		return audit(view, shared, out);
	if (action == ACTION_BENCH_STOP)
		return stop(view, shared, out);
	if (action == ACTION_OPEN)
		view->as_text = !view->as_text;
	else if (action == ACTION_PAGE_DOWN)
		view->scroll += view->scroll < 1000 ? 8 : 0;
	else if (action == ACTION_PAGE_UP)
		view->scroll -= view->scroll > 8 ? 8 : view->scroll;
	else if (!table_act(&view->table, action))
		return UI_IGNORED;
	note_selection(view, shared->model);
	return UI_HANDLED;
}

static bool
bench_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct bench *view = state;

	hold_selection(view, shared->model);
	if (!table_click(&view->table, x, y))
		return false;
	note_selection(view, shared->model);
	return true;
}

static const char *
bench_export(void *state, struct ui_shared *shared, struct buf *out)
{
	const struct bench *view = state;

	if (view->table.selected >= shared->model->n_benches ||
	    shared->model->benches[view->table.selected].report == NULL) {
		ui_say(shared, "nothing was written: no report here yet");
		return NULL;
	}
	buf_append_str(out,
		       shared->model->benches[view->table.selected].report);
	return "txt";
}

static const enum action hints[] = { ACTION_BENCH_START, ACTION_AUDIT,
				     ACTION_BENCH_STOP, ACTION_OPEN,
				     ACTION_NONE };

const struct view_ops view_bench = {
	.name = "Bench",
	.open = ACTION_VIEW_BENCH,
	.state_size = sizeof(struct bench),
	.places = IN_BENCH | IN_AUDIT,
	.watches = MODEL_BENCH,
	.hints = hints,
	.draw = bench_draw,
	.act = bench_act,
	.click = bench_click,
	.export = bench_export,
};
