/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"

/* Find or add the series of a run with that printed name and metric. The name is stored as UTF-8
 * without control characters and without blanks at its ends; a long one is cut and ends with "~"
 * and four hex digits of its hash. NULL if the name is empty, or if the run already has
 * RUN_MAX_SERIES (counted in series_dropped). Borrowed until the next series is added. */
struct run_series *run_series_get(struct run *run, struct str name, struct str unit,
				  enum metric metric);

/* The same for a metric from a group of a rule: its name is the metric's. */
struct run_series *run_series_get_metric(struct run *run, enum metric metric);

/* Add a value, as printed; values that are not finite are ignored. */
void run_series_add(struct run_series *series, double value, double step);

/* Make the "metrics" of a run's row; the caller owns the array. */
cJSON *run_series_to_json(const struct run *run);

/* Return the name of a series for its samples. It can be used in any thread and is never freed.
 * NULL after SERIES_MAX_NAMES names of all logs. */
#define SERIES_MAX_NAMES 32768
const char *run_series_shared_name(struct run_series *series);

/* Make the label of a sample: its metric's name, or the printed name. A printed name that is also
 * the name of a metric gets a suffix: "train_loss (printed)". Returns out. */
#define SERIES_LABEL_BYTES (SERIES_NAME_BYTES + 12)
const char *series_label(enum metric metric, const char *name, char out[SERIES_LABEL_BYTES]);
/* Find the series by its metric's name, else its printed name, else its label; NULL: none. */
const struct run_series *run_series_find(const struct run *run, const char *name);

/* Return the last value of a series: in the metric's unit if name is the metric's name, else as
 * printed. Absent if the series has no points. */
double run_series_last(const struct run_series *series, const char *name);
/* The same for the run's series with that name; absent if there is none. */
double run_last_value(const struct run *run, const char *name);

/* Copy a label without series_label()'s suffix. */
void series_printed_name(const char *label, char out[SERIES_NAME_BYTES]);
