/* SPDX-License-Identifier: MIT */
/* The view of A/B benches: their progress and verdicts, and plans that can be started. */
#include "base/clock.h"
#include "base/file.h"
#include "ui/bench_panel.h"
#include "ui/panel.h"
#include "ui/theme.h"

struct bench {
	struct list list;
	const struct model *model; /* borrowed; set by bench_list() */
	int scroll;		   /* number of report lines above the first visible one */
	uint64_t shown;		   /* id of the bench that is scrolled */
	bool as_text;		   /* show the report instead of the drawing */
};

/* From this width on, the report is shown right of the drawing. */
#define WIDE	   150
#define TEXT_WIDTH 84
/* Otherwise it is shown below the drawing if this many lines are free there. */
#define LEAST_TEXT 8

/* Return the state of a bench in one word. A running bench is "paused" if no process drives it, and
 * "waiting" if it cannot reach a pod or has not been granted GPUs. */
static const char *state_word(const struct model_bench *bench)
{
	const struct bench_live *live = bench->live;

	if (live == NULL || !live->running)
		return bench->state;
	if (!live->driven)
		return "paused";
	return any_of(i, live->n_pods, live->waits[i][0] != '\0') ? "waiting" : bench->state;
}

static void verdict_cell(const struct model_bench *bench, struct list_cell *cell)
{
	char words[200];

	if (bench->live != NULL) {
		bench_panel_words(bench->live, words, sizeof(words));
		list_cellf(cell, bench->live->running ? STYLE_HINT : STYLE_NORMAL, "%s", words);
		return;
	}
	if (bench->is_plan) {
		list_cellf(cell, STYLE_DIM, "not started: %.180s", file_name(bench->id));
		return;
	}
	struct str rest = str_from(bench->report != NULL ? bench->report : bench->id);
	struct str line = { "", 0 };
	while (line.len == 0 && str_next(&rest, '\n', &line))
		line = str_trim(line);
	list_cellf(cell, STYLE_NORMAL, "%.*s", (int)(line.len < 200 ? line.len : 200), line.p);
}

static void bench_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct bench *view = user;
	const struct model_bench *bench = &view->model->benches[row];
	const char *state = state_word(bench);
	char text[CLOCK_RFC3339_SIZE];

	if (column == 0) {
		list_cellf(cell, STYLE_NORMAL, "%s", bench->name);
	} else if (column == 1) {
		list_cellf(cell,
			   strcmp(state, "running") == 0 ? STYLE_LIVE
			   : strcmp(state, "done") == 0	 ? STYLE_DONE
			   : strcmp(state, "plan") == 0	 ? STYLE_HINT
							 : STYLE_WARN,
			   "%s", state);
	} else if (column == 2 && bench->started_ms == 0) {
		list_cellf(cell, STYLE_DIM, FMT_ABSENT);
	} else if (column == 2) {
		cell->number = (double)bench->started_ms;
		clock_rfc3339(bench->started_ms, text);
		list_cellf(cell, STYLE_NORMAL, "%.5s %.5s", text + 5, text + 11);
	} else if (column == 3) {
		cell->number = bench->cost_usd;
	} else {
		verdict_cell(bench, cell);
	}
}

static uint64_t bench_id(void *user, size_t row)
{
	const struct bench *view = user;

	return str_hash(str_from(view->model->benches[row].id));
}

/* New benches are inserted at the top. The selection stays on its bench, with two exceptions: from
 * the newest bench it moves to a newer one, and from a plan to a bench that it started. */
static struct list *bench_list(void *state, struct ui_shared *shared)
{
	static const struct list_column columns[] = {
		{ "BENCH", 18, .grow = true, .name = true },
		{ "STATE", 11, .drop = 0 },
		{ "STARTED UTC", 11, .drop = 2 },
		{ "COST $", 7, 3, FMT_NUMBER, .decimals = 2 },
		{ "VERDICT", 30, .grow = true },
	};
	static const struct list_ops ops = {
		.columns = columns, .n_columns = 5, .cell = bench_cell, .id = bench_id
	};
	const struct model_bench *benches = shared->model->benches;
	struct bench *view = state;
	size_t before = view->list.selected, row;

	view->model = shared->model;
	list_fill(&view->list, &ops, view, shared->model->n_benches);
	row = list_row(&view->list);
	if (row != SIZE_MAX && !list_is_ordered(&view->list) &&
	    (before == 0 || (row > before && benches[row].is_plan &&
			     strcmp(benches[0].name, benches[row].name) == 0)))
		list_select(&view->list, 0);
	return &view->list;
}

static const struct model_bench *selected_bench(const struct bench *view)
{
	size_t row = list_row(&view->list);

	return row != SIZE_MAX ? &view->model->benches[row] : NULL;
}

static void draw_report(const struct bench *view, const struct model_bench *bench,
			struct canvas *canvas, struct rect r)
{
	struct str rest = str_from(bench->report != NULL ? bench->report : "no runs to judge yet");
	struct str line;

	for (int i = 0; r.h > 0 && str_next(&rest, '\n', &line); i++)
		if (i >= view->scroll)
			canvas_line(canvas, rect_take_top(&r, 1), STYLE_NORMAL, line);
}

static void draw_bench(const struct bench *view, const struct model_bench *bench,
		       struct canvas *canvas, struct rect r)
{
	if (bench->live == NULL || view->as_text) {
		draw_report(view, bench, canvas, canvas_box(canvas, r, "%s", bench->name));
		return;
	}
	bool is_wide = r.w >= WIDE && !bench->live->running;
	struct rect in = rect_take_left(&r, is_wide ? r.w - TEXT_WIDTH : r.w);
	if (is_wide)
		draw_report(view, bench, canvas, canvas_box(canvas, r, "report"));
	in = canvas_box(canvas, in, "%s", bench->name);
	(void)rect_take_top(&in, bench_panel_draw(bench->live, canvas, in) + 1 - in.y);
	if (!is_wide && !bench->live->running && in.h >= LEAST_TEXT)
		draw_report(view, bench, canvas, in);
}

static void bench_draw(void *state, struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	struct bench *view = state;
	struct list *list = bench_list(state, shared);
	const struct model_bench *bench = selected_bench(view);
	int rows = int_min((int)list->all + 3, int_max(r.h / 4, 5));

	if (list->all == 0) {
		AUTO_TEXT text = xasprintf(
			"No benches yet.\n"
			"b starts a plan; list plans under \"benches\" in %s\n"
			"hgym-tui bench run bench.json starts one from the shell (it asks first)\n"
			"hgym-tui bench judge compares logs of runs that already exist",
			shared->conf_path);

		panel_empty(canvas, r, text);
		return;
	}
	if (view->shown != list->id)
		view->scroll = 0;
	view->shown = list->id;
	list_draw(list, canvas, canvas_box(canvas, rect_take_top(&r, rows), "Benches"));
	if (bench != NULL)
		draw_bench(view, bench, canvas, r);
}

static bool bench_act(void *state, struct ui_shared *shared, enum action action,
		      struct command *out)
{
	struct bench *view = state;
	const struct model_bench *bench = selected_bench(view);

	bool is_plan = bench != NULL && bench->is_plan;
	bool has_marks = shared->pod_marks.n > 0;

	if (bench == NULL && action != ACTION_BENCH_START)
		return false;
	if (action == ACTION_BENCH_START) {
		out->id = !is_plan    ? COMMAND_BENCH_PICK
			  : has_marks ? COMMAND_BENCH_PODS
				      : COMMAND_BENCH_START;
		if (bench != NULL)
			out->name = xstrdup(bench->id);
		if (!is_plan || has_marks)
			out->text = ui_pod_names(shared, MODEL_NONE);
	} else if (action == ACTION_AUDIT) {
		/* An audit compares the control with itself, on the marked pods or the plan's. */
		out->id = COMMAND_BENCH_AUDIT;
		out->name = xstrdup(bench->id);
		if (has_marks)
			out->text = ui_pod_names(shared, MODEL_NONE);
	} else if (action == ACTION_BENCH_STOP && is_plan) {
		ui_show_message(shared, "this plan has not been started");
	} else if (action == ACTION_BENCH_STOP && strcmp(bench->state, "running") != 0 &&
		   bench->still_up == NULL) {
		ui_show_message(shared, "this bench has already ended");
	} else if (action == ACTION_BENCH_STOP) {
		out->id = COMMAND_BENCH_STOP;
		out->name = xstrdup(bench->id);
	} else if (action == ACTION_OPEN) {
		view->as_text = !view->as_text;
	} else if (action == ACTION_PAGE_DOWN) {
		view->scroll += view->scroll < 1000 ? 8 : 0;
	} else if (action == ACTION_PAGE_UP) {
		view->scroll = int_max(view->scroll - 8, 0);
	} else {
		return false;
	}
	return true;
}

static void bench_text(void *state, struct ui_shared *shared, struct buf *out)
{
	(void)bench_list(state, shared);
	const struct model_bench *bench = selected_bench(state);
	if (bench != NULL && bench->report != NULL)
		buf_append_str(out, bench->report);
}

const struct view_ops view_bench = {
	.name = "Bench",
	.open = ACTION_VIEW_BENCH,
	.state_size = sizeof(struct bench),
	.places = IN_BENCH | IN_AUDIT,
	.watches = MODEL_BENCH,
	.hints = (const enum action[]){ ACTION_BENCH_START, ACTION_AUDIT, ACTION_BENCH_STOP,
					ACTION_OPEN, ACTION_NONE },
	.draw = bench_draw,
	.act = bench_act,
	.list = bench_list,
	.text = bench_text,
};
