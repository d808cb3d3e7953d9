/* SPDX-License-Identifier: MIT */
/* Pods: link, GPU, disk, runs, and what is wrong with each. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "ui/panel.h"
#include "ui/theme.h"
#include "ui/view.h"

struct pods {
	struct table table;
	struct ui_shared *shared; /* while it draws */
};

enum pods_column {
	PODS_SYMBOL,
	PODS_NAME,
	PODS_STATE,
	PODS_LAG,
	PODS_UTIL,
	PODS_MEM,
	PODS_POWER,
	PODS_TEMP,
	PODS_CLOCK,
	PODS_DISK,
	PODS_RUNS,
	PODS_USD,
	PODS_TARGET,
	PODS_COLUMNS
};

static const struct table_column columns[PODS_COLUMNS] = {
	[PODS_SYMBOL] = { "", 1, false, 0, false },
	[PODS_NAME] = { "POD", 12, false, 0, true },
	[PODS_STATE] = { "LINK", 12, false, 0, false },
	[PODS_LAG] = { "LAG ms", 7, true, 5, false },
	[PODS_UTIL] = { "GPU %", 5, true, 0, false },
	[PODS_MEM] = { "MEM GiB", 7, true, 3, false },
	[PODS_POWER] = { "W", 4, true, 2, false },
	[PODS_TEMP] = { "°C", 3, true, 0, false },
	[PODS_CLOCK] = { "SM MHz", 6, true, 4, false },
	[PODS_DISK] = { "DISK free", 9, true, 0, false },
	[PODS_RUNS] = { "RUNS", 5, true, 0, false },
	[PODS_USD] = { "$/h", 6, true, 6, false },
	[PODS_TARGET] = { "TARGET", 16, false, 1, true },
};

static size_t
live_runs(const struct model *model, size_t pod)
{
	size_t n = 0;

	for (size_t i = 0; i < model->n_runs; i++)
		n += model->runs[i]->pod == pod &&
		     model->runs[i]->run.status == RUN_RUNNING &&
		     model->runs[i]->live;
	return n;
}

static double
pod_number(const struct model_pod *pod, size_t column)
{
	switch (column) {
	case PODS_LAG:
		return pod->lag_ms >= 0 ? (double)pod->lag_ms : RUN_ABSENT;
	case PODS_UTIL:
		return panel_pod_last(pod, METRIC_GPU_UTIL);
	case PODS_MEM:
		return panel_pod_last(pod, METRIC_GPU_MEM_MIB) / 1024;
	case PODS_POWER:
		return panel_pod_last(pod, METRIC_GPU_POWER_W);
	case PODS_TEMP:
		return panel_pod_last(pod, METRIC_GPU_TEMP_C);
	case PODS_CLOCK:
		return panel_pod_last(pod, METRIC_GPU_SM_MHZ);
	default:
		return pod->usd_per_hour;
	}
}

static void
pods_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct pods *pods = user;
	const struct model *model = pods->shared->model;
	const struct model_pod *pod = &model->pods[row];
	char text[FMT_SIZE], symbol[5] = "";
	unsigned int style;
	uint32_t cp = panel_pod_symbol(pod, &style);

	switch (column) {
	case PODS_SYMBOL:
		symbol[utf8_encode(cp, symbol)] = '\0';
		table_cellf(cell, style, "%s", symbol);
		break;
	case PODS_NAME:
		table_cellf(cell, STYLE_NORMAL, "%s", pod->name);
		break;
	case PODS_STATE:
		table_cellf(cell, style, "%s", pod_state_name(pod->state));
		break;
	case PODS_DISK:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_bytes(pod->disk_free_bytes, text));
		break;
	case PODS_RUNS:
		table_cellf(cell, STYLE_NORMAL, "%zu", live_runs(model, row));
		break;
	case PODS_TARGET:
		table_cellf(cell, STYLE_DIM, "%s", pod->target);
		break;
	default:
		table_cellf(cell, STYLE_NORMAL, "%s",
			    fmt_number(pod_number(pod, column),
				       column == PODS_USD   ? 2
				       : column == PODS_MEM ? 1
							    : 0,
				       text));
		break;
	}
}

/* Why the link is as it is, and the alerts of the pod. */
static void
draw_details(const struct pods *pods, struct canvas *canvas, struct rect r)
{
	const struct ui_shared *shared = pods->shared;
	const struct alerts *alerts = shared->alerts;
	const struct model_pod *pod =
		&shared->model->pods[pods->table.selected];
	char age[FMT_SIZE], label[FMT_LABEL];
	int y = r.y;

	if (pod->gpu_name != NULL)
		(void)canvas_textf(canvas, r.x, y++, STYLE_NORMAL, "GPU  %s",
				   pod->gpu_name);
	if (pod->why != NULL)
		(void)canvas_textf(canvas, r.x, y++, STYLE_WARN, "link %s",
				   pod->why);
	if (pod->retry_at_ms > shared->now_mono_ms)
		(void)canvas_textf(canvas, r.x, y++, STYLE_HINT,
				   "next try in %s; r tries now",
				   fmt_age((double)(pod->retry_at_ms -
						    shared->now_mono_ms) /
						   1000,
					   age));
	for (size_t i = 0; i < alerts->n && y < r.y + r.h; i++) {
		const struct alert *alert = &alerts->v[i];

		if (alert->pod != pods->table.selected)
			continue;
		label[0] = '\0';
		if (alert->mr != NULL)
			plot_run_label(alert->mr, label);
		(void)canvas_textf(canvas, r.x, y++,
				   alert->acknowledged ? STYLE_DIM : STYLE_WARN,
				   "%s  %s%s%s", alert_name(alert->kind), label,
				   label[0] != '\0' ? ": " : "", alert->text);
	}
	if (y == r.y)
		(void)canvas_text(canvas, r.x, y, STYLE_DIM,
				  "nothing is wrong with this pod");
}

static void
pods_draw(void *state, struct ui_shared *shared, struct canvas *canvas,
	  struct rect r)
{
	static const char *const empty[] = {
		"No pods.",
		"Name them in the configuration (man hgym-tui-config).",
		"hgym-tui doctor says where it is.", NULL
	};
	struct pods *pods = state;
	const struct table_spec spec = { columns, PODS_COLUMNS, pods_cell,
					 pods,	  SIZE_MAX,	false };
	char title[FMT_LABEL];
	int rows;

	pods->shared = shared;
	table_set_rows(&pods->table, shared->model->n_pods);
	if (pods->table.rows == 0) {
		panel_empty(canvas, r, empty);
		return;
	}
	rows = (int)pods->table.rows + 3;
	if (rows > r.h * 2 / 3)
		rows = r.h * 2 / 3;
	table_draw(
		&pods->table, canvas,
		panel_box(canvas, (struct rect){ r.x, r.y, r.w, rows }, "Pods"),
		&spec);
	(void)snprintf(title, sizeof(title), "%.60s",
		       shared->model->pods[pods->table.selected].name);
	draw_details(
		pods, canvas,
		panel_box(canvas,
			  (struct rect){ r.x, r.y + rows, r.w, r.h - rows },
			  title));
}

static unsigned int
pods_act(void *state, struct ui_shared *shared, enum action action,
	 struct command *out)
{
	struct pods *pods = state;

	table_set_rows(&pods->table, shared->model->n_pods);
	if (table_act(&pods->table, action))
		return UI_HANDLED;
	if (pods->table.rows == 0)
		return UI_IGNORED;
	if (action == ACTION_RECONNECT) {
		out->id = COMMAND_RECONNECT;
		out->pod = pods->table.selected;
		return UI_HANDLED | UI_COMMAND;
	}
	if (action == ACTION_COPY) {
		out->id = COMMAND_COPY;
		out->text = xstrdup(
			shared->model->pods[pods->table.selected].target);
		return UI_HANDLED | UI_COMMAND;
	}
	return UI_IGNORED;
}

static bool
pods_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct pods *pods = state;

	(void)shared;
	return table_click(&pods->table, x, y);
}

static const enum action hints[] = { ACTION_RECONNECT, ACTION_ACKNOWLEDGE,
				     ACTION_MUTE, ACTION_NONE };

const struct view_ops view_pods = {
	.name = "Pods",
	.open = ACTION_VIEW_PODS,
	.state_size = sizeof(struct pods),
	.places = IN_PODS,
	.watches = MODEL_PODS | MODEL_RUNS,
	.hints = hints,
	.draw = pods_draw,
	.act = pods_act,
	.click = pods_click,
};
