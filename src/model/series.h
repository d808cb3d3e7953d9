/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_SERIES_H
#define HGYM_MODEL_SERIES_H

#include <stddef.h>
#include <stdint.h>

/*
 * The points of one metric in bounded memory.  While they fit (cap), all are
 * kept exactly; beyond it neighbours are merged pair by pair so that the
 * minimum and the maximum of each stretch stay, and the last points exact.
 */
struct series_point {
	double step; /* absent (NAN): none */
	double train_ms; /* absent: unknown */
	int64_t wall_ms; /* 0: unknown */
	double value;
};

struct series;

struct series *series_new(size_t cap_points);
void series_free(struct series *series);
void series_push(struct series *series, const struct series_point *point);
size_t series_count(const struct series *series);
/* i < series_count; in the order pushed. */
const struct series_point *series_at(const struct series *series, size_t i);
const struct series_point *series_last(const struct series *series);

#endif
