/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"

/* The points of a metric in bounded memory. Up to about cap, all are exact. Beyond it, older ones
 * are merged into stretches of equal length with their minimum and maximum; the newest quarter of
 * cap stays exact, as do the lowest and the highest value of all. */
struct series_point {
	double step;	 /* absent (NAN): none */
	double train_ms; /* absent: unknown */
	int64_t wall_ms; /* 0: unknown */
	double value;
};

struct series;

#define SERIES_CAP_POINTS  4096 /* default */
#define SERIES_THIN_POINTS 64	/* for a run that no view shows */

/* cap_points >= 16; memory grows with the points. */
struct series *series_new(size_t cap_points);
void series_free(struct series *series);
void series_push(struct series *series, const struct series_point *point);
/* Push a point unless its value is NaN or infinite; creates *series if it is NULL. */
void series_push_finite(struct series **series, const struct series_point *point);
/* Free the memory that it keeps for more points; they can still be pushed. */
void series_trim(struct series *series);
size_t series_count(const struct series *series);
/* i < series_count; in the order in which they were pushed. */
const struct series_point *series_at(const struct series *series, size_t i);
/* The newest point, or NULL. */
const struct series_point *series_last(const struct series *series);
/* The series of a run that are not a metric; at most RUN_MAX_SERIES of SERIES_OWN_POINTS. */
struct own_series {
	struct named_series {
		char name[SERIES_NAME_BYTES];
		struct series *series; /* owned */
	} * v;
	size_t n;
};

#define SERIES_OWN_POINTS 1024

void own_series_push(struct own_series *own, const char *name, const struct series_point *point);
/* NULL if there is none. */
const struct series *own_series_find(const struct own_series *own, const char *name);
/* Free all; *own is empty and usable afterwards. */
void own_series_clear(struct own_series *own);
