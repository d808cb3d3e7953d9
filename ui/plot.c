/* SPDX-License-Identifier: MIT */
/* From series to points and charts, and the keys of all charts. */
#include "config.h"

#include "ui/plot.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/forecast.h"
#include "report/fmt.h"
#include "ui/theme.h"

#define ZOOM_MAX 256
/* A weight is meant for a step of a two hundredth of the run. */
#define SMOOTH_SCALE 200.0
#define AROUND_MS    30000

const double plot_smoothing[PLOT_SMOOTHING_COUNT] = { 0,   0.6,	 0.8,
						      0.9, 0.95, 0.99 };

static const struct plot_info infos[] = {
#define X(id, name, unit, decimals, floor, ceiling)                            \
	{ (name), (unit), (decimals), (floor), (ceiling) },
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

enum chart_axis
plot_axis_of(enum plot_metric metric, enum chart_axis axis)
{
	return metric >= PLOT_GPU_UTIL ? AXIS_WALL : axis;
}

/* As many decimals as show that values lie so far from each other. */
static int
decimals_of(double apart)
{
	int decimals = 0;

	while (apart > 0 && fabs(apart - round(apart)) > 0.02 * apart &&
	       decimals < 6) {
		apart *= 10;
		decimals++;
	}
	return decimals;
}

void
plot_x_text(enum chart_axis axis, double x, double apart, char *out,
	    size_t size)
{
	int decimals = decimals_of(apart);
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

#define X(id, axis)                                                            \
	static void x_text_##id(double x, double apart, char *out,             \
				size_t size)                                   \
	{                                                                      \
		plot_x_text(axis, x, apart, out, size);                        \
	}
X(train, AXIS_TRAIN)
X(step, AXIS_STEP)
X(wall, AXIS_WALL)
X(tokens, AXIS_TOKENS)
#undef X

chart_x_text
plot_x_text_of(enum chart_axis axis)
{
	static const chart_x_text texts[] = { x_text_train, x_text_step,
					      x_text_wall, x_text_tokens };

	return texts[axis];
}

/* Which series of the run or its pod is drawn, how scaled. */
struct source {
	const struct series *series;
	double scale;
	const char *what, *column;
	double unit; /* 0: 1 */
};

static struct source
run_source(const struct model_run *mr, enum metric metric, double scale,
	   const char *what)
{
	return (struct source){ mr->series[metric], scale, what,
				metric_info(metric)->name, 0 };
}

/* Shown in Mtok/s. */
static struct source
speed_source(const struct model_run *mr, enum metric metric, const char *what)
{
	struct source source = run_source(mr, metric, 1e-6, what);

	source.unit = 1e-6;
	return source;
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
	struct source source;

	if (run_has(ratio) && has_points(mr, METRIC_TRAIN_LOSS, 2)) {
		source = run_source(mr, METRIC_TRAIN_LOSS, ratio, "train BPB");
		source.column = "train_bpb";
		return source;
	}
	return run_source(mr, METRIC_VAL_BPB, 1, "val BPB");
}

static struct source
find_source(const struct model *model, const struct model_run *mr,
	    enum plot_metric metric)
{
	struct series *const *telemetry =
		mr->pod < model->n_pods ? model->pods[mr->pod].telemetry : NULL;
	enum metric gpu;

	model_run_want(model, mr);
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
			return speed_source(mr, METRIC_TOK_S_INTERVAL,
					    "throughput");
		return speed_source(mr, METRIC_TOK_S, "mean throughput");
	case PLOT_GPU_UTIL:
	case PLOT_GPU_POWER:
	case PLOT_GPU_TEMP:
	case PLOT_COUNT:
		break;
	}
	gpu = metric == PLOT_GPU_UTIL	 ? METRIC_GPU_UTIL
	      : metric == PLOT_GPU_POWER ? METRIC_GPU_POWER_W
					 : METRIC_GPU_TEMP_C;
	return (struct source){ telemetry != NULL ? telemetry[gpu] : NULL, 1,
				infos[metric].name, metric_info(gpu)->name, 0 };
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

/* A pod's telemetry goes on before and behind the run; a little is shown. */
static bool
is_within(const struct model_run *mr, int64_t wall_ms)
{
	return mr->first_byte_wall_ms == 0 ||
	       (wall_ms >= mr->first_byte_wall_ms - AROUND_MS &&
		(mr->live || wall_ms <= mr->last_byte_wall_ms + AROUND_MS));
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
	points->column = source.column;
	points->unit = source.unit > 0 ? source.unit : 1;
	points->x = xcalloc(count + 1, sizeof(*points->x));
	points->y = xcalloc(count + 1, sizeof(*points->y));
	axis = plot_axis_of(metric, axis);
	for (size_t i = 0; i < count; i++) {
		const struct series_point *p = series_at(source.series, i);
		double x;

		if (metric >= PLOT_GPU_UTIL && !is_within(mr, p->wall_ms))
			continue;
		x = point_x(mr, p, axis);

		if (!run_has(x))
			continue;
		/* NaN and infinities stay: they part the line. */
		points->x[points->n] = x;
		points->y[points->n++] = p->value * source.scale;
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
	else if (metric >= PLOT_GPU_UTIL)
		(void)snprintf(out, size, "no %s of its pod while it ran",
			       infos[metric].name);
	else
		(void)snprintf(out, size, "no %s over %s in this log yet",
			       infos[metric].name, plot_axis_name(axis));
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
	double span, sum = 0, weights = 0, gap = 0;

	if (weight <= 0 || points->n < 2)
		return;
	span = points->x[points->n - 1] - points->x[0];
	if (!(span > 0))
		return;
	for (size_t i = 0; i < points->n; i++) {
		double dx = i > 0 ? points->x[i] - points->x[i - 1] : 0;
		double keep;

		if (!isfinite(points->y[i])) {
			gap += dx;
			continue;
		}
		keep = pow(weight, (fabs(dx) + gap) / span * SMOOTH_SCALE);
		gap = 0;
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
	for (size_t i = 0; i < shared->marks.n; i++)
		add_run(request, shared->marks.v[i]);
	add_run(request, shared->reference);
}

/* A recipe that prints no BPB is shown by its loss, and says so. */
enum plot_metric
plot_metric_of(const struct model_run *mr, enum plot_metric metric)
{
	if (metric != PLOT_BPB || bpb_source(mr).series != NULL)
		return metric;
	if (has_points(mr, METRIC_TRAIN_LOSS, 2))
		return PLOT_LOSS;
	return has_points(mr, METRIC_VAL_LOSS, 1) ? PLOT_VAL_LOSS : PLOT_BPB;
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

static bool
has_value(const struct plot_points *points)
{
	for (size_t i = 0; i < points->n; i++)
		if (isfinite(points->y[i]))
			return true;
	return false;
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
		if (!has_value(&work->points[i]))
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
void
plot_window(struct chart *chart, const struct ui_shared *shared,
	    enum chart_axis axis)
{
	const struct chart_settings *settings = &shared->chart;
	double cap =
		shared->track != NULL ? shared->track->cap_train_s : RUN_ABSENT;
	double lo, hi, span;

	chart_x_range(chart, &lo, &hi);
	if (axis == AXIS_TRAIN && run_has(cap) && hi <= cap * 1.1 &&
	    hi > cap * 0.02) {
		lo = 0;
		hi = fmax(cap, hi);
	} else if (axis != AXIS_WALL && lo > 0 && lo < hi * 0.1) {
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
	plot_x_text(metric >= PLOT_GPU_UTIL ? AXIS_WALL : shared->chart.axis,
		    work->points[0].x[i], (chart->x_hi - chart->x_lo) / 100, at,
		    sizeof(at));
	(void)snprintf(out, size, " · %s: %.5g %s", at, work->points[0].y[i],
		       plot_info(metric)->unit);
}

/* "── title ─────", where a box would cost too much. */
static void
draw_rule(struct canvas *canvas, struct rect r, const char *title)
{
	char text[280];

	canvas_fill(canvas, (struct rect){ r.x, r.y, r.w, 1 }, STYLE_BORDER,
		    0x2500);
	(void)snprintf(text, sizeof(text), " %s ", title);
	canvas_line(canvas, (struct rect){ r.x + 1, r.y, r.w - 2, 1 },
		    STYLE_TITLE, str_from(text));
}

/* The parts of a title in their order. */
enum title_part {
	TITLE_WHAT,
	TITLE_AXIS,
	TITLE_EMA,
	TITLE_LOG,
	TITLE_ZOOM,
	TITLE_CURSOR,
	TITLE_COUNT
};

/* Join the parts; where they are too wide some are left out. */
static void
join_title(char parts[TITLE_COUNT][96], int room, char *out, size_t size)
{
	static const enum title_part drops[] = { TITLE_AXIS, TITLE_EMA,
						 TITLE_LOG, TITLE_ZOOM };
	size_t dropped = 0, n;

	for (;;) {
		out[0] = '\0';
		for (size_t i = n = 0; i < TITLE_COUNT; i++)
			n += (size_t)snprintf(out + n, size - n, "%s",
					      parts[i]);
		if ((int)utf8_width(str_from(out)) <= room ||
		    dropped == sizeof(drops) / sizeof(drops[0]))
			return;
		parts[drops[dropped++]][0] = '\0';
	}
}

static void
draw_title(const struct work *work, const struct chart *chart,
	   const struct plot_request *request, struct ui_shared *shared,
	   struct canvas *canvas)
{
	const struct plot_info *info = plot_info(request->metric);
	const struct chart_settings *settings = &shared->chart;
	char parts[TITLE_COUNT][96] = { { 0 } }, title[TITLE_COUNT * 96];

	(void)snprintf(parts[TITLE_WHAT], sizeof(parts[0]), "%s (%s)",
		       work->what != NULL ? work->what : info->name,
		       info->unit);
	(void)snprintf(
		parts[TITLE_AXIS], sizeof(parts[0]), " over %s",
		plot_axis_name(plot_axis_of(request->metric, settings->axis)));
	if (settings->smoothing > 0)
		(void)snprintf(parts[TITLE_EMA], sizeof(parts[0]), " · EMA %g",
			       plot_smoothing[settings->smoothing]);
	if (settings->log_y)
		(void)snprintf(parts[TITLE_LOG], sizeof(parts[0]), " · log y");
	if (settings->zoom > 1)
		(void)snprintf(parts[TITLE_ZOOM], sizeof(parts[0]),
			       " · %.3gx%s", settings->zoom,
			       settings->hold_y ? ", y held" : "");
	cursor_text(work, chart, shared, request->metric, parts[TITLE_CURSOR],
		    sizeof(parts[0]));
	join_title(parts, request->rect.w - (request->plain ? 4 : 6), title,
		   sizeof(title));
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

	if (request->n_runs == 0)
		return;
	plot_why_none(request->runs[0], request->metric, shared->chart.axis,
		      text, sizeof(text));
	canvas_line(canvas,
		    (struct rect){ r->x + 2, r->y + r->h / 2, r->w - 4, 1 },
		    STYLE_DIM, str_from(text));
}

void
plot_draw(const struct plot_request *asked, struct ui_shared *shared,
	  struct canvas *canvas)
{
	struct plot_request changed = *asked;
	const struct plot_request *request = &changed;
	struct work *work = xcalloc(1, sizeof(*work));
	struct rect r = request->rect;
	enum chart_axis axis =
		plot_axis_of(request->metric, shared->chart.axis);
	const struct plot_info *info;
	struct chart chart;

	if (asked->n_runs > 0)
		changed.metric = plot_metric_of(asked->runs[0], asked->metric);
	info = plot_info(changed.metric);
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
			   (shared->chart.zoom <= 1 || shared->chart.hold_y) &&
			   !chart.log_y;
	chart.decimals = info->decimals;
	chart.y_floor = info->floor;
	chart.y_ceiling = info->ceiling;
	chart.x_text = plot_x_text_of(axis);
	chart.x_is_time = axis == AXIS_WALL;
	chart.legend = request->legend && work->n_drawn > 1;
	plot_window(&chart, shared, axis);
	ui_area_add(shared, &chart);
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

/* Keep the middle where all of what is shown lies inside. */
static void
chart_keep_inside(struct chart_settings *chart)
{
	double half = 0.5 / chart->zoom;

	if (chart->center < half)
		chart->center = half;
	if (chart->center > 1 - half)
		chart->center = 1 - half;
}

void
ui_chart_zoom_to(struct chart_settings *chart, double a, double b)
{
	double span = 1 / chart->zoom;
	double lo = chart->center - span / 2 + span * (a < b ? a : b);
	double part = span * (a < b ? b - a : a - b);

	if (part < 1.0 / ZOOM_MAX)
		part = 1.0 / ZOOM_MAX;
	chart->zoom = part < 1 ? 1 / part : 1;
	chart->center = lo + part / 2;
	chart->cursor = -1;
	chart_keep_inside(chart);
}

static void
chart_zoom(struct chart_settings *chart, double factor)
{
	double middle = chart->cursor >= 0 ? chart->cursor : 0.5;
	double at = chart->center + (middle - 0.5) / chart->zoom;
	double span;

	chart->zoom *= factor;
	if (chart->zoom > ZOOM_MAX)
		chart->zoom = ZOOM_MAX;
	if (chart->zoom <= 1)
		chart->zoom = 1;
	span = 1 / chart->zoom;
	chart->center = at - (middle - 0.5) * span;
	chart_keep_inside(chart);
}

/* Move the cursor; at the edges of a zoomed chart the window goes with it. */
static void
chart_move_cursor(struct chart_settings *chart, double by)
{
	double span = 1 / chart->zoom;

	if (chart->cursor < 0) {
		chart->cursor = by > 0 ? 0 : 1;
		return;
	}
	chart->cursor += by;
	if (chart->cursor > 1 || chart->cursor < 0) {
		chart->center += by * span;
		chart_keep_inside(chart);
		chart->cursor = chart->cursor > 1 ? 1 : 0;
	}
}

/* All of x; how it is drawn stays. */
static void
chart_reset(struct chart_settings *chart)
{
	chart->zoom = 1;
	chart->center = 0.5;
	chart->cursor = -1;
}

bool
ui_chart_act(struct chart_settings *chart, enum action action)
{
	if (action == ACTION_METRIC_NEXT)
		chart->metric = (chart->metric + 1) % PLOT_COUNT;
	else if (action == ACTION_METRIC_PREV)
		chart->metric = (chart->metric + PLOT_COUNT - 1) % PLOT_COUNT;
	else if (action == ACTION_X_AXIS)
		chart->axis = (chart->axis + 1) % AXIS_COUNT;
	else if (action == ACTION_LOG_AXIS)
		chart->log_y = !chart->log_y;
	else if (action == ACTION_SMOOTH_MORE)
		chart->smoothing += chart->smoothing + 1 < PLOT_SMOOTHING_COUNT;
	else if (action == ACTION_SMOOTH_LESS)
		chart->smoothing -= chart->smoothing > 0;
	else if (action == ACTION_ZOOM_IN)
		chart_zoom(chart, 2);
	else if (action == ACTION_ZOOM_OUT)
		chart_zoom(chart, 0.5);
	else if (action == ACTION_ZOOM_RESET)
		chart_reset(chart);
	else if (action == ACTION_HOLD_Y)
		chart->hold_y = !chart->hold_y;
	else if (action == ACTION_LEFT)
		chart_move_cursor(chart, -0.01);
	else if (action == ACTION_RIGHT)
		chart_move_cursor(chart, 0.01);
	else
		return false;
	return true;
}
