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
	for (size_t i = 0; i < shared->n_marks; i++)
		add_run(request, shared->marks[i]);
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
