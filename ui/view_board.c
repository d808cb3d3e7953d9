/* SPDX-License-Identifier: MIT */
/* Board: the leaderboard over seeds, live, with the seeds unfolding. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "model/board.h"
#include "ui/board_panels.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/view.h"

#define COMPUTE_EVERY_MS 1000

/* A line of the table: a group, or one of its runs. */
struct board_line {
	size_t group, row; /* row SIZE_MAX: the group itself */
};

struct board_view {
	struct table table;
	struct board board;
	bool has_board;
	struct track open;   /* when there is no track: no caps, no record */
	uint64_t generation; /* of the model, when it was computed */
	unsigned int configured; /* what it was computed by */
	int64_t computed_at_ms;
	struct board_line *lines; /* owned */
	size_t n_lines, cap_lines;
	char *unfolded; /* owned; key of the group whose seeds are shown */
};

enum board_column {
	COLUMN_RANK,
	COLUMN_RECIPE,
	COLUMN_N,
	COLUMN_SCORE,
	COLUMN_SD,
	COLUMN_DELTA,
	COLUMN_P,
	COLUMN_CAPS,
	COLUMN_MS,
	COLUMN_STEPS,
	COLUMN_TRAIN,
	COLUMN_EVAL,
	COLUMN_SIZE,
	COLUMN_VERDICT,
	COLUMN_COUNT
};

static const struct table_column columns[COLUMN_COUNT] = {
	[COLUMN_RANK] = { "#", 2, true, 0, false },
	[COLUMN_RECIPE] = { "RECIPE / seed", 16, false, 0, true },
	[COLUMN_N] = { "n", 2, true, 0, false },
	[COLUMN_SCORE] = { "MEAN", 9, true, 0, false },
	[COLUMN_SD] = { "±sd", 8, true, 0, false },
	[COLUMN_DELTA] = { "Δref", 9, true, 0, false },
	[COLUMN_P] = { "p", 7, true, 0, false },
	[COLUMN_CAPS] = { "CAPS", 5, false, 0, false },
	[COLUMN_MS] = { "ms/step", 8, true, 2, false },
	[COLUMN_STEPS] = { "STEPS", 6, true, 3, false },
	[COLUMN_TRAIN] = { "TRAIN s", 7, true, 4, false },
	[COLUMN_EVAL] = { "EVAL s", 7, true, 5, false },
	[COLUMN_SIZE] = { "BYTES", 11, true, 6, false },
	[COLUMN_VERDICT] = { "VERDICT", 12, false, 1, true },
};

/* A name that no group has is no baseline: nothing is judged then. */
static void
set_baseline(struct board_view *view, const char *key)
{
	struct err err = { ERR_NONE, "" };

	if (board_set_baseline(&view->board, key, &err))
		log_debug("board", "%s", err.text);
}

/* The runs of the model as a board; the baseline beside them. */
static void
build_board(struct board_view *view, const struct ui_shared *shared)
{
	const struct model *model = shared->model;
	const struct ui_baseline *baseline = shared->baseline;

	if (view->has_board)
		board_release(&view->board);
	board_init(&view->board,
		   shared->track != NULL ? shared->track : &view->open);
	view->has_board = true;
	for (size_t i = 0; i < model->n_runs; i++) {
		const struct model_run *mr = model->runs[i];

		char *key = ui_group_of(shared, mr);

		(void)board_add(&view->board, mr->path, key, NULL, &mr->run);
		free(key);
	}
	if (baseline != NULL && baseline->n_bpb > 0) {
		board_add_values(&view->board, baseline->name, baseline->bpb,
				 baseline->n_bpb);
		view->board.nats_per_bpb = baseline->nats_per_bpb;
		set_baseline(view, baseline->name);
	} else if (shared->reference != NULL) {
		char *key = ui_group_of(shared, shared->reference);

		set_baseline(view, key);
		free(key);
	}
	board_compute(&view->board);
	view->generation = model->generation;
	view->configured = shared->configured;
	view->computed_at_ms = shared->now_mono_ms;
}

static void
add_line(struct board_view *view, size_t group, size_t row)
{
	view->lines = xgrow(view->lines, view->n_lines, &view->cap_lines,
			    sizeof(*view->lines));
	view->lines[view->n_lines++] = (struct board_line){ group, row };
}

static void
build_lines(struct board_view *view)
{
	const struct board *board = &view->board;

	view->n_lines = 0;
	for (size_t i = 0; i < board->n_groups; i++) {
		size_t g = board->rank != NULL ? board->rank[i] : i;
		const struct board_group *group = &board->groups[g];

		add_line(view, g, SIZE_MAX);
		if (view->unfolded == NULL ||
		    strcmp(view->unfolded, group->key) != 0)
			continue;
		for (size_t k = 0; k < group->n_rows; k++)
			add_line(view, g, group->rows[k]);
	}
	table_set_rows(&view->table, view->n_lines);
}

/* Compute anew when the model changed, at most once a second. */
static void
update(struct board_view *view, const struct ui_shared *shared)
{
	int64_t age = shared->now_mono_ms - view->computed_at_ms;

	if (!view->has_board || view->configured != shared->configured ||
	    (view->generation != shared->model->generation &&
	     age >= COMPUTE_EVERY_MS))
		build_board(view, shared);
	build_lines(view);
}

/* A letter a cap: kept ✓, grace ~, broken ✗, unknown ·; none is left out. */
static void
caps_text(const enum board_kept *caps, struct table_cell *cell)
{
	static const char *const marks[] = {
		[CAP_NONE] = "",     [CAP_KEPT] = "✓",	 [CAP_GRACE] = "~",
		[CAP_UNKNOWN] = "·", [CAP_BROKEN] = "✗",
	};
	unsigned int style = STYLE_DONE;
	char text[32] = "";
	size_t n = 0;

	for (size_t i = 0; i < BOARD_CAP_COUNT; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s",
				      marks[caps[i]]);
		if (caps[i] == CAP_BROKEN)
			style = STYLE_ALARM;
		else if (caps[i] == CAP_UNKNOWN && style == STYLE_DONE)
			style = STYLE_HINT;
	}
	table_cellf(cell, style, "%s", text);
}

static void
verdict_cell(const struct board_group *group, struct table_cell *cell)
{
	static const unsigned int styles[] = {
		[BOARD_WORD_NONE] = STYLE_DIM,
		[BOARD_WORD_BASELINE] = STYLE_REFERENCE,
		[BOARD_WORD_NO_RUNS] = STYLE_DIM,
		[BOARD_WORD_INVALID] = STYLE_ALARM,
		[BOARD_WORD_NOT_JUDGED] = STYLE_HINT,
		[BOARD_WORD_BELOW_BAR] = STYLE_WORSE,
		[BOARD_WORD_NOT_SHOWN] = STYLE_HINT,
		[BOARD_WORD_SHOWN] = STYLE_BETTER,
	};
	enum board_word word = group->verdict.word;

	table_cellf(cell, styles[word], "%s",
		    group->verdict.text[0] != '\0' ? group->verdict.text
		    : word == BOARD_WORD_NONE	   ? FMT_ABSENT
						   : board_word_name(word));
}

static double
group_number(const struct board_group *group, size_t column)
{
	switch (column) {
	case COLUMN_SCORE:
		return group->n_counted > 0 || group->is_values
			       ? group->stats.mean
			       : RUN_ABSENT;
	case COLUMN_SD:
		return group->stats.sd_sample;
	case COLUMN_DELTA:
		return group->is_baseline ? RUN_ABSENT : group->verdict.delta;
	case COLUMN_P:
		return group->verdict.tests[0].p;
	case COLUMN_MS:
		return group->means.ms_per_step;
	case COLUMN_STEPS:
		return group->means.steps;
	case COLUMN_TRAIN:
		return group->means.train_ms / 1000;
	case COLUMN_EVAL:
		return run_has(group->means.eval_total_s)
			       ? group->means.eval_total_s
			       : group->means.eval_s;
	case COLUMN_SIZE:
		return group->max_artifact_bytes;
	default:
		return RUN_ABSENT;
	}
}

/* A number in the form of its column. */
static void
number_cell(size_t column, double value, struct table_cell *cell)
{
	static const int decimals[COLUMN_COUNT] = {
		[COLUMN_SCORE] = 5, [COLUMN_SD] = 5, [COLUMN_DELTA] = 5,
		[COLUMN_P] = 4,	    [COLUMN_MS] = 2, [COLUMN_TRAIN] = 1,
		[COLUMN_EVAL] = 1,
	};
	char text[FMT_SIZE];

	if (column == COLUMN_DELTA)
		table_cellf(cell, fmt_delta_style(value), "%s",
			    fmt_signed(value, 5, text));
	else if (column == COLUMN_SIZE || column == COLUMN_STEPS)
		table_cellf(cell, STYLE_NORMAL, "%s", fmt_grouped(value, text));
	else if (column == COLUMN_P && value < 1e-4)
		table_cellf(cell, STYLE_NORMAL, "%.0e", value);
	else
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_number(value, decimals[column], text));
}

static void
group_cell(const struct board_view *view, size_t row, size_t column,
	   struct table_cell *cell)
{
	const struct board_group *group =
		&view->board.groups[view->lines[row].group];
	size_t rank = 1;

	switch (column) {
	case COLUMN_RANK:
		for (size_t i = 0; i < row; i++)
			rank += view->lines[i].row == SIZE_MAX;
		table_cellf(cell, STYLE_DIM, "%zu", rank);
		break;
	case COLUMN_RECIPE:
		table_cellf(cell,
			    group->is_baseline ? STYLE_REFERENCE : STYLE_STRONG,
			    "%s%s", group->is_baseline ? "◆ " : "",
			    group->title != NULL ? group->title : group->key);
		break;
	case COLUMN_N:
		table_cellf(cell, STYLE_NORMAL, "%zu",
			    group->is_values ? group->stats.n
					     : group->n_counted);
		break;
	case COLUMN_CAPS:
		caps_text(group->caps, cell);
		break;
	case COLUMN_VERDICT:
		verdict_cell(group, cell);
		break;
	default:
		number_cell(column, group_number(group, column), cell);
		break;
	}
}

static double
run_number(const struct board_row *row, size_t column)
{
	const struct run *run = &row->run;

	switch (column) {
	case COLUMN_SCORE:
		return row->score;
	case COLUMN_MS:
		return run->ms_per_step;
	case COLUMN_STEPS:
		return run->steps;
	case COLUMN_TRAIN:
		return run->train_ms / 1000;
	case COLUMN_EVAL:
		return run_has(run->eval_total_s) ? run->eval_total_s
						  : run->eval_s;
	case COLUMN_SIZE:
		return run->artifact_bytes;
	default:
		return RUN_ABSENT;
	}
}

static void
seed_cell(const struct board_row *row, size_t column, struct table_cell *cell)
{
	char seed[FMT_SIZE];

	switch (column) {
	case COLUMN_RANK:
	case COLUMN_N:
	case COLUMN_SD:
	case COLUMN_DELTA:
	case COLUMN_P:
		break;
	case COLUMN_RECIPE:
		table_cellf(cell, STYLE_NORMAL, "   seed %s",
			    fmt_number(row->run.seed, 0, seed));
		break;
	case COLUMN_CAPS:
		caps_text(row->caps, cell);
		break;
	case COLUMN_VERDICT:
		table_cellf(
			cell, STYLE_HINT, "%s%s%s",
			row->use == BOARD_COUNTED ? ""
						  : board_use_name(row->use),
			row->use != BOARD_COUNTED && row->note[0] != '\0' ? ": "
									  : "",
			row->note);
		break;
	default:
		number_cell(column, run_number(row, column), cell);
		break;
	}
}

static void
board_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct board_view *view = user;
	const struct board_line *line = &view->lines[row];

	if (line->row == SIZE_MAX)
		group_cell(view, row, column, cell);
	else
		seed_cell(view->board.rows[line->row], column, cell);
}

static void
board_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	   struct rect r)
{
	static const char *const empty[] = {
		"No runs to rank yet.",
		"Finished runs of one folder are the seeds of one recipe.", NULL
	};
	struct board_view *view = state;
	const struct table_spec spec = { columns, COLUMN_COUNT, board_cell,
					 view,	  SIZE_MAX,	false };
	int details = r.h >= 16 ? 7 : 0, height, spread = 0;
	char title[160];

	update(view, shared);
	if (view->n_lines == 0) {
		panel_empty(canvas, r, empty);
		return;
	}
	(void)snprintf(title, sizeof(title), "Board%s%.60s%s",
		       shared->track != NULL ? " · track " : "",
		       shared->track != NULL ? shared->track->name : "",
		       shared->baseline == NULL && shared->reference == NULL
			       ? " · R sets the reference"
			       : "");
	/* Room that the table does not need shows where the seeds lie. */
	height = r.h - details;
	if (height - (int)view->n_lines - 3 >= BOARD_SPREAD_LEAST) {
		spread = board_panel_spread_height(&view->board);
		if (spread > height - (int)view->n_lines - 3)
			spread = height - (int)view->n_lines - 3;
		height = (int)view->n_lines + 3;
		details = r.h - height - spread;
	}
	if (spread > 0)
		board_panel_spread(
			&view->board, view->lines[view->table.selected].group,
			canvas,
			(struct rect){ r.x, r.y + height, r.w, spread });
	table_draw(&view->table, canvas,
		   panel_box(canvas, (struct rect){ r.x, r.y, r.w, height },
			     title),
		   &spec);
	if (details > 0)
		board_panel_verdict(
			&view->board, view->lines[view->table.selected].group,
			canvas,
			panel_box(canvas,
				  (struct rect){ r.x, r.y + height + spread,
						 r.w, details },
				  "Verdict"));
}

/* The model's run of the selected line; NULL for a group. */
static const struct model_run *
selected_run(const struct board_view *view, const struct ui_shared *shared)
{
	const struct board_line *line;
	const struct board_row *row;

	if (view->table.selected >= view->n_lines)
		return NULL;
	line = &view->lines[view->table.selected];
	if (line->row == SIZE_MAX)
		return NULL;
	row = view->board.rows[line->row];
	for (size_t i = 0; i < shared->model->n_runs; i++)
		if (strcmp(shared->model->runs[i]->path, row->path) == 0 &&
		    shared->model->runs[i]->run.run_index == row->run.run_index)
			return shared->model->runs[i];
	return NULL;
}

/* Unfold the group, fold it again, or open the seed's run. */
static void
open_line(struct board_view *view, struct ui_shared *shared)
{
	const struct board_line *line = &view->lines[view->table.selected];
	const char *key = view->board.groups[line->group].key;
	bool same = view->unfolded != NULL && strcmp(view->unfolded, key) == 0;
	const struct model_run *mr = selected_run(view, shared);

	if (mr != NULL) {
		shared->selected = mr;
		shared->go = ACTION_VIEW_RUN;
		return;
	}
	free(view->unfolded);
	view->unfolded = same ? NULL : xstrdup(key);
	build_lines(view);
}

/* A run of the group becomes the reference, and its group the baseline. */
static void
set_reference(struct board_view *view, struct ui_shared *shared)
{
	size_t g = view->lines[view->table.selected].group;
	const struct board_group *group = &view->board.groups[g];

	for (size_t i = 0; i < shared->model->n_runs; i++) {
		const struct model_run *mr = shared->model->runs[i];

		char *key = ui_group_of(shared, mr);
		bool same = strcmp(key, group->key) == 0;

		free(key);
		if (!same)
			continue;
		shared->reference = shared->reference == mr ? NULL : mr;
		build_board(view, shared);
		return;
	}
	ui_say(shared, "this group has no runs here");
}

static unsigned int
board_act(void *state, struct ui_shared *shared, enum action action,
	  struct command *out)
{
	struct board_view *view = state;

	(void)out;
	update(view, shared);
	if (view->n_lines == 0)
		return UI_IGNORED;
	if (table_act(&view->table, action)) {
		const struct model_run *mr = selected_run(view, shared);

		if (mr != NULL)
			shared->selected = mr;
		return UI_HANDLED;
	}
	if (action == ACTION_OPEN || action == ACTION_RIGHT)
		open_line(view, shared);
	else if (action == ACTION_REFERENCE)
		set_reference(view, shared);
	else
		return UI_IGNORED;
	return UI_HANDLED;
}

static bool
board_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct board_view *view = state;

	(void)shared;
	return table_click(&view->table, x, y);
}

/* The table as Markdown, as the command board prints it. */
static const char *
board_export(void *state, struct ui_shared *shared, struct buf *out)
{
	struct board_view *view = state;
	struct table_cell cell;

	update(view, shared);
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		buf_appendf(out, "| %s ", columns[c].title);
	buf_append_str(out, "|\n");
	for (size_t c = 0; c < COLUMN_COUNT; c++)
		buf_append_str(out, "| --- ");
	buf_append_str(out, "|\n");
	for (size_t i = 0; i < view->n_lines; i++) {
		for (size_t c = 0; c < COLUMN_COUNT; c++) {
			cell = (struct table_cell){ "", STYLE_NORMAL };
			board_cell(view, i, c, &cell);
			buf_append_str(out, "| ");
			for (const char *p = cell.text; *p != '\0'; p++) {
				if (*p == '|')
					buf_append_char(out, '\\');
				buf_append_char(out, *p);
			}
			buf_append_char(out, ' ');
		}
		buf_append_str(out, "|\n");
	}
	return "md";
}

static void
board_view_release(void *state)
{
	struct board_view *view = state;

	if (view->has_board)
		board_release(&view->board);
	free(view->lines);
	free(view->unfolded);
}

static const enum action hints[] = { ACTION_OPEN, ACTION_REFERENCE,
				     ACTION_VIEW_LOGS, ACTION_NONE };

const struct view_ops view_board = {
	.name = "Board",
	.open = ACTION_VIEW_BOARD,
	.state_size = sizeof(struct board_view),
	.places = IN_RUNS,
	.watches = MODEL_RUNS,
	.hints = hints,
	.draw = board_draw,
	.act = board_act,
	.click = board_click,
	.export = board_export,
	.release = board_view_release,
};
