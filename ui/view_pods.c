/* SPDX-License-Identifier: MIT */
/* Pods: link, GPU, disk, runs, and what is wrong with each. */
#include "config.h"

#include <math.h>
#include <stdarg.h>
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
	size_t *order; /* owned; the pod of each row */
	size_t n_order, cap_order;
	size_t pod;			/* the selected one */
	size_t sort;			/* index of sorts */
	const struct ui_shared *shared; /* while it draws or sorts */
};

#define LABEL_COLUMNS 7

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

/* A label and text behind it, over several lines; *r is what is left. */
static void
put_text(struct canvas *canvas, struct rect *r, unsigned int style,
	 const char *label, const char *text)
{
	struct str rest = str_from(text);
	int width = r->w - LABEL_COLUMNS;

	if (r->h > 0 && label[0] != '\0')
		(void)canvas_text(canvas, r->x, r->y, STYLE_DIM, label);
	do {
		size_t n = utf8_prefix(rest, (size_t)(width > 8 ? width : 8));
		size_t end = n;

		/* At a blank, where there is one. */
		while (end < rest.len && end > 0 && rest.p[end] != ' ')
			end--;
		if (end > 0)
			n = end;
		if (r->h-- <= 0)
			return;
		canvas_line(
			canvas,
			(struct rect){ r->x + LABEL_COLUMNS, r->y++, width, 1 },
			style, (struct str){ rest.p, n });
		rest.p += n;
		rest.len -= n;
		rest = str_trim(rest);
	} while (rest.len > 0);
}

__attribute__((format(printf, 5, 6))) static void
put_line(struct canvas *canvas, struct rect *r, unsigned int style,
	 const char *label, const char *fmt, ...)
{
	char text[1000];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put_text(canvas, r, style, label, text);
}

/* The link, and why it is as it is. */
static void
draw_link(const struct ui_shared *shared, const struct model_pod *pod,
	  struct canvas *canvas, struct rect *r)
{
	const char *why = pod->why != NULL ? pod->why : "";
	char age[FMT_SIZE], lag[40] = "";
	unsigned int style;

	(void)panel_pod_symbol(pod, &style);
	if (pod->lag_ms >= 0 &&
	    (pod->state == POD_LIVE || pod->state == POD_SILENT))
		(void)snprintf(lag, sizeof(lag), ", answers in %lld ms",
			       (long long)pod->lag_ms);
	put_line(canvas, r, style, "link", "%s%s%s%s · %s",
		 pod_state_name(pod->state), lag, why[0] != '\0' ? ": " : "",
		 why, pod->target);
	if (pod->retry_at_ms > shared->now_mono_ms)
		put_line(canvas, r, STYLE_HINT, "",
			 "next try in %s; r tries now",
			 fmt_age((double)(pod->retry_at_ms -
					  shared->now_mono_ms) /
					 1000,
				 age));
}

/* The last preflight, with its time. */
static void
draw_check(const struct ui_shared *shared, const struct model_pod *pod,
	   struct canvas *canvas, struct rect *r)
{
	const struct model_check *check = &pod->check;
	char clock[FMT_SIZE], age[FMT_SIZE];

	if (check->wall_ms == 0) {
		put_text(canvas, r, STYLE_HINT, "check",
			 check->is_running
				 ? "is under way"
				 : "not checked yet; c logs in and looks");
		return;
	}
	put_line(canvas, r, check->is_fit ? STYLE_LIVE : STYLE_WARN, "check",
		 "%s, as of %s, %s ago%s",
		 check->is_fit ? "fit for a run" : "not fit for a run",
		 fmt_clock(check->wall_ms, clock),
		 fmt_age((double)(shared->now_wall_ms - check->wall_ms) / 1000,
			 age),
		 check->is_running ? "; another is under way" : "");
	for (size_t i = 0; i < check->n_lines; i++)
		put_text(canvas, r, STYLE_NORMAL, "", check->lines[i]);
}

/* What the noise register knows of the pod, a line a class. */
static void
draw_noise(const struct pods *pods, const struct model_pod *pod,
	   struct canvas *canvas, struct rect *r)
{
	const struct model *model = pods->shared->model;
	const char *label = "A/A";
	char shows[FMT_SIZE], rank[64];

	for (size_t i = 0; i < model->n_noise; i++) {
		const struct model_noise *noise = &model->noise[i];

		if (strcmp(noise->pod, pod->name) != 0)
			continue;
		rank[0] = '\0';
		if (noise->rank > 0)
			(void)snprintf(rank, sizeof(rank), ", rank %zu of %zu",
				       noise->rank, noise->of);
		put_line(canvas, r, STYLE_NORMAL, label,
			 "sd %.2f%%, 6 blocks show %s%%%s (%zu runs of %s)",
			 noise->sd, fmt_number(noise->shows[1], 2, shows), rank,
			 noise->n_runs, noise->class_name);
		label = "";
	}
}

/* What is known of the selected pod, and its alerts. */
static void
draw_details(const struct pods *pods, struct canvas *canvas, struct rect r)
{
	const struct ui_shared *shared = pods->shared;
	const struct alerts *alerts = shared->alerts;
	const struct model_pod *pod = &shared->model->pods[pods->pod];
	char label[FMT_LABEL];

	draw_link(shared, pod, canvas, &r);
	if (pod->gpu_name != NULL)
		put_text(canvas, &r, STYLE_NORMAL, "GPU", pod->gpu_name);
	draw_check(shared, pod, canvas, &r);
	draw_noise(pods, pod, canvas, &r);
	for (size_t i = 0; i < alerts->n; i++) {
		const struct alert *alert = &alerts->v[i];

		if (alert->pod != pods->pod)
			continue;
		label[0] = '\0';
		if (alert->mr != NULL)
			plot_run_label(alert->mr, label);
		put_line(canvas, &r,
			 alert->acknowledged ? STYLE_DIM : STYLE_WARN, "alert",
			 "%s  %s%s%s", alert_name(alert->kind), label,
			 label[0] != '\0' ? ": " : "", alert->text);
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
	draw_details(
		pods, canvas,
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
	.hints = hints,
	.draw = pods_draw,
	.act = pods_act,
	.click = pods_click,
	.release = pods_release,
};
