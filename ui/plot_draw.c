/* SPDX-License-Identifier: MIT */
/* One chart of some runs, with the settings that all charts share. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "model/forecast.h"
#include "ui/fmt.h"
#include "ui/plot.h"
#include "ui/theme.h"

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
