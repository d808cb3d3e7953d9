/* SPDX-License-Identifier: MIT */
/* Fleet: a row a run, the selected run's chart, the caps as gauges. */
#include "config.h"

#include <stdio.h>

#include "base/xalloc.h"
#include "ui/fleet_table.h"
#include "ui/panel.h"
#include "ui/view.h"

static void
draw_chart(struct ui_shared *shared, struct canvas *canvas, struct rect rect,
	   enum plot_metric metric, bool plain)
{
	struct plot_request request = { .metric = metric,
					.rect = rect,
					.legend =
						metric == shared->chart.metric,
					.plain = plain,
					.marks = true };

	plot_request_runs(&request, shared);
	plot_draw(&request, shared, canvas);
}

/* The second and third chart: what the first does not show. */
static enum plot_metric
other_metric(enum plot_metric first, int which)
{
	static const enum plot_metric others[] = { PLOT_MS_STEP, PLOT_TOK_S,
						   PLOT_BPB };
	int n = 0;

	for (size_t i = 0; i < 3; i++)
		if (others[i] != first && n++ == which)
			return others[i];
	return PLOT_LOSS;
}

/* 80x24 and what is not much more: no frames, each line counts. */
static void
draw_small(struct fleet_table *fleet, struct ui_shared *shared,
	   struct canvas *canvas, struct rect r)
{
	int runs = (int)fleet->table.rows + 1;
	int budget = r.h >= 18 ? 4 : r.h >= 14 ? 3 : 0;

	if (runs > (r.h - budget) / 2)
		runs = (r.h - budget) / 2;
	fleet_table_draw(fleet, canvas, (struct rect){ r.x, r.y, r.w, runs });
	draw_chart(shared, canvas,
		   (struct rect){ r.x, r.y + runs, r.w, r.h - runs - budget },
		   shared->chart.metric, true);
	panel_budget(
		shared, canvas,
		(struct rect){ r.x + 1, r.y + r.h - budget, r.w - 2, budget });
}

static void
title_of_selected(const struct ui_shared *shared, const char *what, char *out,
		  size_t size)
{
	char label[FMT_LABEL];

	plot_run_label(shared->selected, label);
	(void)snprintf(out, size, "%s · %s", what, label);
}

/* 120x40: runs, two charts, the caps, the log's end. */
static void
draw_medium(struct fleet_table *fleet, struct ui_shared *shared,
	    struct canvas *canvas, struct rect r)
{
	int runs = (int)fleet->table.rows + 3, budget = 7, log, chart, left;
	char title[160];

	if (runs > r.h * 2 / 5)
		runs = r.h * 2 / 5;
	log = r.h >= 34 ? 5 : 0;
	chart = r.h - runs - budget - log;
	left = r.w * 6 / 10;
	(void)snprintf(title, sizeof(title), "Runs (%zu)", fleet->table.rows);
	fleet_table_draw(
		fleet, canvas,
		panel_box(canvas, (struct rect){ r.x, r.y, r.w, runs }, title));
	draw_chart(shared, canvas,
		   (struct rect){ r.x, r.y + runs, left, chart },
		   shared->chart.metric, false);
	draw_chart(shared, canvas,
		   (struct rect){ r.x + left, r.y + runs, r.w - left, chart },
		   other_metric(shared->chart.metric, 0), false);
	title_of_selected(shared, "Budget", title, sizeof(title));
	panel_budget(
		shared, canvas,
		panel_box(canvas,
			  (struct rect){ r.x, r.y + runs + chart, r.w, budget },
			  title));
	if (log > 0) {
		title_of_selected(shared, "Log", title, sizeof(title));
		panel_log(shared, canvas,
			  panel_box(canvas,
				    (struct rect){ r.x, r.y + r.h - log, r.w,
						   log },
				    title));
	}
}

/* 200x60: three charts, pods and events beside the caps. */
static void
draw_large(struct fleet_table *fleet, struct ui_shared *shared,
	   struct canvas *canvas, struct rect r)
{
	int runs = (int)fleet->table.rows + 3, budget = 9, log = 12, chart, y;
	int half = r.w / 2, third = r.w / 4;
	char title[160];

	if (runs > r.h / 3)
		runs = r.h / 3;
	chart = r.h - runs - budget - log;
	(void)snprintf(title, sizeof(title), "Runs (%zu)", fleet->table.rows);
	fleet_table_draw(
		fleet, canvas,
		panel_box(canvas, (struct rect){ r.x, r.y, r.w, runs }, title));
	y = r.y + runs;
	draw_chart(shared, canvas, (struct rect){ r.x, y, half, chart },
		   shared->chart.metric, false);
	draw_chart(shared, canvas, (struct rect){ r.x + half, y, third, chart },
		   other_metric(shared->chart.metric, 0), false);
	draw_chart(shared, canvas,
		   (struct rect){ r.x + half + third, y, r.w - half - third,
				  chart },
		   other_metric(shared->chart.metric, 1), false);
	y += chart;
	title_of_selected(shared, "Budget", title, sizeof(title));
	panel_budget(shared, canvas,
		     panel_box(canvas, (struct rect){ r.x, y, half, budget },
			       title));
	panel_pods(shared, canvas,
		   panel_box(canvas,
			     (struct rect){ r.x + half, y, r.w - half, budget },
			     "Pods"));
	y += budget;
	title_of_selected(shared, "Log", title, sizeof(title));
	panel_log(shared, canvas,
		  panel_box(canvas, (struct rect){ r.x, y, half, log }, title));
	panel_events(shared, canvas,
		     panel_box(canvas,
			       (struct rect){ r.x + half, y, r.w - half, log },
			       "Events · ! all"));
}

static void
fleet_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	   struct rect rect)
{
	static const char *const no_pods[] = {
		"No runs yet, and no pods.",
		"hgym-tui LOG...      opens logs that lie here",
		"hgym-tui demo        shows a fleet that is made up",
		"hgym-tui doctor      says what is set up and what is not",
		"man hgym-tui-config  how the configuration names pods",
		NULL
	};
	static const char *const no_runs[] = {
		"No runs yet.", "7  the pods: their links, and why one fails",
		"!  what happened so far",
		"\"logs\" of a pod in the configuration say where to look", NULL
	};
	struct fleet_table *fleet = state;

	fleet_table_fill(fleet, shared);
	if (fleet->table.rows == 0)
		panel_empty(canvas, rect,
			    shared->model->n_pods > 0 ? no_runs : no_pods);
	else if (rect.w >= 170 && rect.h >= 50)
		draw_large(fleet, shared, canvas, rect);
	else if (rect.w >= 100 && rect.h >= 30)
		draw_medium(fleet, shared, canvas, rect);
	else if (rect.w >= 60 && rect.h >= 12)
		draw_small(fleet, shared, canvas, rect);
	else
		fleet_table_draw(fleet, canvas, rect);
}

static char *
row_text(const struct ui_shared *shared)
{
	const struct model_run *mr = shared->selected;
	char label[FMT_LABEL], bpb[FMT_SIZE], ms[FMT_SIZE];

	plot_run_label(mr, label);
	return xasprintf("%s\tBPB %s\t%s ms/step\t%s", label,
			 fmt_number(run_has(mr->run.final_bpb)
					    ? mr->run.final_bpb
					    : mr->run.last_val_bpb,
				    6, bpb),
			 fmt_number(mr->run.ms_per_step, 2, ms), mr->path);
}

static unsigned int
fleet_act(void *state, struct ui_shared *shared, enum action action,
	  struct command *out)
{
	struct fleet_table *fleet = state;

	if (table_act(&fleet->table, action)) {
		if (fleet->table.selected < fleet->table.rows)
			shared->selected =
				fleet->rows[fleet->table.selected].mr;
		return UI_HANDLED;
	}
	if (action == ACTION_OPEN && shared->selected != NULL) {
		shared->go = ACTION_VIEW_RUN;
		return UI_HANDLED;
	}
	if (action == ACTION_SORT) {
		fleet_table_sort_next(fleet);
		return UI_HANDLED;
	}
	if (action == ACTION_SORT_REVERSE) {
		fleet->descending = !fleet->descending;
		return UI_HANDLED;
	}
	if (action == ACTION_COPY && shared->selected != NULL) {
		out->id = COMMAND_COPY;
		out->text = row_text(shared);
		return UI_HANDLED | UI_COMMAND;
	}
	return ui_chart_act(&shared->chart, action);
}

static bool
fleet_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct fleet_table *fleet = state;

	if (!table_click(&fleet->table, x, y))
		return false;
	shared->selected = fleet->rows[fleet->table.selected].mr;
	return true;
}

static const char *
fleet_export(void *state, struct ui_shared *shared, struct buf *out)
{
	fleet_table_export(state, shared->model, out);
	return "csv";
}

static void
fleet_release(void *state)
{
	fleet_table_release(state);
}

static const enum action hints[] = { ACTION_OPEN,      ACTION_MARK,
				     ACTION_REFERENCE, ACTION_SORT,
				     ACTION_VIEW_LOGS, ACTION_METRIC_NEXT,
				     ACTION_NONE };

const struct view_ops view_fleet = {
	.name = "Fleet",
	.open = ACTION_VIEW_FLEET,
	.state_size = sizeof(struct fleet_table),
	.places = IN_RUNS | IN_CHARTS,
	.watches = MODEL_PODS | MODEL_RUNS | MODEL_SAMPLES | MODEL_LOGS,
	.copies = true,
	.hints = hints,
	.draw = fleet_draw,
	.act = fleet_act,
	.click = fleet_click,
	.export = fleet_export,
	.release = fleet_release,
};
