/* SPDX-License-Identifier: MIT */
/* Series: exact while they fit, extremes kept, last points exact, bounded. */
#include <math.h>
#include <stdint.h>

#include "model/series.h"

#include "tests/support/tap.h"

static uint64_t seed = 1;

/* A fixed sequence of numbers in [0, 1). */
static double next_random(void)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static struct series_point point(double step, double value)
{
	return (struct series_point){ step, step * 100, 0, value };
}

static void test_exact_while_it_fits(void)
{
	struct series *series = series_new(64);
	bool same = true;

	for (int i = 0; i < 60; i++) {
		struct series_point p = point(i, i % 7);

		series_push(series, &p);
		if (i % 20 == 9)
			series_trim(series);
	}
	is_int((long long)series_count(series), 60, "60 of 64 points are kept");
	for (int i = 0; i < 60; i++)
		same = same && series_at(series, (size_t)i)->step == i &&
		       series_at(series, (size_t)i)->value == i % 7;
	ok(same, "all points are unchanged");
	series_free(series);
}

/* Push n random points with one spike up and one down, early. */
static void test_bounded(size_t cap, int n)
{
	struct series *series = series_new(cap);
	double last[16], lo = INFINITY, hi = -INFINITY;
	bool ordered = true, exact = true;
	size_t count;

	for (int i = 0; i < n; i++) {
		double value = next_random();
		struct series_point p;

		if (i == 3)
			value = 1e6;
		if (i == 11)
			value = -1e6;
		p = point(i, value);
		series_push(series, &p);
		if (i % 37 == 5)
			series_trim(series);
		last[i % 16] = value;
	}
	count = series_count(series);
	ok(count <= cap, "%d points: %zu kept of at most %zu", n, count, cap);
	ok(count >= cap / 4, "at least a quarter of the limit is kept");
	for (size_t i = 0; i < count; i++) {
		const struct series_point *p = series_at(series, i);

		lo = fmin(lo, p->value);
		hi = fmax(hi, p->value);
		ordered = ordered && (i == 0 || series_at(series, i - 1)->step < p->step);
	}
	ok(lo == -1e6 && hi == 1e6, "both spikes are kept");
	ok(ordered, "the points are in order");
	for (int k = 1; k <= (int)cap / 4 && k <= 16; k++)
		exact = exact && series_at(series, count - (size_t)k)->value == last[(n - k) % 16];
	ok(exact, "the last points are exact");
	ok(series_last(series)->step == n - 1, "the last point is the newest");
	series_free(series);
}

/* The spacing of old points is even: no end of the run is starved. */
static void test_even(void)
{
	struct series *series = series_new(256);
	size_t count, half = 0;

	for (int i = 0; i < 100000; i++) {
		struct series_point p = point(i, next_random());

		series_push(series, &p);
	}
	count = series_count(series);
	while (half < count && series_at(series, half)->step < 50000)
		half++;
	ok(half >= (count - 64) / 3, "half of the points are from the first half of the run");
	series_free(series);
}

static void test_equal_values(void)
{
	struct series *series = series_new(16);

	for (int i = 0; i < 1000; i++) {
		struct series_point p = point(i, 5);

		series_push(series, &p);
	}
	ok(series_count(series) <= 16 && series_last(series)->value == 5,
	   "equal values are merged too");
	series_free(series);
}

static void test_own(void)
{
	struct own_series own = { NULL, 0 };
	struct series_point p;
	char name[SERIES_NAME_BYTES];
	const struct series *of;

	for (int i = 0; i < 10000; i++) {
		p = point(i, i);
		(void)snprintf(name, sizeof(name), "m%d", i % 100);
		own_series_push(&own, name, &p);
		own_series_push(&own, "m0", &p);
	}
	ok(own.n == RUN_MAX_SERIES, "no more names than a run has");
	of = own_series_find(&own, "m0");
	ok(of != NULL && series_count(of) <= SERIES_OWN_POINTS && series_last(of)->value == 9999,
	   "no series has more points than the limit");
	ok(own_series_find(&own, "M0") == NULL, "names are case-sensitive");
	own_series_clear(&own);
	ok(own.n == 0 && own_series_find(&own, "m0") == NULL, "no series is left");
}

int main(void)
{
	struct series *empty = series_new(16);

	ok(series_count(empty) == 0 && series_last(empty) == NULL,
	   "an empty series has no last point");
	series_free(empty);
	test_exact_while_it_fits();
	test_bounded(16, 100);
	test_bounded(64, 1000);
	test_bounded(4096, 100000);
	test_even();
	test_equal_values();
	test_own();
	return tap_done();
}
