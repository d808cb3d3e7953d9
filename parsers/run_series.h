/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"

/*
 * The series of a run that has that printed name and stands for that metric;
 * made when it is new.  The name becomes UTF-8 without controls, blanks at its
 * ends are taken off, and a long one is cut at a character and ends in "~" and
 * four digits that tell it from others; a name of nothing is none.
 * NULL for no name, and for a new one beyond RUN_MAX_SERIES: that is counted
 * in series_dropped.  Borrowed until the next series is made.
 */
struct run_series *run_series_get(struct run *run, struct str name, struct str unit,
				  enum metric metric);

/* The same for a metric that a rule's group reads: under the metric's name. */
struct run_series *run_series_of(struct run *run, enum metric metric);

/* Take a value, as printed; one that is not finite is no point. */
void run_series_add(struct run_series *series, double value, double step);

/* "metrics" of a run's row; given (owned). */
cJSON *run_series_to_json(const struct run *run);

/*
 * The name of a series as its samples carry it, in whatever thread: it is
 * never freed.  NULL beyond SERIES_MAX_NAMES of all logs together.
 */
#define SERIES_MAX_NAMES 32768
const char *run_series_shared_name(struct run_series *series);

/*
 * By what a sample is called: its metric's name, or as printed.  What is
 * printed like the name of a metric that it does not stand for is told from
 * that: "train_loss (printed)".  Returns out.
 */
#define SERIES_LABEL_BYTES (SERIES_NAME_BYTES + 12)
const char *series_label(enum metric metric, const char *name, char out[SERIES_LABEL_BYTES]);
/*
 * The series of a run that is called so: by the name of the metric that it
 * stands for, else by its printed name, of several the first, else by its
 * label; NULL: none.
 */
const struct run_series *run_series_called(const struct run *run, const char *name);

/*
 * Its last value as that name asks for it: in the metric's unit by the name of
 * the metric, else as printed; absent without a point.
 */
double run_series_last(const struct run_series *series, const char *name);

/* The printed name that such a label may have been made of. */
void series_printed(const char *label, char out[SERIES_NAME_BYTES]);
