/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "base/buf.h"
#include "model/reference.h"
#include "model/step_change.h"
#include "parsers/run_series.h"
#include "report/facts.h"
#include "ui/chart.h"
#include "ui/view.h"

#define FMT_LABEL 96

struct plot_label {
	char s[FMT_LABEL];
};

/*
 * From a run's series to the points of a chart.  BPB is the one to compare:
 * a training loss in nats says nothing across tokenizers, so it is drawn in
 * bits per byte by the run's own val_bpb / val_loss where it has them.  OWN is
 * any series that stands for none of the others, under its printed name.
 *
 *	id, name, unit, decimals at the axis, floor and ceiling of the axis,
 *	and what is better: -1 less, 1 more, 0 nobody knows
 */
#define PLOT_LIST(X)                                                       \
	X(BPB, "BPB", "bits/byte", 3, NAN, NAN, -1)                        \
	X(MS_STEP, "step time", "ms/step", 1, NAN, NAN, -1)                \
	X(LOSS, "train loss", "nats", 3, NAN, NAN, -1)                     \
	X(TOK_S, "throughput", "Mtok/s", 2, NAN, NAN, 1)                   \
	X(TOK_S_DEVICE, "throughput per device", "ktok/s", 2, NAN, NAN, 1) \
	X(VAL_LOSS, "val loss", "nats", 3, NAN, NAN, -1)                   \
	X(OWN, "", "", 3, NAN, NAN, 0)                                     \
	X(GPU_UTIL, "GPU utilisation", "%", 0, 0, 100, 0)                  \
	X(GPU_POWER, "GPU power", "W", 0, 0, NAN, 0)                       \
	X(GPU_TEMP, "GPU temperature", "°C", 0, NAN, NAN, 0)

enum plot_metric {
#define X(id, ...) PLOT_##id,
	PLOT_LIST(X)
#undef X
		PLOT_COUNT
};

struct plot_info {
	const char *name, *unit;
	int decimals;
	double floor, ceiling; /* NAN: none */
	int better;	       /* -1: less, 1: more, 0: unknown */
};

extern const struct plot_info plot_infos[]; /* by enum plot_metric */

/* Weights of the exponential mean; index 0 is none. */
extern const double plot_smoothing[];
#define PLOT_SMOOTHING_COUNT 6

struct plot_points {
	union {
		struct {
			double *x, *y; /* owned; y may be NaN or infinite */
			size_t n;
		};
		struct curve curve; /* the same */
	};
	char what[SERIES_LABEL_BYTES];	 /* what y is, e.g. "train BPB" */
	char column[SERIES_LABEL_BYTES]; /* in a file, e.g. "train_bpb" */
	char unit[SERIES_UNIT_BYTES];	 /* of y; "" where none is known */
	double file_unit;		 /* of y in that of a file: 1e-6 .. */
	double scale;			 /* of y in that of the run's series */
};

void plot_points_release(struct plot_points *points);
/*
 * Replace y by its exponential mean over x of that weight, without start-up
 * bias, each row by the stretch of x that it stands for.  The weight is for as
 * many rows over such a stretch of x as `like` has, so that lines that are
 * compared lag alike; where it has few rows, all stay as they are: false.
 */
bool plot_points_smooth(struct plot_points *points, const struct plot_points *like, double weight);

/*
 * An x of that axis as text with its unit, as precise as values need that
 * lie `apart` from each other.
 */
void plot_x_text(int axis, double x, double apart, char *out, size_t size);
/*
 * The x for a metric of some runs: the chosen one, or where fewer of them have
 * points on it than on another, that.  Telemetry knows wall time alone.
 */
enum chart_axis plot_axis_of(const struct model *model, const struct model_run *const *runs,
			     size_t n, struct chart_metric metric, enum chart_axis axis);
/* Why there are no points of it; one line. */
void plot_why_none(const struct model_run *mr, struct chart_metric metric, enum chart_axis axis,
		   char *out, size_t size);
/*
 * The metrics that any of the runs has points of, in the order of the list.
 * Returns how many are in out.
 */
#define PLOT_CHOICES (PLOT_COUNT + RUN_MAX_SERIES)
size_t plot_choices(const struct model *model, const struct model_run *const *runs, size_t n,
		    struct chart_metric out[PLOT_CHOICES]);
/*
 * What is drawn for a run in place of BPB, where it has none: its loss, else
 * the first series of its own that is named one, else the first.
 */
struct chart_metric plot_metric_of(const struct model_run *mr, struct chart_metric metric);
/* Series of a run with points that stand for no metric: of that name; that is
 * a loss by its name, else the first.  NULL: none. */
const struct run_series *plot_own_series(const struct run *run, const char *name);
const struct run_series *plot_own_loss(const struct run *run);
/* "val_loss", as printed. */
const char *plot_metric_name(const struct chart_metric *metric);
bool plot_is_metric(const struct chart_metric *a, const struct chart_metric *b);
/* One chart of some runs. */
struct plot_request {
	const struct model_run *runs[UI_MAX_MARKS + 2];
	const struct model_run *reference; /* dashed; its seeds are a band */
	size_t n_runs;
	struct chart_metric metric;
	enum chart_axis axis; /* set by plot_request_settle */
	struct rect rect;
	bool legend;
	bool plain;			    /* a title line instead of a box */
	bool marks;			    /* stages and events of the first run */
	const struct step_changes *changes; /* of the first; NULL: none */
	struct buf *svg;		    /* where it is drawn; NULL: on the canvas */
};

/* Points of the metric on the axis of the request; n 0 when there are none. */
void plot_points_init(struct plot_points *points, const struct plot_request *request,
		      const struct model *model, const struct model_run *mr);

/* The metric and the axis that its runs are drawn by. */
void plot_request_settle(struct plot_request *request, const struct ui_shared *shared);
/* A chart inside of a box at its rect, over the axis of its request. */
void plot_chart_init(struct chart *chart, const struct plot_request *request,
		     const struct ui_shared *shared);
/*
 * Which x of the chart's series are shown, and the cursor; and where that is,
 * for the mouse.
 */
void plot_window(struct chart *chart, struct ui_shared *shared);

/* The least and the greatest y, and what a share of the rows lies below and
 * above, but no series' last row: from there it may not come back.  NAN where
 * there is no row. */
struct plot_spread {
	double lo, hi, low, high;
};

/* Of the rows of all series but bands between two x. */
struct plot_spread plot_spread_of(const struct chart *chart, double from, double to, double share);

/*
 * Draw it with the shared settings, in a box with a title.  What could not be
 * drawn (no points, no ratio of BPB to loss) is said in the box.
 */
void plot_draw(const struct plot_request *request, struct ui_shared *shared, struct canvas *canvas);

/*
 * The same as a picture of its own (SVG), or its points as CSV in whole units
 * (s, tok/s, tokens), each with its run, seed and file.  Nothing where there
 * are no points.
 */
void plot_export(const struct plot_request *request, struct ui_shared *shared, bool as_svg,
		 struct buf *out);

/*
 * The gap of two runs by the metric and axis of a request, where both have
 * come to; and of what and where it is: "val BPB at step 1,000".
 */
struct gap plot_gap(const struct plot_request *request, const struct model *model,
		    const struct model_run *mr, const struct model_run *base,
		    char where[FMT_LABEL]);
/* The style of a gap; a plain one unless it stands out of the noise. */
enum fact_style plot_gap_style(const struct gap *gap, struct chart_metric metric);

/* The runs of a chart: the selected, the marked, the reference. */
void plot_request_runs(struct plot_request *request, const struct ui_shared *shared);

/* A run's name for people: "gate-lqer s42"; "" of NULL. */
struct plot_label plot_run_label(const struct model_run *mr);
/* Append to whom an alert happened, and what. */
void plot_add_alert(const struct alert *alert, const struct model *model, struct buf *out);
/* The same without its seed: what tells it from the others. */
const char *plot_run_name(const struct model_run *mr);
