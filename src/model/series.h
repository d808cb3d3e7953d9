/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/run.h"

/*
 * The points of one metric in bounded memory.  While they fit (cap, less a
 * few), all are kept exactly.  Beyond it the older ones are merged into
 * stretches of equal length that keep their minimum and their maximum, the
 * last quarter of cap stays exact, and so do the lowest and the highest value
 * of all.
 */
struct series_point {
	double step;	 /* absent (NAN): none */
	double train_ms; /* absent: unknown */
	int64_t wall_ms; /* 0: unknown */
	double value;
};

struct series;

#define SERIES_CAP_POINTS  4096 /* of a run's metric, unless told otherwise */
#define SERIES_THIN_POINTS 64	/* of one that nobody looks at */

/* cap_points >= 16; memory grows with what is pushed. */
struct series *series_new(size_t cap_points);
void series_free(struct series *series);
void series_push(struct series *series, const struct series_point *point);
size_t series_count(const struct series *series);
/* i < series_count; in the order pushed. */
const struct series_point *series_at(const struct series *series, size_t i);
/* The point pushed last; NULL when there is none. */
const struct series_point *series_last(const struct series *series);
/*
 * The series of a run that stand for no metric, by their printed names; at
 * most RUN_MAX_SERIES of SERIES_OWN_POINTS each, 2 MiB in all.
 */
struct own_series {
	struct named_series {
		char name[SERIES_NAME_BYTES];
		struct series *series; /* owned */
	} * v;
	size_t n;
};

#define SERIES_OWN_POINTS 1024

void own_series_push(struct own_series *own, const char *name, const struct series_point *point);
/* NULL: none. */
const struct series *own_series_find(const struct own_series *own, const char *name);
/* Free all; it is empty and usable after it. */
void own_series_clear(struct own_series *own);
