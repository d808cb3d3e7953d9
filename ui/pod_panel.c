/* SPDX-License-Identifier: MIT */
/* The selected pod of the Pods view. */
#include "config.h"

#include "ui/pod_panel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/xalloc.h"
#include "ui/panel.h"
#include "ui/theme.h"

#define LABEL_COLUMNS  7
#define MAX_RUNS       6
#define CHART_COLUMNS  38 /* the narrowest that is still read */
#define CHART_ROWS     8
#define CHART_ROWS_MAX 20
#define WINDOW_S       3600.0

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
draw_noise(const struct model *model, const struct model_pod *pod,
	   struct canvas *canvas, struct rect *r)
{
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

/* The runs that go on, then the last of the others. */
static void
draw_runs(const struct ui_shared *shared, size_t pod, struct canvas *canvas,
	  struct rect *r)
{
	const struct model *model = shared->model;
	const char *label = "runs";
	size_t left = MAX_RUNS, more = 0;

	for (int live = 1; live >= 0; live--) {
		for (size_t i = model->n_runs; i-- > 0;) {
			const struct model_run *mr = model->runs[i];
			struct run_state state;
			char name[FMT_LABEL];

			if (mr->pod != pod || mr->live != (live == 1))
				continue;
			if (left == 0) {
				more++;
				continue;
			}
			left--;
			plot_run_label(mr, name);
			run_state_of(shared, mr, &state);
			put_line(canvas, r, state.style, label, "%s  %s", name,
				 state.text);
			label = "";
		}
	}
	if (more > 0)
		put_line(canvas, r, STYLE_DIM, "", "and %zu more", more);
}

static void
draw_alerts(const struct ui_shared *shared, size_t pod, struct canvas *canvas,
	    struct rect *r)
{
	const struct alerts *alerts = shared->alerts;
	char label[FMT_LABEL];

	for (size_t i = 0; i < alerts->n; i++) {
		const struct alert *alert = &alerts->v[i];

		if (alert->pod != pod)
			continue;
		label[0] = '\0';
		if (alert->mr != NULL)
			plot_run_label(alert->mr, label);
		put_line(canvas, r,
			 alert->acknowledged ? STYLE_DIM : STYLE_WARN, "alert",
			 "%s  %s%s%s", alert_name(alert->kind), label,
			 label[0] != '\0' ? ": " : "", alert->text);
	}
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

#define N_CHARTS (sizeof(charts) / sizeof(charts[0]))

/* Seconds before now, as people say them. */
static void
ago_text(double x, double apart, char *out, size_t size)
{
	if (x > -0.5)
		(void)snprintf(out, size, "now");
	else if (apart >= 59 || x <= -600)
		(void)snprintf(out, size, "-%.0f min", -x / 60);
	else
		(void)snprintf(out, size, "-%.0f s", -x);
}

static void
draw_chart(const struct ui_shared *shared, const struct series *series,
	   size_t which, struct canvas *canvas, struct rect r)
{
	size_t n = series_count(series), from = 0;
	double *x = xcalloc(n, sizeof(*x)), *y = xcalloc(n, sizeof(*y));
	struct chart_series line = { x, y, 0, STYLE_LIVE, CHART_SOLID, NULL };
	struct chart chart;

	for (size_t i = 0; i < n; i++) {
		const struct series_point *point = series_at(series, i);

		x[i] = (double)(point->wall_ms - shared->now_wall_ms) / 1000;
		y[i] = point->value * charts[which].scale;
		if (x[i] < -WINDOW_S)
			from = i + 1;
	}
	line.x += from;
	line.y += from;
	line.n = n - from;
	(void)canvas_text(canvas, r.x, r.y, STYLE_TITLE, charts[which].title);
	r.y++;
	r.h--;
	chart_init(&chart, r);
	chart.charset = shared->chart.charset;
	chart.series = &line;
	chart.n_series = 1;
	chart.y_floor = charts[which].floor;
	chart.y_ceiling = charts[which].ceiling;
	chart.x_hi = 0;
	chart.x_is_time = true;
	chart.x_text = ago_text;
	if (line.n > 1)
		chart_draw(&chart, canvas);
	free(x);
	free(y);
}

/* As many charts as there is room for, in one row or two. */
static void
draw_charts(const struct ui_shared *shared, const struct model_pod *pod,
	    struct canvas *canvas, struct rect r)
{
	int rows = r.h >= 2 * CHART_ROWS ? 2 : 1, columns, n = 0, drawn = 0;
	struct rect at = { r.x, r.y, 0, r.h / rows };
	size_t which[N_CHARTS];

	for (size_t i = 0; i < N_CHARTS; i++) {
		const struct series *series = pod->telemetry[charts[i].metric];

		if (series != NULL && series_count(series) > 1)
			which[n++] = i;
	}
	columns = (n + rows - 1) / rows;
	if (columns > r.w / CHART_COLUMNS)
		columns = r.w / CHART_COLUMNS;
	if (at.h < CHART_ROWS || columns == 0)
		return;
	at.w = r.w / columns - 1;
	if (at.h > CHART_ROWS_MAX)
		at.h = CHART_ROWS_MAX;
	for (; drawn < n && drawn < rows * columns; drawn++) {
		at.x = r.x + drawn % columns * (at.w + 1);
		at.y = r.y + drawn / columns * at.h;
		draw_chart(shared, pod->telemetry[charts[which[drawn]].metric],
			   which[drawn], canvas, at);
	}
}

void
pod_panel_draw(const struct ui_shared *shared, size_t pod,
	       struct canvas *canvas, struct rect r)
{
	const struct model_pod *mp = &shared->model->pods[pod];

	draw_link(shared, mp, canvas, &r);
	if (mp->gpu_name != NULL)
		put_text(canvas, &r, STYLE_NORMAL, "GPU", mp->gpu_name);
	draw_check(shared, mp, canvas, &r);
	draw_noise(shared->model, mp, canvas, &r);
	draw_alerts(shared, pod, canvas, &r);
	draw_runs(shared, pod, canvas, &r);
	r.y++;
	r.h--;
	draw_charts(shared, mp, canvas, r);
}
