/* SPDX-License-Identifier: MIT */
/* Keep the points of a metric in bounded memory, with their extremes. */
#include "model/series.h"

#include <assert.h>

#include "base/xalloc.h"

/* Three parts, oldest first: `old` has two points per stretch of `stretch` raw ones, `open` is the
 * stretch that is being filled, `tail` is a ring of the newest raw points. */
struct series {
	struct series_point *old; /* owned; grows up to cap_old */
	size_t n_old, room_old, cap_old;
	uint64_t stretch;

	struct series_point lo, hi, last; /* points of the open stretch */
	uint64_t lo_at, hi_at, n_open;

	struct series_point *tail; /* owned; grows up to cap_tail */
	size_t n_tail, room_tail, cap_tail, head;

	struct series_point open[2]; /* lo and hi in order */
};

struct series *series_new(size_t cap_points)
{
	size_t cap_tail = cap_points / 4;

	assert(cap_points >= 16);
	return xnew(struct series, .cap_tail = cap_tail,
		    .cap_old = (cap_points - cap_tail - 2) / 4 * 4, .stretch = 2);
}

void series_free(struct series *series)
{
	if (series == NULL)
		return;
	free(series->old);
	free(series->tail);
	free(series);
}

/* Grow by a quarter instead of doubling: thousands of runs keep their series in memory. */
static void append_point(struct series_point **points, size_t *n, size_t *room,
			 const struct series_point *point)
{
	if (*n == *room) {
		*room += *room / 4 + 8;
		*points = xreallocarray(*points, *room, sizeof(**points));
	}
	(*points)[(*n)++] = *point;
}

/* Merge stretches in pairs: half the points, each for twice as many raw ones. */
static void halve_old(struct series *series)
{
	for (size_t i = 0; i + 4 <= series->n_old; i += 4) {
		const struct series_point *four = series->old + i;
		size_t lo = 0, hi = 0;

		/* Keep the lowest and the highest of four points, in their order. */
		for (size_t k = 1; k < 4; k++) {
			if (four[k].value < four[lo].value)
				lo = k;
			if (four[k].value > four[hi].value)
				hi = k;
		}
		if (lo == hi)
			hi = 3;
		const struct series_point first = four[lo < hi ? lo : hi];
		const struct series_point second = four[lo < hi ? hi : lo];
		series->old[i / 2] = first;
		series->old[i / 2 + 1] = second;
	}
	series->n_old /= 2;
	series->stretch *= 2;
}

/* Add a point that left the tail to the open stretch. */
static void push_open(struct series *series, const struct series_point *point)
{
	uint64_t at = series->n_open++;

	if (at == 0 || point->value < series->lo.value) {
		series->lo = *point;
		series->lo_at = at;
	}
	if (at == 0 || point->value > series->hi.value) {
		series->hi = *point;
		series->hi_at = at;
	}
	series->last = *point;
	bool lo_first = series->lo_at <= series->hi_at;
	series->open[0] = lo_first ? series->lo : series->hi;
	series->open[1] = series->lo_at == series->hi_at ? series->last
			  : lo_first			 ? series->hi
							 : series->lo;
	if (series->n_open < series->stretch)
		return;
	if (series->n_old >= series->cap_old) {
		halve_old(series);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		append_point(&series->old, &series->n_old, &series->room_old, &series->open[i]);
	series->n_open = 0;
}

void series_push(struct series *series, const struct series_point *point)
{
	if (series->n_tail < series->cap_tail) {
		append_point(&series->tail, &series->n_tail, &series->room_tail, point);
		return;
	}
	push_open(series, &series->tail[series->head]);
	series->tail[series->head] = *point;
	series->head = (series->head + 1) % series->cap_tail;
}

void series_push_finite(struct series **series, const struct series_point *point)
{
	if (!isfinite(point->value))
		return;
	if (*series == NULL)
		*series = series_new(SERIES_CAP_POINTS);
	series_push(*series, point);
}

void series_trim(struct series *series)
{
	if (series->n_old > 0)
		series->old = xreallocarray(series->old, series->room_old = series->n_old,
					    sizeof(*series->old));
	if (series->n_tail > 0)
		series->tail = xreallocarray(series->tail, series->room_tail = series->n_tail,
					     sizeof(*series->tail));
}

static size_t open_count(const struct series *series)
{
	return series->n_open < 2 ? (size_t)series->n_open : 2;
}

size_t series_count(const struct series *series)
{
	return series->n_old + open_count(series) + series->n_tail;
}

const struct series_point *series_at(const struct series *series, size_t i)
{
	size_t open = open_count(series);

	assert(i < series_count(series));
	if (i < series->n_old)
		return &series->old[i];
	i -= series->n_old;
	if (i < open)
		return &series->open[i];
	i -= open;
	return &series->tail[(series->head + i) % series->n_tail];
}

const struct series_point *series_last(const struct series *series)
{
	size_t n = series_count(series);

	return n > 0 ? series_at(series, n - 1) : NULL;
}

static struct named_series *own_series_at(const struct own_series *own, const char *name)
{
	return array_find(one, own->v, own->n, strcmp(one->name, name) == 0);
}

void own_series_push(struct own_series *own, const char *name, const struct series_point *point)
{
	struct named_series *at = own_series_at(own, name);

	if (at == NULL && own->n == RUN_MAX_SERIES)
		return;
	if (at == NULL) {
		own->v = xreallocarray(own->v, own->n + 1, sizeof(*own->v));
		at = &own->v[own->n++];
		print_into(at->name, "%s", name);
		at->series = series_new(SERIES_OWN_POINTS);
	}
	series_push(at->series, point);
}

const struct series *own_series_find(const struct own_series *own, const char *name)
{
	const struct named_series *at = own_series_at(own, name);

	return at != NULL ? at->series : NULL;
}

void own_series_clear(struct own_series *own)
{
	for (size_t i = 0; i < own->n; i++)
		series_free(own->v[i].series);
	free(own->v);
	*own = (struct own_series){ NULL, 0 };
}
