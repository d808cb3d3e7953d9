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
#include "ui/pod_panel.h"
#include "ui/theme.h"
#include "ui/view.h"

struct pods {
	struct table table;
	size_t *order; /* owned; the pod of each row */
	size_t n_order, cap_order;
	size_t pod;			/* the selected one */
	size_t sort;			/* index of sorts */
	const struct ui_shared *shared; /* while it draws or sorts */
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
	PODS_CHECK,
	PODS_RUNS,
	PODS_USD,
	PODS_TARGET,
	PODS_COLUMNS
};

static const struct table_column columns[PODS_COLUMNS] = {
	[PODS_SYMBOL] = { "", 1, false, 0, false },
	[PODS_NAME] = { "POD", 12, false, 0, true },
	[PODS_STATE] = { "LINK", 12, false, 0, false },
	[PODS_LAG] = { "LAG ms", 7, true, 6, false },
	[PODS_UTIL] = { "GPU %", 5, true, 0, false },
	[PODS_MEM] = { "MEM GiB", 7, true, 3, false },
	[PODS_POWER] = { "W", 4, true, 2, false },
	[PODS_TEMP] = { "°C", 3, true, 0, false },
	[PODS_CLOCK] = { "SM MHz", 6, true, 4, false },
	[PODS_DISK] = { "DISK free", 9, true, 0, false },
	[PODS_CHECK] = { "CHECK", 7, false, 5, false },
	[PODS_RUNS] = { "RUNS", 5, true, 0, false },
	[PODS_USD] = { "$/h", 6, true, 7, false },
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

/* The worst first. */
static double
trouble(enum pod_state state)
{
	static const enum pod_state worst_last[] = {
		POD_LIVE,	  POD_SILENT, POD_UNKNOWN, POD_CONNECTING,
		POD_RECONNECTING, POD_GONE,   POD_REFUSED,
	};

	for (size_t i = 0; i < sizeof(worst_last) / sizeof(*worst_last); i++)
		if (worst_last[i] == state)
			return (double)i;
	return 0;
}

/* What a pod is sorted by; the greatest is first, absent ones are last. */
static double
sort_key(const struct pods *pods, size_t pod, size_t column)
{
	const struct model_pod *mp = &pods->shared->model->pods[pod];

	switch (column) {
	case PODS_STATE:
		return trouble(mp->state);
	case PODS_DISK:
		return -mp->disk_free_bytes; /* the fullest */
	case PODS_RUNS:
		return (double)live_runs(pods->shared->model, pod);
	default:
		return pod_number(mp, column);
	}
}

static const size_t sorts[] = { PODS_SYMBOL, PODS_NAME, PODS_STATE, PODS_LAG,
				PODS_UTIL,   PODS_MEM,	PODS_TEMP,  PODS_DISK,
				PODS_RUNS,   PODS_USD };

static bool
comes_before(const struct pods *pods, size_t a, size_t b)
{
	const struct model *model = pods->shared->model;
	size_t column = sorts[pods->sort];
	double x, y;

	if (column == PODS_SYMBOL)
		return a < b;
	if (column == PODS_NAME)
		return strcmp(model->pods[a].name, model->pods[b].name) < 0;
	x = sort_key(pods, a, column);
	y = sort_key(pods, b, column);
	if (isnan(x) || isnan(y))
		return !isnan(x) && isnan(y);
	return x > y;
}

/* The rows' pods, in order; the selected pod stays selected. */
static void
sort_rows(struct pods *pods, const struct ui_shared *shared)
{
	size_t n = shared->model->n_pods;

	pods->shared = shared;
	if (pods->n_order == n && n > 0)
		pods->pod = pods->order[pods->table.selected < n
						? pods->table.selected
						: n - 1];
	while (pods->n_order < n) {
		pods->order = xgrow(pods->order, pods->n_order,
				    &pods->cap_order, sizeof(*pods->order));
		pods->n_order++;
	}
	pods->n_order = n;
	/* Few, and nearly in order each time. */
	for (size_t i = 0; i < n; i++) {
		size_t k = i;

		for (; k > 0 && comes_before(pods, i, pods->order[k - 1]); k--)
			pods->order[k] = pods->order[k - 1];
		pods->order[k] = i;
	}
	table_set_rows(&pods->table, n);
	for (size_t i = 0; i < n; i++)
		if (pods->order[i] == pods->pod)
			pods->table.selected = i;
	if (pods->pod >= n)
		pods->pod = 0;
}

static void
check_cell(const struct model_pod *pod, struct table_cell *cell)
{
	const struct model_check *check = &pod->check;

	if (check->is_running)
		table_cellf(cell, STYLE_HINT, "…");
	else if (check->wall_ms == 0)
		table_cellf(cell, STYLE_DIM, "—");
	else
		table_cellf(cell, check->is_fit ? STYLE_LIVE : STYLE_WARN,
			    check->is_fit ? "fit" : "not fit");
}

static void
pods_cell(void *user, size_t row, size_t column, struct table_cell *cell)
{
	const struct pods *pods = user;
	const struct model *model = pods->shared->model;
	const struct model_pod *pod = &model->pods[pods->order[row]];
	bool is_now = pod->state == POD_LIVE || pod->state == POD_SILENT;
	char text[FMT_SIZE], symbol[5] = "";
	unsigned int style, of_value = is_now ? STYLE_NORMAL : STYLE_DIM;
	uint32_t cp = panel_pod_symbol(pod, &style);

	switch (column) {
	case PODS_SYMBOL:
		if (ui_is_pod_marked(pods->shared, pods->order[row])) {
			cp = '+';
			style = STYLE_KEY;
		}
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
		table_cellf(cell, of_value, "%s",
			    fmt_bytes(pod->disk_free_bytes, text));
		break;
	case PODS_CHECK:
		check_cell(pod, cell);
		break;
	case PODS_RUNS:
		table_cellf(cell, STYLE_NORMAL, "%zu",
			    live_runs(model, pods->order[row]));
		break;
	case PODS_TARGET:
		table_cellf(cell, STYLE_DIM, "%s", pod->target);
		break;
	default:
		table_cellf(cell, of_value, "%s",
			    fmt_number(pod_number(pod, column),
				       column == PODS_USD   ? 2
				       : column == PODS_MEM ? 1
							    : 0,
				       text));
		break;
	}
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
	size_t column = sorts[pods->sort];
	const struct table_spec spec = {
		columns,
		PODS_COLUMNS,
		pods_cell,
		pods,
		column == PODS_SYMBOL ? SIZE_MAX : column,
		column != PODS_NAME && column != PODS_DISK
	};
	char title[FMT_LABEL];
	int rows;

	sort_rows(pods, shared);
	if (pods->table.rows == 0) {
		panel_empty(canvas, r, empty);
		return;
	}
	rows = (int)pods->table.rows + 3;
	if (rows > r.h / 2)
		rows = r.h / 2;
	table_draw(
		&pods->table, canvas,
		panel_box(canvas, (struct rect){ r.x, r.y, r.w, rows }, "Pods"),
		&spec);
	(void)snprintf(title, sizeof(title), "%.60s",
		       shared->model->pods[pods->pod].name);
	pod_panel_draw(
		shared, pods->pod, canvas,
		panel_box(canvas,
			  (struct rect){ r.x, r.y + rows, r.w, r.h - rows },
			  title));
}

/* What is asked of the selected pod. */
static enum command_id
command_of(enum action action)
{
	static const struct {
		enum action action;
		enum command_id command;
	} pairs[] = {
		{ ACTION_RECONNECT, COMMAND_RECONNECT },
		{ ACTION_CHECK, COMMAND_CHECK },
		{ ACTION_SHELL, COMMAND_SHELL },
		{ ACTION_BENCH_START, COMMAND_BENCH_PICK },
		{ ACTION_AUDIT, COMMAND_BENCH_AUDIT },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i].action == action)
			return pairs[i].command;
	return COMMAND_NONE;
}

static unsigned int
pods_act(void *state, struct ui_shared *shared, enum action action,
	 struct command *out)
{
	struct pods *pods = state;

	sort_rows(pods, shared);
	if (action == ACTION_SORT_PODS) {
		pods->sort =
			(pods->sort + 1) % (sizeof(sorts) / sizeof(sorts[0]));
		ui_say(shared, "sorted by %s",
		       pods->sort == 0 ? "their place in the configuration"
				       : columns[sorts[pods->sort]].title);
		return UI_HANDLED;
	}
	if (table_act(&pods->table, action)) {
		if (pods->table.rows > 0)
			pods->pod = pods->order[pods->table.selected];
		return UI_HANDLED;
	}
	if (pods->table.rows == 0)
		return UI_IGNORED;
	if (action == ACTION_POD_MARK) {
		ui_toggle_pod(shared, pods->pod);
		return UI_HANDLED;
	}
	out->id = command_of(action);
	if (out->id == COMMAND_BENCH_PICK || out->id == COMMAND_BENCH_AUDIT)
		out->text = ui_pod_names(shared, pods->pod);
	if (action == ACTION_COPY) {
		out->id = COMMAND_COPY;
		out->text = xstrdup(shared->model->pods[pods->pod].target);
	}
	if (out->id == COMMAND_NONE)
		return UI_IGNORED;
	out->pod = pods->pod;
	return UI_HANDLED | UI_COMMAND;
}

static void
pods_release(void *state)
{
	struct pods *pods = state;

	free(pods->order);
}

static bool
pods_click(void *state, struct ui_shared *shared, int x, int y)
{
	struct pods *pods = state;

	(void)shared;
	return table_click(&pods->table, x, y);
}

static const enum action hints[] = { ACTION_POD_MARK,  ACTION_BENCH_START,
				     ACTION_AUDIT,     ACTION_CHECK,
				     ACTION_SHELL,     ACTION_RECONNECT,
				     ACTION_SORT_PODS, ACTION_NONE };

const struct view_ops view_pods = {
	.name = "Pods",
	.open = ACTION_VIEW_PODS,
	.state_size = sizeof(struct pods),
	.places = IN_PODS,
	.watches = MODEL_PODS | MODEL_RUNS,
	.copies = true,
	.hints = hints,
	.draw = pods_draw,
	.act = pods_act,
	.click = pods_click,
	.release = pods_release,
};
