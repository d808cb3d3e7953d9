/* SPDX-License-Identifier: MIT */
/* From series to the points of charts; used by every view with a chart. */
#include "config.h"

#include "ui/plot.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/forecast.h"
#include "ui/fmt.h"
#include "ui/theme.h"

/* A weight is meant for a step of a two hundredth of the run. */
#define SMOOTH_SCALE 200.0

const double plot_smoothing[PLOT_SMOOTHING_COUNT] = { 0,   0.6,	 0.8,
						      0.9, 0.95, 0.99 };

static const struct plot_info infos[] = {
#define X(id, name, unit, format) { (name), (unit), (format) },
	PLOT_LIST(X)
#undef X
};

const struct plot_info *
plot_info(enum plot_metric metric)
{
	assert(metric < PLOT_COUNT);
	return &infos[metric];
}

const char *
plot_axis_name(enum chart_axis axis)
{
	static const char *const names[] = { "train time", "step", "wall time",
					     "tokens" };

	return names[axis];
}

void
plot_x_text(enum chart_axis axis, double x, char *out, size_t size)
{
	char text[FMT_SIZE];

	if (axis == AXIS_TRAIN)
		(void)snprintf(out, size, "%.0fs", x);
	else if (axis == AXIS_WALL)
		(void)snprintf(out, size, "%s",
			       fmt_clock((int64_t)(x * 1000), text));
	else if (axis == AXIS_TOKENS)
		(void)snprintf(out, size, "%.3g Gtok", x);
	else
		(void)snprintf(out, size, "%s", fmt_grouped(x, text));
}

/* Which series of the run or its pod is drawn, how scaled. */
struct source {
	const struct series *series;
	double scale;
	const char *what;
};

static struct source
run_source(const struct model_run *mr, enum metric metric, double scale,
	   const char *what)
{
	return (struct source){ mr->series[metric], scale, what };
}

static bool
has_points(const struct model_run *mr, enum metric metric, size_t least)
{
	return mr->series[metric] != NULL &&
	       series_count(mr->series[metric]) >= least;
}

/* BPB: the training loss converted, dense; else what validation printed. */
static struct source
bpb_source(const struct model_run *mr)
{
	double ratio = forecast_bpb_per_nat(mr);

	if (run_has(ratio) && has_points(mr, METRIC_TRAIN_LOSS, 2))
		return run_source(mr, METRIC_TRAIN_LOSS, ratio, "train BPB");
	return run_source(mr, METRIC_VAL_BPB, 1, "val BPB");
}

static struct source
find_source(const struct model *model, const struct model_run *mr,
	    enum plot_metric metric)
{
	struct series *const *telemetry =
		mr->pod < model->n_pods ? model->pods[mr->pod].telemetry : NULL;

	switch (metric) {
	case PLOT_BPB:
		return bpb_source(mr);
	case PLOT_LOSS:
		return run_source(mr, METRIC_TRAIN_LOSS, 1, "train loss");
	case PLOT_VAL_LOSS:
		return run_source(mr, METRIC_VAL_LOSS, 1, "val loss");
	case PLOT_MS_STEP:
		if (has_points(mr, METRIC_MS_PER_STEP, 1))
			return run_source(mr, METRIC_MS_PER_STEP, 1,
					  "step time");
		return run_source(mr, METRIC_STEP_AVG_MS, 1, "mean step time");
	case PLOT_TOK_S:
		if (has_points(mr, METRIC_TOK_S_INTERVAL, 1))
			return run_source(mr, METRIC_TOK_S_INTERVAL, 1e-6,
					  "throughput");
		return run_source(mr, METRIC_TOK_S, 1e-6, "mean throughput");
	case PLOT_GPU_UTIL:
	case PLOT_GPU_POWER:
	case PLOT_GPU_TEMP:
	case PLOT_COUNT:
		break;
	}
	if (telemetry == NULL)
		return (struct source){ NULL, 1, "" };
	return (struct source){
		telemetry[metric == PLOT_GPU_UTIL    ? METRIC_GPU_UTIL
			  : metric == PLOT_GPU_POWER ? METRIC_GPU_POWER_W
						     : METRIC_GPU_TEMP_C],
		1, infos[metric].name
	};
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
	struct source source = find_source(model, mr, metric);
	size_t count = source.series != NULL ? series_count(source.series) : 0;

	points->n = 0;
	points->what = source.what;
	points->x = xcalloc(count + 1, sizeof(*points->x));
	points->y = xcalloc(count + 1, sizeof(*points->y));
	/* Telemetry has wall time and nothing else. */
	if (metric >= PLOT_GPU_UTIL)
		axis = AXIS_WALL;
	for (size_t i = 0; i < count; i++) {
		const struct series_point *p = series_at(source.series, i);
		double x = point_x(mr, p, axis);

		if (!run_has(x) || !isfinite(p->value))
			continue;
		points->x[points->n] = x;
		points->y[points->n++] = p->value * source.scale;
	}
}

void
plot_points_release(struct plot_points *points)
{
	free(points->x);
	free(points->y);
}

void
plot_points_smooth(struct plot_points *points, double weight)
{
	double span, sum = 0, weights = 0;

	if (weight <= 0 || points->n < 2)
		return;
	span = points->x[points->n - 1] - points->x[0];
	if (!(span > 0))
		return;
	for (size_t i = 0; i < points->n; i++) {
		double dx = i > 0 ? points->x[i] - points->x[i - 1] : 0;
		double keep = pow(weight, fabs(dx) / span * SMOOTH_SCALE);

		sum = sum * keep + points->y[i];
		weights = weights * keep + 1;
		points->y[i] = sum / weights;
	}
}

/* Last part of a path, without the ending of a log. */
static void
stem_of(const char *path, char out[FMT_LABEL])
{
	const char *slash = strrchr(path, '/');
	size_t len;

	(void)snprintf(out, FMT_LABEL, "%s",
		       slash != NULL && slash[1] != '\0' ? slash + 1 : path);
	len = strlen(out);
	if (len > 4 && (strcmp(out + len - 4, ".log") == 0 ||
			strcmp(out + len - 4, ".txt") == 0))
		out[len - 4] = '\0';
}

const char *
plot_run_name(const struct model_run *mr, char out[FMT_LABEL])
{
	char stem[FMT_LABEL];

	stem_of(mr->group != NULL && mr->group[0] != '\0' ? mr->group
							  : mr->path,
		out);
	/* Without a seed the file's name tells runs of a folder apart. */
	if (!run_has(mr->run.seed)) {
		size_t len = strlen(out);

		stem_of(mr->path, stem);
		(void)snprintf(out + len, FMT_LABEL - len, "/%s", stem);
	}
	return out;
}

void
plot_run_label(const struct model_run *mr, char out[FMT_LABEL])
{
	char name[FMT_LABEL];

	(void)plot_run_name(mr, name);
	if (run_has(mr->run.seed))
		(void)snprintf(out, FMT_LABEL, "%.80s s%.0f", name,
			       mr->run.seed);
	else
		(void)snprintf(out, FMT_LABEL, "%s", name);
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
	for (size_t i = 0; i < shared->n_marks; i++)
		add_run(request, shared->marks[i]);
	add_run(request, shared->reference);
}

/* What a chart is drawn from, kept until it is drawn. */
struct work {
	struct plot_points points[UI_MAX_MARKS + 2];
	struct plot_points raw;
	bool has_raw;
	char labels[UI_MAX_MARKS + 2][FMT_LABEL];
	struct chart_series series[UI_MAX_MARKS + 3];
	size_t n_series;
	struct chart_mark marks[CHART_MAX_MARKS];
	size_t n_marks, n_drawn;
	const char *what;
};

static void
add_series(struct work *work, const struct plot_points *points,
	   unsigned int style, enum chart_line line, const char *label)
{
	work->series[work->n_series++] =
		(struct chart_series){ points->x, points->y, points->n,
				       style,	  line,	     label };
}

/* The raw points behind the smoothed line of the first run. */
static void
add_raw(struct work *work, const struct plot_request *request,
	struct ui_shared *shared)
{
	if (shared->chart.smoothing == 0 || request->n_runs == 0)
		return;
	plot_points_init(&work->raw, shared->model, request->runs[0],
			 request->metric, shared->chart.axis);
	work->has_raw = true;
	add_series(work, &work->raw, STYLE_DIM, CHART_DOTS, NULL);
}

static void
add_runs(struct work *work, const struct plot_request *request,
	 struct ui_shared *shared)
{
	/* The first run is drawn last, over the others. */
	for (size_t i = request->n_runs; i-- > 0;) {
		const struct model_run *mr = request->runs[i];
		bool is_ref = mr == request->reference;

		plot_points_init(&work->points[i], shared->model, mr,
				 request->metric, shared->chart.axis);
		plot_points_smooth(&work->points[i],
				   plot_smoothing[shared->chart.smoothing]);
		plot_run_label(mr, work->labels[i]);
		if (work->points[i].n == 0)
			continue;
		work->n_drawn++;
		work->what = work->points[i].what;
		add_series(work, &work->points[i],
			   is_ref ? STYLE_REFERENCE
				  : theme_series((unsigned int)i),
			   is_ref ? CHART_DASHED : CHART_SOLID,
			   work->labels[i]);
	}
}

/* Train time at a step of the run, for marks that know steps alone. */
static double
mark_x(const struct model_run *mr, double step, enum chart_axis axis)
{
	double ms;

	if (axis == AXIS_STEP)
		return step;
	if (axis == AXIS_TOKENS)
		return step * mr->run.train_batch_tokens / 1e9;
	if (axis != AXIS_TRAIN)
		return RUN_ABSENT;
	ms = forecast_time_at_step(mr, step);
	return run_has(ms) ? ms / 1000 : RUN_ABSENT;
}

static void
add_marks(struct work *work, const struct plot_request *request,
	  enum chart_axis axis)
{
	const struct model_run *mr;

	if (!request->marks || request->n_runs == 0)
		return;
	mr = request->runs[0];
	for (size_t i = 0;
	     i < mr->run.n_events && work->n_marks < CHART_MAX_MARKS; i++) {
		const struct run_event *event = &mr->run.events[i];
		double x = run_has(event->step) ? mark_x(mr, event->step, axis)
						: RUN_ABSENT;

		if (!run_has(x))
			continue;
		work->marks[work->n_marks++] =
			(struct chart_mark){ x, run_event_name(event->kind),
					     event->kind == RUN_EVENT_EARLY_STOP
						     ? STYLE_AXIS
						     : STYLE_WARN };
	}
}

/* A fixed axis up to the cap costs a slow link far less than a moving one. */
static void
set_x_range(struct chart *chart, const struct ui_shared *shared)
{
	const struct chart_settings *settings = &shared->chart;
	double cap =
		shared->track != NULL ? shared->track->cap_train_s : RUN_ABSENT;
	double lo, hi, span;

	chart_x_range(chart, &lo, &hi);
	if (settings->axis == AXIS_TRAIN && run_has(cap) && hi <= cap * 1.1 &&
	    hi > cap * 0.02) {
		lo = 0;
		hi = fmax(cap, hi);
	} else if (settings->axis != AXIS_WALL && lo < hi * 0.1) {
		lo = 0;
	}
	span = (hi - lo) / fmax(settings->zoom, 1);
	chart->x_lo = lo + (hi - lo) * settings->center - span / 2;
	chart->x_lo = fmin(fmax(chart->x_lo, lo), hi - span);
	chart->x_hi = chart->x_lo + span;
	if (settings->cursor >= 0)
		chart->cursor = chart->x_lo + settings->cursor * span;
}

/* The last real point at or before x; SIZE_MAX: none. */
static size_t
point_before(const struct plot_points *points, double x)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < points->n && points->x[i] <= x; i++)
		found = i;
	return found;
}

/* The value under the cursor, real points only. */
static void
cursor_text(const struct work *work, const struct chart *chart,
	    const struct ui_shared *shared, enum plot_metric metric, char *out,
	    size_t size)
{
	char at[FMT_SIZE];
	size_t i;

	out[0] = '\0';
	if (!isfinite(chart->cursor) || work->points[0].n == 0)
		return;
	i = point_before(&work->points[0], chart->cursor);
	if (i == SIZE_MAX)
		return;
	plot_x_text(shared->chart.axis, work->points[0].x[i], at, sizeof(at));
	(void)snprintf(out, size, " · %s: %.5g %s", at, work->points[0].y[i],
		       infos[metric].unit);
}

static void
x_text_train(double x, char *out, size_t size)
{
	plot_x_text(AXIS_TRAIN, x, out, size);
}

static void
x_text_step(double x, char *out, size_t size)
{
	plot_x_text(AXIS_STEP, x, out, size);
}

static void
x_text_wall(double x, char *out, size_t size)
{
	plot_x_text(AXIS_WALL, x, out, size);
}

static void
x_text_tokens(double x, char *out, size_t size)
{
	plot_x_text(AXIS_TOKENS, x, out, size);
}

static void (*const x_texts[])(double, char *,
			       size_t) = { x_text_train, x_text_step,
					   x_text_wall, x_text_tokens };

void (*plot_x_text_of(enum chart_axis axis))(double x, char *out, size_t size)
{
	return x_texts[axis];
}

/* "── title ─────", where a box would cost too much. */
static void
draw_rule(struct canvas *canvas, struct rect r, const char *title)
{
	canvas_fill(canvas, (struct rect){ r.x, r.y, r.w, 1 }, STYLE_BORDER,
		    0x2500);
	(void)canvas_textf(canvas, r.x + 1, r.y, STYLE_TITLE, " %s ", title);
}

static void
draw_title(const struct work *work, const struct chart *chart,
	   const struct plot_request *request, struct ui_shared *shared,
	   struct canvas *canvas)
{
	const struct plot_info *info = &infos[request->metric];
	char title[256], cursor[96], smooth[32] = "", zoom[32] = "";

	cursor_text(work, chart, shared, request->metric, cursor,
		    sizeof(cursor));
	if (shared->chart.smoothing > 0)
		(void)snprintf(smooth, sizeof(smooth), " · EMA %g",
			       plot_smoothing[shared->chart.smoothing]);
	if (shared->chart.zoom > 1)
		(void)snprintf(zoom, sizeof(zoom), " · %.3gx",
			       shared->chart.zoom);
	(void)snprintf(title, sizeof(title), "%s (%s) over %s%s%s%s%s",
		       work->what != NULL ? work->what : info->name, info->unit,
		       plot_axis_name(request->metric >= PLOT_GPU_UTIL
					      ? AXIS_WALL
					      : shared->chart.axis),
		       smooth, shared->chart.log_y ? " · log y" : "", zoom,
		       cursor);
	if (request->plain)
		draw_rule(canvas, request->rect, title);
	else
		canvas_box(canvas, request->rect, title);
}

/* Why there is no line, where there is none. */
static void
draw_nothing(const struct plot_request *request, const struct ui_shared *shared,
	     struct canvas *canvas)
{
	const struct rect *r = &request->rect;
	char text[160];

	(void)snprintf(text, sizeof(text), "no %s over %s in this log yet",
		       infos[request->metric].name,
		       plot_axis_name(shared->chart.axis));
	canvas_line(canvas,
		    (struct rect){ r->x + 2, r->y + r->h / 2, r->w - 4, 1 },
		    STYLE_DIM, str_from(text));
}

/* A recipe that prints no BPB is shown by its loss, and says so. */
static enum plot_metric
metric_of(const struct plot_request *request)
{
	const struct model_run *mr = request->runs[0];

	if (request->metric != PLOT_BPB || request->n_runs == 0 ||
	    bpb_source(mr).series != NULL)
		return request->metric;
	if (has_points(mr, METRIC_TRAIN_LOSS, 2))
		return PLOT_LOSS;
	return has_points(mr, METRIC_VAL_LOSS, 1) ? PLOT_VAL_LOSS : PLOT_BPB;
}

void
plot_draw(const struct plot_request *asked, struct ui_shared *shared,
	  struct canvas *canvas)
{
	struct plot_request changed = *asked;
	const struct plot_request *request = &changed;
	struct work *work = xcalloc(1, sizeof(*work));
	struct rect r = request->rect;
	enum chart_axis axis = request->metric >= PLOT_GPU_UTIL
				       ? AXIS_WALL
				       : shared->chart.axis;
	struct chart chart;

	changed.metric = metric_of(asked);
	chart_init(&chart, (struct rect){ r.x + 1, r.y + 1, r.w - 2, r.h - 2 });
	if (request->plain)
		chart.rect = (struct rect){ r.x, r.y + 1, r.w, r.h - 1 };
	add_raw(work, request, shared);
	add_runs(work, request, shared);
	add_marks(work, request, axis);
	chart.charset = shared->chart.charset;
	chart.series = work->series;
	chart.n_series = work->n_series;
	chart.marks = work->marks;
	chart.n_marks = work->n_marks;
	chart.log_y = shared->chart.log_y;
	chart.skip_start = request->metric <= PLOT_TOK_S &&
			   shared->chart.zoom <= 1 && !chart.log_y;
	chart.y_format = infos[request->metric].format;
	chart.x_text = plot_x_text_of(axis);
	chart.legend = request->legend && work->n_drawn > 1;
	set_x_range(&chart, shared);
	draw_title(work, &chart, request, shared, canvas);
	if (work->n_drawn > 0)
		chart_draw(&chart, canvas);
	else
		draw_nothing(request, shared, canvas);
	for (size_t i = 0; i < request->n_runs; i++)
		plot_points_release(&work->points[i]);
	if (work->has_raw)
		plot_points_release(&work->raw);
	free(work);
}
