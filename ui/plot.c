/* SPDX-License-Identifier: MIT */
/* Converts the series of runs to points, draws and exports charts, and handles their keys. */
#include "ui/plot.h"

#include <limits.h>

#include "base/file.h"
#include "base/sort.h"
#include "model/forecast.h"
#include "ui/theme.h"

#define CURSOR_STOPS 200 /* maximum number of key presses that move the cursor over a chart */
#define ZOOM_MAX     256
#define TITLE_BYTES  600
/* Smoothing weights apply per 1/200 of the run. */
#define SMOOTH_SCALE 200.0
#define SMOOTH_LEAST 50 /* a series of fewer rows is not smoothed */
#define AROUND_MS    30000
#define CAP_IS_CLOSE 0.75 /* an axis of at least this share of the cap ends at the cap */
/* Rows are spikes if at most SPIKE_SHARE of a chart's rows are, and if their distance from the
 * others is more than SPIKE_LEAST of the value. */
#define SPIKE_SHARE   0.05
#define SPIKE_LEAST   0.02
#define SPREAD_SAMPLE 1024 /* rows per series that quantiles are computed from */

const double plot_smoothing[PLOT_SMOOTHING_COUNT] = { 0, 0.6, 0.8, 0.9, 0.95, 0.99 };

#define PLOT_ROW(id, name, unit, decimals, floor, ceiling, better) \
	{ (name), (unit), (decimals), (floor), (ceiling), (better) },
const struct plot_info plot_infos[] = { PLOT_LIST(PLOT_ROW) };

static bool is_of_pod(unsigned int metric)
{
	return metric >= PLOT_GPU_UTIL;
}

static const char *const axis_names[] = { "train time", "step", "wall time", "tokens", "row" };

static const char *metric_name(const struct chart_metric *metric)
{
	return metric->id == PLOT_OWN ? metric->own : plot_infos[metric->id].name;
}

bool plot_is_metric(const struct chart_metric *a, const struct chart_metric *b)
{
	return a->id == b->id && (a->id != PLOT_OWN || strcmp(a->own, b->own) == 0);
}

/* Format an x of an axis with its unit. Values that differ by `apart` get different texts. */
static void format_x(int axis, double x, double apart, char *out, size_t size)
{
	int decimals = chart_decimals(apart, 0.02, 6);

	if (axis == AXIS_TRAIN)
		(void)snprintf(out, size, "%.*fs", decimals, x);
	else if (axis == AXIS_WALL)
		(void)snprintf(out, size, "%s", fmt_clock((int64_t)(x * 1000)).s);
	else if (axis == AXIS_TOKENS)
		(void)snprintf(out, size, "%.3g Gtok", x);
	else
		(void)snprintf(out, size, "%s", fmt_grouped(x).s);
}

void plot_x_name(enum chart_axis axis, double x, char out[FMT_LABEL])
{
	char text[FMT_SIZE];

	format_x((int)axis, x, 0.1, text, sizeof(text));
	(void)snprintf(out, FMT_LABEL, "%s%s",
		       axis == AXIS_STEP  ? "step "
		       : axis == AXIS_ROW ? "row "
					  : "",
		       text);
}

/* The series that can be drawn for a metric. The first one that the run has is drawn. */
static const struct {
	enum metric metric;
	const char *what;
} sources[PLOT_COUNT][3] = {
	[PLOT_BPB] = { { METRIC_VAL_BPB, "val BPB" } },
	[PLOT_LOSS] = { { METRIC_TRAIN_LOSS, "train loss" } },
	[PLOT_VAL_LOSS] = { { METRIC_VAL_LOSS, "val loss" } },
	[PLOT_MS_STEP] = { { METRIC_MS_PER_STEP, "step time" },
			   { METRIC_STEP_AVG_MS, "mean step time" },
			   { METRIC_STEP_MS, "time of one step" } },
	[PLOT_TOK_S] = { { METRIC_TOK_S_INTERVAL, "throughput" },
			 { METRIC_TOK_S, "mean throughput" } },
	[PLOT_TOK_S_DEVICE] = { { METRIC_TOK_S_DEVICE, "throughput per device" } },
	[PLOT_GPU_UTIL] = { { METRIC_GPU_UTIL, "GPU utilisation" } },
	[PLOT_GPU_POWER] = { { METRIC_GPU_POWER_W, "GPU power" } },
	[PLOT_GPU_TEMP] = { { METRIC_GPU_TEMP_C, "GPU temperature" } },
};

static bool has_points(const struct model_run *mr, enum metric metric, size_t least)
{
	return mr->series[metric] != NULL && series_count(mr->series[metric]) >= least;
}

static const struct series *series_of(const struct model *model, const struct model_run *mr,
				      enum metric metric, bool of_pod)
{
	if (!of_pod)
		return mr->series[metric];
	return mr->pod < model->n_pods ? model->pods[mr->pod].telemetry[metric] : NULL;
}

const struct run_series *plot_own_series(const struct run *run, const char *name)
{
	return array_find(one, run->series, run->n_series,
			  one->metric == METRIC_COUNT && one->points > 0 &&
				  strcmp(one->name, name) == 0);
}

/* Find the series of a metric of a run or its pod (NULL: none), and set name, unit and scale of the
 * points. For BPB, prefer the converted training loss to the printed BPB: it has more points. */
static const struct series *find_series(const struct model *model, const struct model_run *mr,
					struct chart_metric metric, struct plot_points *points)
{
	bool of_pod = is_of_pod(metric.id);
	double ratio = metric.id == PLOT_BPB ? forecast_bpb_per_nat(mr) : RUN_ABSENT;
	enum metric own = sources[metric.id][0].metric;
	const char *what = sources[metric.id][0].what;

	model_request_series(model, mr);
	points->scale = points->file_unit = 1;
	if (metric.id == PLOT_OWN) {
		const struct run_series *printed = plot_own_series(&mr->run, metric.own);

		print_into(points->what, "%s", metric.own);
		(void)series_label(METRIC_COUNT, metric.own, points->column);
		print_into(points->unit, "%s", printed != NULL ? printed->unit : "");
		return own_series_find(&mr->own, metric.own);
	}
	for (size_t i = 0; i < 3 && sources[metric.id][i].what != NULL; i++) {
		const struct series *found =
			series_of(model, mr, sources[metric.id][i].metric, of_pod);

		if (found == NULL || series_count(found) == 0)
			continue;
		own = sources[metric.id][i].metric;
		what = sources[metric.id][i].what;
		break;
	}
	if (metric.id == PLOT_TOK_S)
		points->scale = points->file_unit = 1e-6;
	if (metric.id == PLOT_TOK_S_DEVICE)
		points->scale = points->file_unit = 1e-3;
	print_into(points->column, "%s", metric_info(own)->name);
	if (run_has(ratio) && has_points(mr, METRIC_TRAIN_LOSS, 2)) {
		own = METRIC_TRAIN_LOSS;
		what = "train BPB";
		print_into(points->column, "train_bpb");
		points->scale = ratio;
	}
	print_into(points->what, "%s", what);
	print_into(points->unit, "%s", plot_infos[metric.id].unit);
	return series_of(model, mr, own, of_pod);
}

double plot_point_x(const struct model_run *mr, const struct series_point *p, enum chart_axis axis)
{
	if (axis == AXIS_ROW)
		return RUN_ABSENT;
	if (axis == AXIS_TRAIN)
		return p->train_ms / 1000;
	if (axis == AXIS_STEP)
		return p->step;
	if (axis == AXIS_TOKENS)
		return p->step * mr->run.train_batch_tokens / 1e9;
	return p->wall_ms > 0 ? (double)p->wall_ms / 1000 : RUN_ABSENT;
}

/* Does the last point of the metric have an x on this axis? */
static bool has_axis(const struct model *model, const struct model_run *mr,
		     struct chart_metric metric, enum chart_axis axis)
{
	struct plot_points named;
	const struct series *series = find_series(model, mr, metric, &named);

	if (series == NULL || series_count(series) == 0)
		return false;
	return axis == AXIS_ROW ? model_run_has_all(mr, series)
				: run_has(plot_point_x(mr, series_last(series), axis));
}

void plot_points_init(struct plot_points *points, const struct plot_request *request,
		      const struct model *model, const struct model_run *mr)
{
	const struct series *series = find_series(model, mr, request->metric, points);

	plot_series_init(points, request, mr, series);
	for (size_t i = 0; i < points->n; i++)
		points->y[i] *= points->scale;
}

void plot_series_init(struct plot_points *points, const struct plot_request *request,
		      const struct model_run *mr, const struct series *series)
{
	bool of_pod = is_of_pod(request->metric.id);
	size_t count = series != NULL ? series_count(series) : 0;
	bool by_row = request->axis == AXIS_ROW && count > 0 && model_run_has_all(mr, series);

	points->n = 0;
	points->x = xcalloc(count + 1, sizeof(*points->x));
	points->y = xcalloc(count + 1, sizeof(*points->y));
	for (size_t i = 0; i < count; i++) {
		const struct series_point *p = series_at(series, i);

		/* Show a pod's telemetry from AROUND_MS before to AROUND_MS after the run. */
		if (of_pod && mr->first_byte_wall_ms != 0 &&
		    (p->wall_ms < mr->first_byte_wall_ms - AROUND_MS ||
		     (!mr->live && p->wall_ms > mr->last_byte_wall_ms + AROUND_MS)))
			continue;
		double x = by_row ? (double)i + 1 : plot_point_x(mr, p, request->axis);
		if (!run_has(x))
			continue;
		/* Keep NaN and infinity, because they interrupt the line. */
		points->x[points->n] = x;
		points->y[points->n++] = p->value;
	}
}

void plot_why_none(const struct model_run *mr, struct chart_metric metric, enum chart_axis axis,
		   char *out, size_t size)
{
	if (mr->history == MODEL_ASKED)
		(void)snprintf(out, size, "loading from the database");
	else if (is_of_pod(metric.id))
		(void)snprintf(out, size, "the pod has no %s for this run", metric_name(&metric));
	else
		(void)snprintf(out, size, "no %s over %s in this log yet", metric_name(&metric),
			       axis_names[axis]);
}

void plot_points_release(struct plot_points *points)
{
	free(points->x);
	free(points->y);
}

bool plot_points_smooth(struct plot_points *points, const struct plot_points *like, double weight)
{
	double span, sum = 0, weights = 0, gap = 0;

	if (weight <= 0 || like->n < SMOOTH_LEAST || points->n < 2)
		return false;
	span = like->x[like->n - 1] - like->x[0];
	if (!(span > 0))
		return false;
	const double rate = log(weight) / span * SMOOTH_SCALE;
	for (size_t i = 0; i < points->n; i++) {
		double dx = i > 0 ? points->x[i] - points->x[i - 1] : points->x[1] - points->x[0];

		if (!isfinite(points->y[i])) {
			gap += dx;
			continue;
		}
		double keep = exp(rate * (fabs(dx) + gap));

		gap = 0;
		/* Weight each row by its distance from the previous one: rows may be dense in the
		 * first seconds. */
		sum = sum * keep + points->y[i] * (1 - keep);
		weights = weights * keep + (1 - keep);
		if (weights > 0)
			points->y[i] = sum / weights;
	}
	return true;
}

const char *plot_run_name(const struct model_run *mr)
{
	return mr->name != NULL ? mr->name : file_name(mr->path);
}

struct plot_label plot_run_label(const struct model_run *mr)
{
	const char *name = mr != NULL ? plot_run_name(mr) : "";
	struct plot_label label;
	char seed[FMT_SIZE + 2] = "";

	if (mr != NULL && run_has(mr->run.seed))
		print_into(seed, " s%s", fmt_number(mr->run.seed, 0).s);
	size_t most = FMT_LABEL - 1 - strlen(seed), n = strlen(name);
	n = n > most ? utf8_begin(name, most) : n;
	memcpy(label.s, name, n);
	memcpy(label.s + n, seed, strlen(seed) + 1);
	return label;
}

void plot_add_alert(const struct alert *alert, const struct model *model, struct buf *out)
{
	buf_appendf(out, "%s%s%s: %s", model_pod_name(model, alert->pod),
		    alert->mr != NULL ? " " : "", plot_run_label(alert->mr).s, alert->text);
}

static void add_run(struct plot_request *request, const struct model_run *mr)
{
	if (mr != NULL && !any_of(i, request->n_runs, request->runs[i] == mr))
		request->runs[request->n_runs++] = mr;
}

void plot_request_runs(struct plot_request *request, const struct ui_shared *shared)
{
	request->n_runs = 0;
	request->reference = shared->reference;
	add_run(request, shared->selected);
	for (size_t i = 0; i < shared->marks.n; i++)
		add_run(request, shared->marks.v[i]);
	add_run(request, shared->reference);
}

struct gap plot_gap(const struct plot_request *request, const struct model *model,
		    const struct model_run *mr, const struct model_run *base, char where[FMT_LABEL])
{
	struct gap gap = { .at = RUN_ABSENT };
	enum chart_axis axis = AXIS_STEP;
	struct plot_points own = { .what = "val BPB" }, held = { .n = 0 };
	char x[FMT_SIZE] = "the same time";

	if (request->metric.id == PLOT_BPB)
		gap = find_validation_gap(mr, base);
	if (!run_has(gap.at)) {
		axis = request->axis;
		plot_points_init(&own, request, model, mr);
		plot_points_init(&held, request, model, base);
		if (strcmp(own.what, held.what) == 0)
			gap = find_gap(&own.curve, &held.curve);
	}
	if (run_has(gap.x))
		format_x((int)axis, gap.x, 1, x, sizeof(x));
	(void)snprintf(where, FMT_LABEL, "%s %s %s%s", own.what, gap.rows > 1 ? "up to" : "at",
		       axis != AXIS_STEP || !run_has(gap.x) ? "" : "step ", x);
	plot_points_release(&own);
	plot_points_release(&held);
	return gap;
}

enum fact_style plot_gap_style(const struct gap *gap, struct chart_metric metric)
{
	double good = plot_infos[metric.id].better * gap->at;

	if (!(fabs(good) > 2 * gap->error))
		return FACT_PLAIN;
	return good > 0 ? FACT_BETTER : FACT_WORSE;
}

const struct run_series *plot_own_loss(const struct run *run)
{
	const struct run_series *first = NULL;

	array_each (series, run->series, run->n_series) {
		if (series->metric != METRIC_COUNT || series->points == 0)
			continue;
		if (strcasestr(series->name, "loss") != NULL)
			return series;
		first = first != NULL ? first : series;
	}
	return first;
}

struct chart_metric plot_metric_of(const struct model_run *mr, struct chart_metric metric)
{
	bool has_loss = has_points(mr, METRIC_TRAIN_LOSS, 2);

	if (metric.id != PLOT_BPB || mr->series[METRIC_VAL_BPB] != NULL ||
	    (has_loss && run_has(forecast_bpb_per_nat(mr))))
		return metric;
	const struct run_series *own = plot_own_loss(&mr->run);
	if (has_loss)
		metric.id = PLOT_LOSS;
	else if (has_points(mr, METRIC_VAL_LOSS, 1))
		metric.id = PLOT_VAL_LOSS;
	else if (own != NULL)
		print_into(metric.own, "%s", own->name);
	if (metric.id == PLOT_BPB && own != NULL)
		metric.id = PLOT_OWN;
	return metric;
}

static void add_choice(struct chart_metric *choices, size_t *n, const struct chart_metric *metric)
{
	if (*n < PLOT_CHOICES && !any_of(i, *n, plot_is_metric(&choices[i], metric)))
		choices[(*n)++] = *metric;
}

size_t plot_choices(const struct model *model, const struct model_run *const *runs, size_t n_runs,
		    struct chart_metric out[PLOT_CHOICES])
{
	struct plot_points named;
	size_t n = 0;

	for (unsigned int id = 0; id < PLOT_COUNT; id++) {
		const struct chart_metric metric = { id, "" };

		for (size_t i = 0; i < n_runs; i++) {
			const struct series *series = find_series(model, runs[i], metric, &named);

			if (id != PLOT_OWN && series != NULL && series_count(series) > 0)
				add_choice(out, &n, &metric);
			for (size_t k = 0; id == PLOT_OWN && k < runs[i]->own.n; k++) {
				struct chart_metric own = { PLOT_OWN, "" };

				memcpy(own.own, runs[i]->own.v[k].name, sizeof(own.own));
				add_choice(out, &n, &own);
			}
		}
	}
	return n;
}

/* The data that drawing a chart needs. */
struct work {
	/* The points of n_runs runs, then the first run's unsmoothed, then the reference's. */
	struct plot_points points[UI_MAX_MARKS + 4];
	struct plot_label labels[UI_MAX_MARKS + 3]; /* of the runs, then of the band */
	struct band band;			    /* n 0: none */
	struct chart_series series[UI_MAX_MARKS + 5];
	size_t n_series;
	double target_x[2], target_y[2]; /* ends of the line at the target of the track */
	char target[FMT_LABEL];
	struct chart_mark marks[CHART_MAX_MARKS];
	struct fmt paces[CHANGE_MOST]; /* labels of step changes */
	size_t n_marks, n_drawn, n_runs;
	bool is_smooth; /* at least one line is smoothed */
	const char *what, *unit;
};

static void add_series(struct work *work, size_t i, unsigned int style, enum chart_line line,
		       const char *label)
{
	const struct plot_points *points = &work->points[i];

	work->series[work->n_series++] = (struct chart_series){ points->x, points->y, points->n,
								style,	   line,      label,
								NULL,	   0 };
}

/* Add the band of the reference's other seeds, smoothed like the chart's lines. Seeds that have a
 * line in the chart are not part of the band. */
static void add_band(struct work *work, const struct plot_request *request,
		     const struct ui_shared *shared, const struct plot_points *like)
{
	const struct model_run *ref = request->reference, *seeds[SEEDS_MOST];
	struct plot_points points[SEEDS_MOST];
	struct curve curves[SEEDS_MOST];
	char *label = work->labels[request->n_runs].s;
	size_t used = 0, n = find_seeds(shared->model, ref->group, ref->run.planned_steps, seeds);

	for (size_t k = 0; k < n; k++) {
		plot_points_init(&points[k], request, shared->model, seeds[k]);
		(void)plot_points_smooth(&points[k], like, plot_smoothing[shared->chart.smoothing]);
		/* Leave out seeds whose points have another source, such as validation loss. */
		bool is_used = points[k].n > 1 && strcmp(points[k].what, like->what) == 0;
		for (size_t i = 0; i < request->n_runs; i++)
			is_used &= seeds[k] != request->runs[i] || (i > 0 && seeds[k] == ref);
		curves[used] = points[k].curve;
		used += is_used;
	}
	band_init(&work->band, curves, used, &like->curve);
	for (size_t k = 0; k < n; k++)
		plot_points_release(&points[k]);
	if (used < 2)
		return;
	(void)snprintf(label, FMT_LABEL, "%s (%zu seeds)",
		       used < SEEDS_LEAST ? "no band" : "next seed, 95 %", used);
	work->series[work->n_series++] =
		(struct chart_series){ work->band.x, work->band.lo, work->band.n,  STYLE_REFERENCE,
				       CHART_BAND,   label,	    work->band.hi, 0 };
}

/* Add the series from back to front: band, raw points of the first run, lines of all runs. */
static void add_runs(struct work *work, const struct plot_request *request,
		     struct ui_shared *shared)
{
	size_t n = work->n_runs = request->n_runs;
	struct plot_points *ref = &work->points[n + 1];
	double weight = plot_smoothing[shared->chart.smoothing];

	if (request->reference != NULL && request->axis != AXIS_WALL)
		plot_points_init(ref, request, shared->model, request->reference);
	/* Losses vary by seed, so a band of seeds makes sense; step times vary by pod. */
	if (ref->n > 0 && request->metric.id != PLOT_MS_STEP &&
	    plot_infos[request->metric.id].better < 0)
		add_band(work, request, shared, ref);
	if (weight > 0 && n > 0) {
		plot_points_init(&work->points[n], request, shared->model, request->runs[0]);
		add_series(work, n, STYLE_DIM, CHART_DOTS, NULL);
	}
	/* Draw the first run last, on top of the others. */
	for (size_t i = n; i-- > 0;) {
		const struct model_run *mr = request->runs[i];
		bool is_ref = mr == request->reference;

		plot_points_init(&work->points[i], request, shared->model, mr);
		work->is_smooth |= plot_points_smooth(&work->points[i],
						      ref->n > 0 ? ref : &work->points[i], weight);
		const struct plot_points *points = &work->points[i];
		if (!any_of(k, points->n, isfinite(points->y[k])))
			continue;
		work->labels[i] = plot_run_label(mr);
		work->n_drawn++;
		work->what = work->points[i].what;
		work->unit = work->points[i].unit;
		add_series(work, i, is_ref ? STYLE_REFERENCE : theme_series((unsigned int)i),
			   is_ref ? CHART_DASHED : CHART_SOLID, work->labels[i].s);
	}
}

/* Mark the stages and events of a run. Logs print their step; their time is interpolated. */
static void add_marks(struct work *work, const struct model_run *mr, enum chart_axis axis)
{
	array_each (event, mr->run.events, mr->run.n_events) {
		const struct series_point at = {
			.step = event->step,
			.train_ms = forecast_time_at_step(mr, event->step),
		};
		double x = plot_point_x(mr, &at, axis);

		if (!run_has(event->step) || !run_has(x) || work->n_marks == CHART_MAX_MARKS)
			continue;
		work->marks[work->n_marks++] =
			(struct chart_mark){ x, run_event_names[event->kind],
					     event->kind == RUN_EVENT_EARLY_STOP ? STYLE_DIM
										 : STYLE_WARN };
	}
}

/* Mark where steps became slower or faster, with a label such as "105.2→108.4". */
static void add_changes(struct work *work, const struct plot_request *request)
{
	const struct step_changes *changes = request->changes;

	for (size_t i = 0; changes != NULL && i < changes->n && work->n_marks < CHART_MAX_MARKS;
	     i++) {
		const struct step_change *change = &changes->v[i];
		double x = plot_point_x(changes->mr, &change->at, request->axis);
		int decimals = chart_decimals(fabs(change->after - change->before), 0.05, 3);

		if (!run_has(x))
			continue;
		print_into(work->paces[i].s, "%.*f→%.*f", decimals, change->before, decimals,
			   change->after);
		work->marks[work->n_marks++] =
			(struct chart_mark){ x, work->paces[i].s, STYLE_HINT };
	}
}

void plot_request_settle(struct plot_request *request, const struct ui_shared *shared)
{
	const enum chart_axis order[] = { shared->chart.axis, AXIS_STEP, AXIS_TRAIN, AXIS_WALL,
					  AXIS_ROW };
	size_t most = 0;

	if (request->n_runs > 0)
		request->metric = plot_metric_of(request->runs[0], request->metric);
	bool of_pod = is_of_pod(request->metric.id);
	request->axis = of_pod ? AXIS_WALL : shared->chart.axis;
	for (size_t a = 0; a < LENGTH(order) && !of_pod; a++) {
		size_t have = 0;

		for (size_t i = 0; i < request->n_runs; i++)
			have += has_axis(shared->model, request->runs[i], request->metric,
					 order[a]);
		if (have > most) {
			most = have;
			request->axis = order[a];
		}
	}
}

void plot_chart_init(struct chart *chart, const struct plot_request *request,
		     const struct ui_shared *shared)
{
	struct rect r = request->rect;

	chart_init(chart, (struct rect){ r.x + 1, r.y + 1, r.w - 2, r.h - 2 });
	chart->charset = shared->chart.charset;
	chart->x_kind = (int)request->axis;
	chart->x_is_time = chart->x_kind == AXIS_WALL;
	chart->x_text = format_x;
}

/* Choose the end of an axis of training time. While the run is running, the axis ends at the cap or
 * at 1/2, 1/4, .. of it: an axis that moves with each row would redraw the whole chart over a slow
 * connection. Afterwards, it ends at the cap if the data come close, else at the last row. */
static double end_of_axis(const struct model_run *mr, double hi, double cap)
{
	if (mr == NULL || mr->run.status != RUN_RUNNING)
		return hi > cap * CAP_IS_CLOSE ? cap : hi;
	while (hi > 0 && cap / 2 >= hi)
		cap /= 2;
	return cap;
}

void plot_window(struct chart *chart, struct ui_shared *shared)
{
	const struct chart_settings *settings = &shared->chart;
	double cap = ui_caps(shared, shared->selected)->cap_train_s, lo, hi, span;

	chart_x_range(chart, &lo, &hi);
	double data_end = hi;
	if (chart->x_kind == AXIS_TRAIN && run_has(cap) && hi <= cap * 1.1) {
		lo = 0;
		if (!settings->replay)
			hi = fmax(end_of_axis(shared->selected, hi, cap), hi);
	} else if (chart->x_kind != AXIS_WALL && lo > 0 && lo < hi * 0.1) {
		lo = 0;
	}
	/* Every run must stay visible, so the shortest one decides. */
	for (size_t i = 0; i < chart->n_series; i++)
		if (chart->series[i].n > 0)
			data_end = fmin(data_end, chart->series[i].x[chart->series[i].n - 1]);
	if (settings->x_from > 0 && data_end > lo)
		lo += (data_end - lo) * settings->x_from;
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
	if (shared->n_areas == 0) {
		shared->chart.x_lo = lo;
		shared->chart.x_hi = hi;
		shared->chart.cursor_x = (double)NAN;
	}
	if (shared->n_areas < UI_MAX_AREAS)
		shared->areas[shared->n_areas++] = chart_plot_rect(chart);
}

static size_t count_rows_to(const struct curve *rows, double x)
{
	return bisect(rows->n, k, rows->x[k] <= x);
}

void plot_place_cursor(struct chart *chart, const struct curve *rows, struct ui_shared *shared)
{
	struct chart_settings *settings = &shared->chart;
	double near = (chart->x_hi - chart->x_lo) * 1e-6;

	if (settings->cursor < 0 || rows->n == 0)
		return;
	if (isfinite(settings->cursor_x) && settings->cursor_kind == chart->x_kind) {
		chart->cursor = settings->cursor_x;
		return;
	}
	size_t n = count_rows_to(rows, chart->cursor + near);
	chart->cursor = rows->x[n > 0 ? n - 1 : 0];
	settings->cursor_x = chart->cursor;
	settings->cursor_kind = chart->x_kind;
}

double plot_value_at(const struct curve *rows, double x, bool *is_between)
{
	size_t n = count_rows_to(rows, x);

	*is_between = n == 0 || rows->x[n - 1] < x;
	return *is_between ? curve_at(rows, x) : rows->y[n - 1];
}

struct plot_spread plot_spread_of(const struct chart *chart, double from, double to, double share)
{
	struct plot_spread spread = { NAN, NAN, NAN, NAN }, ends = spread;
	AUTO_FREE double *sample = xcalloc(SPREAD_SAMPLE * chart->n_series + 1, sizeof(*sample));
	size_t n = 0;

	array_each (series, chart->series, chart->n_series) {
		size_t stride = series->n / SPREAD_SAMPLE + 1;
		double end = NAN;

		for (size_t i = 0; i < series->n; i++) {
			double y = series->y[i];

			if (series->line == CHART_BAND || !isfinite(y) ||
			    !(series->x[i] >= from && series->x[i] <= to))
				continue;
			spread.lo = fmin(spread.lo, y);
			spread.hi = fmax(spread.hi, y);
			if (i % stride == 0)
				sample[n++] = y;
			end = y;
		}
		ends.low = fmin(ends.low, end);
		ends.high = fmax(ends.high, end);
	}
	sort_doubles(sample, n);
	size_t beyond = (size_t)((double)n * share);
	if (n > 0) {
		spread.low = fmin(sample[beyond], ends.low);
		spread.high = fmax(sample[n - 1 - beyond], ends.high);
	}
	return spread;
}

/* If there are spikes, limit the y axis to the other rows, which would look flat otherwise. */
static void plot_cut_spikes(struct chart *chart)
{
	bool held = isfinite(chart->y_x_lo);
	double from = held ? chart->y_x_lo : chart->x_lo;
	double to = held ? chart->y_x_hi : chart->x_hi;
	struct chart raw = *chart;

	/* Smoothing makes a spike wide. If the chart has unsmoothed points, ignore the smoothed
	 * line of the same run, which is the last series. */
	for (size_t s = 0; s < chart->n_series; s++)
		if (chart->series[s].line == CHART_DOTS && chart->series[s].n > 0)
			raw.n_series = chart->n_series - 1;
	struct plot_spread y =
		plot_spread_of(&raw, from + (to - from) * CHART_START, to, SPIKE_SHARE);
	double most = fmax(y.high - y.low, fabs(y.high) * SPIKE_LEAST);

	bool is_above = y.hi - y.high > most, is_below = y.low - y.lo > most;

	if (!is_above && !is_below)
		return;
	chart->y_hi = is_above ? y.high + most / 2 : y.hi + most / 20;
	chart->y_lo = is_below ? y.low - most / 2 : y.lo - most / 20;
}

/* Add a line at the target of the track if the chart shows its metric, and if the target is at most
 * a quarter of the chart's height away from the visible rows. */
static void add_target(struct work *work, struct chart *chart, const struct plot_request *request,
		       const struct ui_shared *shared)
{
	const struct track *track = ui_caps(shared, request->runs[0]);
	const char *name =
		request->metric.id == PLOT_OWN ? request->metric.own : work->points[0].column;
	double from = chart->x_lo + (chart->x_hi - chart->x_lo) * CHART_START;

	if (!run_has(track->target) || track->metric == NULL || strcmp(name, track->metric) != 0)
		return;
	struct plot_spread y = plot_spread_of(chart, from, chart->x_hi, 0);
	double y_lo = fmax(y.lo, chart->y_lo), y_hi = fmin(y.hi, chart->y_hi);
	double air = (y_hi - y_lo) / 4;
	if (!(track->target > y_lo - air && track->target < y_hi + air))
		return;
	for (size_t i = 0; i < 2; i++) {
		work->target_x[i] = i == 0 ? chart->x_lo : chart->x_hi;
		work->target_y[i] = track->target;
	}
	print_into(work->target, "target %g", track->target);
	work->series[work->n_series++] = (struct chart_series){ .x = work->target_x,
								.y = work->target_y,
								.n = 2,
								.style = STYLE_HINT,
								.line = CHART_DASHED,
								.label = work->target };
	chart->n_series = work->n_series;
	/* Limits that cut off spikes must not cut off this line. */
	if (isfinite(chart->y_lo)) {
		chart->y_lo = fmin(chart->y_lo, track->target - air / 10);
		chart->y_hi = fmax(chart->y_hi, track->target + air / 10);
	}
	chart->legend = request->legend;
}

/* Return the rows of the first run without smoothing. */
static const struct curve *get_rows(const struct work *work)
{
	return work->points[work->n_runs].n > 0 ? &work->points[work->n_runs].curve
						: &work->points[0].curve;
}

/* Append the row of the first run at the cursor, neither smoothed nor interpolated. */
static void add_cursor(const struct work *work, const struct chart *chart, const char *unit,
		       struct buf *out)
{
	const struct curve *rows = get_rows(work);
	char at[FMT_SIZE];
	size_t n = isfinite(chart->cursor) ? count_rows_to(rows, chart->cursor) : 0;

	if (n == 0)
		return;
	format_x(chart->x_kind, rows->x[n - 1], (chart->x_hi - chart->x_lo) / 100, at, sizeof(at));
	buf_appendf(out, " · %s: %.5g %s", at, rows->y[n - 1], unit);
}

/* Write the title; the greater `without`, the more of its less important parts are omitted. */
static void add_title(const struct work *work, const struct chart *chart,
		      const struct plot_request *request, const struct ui_shared *shared,
		      int without, struct buf *out)
{
	const struct chart_settings *settings = &shared->chart;
	const char *unit = work->unit != NULL ? work->unit : plot_infos[request->metric.id].unit;
	char from[FMT_LABEL];

	buf_clear(out);
	buf_append_str(out, work->what != NULL ? work->what : metric_name(&request->metric));
	if (unit[0] != '\0')
		buf_appendf(out, " (%s)", unit);
	if (without < 1)
		buf_appendf(out, " over %s", axis_names[chart->x_kind]);
	if (work->is_smooth && without < 2)
		buf_appendf(out, " · EMA %g", plot_smoothing[settings->smoothing]);
	if (settings->replay && work->n_drawn > 1 && without < 5)
		buf_append_str(out, " · replay");
	if (settings->log_y && without < 3)
		buf_append_str(out, " · log y");
	if (settings->x_from > 0 && without < 3) {
		plot_x_name((enum chart_axis)chart->x_kind, chart->x_lo, from);
		buf_appendf(out, " · from %s (0: all)", from);
	}
	if (settings->zoom > 1 && without < 4)
		buf_appendf(out, " · %.3gx%s", settings->zoom, settings->hold_y ? ", y fixed" : "");
	add_cursor(work, chart, unit, out);
}

static void draw_title(const struct work *work, const struct chart *chart,
		       const struct plot_request *request, const struct ui_shared *shared,
		       struct canvas *canvas)
{
	struct rect r = request->rect, line = rect_take_top(&r, 1);
	int room = line.w - (request->plain ? 4 : 6);
	AUTO_BUF title = buf_new(TITLE_BYTES);

	for (int i = 0; i <= 5; i++) {
		add_title(work, chart, request, shared, i, &title);
		if (text_width(title.data) <= room)
			break;
	}
	if (request->plain) {
		/* Draw "── title ─────" instead of a box, to save rows. */
		canvas_fill(canvas, line, STYLE_BORDER, 0x2500);
		line.x++;
		line.w -= 2;
		canvas_print(canvas, line, STYLE_TITLE, " %s ", title.data);
	} else {
		(void)canvas_box(canvas, request->rect, "%s", title.data);
	}
}

void plot_draw(const struct plot_request *asked, struct ui_shared *shared, struct canvas *canvas)
{
	const struct chart_settings *settings = &shared->chart;
	struct plot_request request = *asked;
	AUTO_FREE struct work *work = xcalloc(1, sizeof(*work));
	struct rect r = request.rect;
	struct chart chart;
	AUTO_BUF title = buf_new(TITLE_BYTES);
	char why[160];

	plot_request_settle(&request, shared);
	const struct plot_info *info = &plot_infos[request.metric.id];
	plot_chart_init(&chart, &request, shared);
	if (request.plain)
		chart.rect = (struct rect){ r.x, r.y + 1, r.w, r.h - 1 };
	add_runs(work, &request, shared);
	if (request.marks && request.n_runs > 0)
		add_marks(work, request.runs[0], (enum chart_axis)chart.x_kind);
	add_changes(work, &request);
	chart.series = work->series;
	chart.n_series = work->n_series;
	chart.marks = work->marks;
	chart.n_marks = work->n_marks;
	chart.log_y = settings->log_y;
	chart.skip_start = !is_of_pod(request.metric.id) && !chart.log_y &&
			   (settings->zoom <= 1 || settings->hold_y);
	chart.decimals = info->decimals;
	chart.y_floor = info->floor;
	chart.y_ceiling = info->ceiling;
	chart.legend = request.legend && work->n_drawn + (work->band.n > 0) > 1;
	if (settings->replay && request.n_runs > 0 && work->points[0].n > 0)
		chart.x_hi = work->points[0].x[work->points[0].n - 1];
	plot_window(&chart, shared);
	if (request.n_runs > 0)
		plot_place_cursor(&chart, get_rows(work), shared);
	if (chart.skip_start)
		plot_cut_spikes(&chart);
	if (work->n_drawn > 0)
		add_target(work, &chart, &request, shared);
	if (request.svg == NULL)
		draw_title(work, &chart, &request, shared, canvas);
	if (work->n_drawn > 0 && request.svg != NULL) {
		chart.cursor = (double)NAN;
		add_title(work, &chart, &request, shared, 0, &title);
		chart_svg(&chart, title.data, request.svg);
	} else if (work->n_drawn > 0) {
		chart_draw(&chart, canvas);
	} else if (request.n_runs > 0 && request.svg == NULL) {
		plot_why_none(request.runs[0], request.metric, request.axis, why, sizeof(why));
		canvas_print(canvas, (struct rect){ r.x + 2, r.y + r.h / 2, r.w - 4, 1 }, STYLE_DIM,
			     "%s", why);
	}
	for (size_t i = 0; i < LENGTH(work->points); i++)
		plot_points_release(&work->points[i]);
	band_release(&work->band);
}

void plot_export(const struct plot_request *asked, struct ui_shared *shared, bool as_svg,
		 struct buf *out)
{
	static const struct {
		const char *column;
		double unit;
	} axes[AXIS_COUNT] = {
		[AXIS_TRAIN] = { "train_s", 1 }, [AXIS_STEP] = { "step", 1 },
		[AXIS_WALL] = { "wall_s", 1 },	 [AXIS_TOKENS] = { "tokens", 1e-9 },
		[AXIS_ROW] = { "row", 1 },
	};
	struct plot_request request = *asked;
	size_t n_areas = shared->n_areas;

	request.svg = out;
	request.legend = true;
	if (as_svg)
		plot_draw(&request, shared, NULL);
	shared->n_areas = n_areas;
	for (size_t i = 0; i < request.n_runs && !as_svg; i++) {
		const struct model_run *mr = request.runs[i];
		struct plot_points points;
		AUTO_BUF start = buf_new(4 * FMT_LABEL + PATH_MAX);

		plot_points_init(&points, &request, shared->model, mr);
		if (mr->history == MODEL_ASKED)
			points.n = 0;
		if (points.n > 0 && out->len == 0)
			buf_appendf(out, "run,seed,file,series,%s,value\n",
				    axes[request.axis].column);
		fmt_add_csv(&start, plot_run_name(mr), true);
		buf_appendf(&start, ",%s,", fmt_raw(mr->run.seed).s);
		fmt_add_csv(&start, mr->path, true);
		buf_append_char(&start, ',');
		fmt_add_csv(&start, points.column, true);
		for (size_t k = 0; k < points.n; k++)
			buf_appendf(out, "%s,%.13g,%.10g\n", start.data,
				    points.x[k] / axes[request.axis].unit,
				    points.y[k] / points.file_unit);
		plot_points_release(&points);
	}
}

static void chart_keep_inside(struct chart_settings *chart)
{
	double half = 0.5 / chart->zoom;

	chart->center = fmin(fmax(chart->center, half), 1 - half);
}

void ui_chart_zoom_to(struct chart_settings *chart, double a, double b)
{
	double span = 1 / chart->zoom;
	double lo = chart->center - span / 2 + span * fmin(a, b);
	double part = fmax(span * fabs(b - a), 1.0 / ZOOM_MAX);

	chart->zoom = fmax(1 / part, 1);
	chart->center = lo + part / 2;
	chart->cursor = -1;
	chart_keep_inside(chart);
}

/* Move the cursor to the next or previous row of the first run that is at least 1/200 of the chart
 * away. If the row is outside a zoomed chart, move the visible range. */
static void move_cursor(struct ui_shared *shared, bool forward)
{
	struct chart_settings *chart = &shared->chart;
	struct plot_request request = { .metric = chart->metric };
	struct plot_points points = { .n = 0 };
	double span = (chart->x_hi - chart->x_lo) / fmax(chart->zoom, 1), from, to = chart->cursor;

	plot_request_runs(&request, shared);
	plot_request_settle(&request, shared);
	if (request.n_runs > 0)
		plot_points_init(&points, &request, shared->model, request.runs[0]);
	from = chart->x_lo + (chart->x_hi - chart->x_lo) * chart->center - span / 2;
	from = fmin(fmax(from, chart->x_lo), chart->x_hi - span);
	if (chart->cursor < 0) {
		chart->cursor = forward ? 0 : 1;
	} else if (points.n > 0 && span > 0) {
		double now = from + chart->cursor * span, least = span / CURSOR_STOPS;
		size_t at = count_rows_to(&points.curve, now + span * 1e-6);
		double row = points.x[at > 0 ? at - 1 : 0];
		size_t n = forward ? bisect(points.n, k, points.x[k] < row + least)
				   : count_rows_to(&points.curve, row - least);

		if (forward)
			to = n < points.n ? points.x[n] : row;
		else
			to = n > 0 ? points.x[n - 1] : points.x[0];
		chart->cursor = (to - from) / span;
	} else {
		chart->cursor += forward ? 0.01 : -0.01;
	}
	if (chart->cursor > 1 || chart->cursor < 0) {
		double over = chart->cursor > 1 ? chart->cursor - 1 : chart->cursor;

		chart->center += over / chart->zoom;
		chart_keep_inside(chart);
		chart->cursor = chart->cursor > 1 ? 1 : 0;
	}
	plot_points_release(&points);
}

static void chart_step_metric(struct ui_shared *shared, bool forward)
{
	struct chart_metric choices[PLOT_CHOICES], *now = &shared->chart.metric;
	struct plot_request request;

	plot_request_runs(&request, shared);
	size_t n = plot_choices(shared->model, request.runs, request.n_runs, choices);
	if (n == 0)
		return;
	*now = plot_metric_of(request.runs[0], *now);
	size_t at = index_of(i, n, plot_is_metric(&choices[i], now));
	if (at == n)
		at = forward ? n - 1 : 0;
	*now = choices[(at + (forward ? 1 : n - 1)) % n];
}

bool ui_chart_act(struct ui_shared *shared, enum action action)
{
	struct chart_settings *chart = &shared->chart;

	if (action == ACTION_METRIC_NEXT || action == ACTION_METRIC_PREV) {
		chart_step_metric(shared, action == ACTION_METRIC_NEXT);
	} else if (action == ACTION_X_AXIS) {
		chart->axis = (chart->axis + 1) % AXIS_COUNT;
	} else if (action == ACTION_REPLAY) {
		chart->replay = !chart->replay;
		ui_show_message(shared, "other curves %s",
				chart->replay ? "end at this run's current step"
					      : "are shown whole");
	} else if (action == ACTION_LOG_AXIS) {
		chart->log_y = !chart->log_y;
	} else if (action == ACTION_SMOOTH_MORE) {
		chart->smoothing += chart->smoothing + 1 < PLOT_SMOOTHING_COUNT;
	} else if (action == ACTION_SMOOTH_LESS) {
		chart->smoothing -= chart->smoothing > 0;
	} else if (action == ACTION_ZOOM_IN || action == ACTION_ZOOM_OUT) {
		double middle = (chart->cursor >= 0 ? chart->cursor : 0.5) - 0.5;

		chart->center += middle / chart->zoom;
		chart->zoom *= action == ACTION_ZOOM_IN ? 2 : 0.5;
		chart->zoom = fmin(fmax(chart->zoom, 1), ZOOM_MAX);
		chart->center -= middle / chart->zoom;
		chart_keep_inside(chart);
	} else if (action == ACTION_ZOOM_RESET) {
		chart->zoom = 1;
		chart->center = 0.5;
		chart->cursor = -1;
	} else if (action == ACTION_HOLD_Y) {
		chart->hold_y = !chart->hold_y;
	} else if (action == ACTION_LEFT || action == ACTION_RIGHT) {
		move_cursor(shared, action == ACTION_RIGHT);
	} else {
		return false;
	}
	return true;
}
