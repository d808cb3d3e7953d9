/* SPDX-License-Identifier: MIT */
/* The view of the pods: connection, GPU, disk and runs, with more details of the selected pod. */
#include "base/sort.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define LABEL_COLUMNS  7
#define CHART_COLUMNS  38 /* minimum width of a readable chart */
#define CHART_ROWS     8
#define CHART_ROWS_MAX 20
#define WINDOW_S       3600.0
#define RUNS_SHOWN     3 /* number of runs that the details of a pod name */
#define MEDIAN_PODS    64
#define BARS	       12 /* number of bars for the last hour */
#define BUCKETS	       60 /* number of minutes in the last hour */

#define PODS_LIST(X)                                                                \
	X(PODS_SYMBOL, "", 1, .drop = 0)                                            \
	X(PODS_NAME, "POD", 11, .grow = true, .name = true)                         \
	X(PODS_STATE, "LINK", 12, .descending = true)                               \
	X(PODS_LAG, "LAG ms", 7, 13, FMT_NUMBER, .descending = true)                \
	X(PODS_STRIP, "last hour", BARS, .drop = 6)                                 \
	X(PODS_AGE, "AGE", 6, 8, FMT_AGE, .descending = true)                       \
	X(PODS_UTIL, "GPU %", 5, 0, FMT_NUMBER, .descending = true)                 \
	X(PODS_MEM, "MEM GiB", 7, 7, FMT_NUMBER, .decimals = 1, .descending = true) \
	X(PODS_POWER, "W", 4, 12, FMT_NUMBER, .decimals = 0)                        \
	X(PODS_TEMP, "°C", 3, 3, FMT_NUMBER, .descending = true)                    \
	X(PODS_CLOCK, "SM MHz", 6, 9, FMT_NUMBER, .decimals = 0)                    \
	X(PODS_DISK, "DISK free", 9, 5, FMT_BYTES, .decimals = 0)                   \
	X(PODS_CHECK, "CHECK", 7, .drop = 11)                                       \
	X(PODS_RUNS, "RUNS", 16, .drop = 0, .grow = true, .descending = true)       \
	X(PODS_USD, "$/h", 6, 10, FMT_NUMBER, .decimals = 2, .descending = true)    \
	X(PODS_OPEN, "OPEN", 10, .drop = 4, .grow = true, .descending = true)       \
	X(PODS_TARGET, "TARGET", 16, .drop = 14, .grow = true)

enum pods_column { PODS_LIST(LIST_ID) PODS_COLUMNS };

static const struct list_column pods_columns[] = { PODS_LIST(LIST_COLUMN) };

static const unsigned char pods_sorts[] = { PODS_NAME, PODS_STATE, PODS_LAG,  PODS_UTIL,
					    PODS_MEM,  PODS_TEMP,  PODS_DISK, PODS_RUNS,
					    PODS_USD,  PODS_OPEN,  0 };

/* Compute a series' mean in each minute of the last hour, oldest first; absent without values. */
static void read_hour(const struct series *series, int64_t now_ms, double out[BUCKETS])
{
	size_t n[BUCKETS] = { 0 };

	for (size_t i = 0; i < BUCKETS; i++)
		out[i] = 0;
	for (size_t i = series != NULL ? series_count(series) : 0; i-- > 0;) {
		const struct series_point *point = series_at(series, i);
		double ago = (double)(now_ms - point->wall_ms) / 1000;
		size_t at = BUCKETS - 1 - (size_t)(fmax(ago, 0) * BUCKETS / WINDOW_S);

		if (at >= BUCKETS)
			break;
		out[at] += point->value;
		n[at]++;
	}
	for (size_t i = 0; i < BUCKETS; i++)
		out[i] = n[i] > 0 ? out[i] / (double)n[i] : RUN_ABSENT;
}

/* Show the GPU utilisation of the last hour as bars, the newest at the right. */
static void strip_cell(const struct model_pod *pod, int64_t now_ms, struct list_cell *cell)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double hour[BUCKETS];
	AUTO_BUF text = buf_new(LIST_CELL_BYTES);

	read_hour(pod->telemetry[METRIC_GPU_UTIL], now_ms, hour);
	for (size_t i = 0; i < BUCKETS; i += BUCKETS / BARS) {
		double sum = 0;
		size_t n = 0;

		for (size_t k = i; k < i + BUCKETS / BARS; k++) {
			sum += run_has(hour[k]) ? hour[k] : 0;
			n += run_has(hour[k]);
		}
		buf_append_str(&text,
			       n == 0 ? " " : bars[(int)fmin(fmax(sum / (double)n, 0) * 0.08, 7)]);
	}
	list_cellf(cell, STYLE_LIVE, "%s", text.data);
}

/* Describe up to `most` runs of a pod: first the live runs, then the others (unless live_only),
 * newest first. Returns how many runs there are. */
static size_t describe_runs(const struct ui_shared *shared, size_t pod, bool live_only, size_t most,
			    struct buf *out)
{
	const struct model *model = shared->model;
	size_t n = 0;

	for (size_t k = 0; k < (live_only ? 1 : 2) * model->n_runs; k++) {
		const struct model_run *mr = model->runs[model->n_runs - 1 - k % model->n_runs];

		if (mr->pod != pod || mr->live != (k < model->n_runs) ||
		    (live_only && mr->run.status != RUN_RUNNING) || n++ >= most)
			continue;
		struct run_state state = run_state_of(shared, mr);
		buf_appendf(out, "%s%s%s%s %s", out->len > 0 ? " · " : "",
			    live_only ? "" : state.symbol, live_only ? "" : " ",
			    plot_run_label(mr).s, mr->live ? state.text : "");
	}
	if (n > most)
		buf_appendf(out, live_only ? " +%zu" : " · and %zu more (Enter)", n - most);
	return n;
}

/* Count the open alerts of a pod by kind: "cap-bytes ×4 stall". Returns how many are open. */
static size_t count_alerts(const struct ui_shared *shared, size_t pod, struct buf *out)
{
	const struct alerts *alerts = shared->alerts;
	size_t n[ALERT_KIND_COUNT] = { 0 }, open = 0;

	for (size_t i = 0; i < alerts->n; i++)
		if (alerts->v[i].pod == pod && !alerts->v[i].acknowledged) {
			n[alerts->v[i].kind]++;
			open++;
		}
	for (size_t kind = 0; kind < ALERT_KIND_COUNT; kind++) {
		if (n[kind] > 0)
			buf_appendf(out, "%s%s", out->len > 0 ? " " : "",
				    alert_name((enum alert_kind)kind));
		if (n[kind] > 1)
			buf_appendf(out, " ×%zu", n[kind]);
	}
	return open;
}

/* Return the latest value of a column of numbers; PODS_AGE is the age of the others. */
static double pod_number(const struct model_pod *pod, size_t column, int64_t now_ms)
{
	static const enum metric metrics[PODS_COLUMNS] = {
		[PODS_UTIL] = METRIC_GPU_UTIL,	   [PODS_MEM] = METRIC_GPU_MEM_MIB,
		[PODS_POWER] = METRIC_GPU_POWER_W, [PODS_TEMP] = METRIC_GPU_TEMP_C,
		[PODS_CLOCK] = METRIC_GPU_SM_MHZ,
	};

	if (column == PODS_AGE)
		return model_pod_age_s(pod, now_ms);
	if (column == PODS_LAG)
		return pod->lag_ms >= 0 ? (double)pod->lag_ms : RUN_ABSENT;
	if (column == PODS_DISK)
		return pod->disk_free_bytes;
	if (column == PODS_USD)
		return pod->usd_per_hour;
	return model_last_value(pod->telemetry, metrics[column]) / (column == PODS_MEM ? 1024 : 1);
}

/* Is the clock 5 % below that of busy pods with the same GPU, or is the GPU throttled by heat? */
static bool is_odd(const struct ui_shared *shared, const struct model_pod *pod, size_t column,
		   double value)
{
	int64_t now_ms = shared->now_wall_ms;

	if (column == PODS_CLOCK)
		return value < 0.95 * model_peers_mhz(shared->model, pod, now_ms);
	if (column != PODS_TEMP)
		return false;
	const char *why = model_pod_throttle(pod, now_ms);
	return why != NULL && strcmp(why, "thermal") == 0;
}

static void pods_cell(void *user, size_t row, size_t column, struct list_cell *cell)
{
	const struct ui_shared *shared = user;
	const struct model_pod *pod = &shared->model->pods[row];
	int64_t now_ms = shared->now_wall_ms;

	const struct model_check *check = &pod->check;
	/* Sort keys of the states: the worst state has the highest grade. */
	static const unsigned char grades[] = {
		[POD_LIVE] = 0,	      [POD_SILENT] = 1,	      [POD_UNKNOWN] = 2,
		[POD_CONNECTING] = 3, [POD_RECONNECTING] = 4, [POD_UNREACHED] = 5,
		[POD_GONE] = 6,	      [POD_REFUSED] = 7,
	};
	enum fact_style style;
	const char *symbol = panel_pod_symbol(pod, &style);

	if (column == PODS_SYMBOL && ui_is_marked(&shared->pod_marks, pod->name)) {
		list_cellf(cell, STYLE_KEY, "+");
	} else if (column == PODS_SYMBOL) {
		list_cellf(cell, theme_fact(style), "%s", symbol);
	} else if (column == PODS_NAME) {
		list_cellf(cell, STYLE_NORMAL, "%s", pod->name);
	} else if (column == PODS_STATE) {
		list_cellf(cell, theme_fact(style), "%s", pod_state_name(pod->state));
		cell->number = grades[pod->state];
	} else if (column == PODS_CHECK && check->is_running) {
		list_cellf(cell, STYLE_HINT, "…");
	} else if (column == PODS_CHECK && check->wall_ms == 0) {
		list_cellf(cell, STYLE_DIM, FMT_ABSENT);
	} else if (column == PODS_CHECK) {
		list_cellf(cell, check->is_fit ? STYLE_LIVE : STYLE_WARN,
			   check->is_fit ? "fit" : "not fit");
	} else if (column == PODS_STRIP) {
		strip_cell(pod, now_ms, cell);
	} else if (column == PODS_RUNS) {
		AUTO_BUF runs = buf_new(LIST_CELL_BYTES);

		cell->number = (double)describe_runs(shared, row, true, 1, &runs);
		list_cellf(cell, STYLE_NORMAL, "%s", runs.len > 0 ? runs.data : FMT_ABSENT);
	} else if (column == PODS_OPEN) {
		AUTO_BUF kinds = buf_new(LIST_CELL_BYTES);

		cell->number = (double)count_alerts(shared, row, &kinds);
		list_cellf(cell, kinds.len > 0 ? STYLE_WARN : STYLE_DIM, "%s",
			   kinds.len > 0 ? kinds.data : FMT_ABSENT);
	} else if (column == PODS_TARGET) {
		list_cellf(cell, STYLE_DIM, "%s", pod->target);
	} else {
		cell->number = pod_number(pod, column, now_ms);
		if ((pod->state != POD_LIVE && pod->state != POD_SILENT) ||
		    (column >= PODS_AGE && column <= PODS_DISK &&
		     model_pod_age_s(pod, now_ms) > MODEL_OLD_S))
			cell->style = STYLE_DIM;
		else if (is_odd(shared, pod, column, cell->number))
			list_cellf(cell, STYLE_WARN, "%.0f!", cell->number);
	}
}

const struct list_ops panel_pods_ops = {
	.columns = pods_columns, .n_columns = PODS_COLUMNS, .cell = pods_cell, .sorts = pods_sorts
};

static struct list *pods_list(void *state, struct ui_shared *shared)
{
	list_fill(state, &panel_pods_ops, shared, shared->model->n_pods);
	return state;
}

static void add_link(const struct ui_shared *shared, const struct model_pod *pod,
		     struct facts *facts)
{
	const char *why = pod->why != NULL ? pod->why : "";
	int64_t wait_ms = pod->retry_at_ms - shared->now_mono_ms;
	char lag[40] = "";
	enum fact_style style;

	(void)panel_pod_symbol(pod, &style);
	if (pod->lag_ms >= 0 && (pod->state == POD_LIVE || pod->state == POD_SILENT))
		print_into(lag, ", answers in %lld ms", (long long)pod->lag_ms);
	facts_text(facts, "link", style, "%s%s%s%s · %s%s%s", pod_state_name(pod->state), lag,
		   why[0] != '\0' ? ": " : "", why, pod->target, pod->gpu_name != NULL ? " · " : "",
		   pod->gpu_name != NULL ? pod->gpu_name : "");
	if (wait_ms > 0)
		facts_text(facts, "", FACT_HINT, "next try in %s; r retries now, c checks the pod",
			   fmt_age((double)wait_ms / 1000).s);
}

static void add_check(const struct ui_shared *shared, const struct model_check *check,
		      struct facts *facts)
{
	double ago_s = (double)(shared->now_wall_ms - check->wall_ms) / 1000;

	if (check->wall_ms == 0) {
		facts_text(facts, "check", FACT_HINT,
			   check->is_running ? "running" : "not checked yet; press c to check");
		return;
	}
	facts_text(facts, "check", check->is_fit ? FACT_LIVE : FACT_WARN, "%s, as of %s, %s ago%s",
		   check->is_fit ? "fit for a run" : "not fit for a run",
		   fmt_clock(check->wall_ms).s, fmt_age(ago_s).s,
		   check->is_running ? "; another check is running" : "");
	for (size_t i = 0; i < check->n_lines; i++)
		facts_text(facts, "", FACT_PLAIN, "%s", check->lines[i]);
}

static void add_noise(const struct model *model, const struct model_pod *pod, struct facts *facts)
{
	const char *label = "noise";
	char rank[64];

	array_each (noise, model->noise, model->n_noise) {
		if (strcmp(noise->pod, pod->name) != 0)
			continue;
		rank[0] = '\0';
		if (noise->rank > 0)
			print_into(rank, ", rank %zu of %zu", noise->rank, noise->of);
		facts_text(facts, label, FACT_PLAIN,
			   "sd %.2f%%, 6 blocks detect %s%%%s (%zu A/A runs of %s)", noise->sd,
			   fmt_number(noise->shows[1], 2).s, rank, noise->n_runs,
			   noise->class_name);
		label = "";
	}
}

/* Add the number of open alerts of the pod by kind, and the text of the newest one that is not
 * about the link, because add_link() explains that. Add the number of acknowledged alerts. */
static void add_alerts(const struct ui_shared *shared, size_t pod, struct facts *facts)
{
	const struct alerts *alerts = shared->alerts;
	const struct alert *newest = NULL;
	AUTO_BUF text = buf_new(FACT_SIZE * 8);
	size_t open = count_alerts(shared, pod, &text), acknowledged = 0;

	for (size_t i = 0; i < alerts->n; i++) {
		if (alerts->v[i].pod != pod)
			continue;
		acknowledged += alerts->v[i].acknowledged;
		if (!alerts->v[i].acknowledged && alerts->v[i].kind != ALERT_LINK)
			newest = &alerts->v[i];
	}
	if (newest != NULL)
		buf_appendf(&text, " · newest: %s%s%s", plot_run_label(newest->mr).s,
			    newest->mr != NULL ? ": " : "", newest->text);
	if (open > 0)
		facts_text(facts, "alerts", FACT_WARN, "%s", text.data);
	if (acknowledged > 0)
		facts_text(facts, open > 0 ? "" : "alerts", FACT_DIM,
			   "%zu acknowledged; ! shows them", acknowledged);
}

static const struct {
	enum metric metric;
	const char *title;
	double scale, floor, ceiling; /* NAN: none */
} charts[] = {
	{ METRIC_GPU_UTIL, "GPU %", 1, 0, 100 },
	{ METRIC_GPU_SM_MHZ, "SM MHz", 1, 0, NAN },
	{ METRIC_GPU_POWER_W, "GPU W", 1, 0, NAN },
	{ METRIC_GPU_TEMP_C, "GPU °C", 1, NAN, NAN },
	{ METRIC_GPU_MEM_MIB, "GPU memory GiB", 1.0 / 1024, 0, NAN },
};

#define N_CHARTS (LENGTH(charts))

static void ago_text(UNUSED int kind, double x, double apart, char *out, size_t size)
{
	if (x > -0.5)
		(void)snprintf(out, size, "now");
	else if (apart >= 59 || x <= -600)
		(void)snprintf(out, size, "-%.0f min", -x / 60);
	else
		(void)snprintf(out, size, "-%.0f s", -x);
}

/* Compute the median of the other pods per minute; returns the number of minutes with one. */
static size_t read_others(const struct ui_shared *shared, size_t pod, size_t which,
			  double x[BUCKETS], double y[BUCKETS])
{
	const struct model *model = shared->model;
	AUTO_FREE double *hours = xcalloc(model->n_pods + 1, BUCKETS * sizeof(*hours));
	double values[MEDIAN_PODS];
	size_t n = 0;

	for (size_t i = 0; i < model->n_pods; i++)
		read_hour(i != pod ? model->pods[i].telemetry[charts[which].metric] : NULL,
			  shared->now_wall_ms, &hours[i * BUCKETS]);
	for (size_t k = 0; k < BUCKETS; k++) {
		size_t have = 0;

		for (size_t i = 0; i < model->n_pods && have < MEDIAN_PODS; i++) {
			values[have] = hours[i * BUCKETS + k];
			have += run_has(values[have]);
		}
		sort_doubles(values, have);
		x[n] = -WINDOW_S * ((double)(BUCKETS - k) - 0.5) / BUCKETS;
		y[n] = have > 0 ? (values[have / 2] + values[(have - 1) / 2]) / 2 *
					  charts[which].scale
				: 0;
		n += have > 0;
	}
	return n;
}

/* Draw the last hour of a pod's GPUs over the median of the other pods in grey. */
static void draw_chart(const struct ui_shared *shared, size_t pod, size_t which, double from_s,
		       struct canvas *canvas, struct rect r)
{
	const struct series *series = shared->model->pods[pod].telemetry[charts[which].metric];
	size_t n = series_count(series), from = 0;
	AUTO_FREE double *x = xcalloc(n, sizeof(*x));
	AUTO_FREE double *y = xcalloc(n, sizeof(*y));
	double others_x[BUCKETS], others_y[BUCKETS];
	struct chart_series lines[2] = { { .style = STYLE_DIM }, { .style = STYLE_LIVE } };
	struct chart chart;

	for (size_t i = 0; i < n; i++) {
		const struct series_point *point = series_at(series, i);

		x[i] = (double)(point->wall_ms - shared->now_wall_ms) / 1000;
		y[i] = point->value * charts[which].scale;
		if (x[i] < from_s)
			from = i + 1;
	}
	lines[0].x = others_x;
	lines[0].y = others_y;
	lines[0].n = read_others(shared, pod, which, others_x, others_y);
	lines[1].x = x + from;
	lines[1].y = y + from;
	lines[1].n = n - from;
	canvas_print_top(canvas, &r, STYLE_TITLE, "%s", charts[which].title);
	chart_init(&chart, r);
	chart.charset = shared->chart.charset;
	chart.series = lines;
	chart.n_series = 2;
	chart.y_floor = charts[which].floor;
	chart.y_ceiling = charts[which].ceiling;
	chart.x_lo = from_s;
	chart.x_hi = 0;
	chart.x_is_time = true;
	chart.x_text = ago_text;
	if (lines[1].n > 1)
		chart_draw(&chart, canvas);
}

/* Draw as many charts as fit, in one or two rows, from the oldest value of the last hour on. */
static void draw_charts(const struct ui_shared *shared, size_t of, struct canvas *canvas,
			struct rect r)
{
	const struct model_pod *pod = &shared->model->pods[of];
	double from_s = 0;
	int rows = r.h >= 2 * CHART_ROWS ? 2 : 1, columns, n = 0, drawn = 0;
	struct rect at = { r.x, r.y, 0, r.h / rows };
	size_t which[N_CHARTS];

	for (size_t i = 0; i < N_CHARTS; i++) {
		const struct series *series = pod->telemetry[charts[i].metric];

		if (series == NULL || series_count(series) < 2)
			continue;
		which[n++] = i;
		from_s = fmin(from_s,
			      (double)(series_at(series, 0)->wall_ms - shared->now_wall_ms) / 1000);
	}
	columns = int_min((n + rows - 1) / rows, r.w / CHART_COLUMNS);
	if (at.h < CHART_ROWS || columns == 0)
		return;
	at.w = r.w / columns - 1;
	at.h = int_min(at.h, CHART_ROWS_MAX);
	for (; drawn < n && drawn < rows * columns; drawn++) {
		at.x = r.x + drawn % columns * (at.w + 1);
		at.y = r.y + drawn / columns * at.h;
		draw_chart(shared, of, which[drawn], fmax(from_s, -WINDOW_S), canvas, at);
	}
}

/* Draw a pod: connection, alerts, runs, noise, last check, and its GPUs in the last hour. */
static void draw_pod(const struct ui_shared *shared, size_t pod, struct canvas *canvas,
		     struct rect r)
{
	const struct model_pod *mp = &shared->model->pods[pod];
	AUTO_BUF runs = buf_new(FACT_SIZE * 4);
	AUTO_FACTS facts = { .n = 0 };

	add_link(shared, mp, &facts);
	add_alerts(shared, pod, &facts);
	if (describe_runs(shared, pod, false, RUNS_SHOWN, &runs) > 0)
		facts_text(&facts, "runs", FACT_PLAIN, "%s", runs.data);
	add_noise(shared->model, mp, &facts);
	add_check(shared, &mp->check, &facts);
	panel_facts(canvas, &r, &facts,
		    &(const struct panel_facts){ LABEL_COLUMNS, STYLE_DIM, true });
	(void)rect_take_top(&r, 1);
	draw_charts(shared, pod, canvas, r);
}

static void pods_draw(void *state, struct ui_shared *shared, struct canvas *canvas, struct rect r)
{
	struct list *list = pods_list(state, shared);
	size_t pod = list_row(list);

	if (list->all == 0) {
		AUTO_TEXT text = xasprintf("No pods.\nEnter adds a pod to %s and tests it",
					   shared->conf_path);

		panel_empty(canvas, r, text);
		return;
	}
	list_draw(list, canvas,
		  canvas_box(canvas, rect_take_top(&r, int_min((int)list->all + 3, r.h / 2)),
			     "Pods"));
	if (pod != SIZE_MAX)
		draw_pod(shared, pod, canvas,
			 canvas_box(canvas, r, "%s", shared->model->pods[pod].name));
}

static bool pods_act(void *state, struct ui_shared *shared, enum action action, struct command *out)
{
	static const struct {
		enum action action;
		enum command_id command;
	} asks[] = {
		{ ACTION_RECONNECT, COMMAND_RECONNECT },
		{ ACTION_CHECK, COMMAND_CHECK },
		{ ACTION_SHELL, COMMAND_SHELL },
		{ ACTION_POD_STOP, COMMAND_POD_STOP },
		{ ACTION_BENCH_START, COMMAND_BENCH_PICK },
		{ ACTION_AUDIT, COMMAND_BENCH_AUDIT },
		{ ACTION_COPY, COMMAND_COPY },
	};
	struct list *list = state;
	const struct model_pod *pod;

	out->pod = list_row(list);
	if (shared->model->n_pods == 0 && action == ACTION_OPEN)
		out->id = COMMAND_INIT;
	if (out->pod == SIZE_MAX)
		return out->id != COMMAND_NONE;
	pod = &shared->model->pods[out->pod];
	if (action == ACTION_OPEN) {
		shared->go = ACTION_VIEW_FLEET;
		shared->find = pod->name;
		return true;
	}
	if (action == ACTION_POD_MARK) {
		ui_toggle_mark(shared, &shared->pod_marks, pod->name, UI_MAX_POD_MARKS);
		return true;
	}
	for (size_t i = 0; i < LENGTH(asks); i++)
		if (asks[i].action == action)
			out->id = asks[i].command;
	if (out->id == COMMAND_BENCH_PICK || out->id == COMMAND_BENCH_AUDIT)
		out->text = ui_pod_names(shared, out->pod);
	else if (out->id == COMMAND_COPY)
		out->text = xstrdup(pod->target);
	return out->id != COMMAND_NONE;
}

const struct view_ops view_pods = {
	.name = "Pods",
	.open = ACTION_VIEW_PODS,
	.state_size = sizeof(struct list),
	.places = IN_PODS,
	.watches = MODEL_PODS | MODEL_RUNS,
	.copies = true,
	.hints = (const enum action[]){ ACTION_OPEN, ACTION_POD_MARK, ACTION_BENCH_START,
					ACTION_AUDIT, ACTION_CHECK, ACTION_SHELL, ACTION_RECONNECT,
					ACTION_NONE },
	.draw = pods_draw,
	.act = pods_act,
	.list = pods_list,
};
