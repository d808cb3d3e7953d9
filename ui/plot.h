/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/reference.h"
#include "model/step_change.h"
#include "parsers/run_series.h"
#include "report/facts.h"
#include "ui/view.h"

#define FMT_LABEL 96

struct plot_label {
	char s[FMT_LABEL];
};

/* The metrics of charts. Losses in nats cannot be compared across tokenizers, so BPB multiplies the
 * training loss by the run's val_bpb / val_loss. OWN is another series, by its printed name.
 *
 * Members: see struct plot_info. */
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

#define PLOT_ID(id, ...) PLOT_##id,
enum plot_metric { PLOT_LIST(PLOT_ID) PLOT_COUNT };

struct plot_info {
	const char *name, *unit;
	int decimals;	       /* at the axis */
	double floor, ceiling; /* limits of the axis; NAN: none */
	int better;	       /* -1: lower values are better, 1: higher ones, 0: unknown */
};

extern const struct plot_info plot_infos[]; /* by enum plot_metric */

/* Weights of the exponential mean; index 0 does not smooth. */
extern const double plot_smoothing[];
#define PLOT_SMOOTHING_COUNT 6

struct plot_points {
	union {
		struct {
			double *x, *y; /* owned; y may be NaN or infinite */
			size_t n;
		};
		struct curve curve; /* alias of x, y, n */
	};
	char what[SERIES_LABEL_BYTES];	 /* name of y, e.g. "train BPB" */
	char column[SERIES_LABEL_BYTES]; /* column in an export, e.g. "train_bpb" */
	char unit[SERIES_UNIT_BYTES];	 /* of y; "": unknown */
	double file_unit;		 /* an exported value times this is y, e.g. 1e-6 */
	double scale;			 /* a value of the run's series times this is y */
};

void plot_points_release(struct plot_points *points);
/* Replace y by its exponential mean over x, without start-up bias, each row weighted by its
 * distance in x. `weight` applies per 1/200 of the x range of `like`, so that compared lines lag
 * equally. Returns false and changes nothing if `like` has few rows. */
bool plot_points_smooth(struct plot_points *points, const struct plot_points *like, double weight);

/* Return the x of a point on an axis; absent if the point has none. */
double plot_point_x(const struct model_run *mr, const struct series_point *p, enum chart_axis axis);
/* Name a place on an axis: "step 1,000", "421.4s", "12:30:05". */
void plot_x_name(enum chart_axis axis, double x, char out[FMT_LABEL]);
/* Explain in one line why a run has no points of a metric on an axis. */
void plot_why_none(const struct model_run *mr, struct chart_metric metric, enum chart_axis axis,
		   char *out, size_t size);
/* List the metrics that any of the runs has, in the order of PLOT_LIST; returns how many. */
#define PLOT_CHOICES (PLOT_COUNT + RUN_MAX_SERIES)
size_t plot_choices(const struct model *model, const struct model_run *const *runs, size_t n,
		    struct chart_metric out[PLOT_CHOICES]);
/* Return the metric to draw for a run: `metric`; for one without BPB, a loss or plot_own_loss(). */
struct chart_metric plot_metric_of(const struct model_run *mr, struct chart_metric metric);
/* Find a series of the run, with points, that is not one of the metrics; NULL if there is none. */
const struct run_series *plot_own_series(const struct run *run, const char *name);
/* The same for the first one whose name contains "loss", or else for the first of all. */
const struct run_series *plot_own_loss(const struct run *run);
bool plot_is_metric(const struct chart_metric *a, const struct chart_metric *b);
/* A chart of some runs. */
struct plot_request {
	const struct model_run *runs[UI_MAX_MARKS + 2];
	const struct model_run *reference; /* drawn dashed, with a band of its other seeds */
	size_t n_runs;
	struct chart_metric metric;
	enum chart_axis axis; /* set by plot_request_settle() */
	struct rect rect;
	bool legend;
	bool plain;			    /* a title line instead of a box */
	bool marks;			    /* mark stages and events of the first run */
	const struct step_changes *changes; /* step time changes of the first run; NULL: none */
	struct buf *svg;		    /* append SVG here; NULL: draw on the canvas */
};

/* Compute the points of a run for the request's metric and axis; there may be none. */
void plot_points_init(struct plot_points *points, const struct plot_request *request,
		      const struct model *model, const struct model_run *mr);

/* The same for a series of the run, without conversion; series NULL gives no points. */
void plot_series_init(struct plot_points *points, const struct plot_request *request,
		      const struct model_run *mr, const struct series *series);

/* Replace the metric by one that the first run has. Set the axis: the chosen one if possible, else
 * one on which most runs have points. Telemetry has points over wall time only. */
void plot_request_settle(struct plot_request *request, const struct ui_shared *shared);
/* Initialize a chart inside of a box at the request's rect. */
void plot_chart_init(struct chart *chart, const struct plot_request *request,
		     const struct ui_shared *shared);
/* Set visible x range and cursor from the shared settings, and make the plot react to the mouse. */
void plot_window(struct chart *chart, struct ui_shared *shared);

/* Move the cursor of a chart to a row: the last one at or before the cursor, or the first if there
 * is none. The other charts of the frame with the same axis use the same x. */
void plot_place_cursor(struct chart *chart, const struct curve *rows, struct ui_shared *shared);
/* Return y at x; absent outside the rows. Between two rows, interpolate and set *is_between. */
double plot_value_at(const struct curve *rows, double x, bool *is_between);

/* The range of y: extremes (lo, hi) and quantiles (low, high); NAN without rows. The last row of
 * each series is always between low and high, because it may be the start of a new level. */
struct plot_spread {
	double lo, hi, low, high;
};

/* Compute the range of all series except bands, for x from..to. The share `share` of the rows is
 * below low, and the same share is above high. */
struct plot_spread plot_spread_of(const struct chart *chart, double from, double to, double share);

/* Draw a chart with the shared settings in a titled box; without points, print the reason. */
void plot_draw(const struct plot_request *request, struct ui_shared *shared, struct canvas *canvas);

/* Append the chart as SVG, or its points as CSV in base units (s, tok/s, tokens); or nothing. */
void plot_export(const struct plot_request *request, struct ui_shared *shared, bool as_svg,
		 struct buf *out);

/* Compute the difference of two runs in the request's metric, at the last x that both have reached.
 * `where` gets metric and x: "val BPB at step 1,000". */
struct gap plot_gap(const struct plot_request *request, const struct model *model,
		    const struct model_run *mr, const struct model_run *base,
		    char where[FMT_LABEL]);
/* Return the style of a difference: better or worse if it exceeds twice its error, else plain. */
enum fact_style plot_gap_style(const struct gap *gap, struct chart_metric metric);

/* Set the runs of a chart: the selected run, the marked runs and the reference. */
void plot_request_runs(struct plot_request *request, const struct ui_shared *shared);

/* Return a run's name with its seed: "gate-lqer s42"; "" for NULL. */
struct plot_label plot_run_label(const struct model_run *mr);
/* Append an alert: pod, run, text. */
void plot_add_alert(const struct alert *alert, const struct model *model, struct buf *out);
/* Return a run's name without its seed: its distinctive name, or the file name of its log. */
const char *plot_run_name(const struct model_run *mr);
