/* SPDX-License-Identifier: MIT */
/* Board: the leaderboard over seeds, live, with the seeds unfolding. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/board.h"
#include "ui/board_lines.h"
#include "ui/board_panels.h"
#include "ui/panel.h"
#include "ui/view.h"

#define COMPUTE_EVERY_MS 1000

struct board_view {
	struct table table;
	struct board board;
	bool has_board;
	struct track open;   /* when there is no track: no caps, no record */
	uint64_t generation; /* of the model, when it was computed */
	unsigned int configured; /* what it was computed by */
	int64_t computed_at_ms;
	struct board_lines lines;
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
build_lines(struct board_view *view)
{
	board_lines_fill(&view->lines, &view->board);
	table_set_rows(&view->table, view->lines.n);
}

/* Compute anew when the model changed, at most once a second. */
static void
update(struct board_view *view, const struct ui_shared *shared)
{
	int64_t age_ms = shared->now_mono_ms - view->computed_at_ms;

	if (!view->has_board || view->configured != shared->configured ||
	    (view->generation != shared->model->generation &&
	     age_ms >= COMPUTE_EVERY_MS))
		build_board(view, shared);
	build_lines(view);
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
	int details = r.h >= 16 ? 7 : 0, height, spread = 0;
	char title[160];

	update(view, shared);
	if (view->lines.n == 0) {
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
	if (height - (int)view->lines.n - 3 >= BOARD_SPREAD_LEAST) {
		spread = board_panel_spread_height(&view->board);
		if (spread > height - (int)view->lines.n - 3)
			spread = height - (int)view->lines.n - 3;
		height = (int)view->lines.n + 3;
		details = r.h - height - spread;
	}
	if (spread > 0)
		board_panel_spread(
			&view->board,
			view->lines.at[view->table.selected].group, canvas,
			(struct rect){ r.x, r.y + height, r.w, spread });
	board_lines_draw(&view->lines, &view->table, canvas,
			 panel_box(canvas,
				   (struct rect){ r.x, r.y, r.w, height },
				   title));
	if (details > 0)
		board_panel_verdict(
			&view->board,
			view->lines.at[view->table.selected].group, canvas,
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

	if (view->table.selected >= view->lines.n)
		return NULL;
	line = &view->lines.at[view->table.selected];
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
	const struct model_run *mr = selected_run(view, shared);

	if (mr != NULL) {
		shared->selected = mr;
		shared->go = ACTION_VIEW_RUN;
		return;
	}
	board_lines_toggle(&view->lines,
			   view->lines.at[view->table.selected].group);
	table_set_rows(&view->table, view->lines.n);
}

/* A run of the group becomes the reference, and its group the baseline. */
static void
set_reference(struct board_view *view, struct ui_shared *shared)
{
	size_t g = view->lines.at[view->table.selected].group;
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
	if (view->lines.n == 0)
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

static const char *
board_export(void *state, struct ui_shared *shared, struct buf *out)
{
	struct board_view *view = state;

	update(view, shared);
	board_lines_export(&view->lines, out);
	return "md";
}

static void
board_view_release(void *state)
{
	struct board_view *view = state;

	if (view->has_board)
		board_release(&view->board);
	board_lines_release(&view->lines);
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
