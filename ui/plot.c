/* SPDX-License-Identifier: MIT */
/* From series to points and charts, and the keys of all charts. */
#include "config.h"

#include "ui/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "model/forecast.h"
#include "report/fmt.h"
#include "ui/theme.h"

#define ZOOM_MAX    256
#define TITLE_BYTES 600
/* A weight is meant for a step of a two hundredth of the run. */
#define SMOOTH_SCALE 200.0
#define SMOOTH_LEAST 50 /* rows: fewer are shown as they are */
#define AROUND_MS    30000

const double plot_smoothing[PLOT_SMOOTHING_COUNT] = { 0,   0.6,	 0.8,
						      0.9, 0.95, 0.99 };

const struct plot_info plot_infos[] = {
#define X(id, name, unit, decimals, floor, ceiling)                            \
	{ (name), (unit), (decimals), (floor), (ceiling) },
	PLOT_LIST(X)
#undef X
};

static bool
is_of_pod(enum plot_metric metric)
{
	return metric >= PLOT_GPU_UTIL;
}

static const char *const axis_names[] = { "train time", "step", "wall time",
					  "tokens" };

enum chart_axis
plot_axis_of(enum plot_metric metric, enum chart_axis axis)
{
	return is_of_pod(metric) ? AXIS_WALL : axis;
}

void
plot_x_text(int axis, double x, double apart, char *out, size_t size)
{
	int decimals = chart_decimals(apart, 0.02, 6);
	char text[FMT_SIZE];

	if (axis == AXIS_TRAIN)
		(void)snprintf(out, size, "%.*fs", decimals, x);
	else if (axis == AXIS_WALL)
		(void)snprintf(out, size, "%s",
			       fmt_clock((int64_t)(x * 1000), text));
	else if (axis == AXIS_TOKENS)
		(void)snprintf(out, size, "%.3g Gtok", x);
	else
		(void)snprintf(out, size, "%s", fmt_grouped(x, text));
}

/* What is drawn for a metric, the second where there is none of the first. */
static const struct {
	enum metric metric;
	const char *what;
} sources[PLOT_COUNT][2] = {
	[PLOT_BPB] = { { METRIC_VAL_BPB, "val BPB" } },
	[PLOT_LOSS] = { { METRIC_TRAIN_LOSS, "train loss" } },
	[PLOT_VAL_LOSS] = { { METRIC_VAL_LOSS, "val loss" } },
	[PLOT_MS_STEP] = { { METRIC_MS_PER_STEP, "step time" },
			   { METRIC_STEP_AVG_MS, "mean step time" } },
	[PLOT_TOK_S] = { { METRIC_TOK_S_INTERVAL, "throughput" },
			 { METRIC_TOK_S, "mean throughput" } },
	[PLOT_GPU_UTIL] = { { METRIC_GPU_UTIL, "GPU utilisation" } },
	[PLOT_GPU_POWER] = { { METRIC_GPU_POWER_W, "GPU power" } },
	[PLOT_GPU_TEMP] = { { METRIC_GPU_TEMP_C, "GPU temperature" } },
};

static bool
has_points(const struct model_run *mr, enum metric metric, size_t least)
{
	return mr->series[metric] != NULL &&
	       series_count(mr->series[metric]) >= least;
}

/*
 * Name the points of a run or its pod; their series, or NULL.  BPB is the
 * training loss converted, which is dense, else what validation printed.
 */
static const struct series *
find_series(const struct model *model, const struct model_run *mr,
	    enum plot_metric metric, struct plot_points *points)
{
	double ratio =
		metric == PLOT_BPB ? forecast_bpb_per_nat(mr) : RUN_ABSENT;
	enum metric own = sources[metric][0].metric;
	bool second =
		sources[metric][1].what != NULL && !has_points(mr, own, 1);

	model_run_want(model, mr);
	points->what = sources[metric][second].what;
	own = sources[metric][second].metric;
	points->column = metric_info(own)->name;
	points->scale = points->unit = metric == PLOT_TOK_S ? 1e-6 : 1;
	if (run_has(ratio) && has_points(mr, METRIC_TRAIN_LOSS, 2)) {
		own = METRIC_TRAIN_LOSS;
		points->what = "train BPB";
		points->column = "train_bpb";
		points->scale = ratio;
	}
	if (!is_of_pod(metric))
		return mr->series[own];
	return mr->pod < model->n_pods ? model->pods[mr->pod].telemetry[own]
				       : NULL;
}

/* x of a point on the axis; absent when the point has none. */
static double
point_x(const struct model_run *mr, const struct series_point *p,
	enum chart_axis axis)
{
	if (axis == AXIS_TRAIN)
		return p->train_ms / 1000;
	if (axis == AXIS_STEP)
		return p->step;
	if (axis == AXIS_TOKENS)
		return p->step * mr->run.train_batch_tokens / 1e9;
	return p->wall_ms > 0 ? (double)p->wall_ms / 1000 : RUN_ABSENT;
}

void
plot_points_init(struct plot_points *points, const struct model *model,
		 const struct model_run *mr, enum plot_metric metric,
		 enum chart_axis axis)
{
	const struct series *series = find_series(model, mr, metric, points);
	size_t count = series != NULL ? series_count(series) : 0;

	points->n = 0;
	points->x = xcalloc(count + 1, sizeof(*points->x));
	points->y = xcalloc(count + 1, sizeof(*points->y));
	axis = plot_axis_of(metric, axis);
	for (size_t i = 0; i < count; i++) {
		const struct series_point *p = series_at(series, i);
		double x;

		/* A pod's telemetry goes on before and behind the run; a
		 * little of it is shown. */
		if (is_of_pod(metric) && mr->first_byte_wall_ms != 0 &&
		    (p->wall_ms < mr->first_byte_wall_ms - AROUND_MS ||
		     (!mr->live &&
		      p->wall_ms > mr->last_byte_wall_ms + AROUND_MS)))
			continue;
		x = point_x(mr, p, axis);
		if (!run_has(x))
			continue;
		/* NaN and infinities stay: they part the line. */
		points->x[points->n] = x;
		points->y[points->n++] = p->value * points->scale;
	}
}

void
plot_points_csv(const struct plot_points *points, enum chart_axis axis,
		struct buf *out)
{
	static const struct {
		const char *column;
		double unit;
	} axes[] = { [AXIS_TRAIN] = { "train_s", 1 },
		     [AXIS_STEP] = { "step", 1 },
		     [AXIS_WALL] = { "wall_s", 1 },
		     [AXIS_TOKENS] = { "tokens", 1e-9 } };

	buf_appendf(out, "%s,%s\n", axes[axis].column, points->column);
	for (size_t i = 0; i < points->n; i++)
		buf_appendf(out, "%.13g,%.10g\n",
			    points->x[i] / axes[axis].unit,
			    points->y[i] / points->unit);
}

void
plot_why_none(const struct model_run *mr, enum plot_metric metric,
	      enum chart_axis axis, char *out, size_t size)
{
	if (mr->history == MODEL_ASKED)
		(void)snprintf(out, size, "on its way from the database");
	else if (is_of_pod(metric))
		(void)snprintf(out, size, "no %s of its pod while it ran",
			       plot_infos[metric].name);
	else
		(void)snprintf(out, size, "no %s over %s in this log yet",
			       plot_infos[metric].name, axis_names[axis]);
}

void
plot_points_release(struct plot_points *points)
{
	free(points->x);
	free(points->y);
}

bool
plot_points_smooth(struct plot_points *points, double weight)
{
	double span, sum = 0, weights = 0, gap = 0;

	if (weight <= 0 || points->n < SMOOTH_LEAST)
		return false;
	span = points->x[points->n - 1] - points->x[0];
	if (!(span > 0))
		return false;
	for (size_t i = 0; i < points->n; i++) {
		double dx = i > 0 ? points->x[i] - points->x[i - 1]
				  : points->x[1] - points->x[0];
		double keep;

		if (!isfinite(points->y[i])) {
			gap += dx;
			continue;
		}
		keep = pow(weight, (fabs(dx) + gap) / span * SMOOTH_SCALE);
		gap = 0;
		/* Each row weighs what it stands for: a few of the first
		 * seconds say nothing of the minutes behind them. */
		sum = sum * keep + points->y[i] * (1 - keep);
		weights = weights * keep + (1 - keep);
		if (weights > 0)
			points->y[i] = sum / weights;
	}
	return true;
}

const char *
plot_run_name(const struct model_run *mr)
{
	return mr->name != NULL ? mr->name : file_name(mr->path);
}

const char *
plot_run_label(const struct model_run *mr, char out[FMT_LABEL])
{
	if (run_has(mr->run.seed))
		(void)snprintf(out, FMT_LABEL, "%.80s s%.0f", plot_run_name(mr),
			       mr->run.seed);
	else
		(void)snprintf(out, FMT_LABEL, "%s", plot_run_name(mr));
	return out;
}

void
plot_add_alert(const struct alert *alert, const struct model *model,
	       struct buf *out)
{
	char label[FMT_LABEL] = "";

	if (alert->mr != NULL)
		(void)plot_run_label(alert->mr, label);
	buf_appendf(out, "%s%s%s: %s", model_pod_name(model, alert->pod),
		    label[0] != '\0' ? " " : "", label, alert->text);
}

static void
add_run(struct plot_request *request, const struct model_run *mr)
{
	for (size_t i = 0; i < request->n_runs; i++)
		if (request->runs[i] == mr)
			return;
	if (mr != NULL)
		request->runs[request->n_runs++] = mr;
}

void
plot_request_runs(struct plot_request *request, const struct ui_shared *shared)
{
	request->n_runs = 0;
	request->reference = shared->reference;
	add_run(request, shared->selected);
	for (size_t i = 0; i < shared->marks.n; i++)
		add_run(request, shared->marks.v[i]);
	add_run(request, shared->reference);
}

/* A recipe that prints no BPB is shown by its loss, and says so. */
enum plot_metric
plot_metric_of(const struct model_run *mr, enum plot_metric metric)
{
	bool has_loss = has_points(mr, METRIC_TRAIN_LOSS, 2);

	if (metric != PLOT_BPB || mr->series[METRIC_VAL_BPB] != NULL ||
	    (has_loss && run_has(forecast_bpb_per_nat(mr))))
		return metric;
	if (has_loss)
		return PLOT_LOSS;
	return has_points(mr, METRIC_VAL_LOSS, 1) ? PLOT_VAL_LOSS : PLOT_BPB;
}

/* What a chart is drawn from, kept until it is drawn. */
struct work {
	struct plot_points points[UI_MAX_MARKS + 3]; /* of runs, then raw */
	char labels[UI_MAX_MARKS + 2][FMT_LABEL];
	struct chart_series series[UI_MAX_MARKS + 3];
	size_t n_series;
	struct chart_mark marks[CHART_MAX_MARKS];
	size_t n_marks, n_drawn;
	bool is_smooth; /* a line of them at least */
	const char *what;
};

static bool
has_value(const struct plot_points *points)
{
	for (size_t i = 0; i < points->n; i++)
		if (isfinite(points->y[i]))
			return true;
	return false;
}

/* A line of points, in the place that they have in the work. */
static void
add_series(struct work *work, size_t i, unsigned int style,
	   enum chart_line line, const char *label)
{
	const struct plot_points *points = &work->points[i];

	work->series[work->n_series++] =
		(struct chart_series){ points->x, points->y, points->n,
				       style,	  line,	     label };
}

/* The raw points of the first run, and over them smoothed lines of all. */
static void
add_runs(struct work *work, const struct plot_request *request,
	 struct ui_shared *shared)
{
	size_t n = request->n_runs;

	if (shared->chart.smoothing > 0 && n > 0) {
		plot_points_init(&work->points[n], shared->model,
				 request->runs[0], request->metric,
				 shared->chart.axis);
		add_series(work, n, STYLE_DIM, CHART_DOTS, NULL);
	}
	/* The first run is drawn last, over the others. */
	for (size_t i = n; i-- > 0;) {
		const struct model_run *mr = request->runs[i];
		bool is_ref = mr == request->reference;

		plot_points_init(&work->points[i], shared->model, mr,
				 request->metric, shared->chart.axis);
		work->is_smooth |= plot_points_smooth(
			&work->points[i],
			plot_smoothing[shared->chart.smoothing]);
		if (!has_value(&work->points[i]))
			continue;
		(void)plot_run_label(mr, work->labels[i]);
		work->n_drawn++;
		work->what = work->points[i].what;
		add_series(work, i,
			   is_ref ? STYLE_REFERENCE
				  : theme_series((unsigned int)i),
			   is_ref ? CHART_DASHED : CHART_SOLID,
			   work->labels[i]);
	}
}

/* The stages and events of a run, which know their steps alone. */
static void
add_marks(struct work *work, const struct model_run *mr, enum chart_axis axis)
{
	for (size_t i = 0;
	     i < mr->run.n_events && work->n_marks < CHART_MAX_MARKS; i++) {
		const struct run_event *event = &mr->run.events[i];
		const struct series_point at = {
			.step = event->step,
			.train_ms = forecast_time_at_step(mr, event->step),
		};
		double x = point_x(mr, &at, axis);

		if (!run_has(event->step) || !run_has(x))
			continue;
		work->marks[work->n_marks++] =
			(struct chart_mark){ x, run_event_name(event->kind),
					     event->kind == RUN_EVENT_EARLY_STOP
						     ? STYLE_AXIS
						     : STYLE_WARN };
	}
}

void
plot_chart_init(struct chart *chart, const struct plot_request *request,
		const struct ui_shared *shared)
{
	struct rect r = request->rect;

	chart_init(chart, (struct rect){ r.x + 1, r.y + 1, r.w - 2, r.h - 2 });
	chart->charset = shared->chart.charset;
	chart->x_kind = plot_axis_of(request->metric, shared->chart.axis);
	chart->x_is_time = chart->x_kind == AXIS_WALL;
	chart->x_text = plot_x_text;
}

/* A fixed axis up to the cap costs a slow link far less than a moving one. */
void
plot_window(struct chart *chart, struct ui_shared *shared)
{
	const struct chart_settings *settings = &shared->chart;
	double cap = ui_caps(shared)->cap_train_s, lo, hi, span;

	chart_x_range(chart, &lo, &hi);
	if (chart->x_kind == AXIS_TRAIN && run_has(cap) && hi <= cap * 1.1 &&
	    hi > cap * 0.02) {
		lo = 0;
		hi = fmax(cap, hi);
	} else if (chart->x_kind != AXIS_WALL && lo > 0 && lo < hi * 0.1) {
		lo = 0;
	}
	if (settings->hold_y) {
		chart->y_x_lo = lo;
		chart->y_x_hi = hi;
	}
	span = (hi - lo) / fmax(settings->zoom, 1);
	chart->x_lo = lo + (hi - lo) * settings->center - span / 2;
	chart->x_lo = fmin(fmax(chart->x_lo, lo), hi - span);
	chart->x_hi = chart->x_lo + span;
	if (settings->cursor >= 0)
		chart->cursor = chart->x_lo + settings->cursor * span;
	if (shared->n_areas < UI_MAX_AREAS)
		shared->areas[shared->n_areas++] = chart_plot_rect(chart);
}

/* The value under the cursor, real points only. */
static void
add_cursor(const struct work *work, const struct chart *chart, const char *unit,
	   struct buf *out)
{
	const struct plot_points *points = &work->points[0];
	char at[FMT_SIZE];
	size_t n = 0;

	if (!isfinite(chart->cursor))
		return;
	while (n < points->n && points->x[n] <= chart->cursor)
		n++;
	if (n == 0)
		return;
	plot_x_text(chart->x_kind, points->x[n - 1],
		    (chart->x_hi - chart->x_lo) / 100, at, sizeof(at));
	buf_appendf(out, " · %s: %.5g %s", at, points->y[n - 1], unit);
}

/* The parts of a title but the first so many that it can do without. */
static void
add_title(const struct work *work, const struct chart *chart,
	  const struct plot_request *request, const struct ui_shared *shared,
	  int without, struct buf *out)
{
	const struct plot_info *info = &plot_infos[request->metric];
	const struct chart_settings *settings = &shared->chart;

	buf_clear(out);
	buf_appendf(out, "%s (%s)",
		    work->what != NULL ? work->what : info->name, info->unit);
	if (without < 1)
		buf_appendf(out, " over %s", axis_names[chart->x_kind]);
	if (work->is_smooth && without < 2)
		buf_appendf(out, " · EMA %g",
			    plot_smoothing[settings->smoothing]);
	if (settings->log_y && without < 3)
		buf_append_str(out, " · log y");
	if (settings->zoom > 1 && without < 4)
		buf_appendf(out, " · %.3gx%s", settings->zoom,
			    settings->hold_y ? ", y held" : "");
	add_cursor(work, chart, info->unit, out);
}

static void
draw_title(const struct work *work, const struct chart *chart,
	   const struct plot_request *request, const struct ui_shared *shared,
	   struct canvas *canvas)
{
	struct rect r = request->rect, line = rect_take_top(&r, 1);
	int room = line.w - (request->plain ? 4 : 6);
	struct buf title;

	buf_init(&title, TITLE_BYTES);
	for (int i = 0; i <= 4; i++) {
		add_title(work, chart, request, shared, i, &title);
		if (text_width(title.data) <= room)
			break;
	}
	if (request->plain) {
		/* "── title ─────": a box would cost too much. */
		canvas_fill(canvas, line, STYLE_BORDER, 0x2500);
		line.x++;
		line.w -= 2;
		canvas_print(canvas, line, STYLE_TITLE, " %s ", title.data);
	} else {
		(void)canvas_box(canvas, request->rect, "%s", title.data);
	}
	buf_release(&title);
}

void
plot_draw(const struct plot_request *asked, struct ui_shared *shared,
	  struct canvas *canvas)
{
	const struct chart_settings *settings = &shared->chart;
	struct plot_request request = *asked;
	struct work *work = xcalloc(1, sizeof(*work));
	struct rect r = request.rect;
	const struct plot_info *info;
	struct chart chart;
	char why[160];

	if (request.n_runs > 0)
		request.metric = plot_metric_of(request.runs[0], asked->metric);
	info = &plot_infos[request.metric];
	plot_chart_init(&chart, &request, shared);
	if (request.plain)
		chart.rect = (struct rect){ r.x, r.y + 1, r.w, r.h - 1 };
	add_runs(work, &request, shared);
	if (request.marks && request.n_runs > 0)
		add_marks(work, request.runs[0], (enum chart_axis)chart.x_kind);
	chart.series = work->series;
	chart.n_series = work->n_series;
	chart.marks = work->marks;
	chart.n_marks = work->n_marks;
	chart.log_y = settings->log_y;
	chart.skip_start = !is_of_pod(request.metric) && !chart.log_y &&
			   (settings->zoom <= 1 || settings->hold_y);
	chart.decimals = info->decimals;
	chart.y_floor = info->floor;
	chart.y_ceiling = info->ceiling;
	chart.legend = request.legend && work->n_drawn > 1;
	plot_window(&chart, shared);
	draw_title(work, &chart, &request, shared, canvas);
	if (work->n_drawn > 0) {
		chart_draw(&chart, canvas);
	} else if (request.n_runs > 0) {
		/* Why there is no line. */
		plot_why_none(request.runs[0], request.metric, settings->axis,
			      why, sizeof(why));
		canvas_print(
			canvas,
			(struct rect){ r.x + 2, r.y + r.h / 2, r.w - 4, 1 },
			STYLE_DIM, "%s", why);
	}
	for (size_t i = 0; i < sizeof(work->points) / sizeof(*work->points);
	     i++)
		plot_points_release(&work->points[i]);
	free(work);
}

/* Keep the middle where all of what is shown lies inside. */
static void
chart_keep_inside(struct chart_settings *chart)
{
	double half = 0.5 / chart->zoom;

	chart->center = fmin(fmax(chart->center, half), 1 - half);
}

void
ui_chart_zoom_to(struct chart_settings *chart, double a, double b)
{
	double span = 1 / chart->zoom;
	double lo = chart->center - span / 2 + span * fmin(a, b);
	double part = fmax(span * fabs(b - a), 1.0 / ZOOM_MAX);

	chart->zoom = fmax(1 / part, 1);
	chart->center = lo + part / 2;
	chart->cursor = -1;
	chart_keep_inside(chart);
}

static void
chart_zoom(struct chart_settings *chart, double factor)
{
	double middle = chart->cursor >= 0 ? chart->cursor : 0.5;
	double at = chart->center + (middle - 0.5) / chart->zoom;

	chart->zoom = fmin(fmax(chart->zoom * factor, 1), ZOOM_MAX);
	chart->center = at - (middle - 0.5) / chart->zoom;
	chart_keep_inside(chart);
}

/* Move the cursor; at the edges of a zoomed chart the window goes with it. */
static void
chart_move_cursor(struct chart_settings *chart, double by)
{
	if (chart->cursor < 0) {
		chart->cursor = by > 0 ? 0 : 1;
		return;
	}
	chart->cursor += by;
	if (chart->cursor > 1 || chart->cursor < 0) {
		chart->center += by / chart->zoom;
		chart_keep_inside(chart);
		chart->cursor = chart->cursor > 1 ? 1 : 0;
	}
}

bool
ui_chart_act(struct chart_settings *chart, enum action action)
{
	if (action == ACTION_METRIC_NEXT) {
		chart->metric = (chart->metric + 1) % PLOT_COUNT;
	} else if (action == ACTION_METRIC_PREV) {
		chart->metric = (chart->metric + PLOT_COUNT - 1) % PLOT_COUNT;
	} else if (action == ACTION_X_AXIS) {
		chart->axis = (chart->axis + 1) % AXIS_COUNT;
	} else if (action == ACTION_LOG_AXIS) {
		chart->log_y = !chart->log_y;
	} else if (action == ACTION_SMOOTH_MORE) {
		chart->smoothing += chart->smoothing + 1 < PLOT_SMOOTHING_COUNT;
	} else if (action == ACTION_SMOOTH_LESS) {
		chart->smoothing -= chart->smoothing > 0;
	} else if (action == ACTION_ZOOM_IN || action == ACTION_ZOOM_OUT) {
		chart_zoom(chart, action == ACTION_ZOOM_IN ? 2 : 0.5);
	} else if (action == ACTION_ZOOM_RESET) {
		chart->zoom = 1;
		chart->center = 0.5;
		chart->cursor = -1;
	} else if (action == ACTION_HOLD_Y) {
		chart->hold_y = !chart->hold_y;
	} else if (action == ACTION_LEFT || action == ACTION_RIGHT) {
		chart_move_cursor(chart, action == ACTION_LEFT ? -0.01 : 0.01);
	} else {
		return false;
	}
	return true;
}
