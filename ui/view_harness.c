/* SPDX-License-Identifier: MIT */
/* Harness: HarnessGym's runs, and what of them is verified. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/harness_words.h"
#include "ui/harness_panels.h"
#include "ui/theme.h"
#include "ui/view.h"

#define MIN_CHART_HEIGHT 7
#define TEXT_MAX	 1024U
#define TO_TOP		 ((size_t)1 << 40) /* more lines than there are */

/* Where the keys go. */
enum focus { FOCUS_RUNS, FOCUS_ITERATIONS, FOCUS_TEXT };

struct harness {
	struct table runs, iterations;
	enum focus focus;
	unsigned int detail; /* enum harness_detail, and texts */
	size_t up;	     /* lines back in a text */
	size_t of_run; /* row whose iterations are shown, + 1; 0: none yet */
	struct harness_pick pick; /* while it draws or acts */
	const struct harness_view *view;
};

enum run_column { RUN_NAME, RUN_STATE, RUN_BEST, RUN_GAIN, RUN_DOUBT };

static const struct table_column run_columns[] = {
	[RUN_NAME] = { "RUN", 24, false, 0, true },
	[RUN_STATE] = { "STATE", 24, false, 0, false },
	[RUN_BEST] = { "VERIFIED", 11, true, 0, false },
	[RUN_GAIN] = { "on base", 9, true, 1, false },
	[RUN_DOUBT] = { "? unverified", 13, true, 2, false },
};

enum iteration_column {
	IT_NUMBER,
	IT_ATTEMPT,
	IT_TOOLS,
	IT_CALLS,
	IT_SCORE,
	IT_BASE,
	IT_BEST,
	IT_RESULT,
	IT_QUALIFIED,
	IT_NOTE,
};

static const struct table_column iteration_columns[] = {
	[IT_NUMBER] = { "IT", 3, true, 0, false },
	[IT_ATTEMPT] = { "ATTEMPT", 16, false, 0, false },
	[IT_TOOLS] = { "TOOLS", 5, true, 3, false },
	[IT_CALLS] = { "CALLS", 10, true, 2, false },
	[IT_SCORE] = { "VERIFIED", 11, true, 0, false },
	[IT_BASE] = { "on base", 8, true, 0, false },
	[IT_BEST] = { "on best", 8, true, 1, false },
	[IT_RESULT] = { "RESULT", 24, false, 0, true },
	[IT_QUALIFIED] = { "QUALIFIED", 18, false, 4, false },
	[IT_NOTE] = { "NOTES", 12, false, 5, true },
};

#define COLUMNS(list) (sizeof(list) / sizeof((list)[0]))

/* Rows of a place in the list of runs: its runs, or itself. */
static size_t
rows_of(const struct harness_place *place)
{
	if (!place->read || place->is_compare || place->ws.n_runs == 0)
		return 1;
	return place->ws.n_runs;
}

/* What stands in that row: the newest run of a place first. */
static struct harness_pick
pick_row(const struct harness_view *view, size_t row)
{
	struct harness_pick pick = { NULL, NULL, NULL };

	for (size_t i = 0; view != NULL && i < view->n; i++) {
		const struct harness_place *place = &view->places[i];
		size_t n = rows_of(place);

		if (row >= n) {
			row -= n;
			continue;
		}
		pick.place = place;
		if (place->read && !place->is_compare && place->ws.n_runs > 0)
			pick.run = &place->ws.runs[n - 1 - row];
		break;
	}
	return pick;
}

/* A run that is shown anew begins at its best iteration, else at its last. */
static void
begin_iterations(struct harness *h)
{
	const struct harness_run *run = h->pick.run;

	if (h->of_run == h->runs.selected + 1)
		return;
	h->of_run = h->runs.selected + 1;
	h->iterations.selected = h->iterations.rows;
	h->iterations.selected -= h->iterations.selected > 0;
	for (size_t i = 0; run != NULL && i < run->n_iterations; i++)
		if (run->best.present &&
		    run->iterations[i].number == run->best.iteration)
			h->iterations.selected = i;
}

static void
take_pick(struct harness *h, const struct ui_shared *shared)
{
	size_t rows = 0;

	h->view = shared->model->harness;
	for (size_t i = 0; h->view != NULL && i < h->view->n; i++)
		rows += rows_of(&h->view->places[i]);
	table_set_rows(&h->runs, rows);
	h->pick = pick_row(h->view, h->runs.selected);
	table_set_rows(&h->iterations,
		       h->pick.run != NULL ? h->pick.run->n_iterations : 0);
	begin_iterations(h);
	if (h->iterations.rows > 0)
		h->pick.it = &h->pick.run->iterations[h->iterations.selected];
	if (h->pick.run != NULL && h->detail >= harness_detail_count(&h->pick))
		h->detail = HARNESS_DETAIL_CASES;
}

static void
name_cell(const struct harness_pick *pick, struct table_cell *cell)
{
	if (pick->run != NULL)
		table_cellf(cell, STYLE_NORMAL, "%s  %s", pick->run->id,
			    pick->place->title);
	else
		table_cellf(cell, STYLE_NORMAL, "%s%s", pick->place->title,
			    pick->place->is_compare ? "  (comparison)" : "");
}

static void
state_cell(const struct harness_pick *pick, struct table_cell *cell)
{
	static const unsigned int styles[] = {
		[HARNESS_STATE_FINISHED] = STYLE_DONE,
		[HARNESS_STATE_RUNNING] = STYLE_LIVE,
		[HARNESS_STATE_STALE] = STYLE_SILENT,
		[HARNESS_STATE_ABORTED] = STYLE_ALARM,
	};
	const struct harness_run *run = pick->run;

	if (pick->place->why[0] != '\0')
		table_cellf(cell, STYLE_WARN, "%s", pick->place->why);
	else if (!pick->place->read)
		table_cellf(cell, STYLE_HINT, "being read");
	else if (run == NULL)
		table_cellf(cell, STYLE_NORMAL, "%s",
			    pick->place->compare.has_report ? "finished"
							    : "no report");
	else if (run->has_summary)
		table_cellf(cell, STYLE_DONE, "finished: %.40s",
			    run->final_status != NULL ? run->final_status
						      : FMT_ABSENT);
	else
		table_cellf(cell, styles[run->life.state], "%s, %s %u",
			    harness_state_name(run->life.state),
			    run->life.phase != NULL ? run->life.phase : "",
			    (unsigned int)run->n_iterations);
}

/* A percentage where + is better. */
static void
gain_cell(struct harness_number gain, struct table_cell *cell)
{
	char text[HARNESS_PCT_SIZE];

	if (!gain.present)
		table_cellf(cell, STYLE_DIM, FMT_ABSENT);
	else
		table_cellf(cell, gain.value < 0 ? STYLE_WORSE : STYLE_BETTER,
			    "%s", harness_pct(gain.value, true, text));
}

static void
score_cell(bool present, double value, unsigned int style,
	   struct table_cell *cell)
{
	char text[STR_NUMBER_SIZE];

	if (present)
		table_cellf(cell, style, "%s", str_number(value, 10, text));
	else
		table_cellf(cell, STYLE_DIM, FMT_ABSENT);
}

static void
run_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct harness *h = user;
	struct harness_pick pick = pick_row(h->view, row);
	struct harness_run none = { .dir = NULL };
	char text[STR_NUMBER_SIZE];
	const struct harness_run *run = pick.run != NULL ? pick.run : &none;

	switch ((enum run_column)column) {
	case RUN_NAME:
		name_cell(&pick, cell);
		break;
	case RUN_STATE:
		state_cell(&pick, cell);
		break;
	case RUN_BEST:
		score_cell(run->best.present, run->best.value, STYLE_STRONG,
			   cell);
		break;
	case RUN_GAIN:
		gain_cell(run->baseline_pct, cell);
		break;
	case RUN_DOUBT:
		if (run->best_unverified.present)
			table_cellf(cell, STYLE_WARN, "? %s",
				    str_number(run->best_unverified.value, 10,
					       text));
		break;
	}
}

/* A cell of words. */
static void
words_cell(const struct harness_run *run, const struct harness_iteration *it,
	   enum iteration_column column, struct table_cell *cell)
{
	unsigned int style = STYLE_NORMAL;
	struct buf text;

	buf_init(&text, TEXT_MAX);
	if (column == IT_ATTEMPT)
		harness_add_attempt(&text, run, it);
	else if (column == IT_CALLS)
		harness_add_calls(&text, it);
	else if (column == IT_RESULT)
		harness_add_result(&text, run, it);
	else
		harness_add_qualification(&text, it);
	if (column == IT_RESULT && !it->verified_score.present)
		style = it->invalid_score.present ? STYLE_ALARM : STYLE_WARN;
	if (column == IT_QUALIFIED && it->qualification.n_quarantined > 0)
		style = STYLE_ALARM;
	table_cellf(cell, style, "%s", text.len > 0 ? text.data : FMT_ABSENT);
	buf_release(&text);
}

static void
iteration_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct harness *h = user;
	const struct harness_iteration *it = &h->pick.run->iterations[row];

	switch ((int)column) {
	case IT_NUMBER:
		table_cellf(cell, STYLE_DIM, "%u", it->number);
		break;
	case IT_TOOLS:
		score_cell(it->active_tools.present, it->active_tools.value,
			   STYLE_NORMAL, cell);
		break;
	case IT_SCORE:
		score_cell(it->verified_score.present, it->verified_score.value,
			   h->pick.run->best.iteration == it->number
				   ? STYLE_BETTER
				   : STYLE_NORMAL,
			   cell);
		break;
	case IT_BASE:
		gain_cell(it->baseline_pct, cell);
		break;
	case IT_BEST:
		gain_cell(it->previous_pct, cell);
		break;
	case IT_NOTE:
		table_cellf(cell, STYLE_DIM, "%s",
			    it->note != NULL ? it->note : "");
		break;
	default:
		words_cell(h->pick.run, it, (enum iteration_column)column,
			   cell);
		break;
	}
}

/* A table whose head says whether the keys go there. */
static void
draw_table(struct harness *h, struct canvas *canvas, struct rect r,
	   enum focus focus)
{
	const bool runs = focus == FOCUS_RUNS;
	const struct table_spec spec = {
		.columns = runs ? run_columns : iteration_columns,
		.n_columns = runs ? COLUMNS(run_columns)
				  : COLUMNS(iteration_columns),
		.cell = runs ? run_cell : iteration_cell,
		.user = h,
		.sorted = SIZE_MAX,
	};
	struct rect mark = { r.x, r.y, 1, r.h };

	table_draw(runs ? &h->runs : &h->iterations, canvas,
		   (struct rect){ r.x + 2, r.y, r.w - 2, r.h }, &spec);
	if (h->focus == focus)
		canvas_fill(canvas, mark, STYLE_LIVE, 0x2502 /* bar */);
}

/* Chart and details side by side, or the details alone where it is narrow. */
static void
draw_bottom(struct harness *h, struct canvas *canvas, struct rect r)
{
	int left = r.w >= 90 ? r.w / 2 : 0;

	if (left > 0)
		harness_panel_chart(canvas,
				    (struct rect){ r.x, r.y, left, r.h },
				    h->pick.run);
	harness_panel_detail(canvas,
			     (struct rect){ r.x + left, r.y, r.w - left, r.h },
			     &h->pick, h->detail, &h->up);
}

static void
draw_run(struct harness *h, struct canvas *canvas, struct rect r)
{
	int rows = (int)h->iterations.rows + 1;
	int room = r.h > 20 ? r.h - MIN_CHART_HEIGHT : r.h;
	int facts;

	if (h->focus == FOCUS_TEXT) {
		harness_panel_detail(canvas, r, &h->pick, h->detail, &h->up);
		return;
	}
	if (rows > room / 2)
		rows = room / 2;
	facts = harness_panel_facts(
		canvas,
		(struct rect){ r.x, r.y, r.w,
			       room - rows > 2 ? room - rows - 1 : 0 },
		&h->pick);
	r.y += facts + 1;
	r.h -= facts + 1;
	draw_table(h, canvas, (struct rect){ r.x, r.y, r.w, rows },
		   FOCUS_ITERATIONS);
	r.y += rows + 1;
	r.h -= rows + 1;
	if (r.h >= 5)
		draw_bottom(h, canvas, r);
}

static void
harness_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	     struct rect rect)
{
	static const char *const empty[] = {
		"No HarnessGym runs are followed here yet.",
		"hgym-tui harness DIR   shows a run that lies here",
		"\"harnessgym\": [\"DIR\"] at a pod of the configuration "
		"follows one",
		NULL
	};
	struct harness *h = state;
	int list;

	take_pick(h, shared);
	if (h->runs.rows == 0) {
		panel_empty(canvas, rect, empty);
		return;
	}
	list = (int)h->runs.rows + 1;
	if (list > rect.h / 4 && list > 3)
		list = rect.h / 4 > 3 ? rect.h / 4 : 3;
	draw_table(h, canvas, (struct rect){ rect.x, rect.y, rect.w, list },
		   FOCUS_RUNS);
	rect.y += list + 1;
	rect.h -= list + 1;
	if (rect.h < 3)
		return;
	if (h->pick.run != NULL)
		draw_run(h, canvas, rect);
	else if (h->pick.place->read && h->pick.place->is_compare)
		harness_panel_compare(canvas, rect, &h->pick.place->compare);
}

/* One text further back, or towards its end. */
static bool
scroll(struct harness *h, enum action action)
{
	size_t page = 10;

	switch ((int)action) {
	case ACTION_UP:
		h->up++;
		return true;
	case ACTION_DOWN:
		h->up -= h->up > 0;
		return true;
	case ACTION_PAGE_UP:
		h->up += page;
		return true;
	case ACTION_PAGE_DOWN:
		h->up -= h->up > page ? page : h->up;
		return true;
	case ACTION_BOTTOM:
		h->up = 0;
		return true;
	case ACTION_TOP:
		h->up = TO_TOP;
		return true;
	default:
		return false;
	}
}

/* Of a log the end is shown first, of words their beginning. */
static void
begin_detail(struct harness *h)
{
	h->up = h->detail == HARNESS_DETAIL_WORDS ? TO_TOP : 0;
}

static unsigned int
next_detail(struct harness *h, bool forward)
{
	unsigned int n;

	if (h->pick.run == NULL)
		return UI_IGNORED;
	n = harness_detail_count(&h->pick);
	h->detail = (h->detail + (forward ? 1 : n - 1)) % n;
	begin_detail(h);
	return UI_HANDLED;
}

static unsigned int
harness_act(void *state, struct ui_shared *shared, enum action action,
	    struct command *out)
{
	struct harness *h = state;

	take_pick(h, shared);
	if (action == ACTION_METRIC_NEXT || action == ACTION_METRIC_PREV)
		return next_detail(h, action == ACTION_METRIC_NEXT);
	if (action == ACTION_BENCH_START && h->pick.run != NULL) {
		out->id = COMMAND_BENCH_RUN;
		out->name = xstrdup(h->pick.place->title);
		out->text = xstrdup(h->pick.run->id);
		return UI_HANDLED | UI_COMMAND;
	}
	if (action == ACTION_OPEN && h->focus < FOCUS_TEXT &&
	    h->iterations.rows > 0) {
		h->focus++;
		begin_detail(h);
		return UI_HANDLED;
	}
	if ((action == ACTION_BACK || action == ACTION_QUIT) &&
	    h->focus > FOCUS_RUNS) {
		h->focus--;
		begin_detail(h);
		return UI_HANDLED;
	}
	if (h->focus == FOCUS_TEXT)
		return scroll(h, action) ? UI_HANDLED : UI_IGNORED;
	if (!table_act(h->focus == FOCUS_RUNS ? &h->runs : &h->iterations,
		       action))
		return UI_IGNORED;
	return UI_HANDLED;
}

static bool
harness_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct harness *h = state;

	take_pick(h, shared);
	if (table_click(&h->runs, x, y)) {
		h->focus = FOCUS_RUNS;
		return true;
	}
	if (h->focus == FOCUS_TEXT || !table_click(&h->iterations, x, y))
		return false;
	h->focus = FOCUS_ITERATIONS;
	return true;
}

static const enum action hints[] = { ACTION_OPEN, ACTION_METRIC_NEXT,
				     ACTION_BENCH_START, ACTION_BACK,
				     ACTION_NONE };

const struct view_ops view_harness = {
	.name = "Harness",
	.open = ACTION_VIEW_HARNESS,
	.state_size = sizeof(struct harness),
	.places = IN_CHARTS | IN_BENCH,
	.watches = MODEL_HARNESS,
	.hints = hints,
	.draw = harness_draw,
	.act = harness_act,
	.click = harness_click,
};
