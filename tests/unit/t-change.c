/* SPDX-License-Identifier: MIT */
/* Change points: how often one is found in series without a change, and in series with a step of
 * three standard deviations; in simulated series and in the step times of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/change.h"
#include "base/random.h"
#include "model/step_change.h"

#include "tests/support/tap.h"

#define POINTS 100

static uint64_t state;

static double uniform(void)
{
	return ((double)(splitmix64_next(&state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double skewed(void)
{
	return -log(uniform()) - 1;
}

static double t3(void)
{
	double a = normal(), b = normal(), c = normal();

	return normal() / sqrt(a * a + b * b + c * c);
}

/* A row of the table: n points around 100, with that correlation, and a step at `at`. */
struct row {
	const char *name;
	double (*draw)(void);
	double rho;
	size_t n, at; /* at 0: none */
	size_t series;
	double least, most; /* limits of the percentage of series in which a change is found */
};

static void make(const struct row *row, double *y)
{
	double x = 0;

	for (size_t i = 0; i < 50 + row->n; i++) {
		x = row->rho * x + row->draw() * sqrt(1 - row->rho * row->rho);
		if (i >= 50)
			y[i - 50] = 100 + x + (row->at > 0 && i - 50 >= row->at ? 3 : 0);
	}
}

/* A step counts as found within two points of it. */
static bool is_found(const struct row *row, const struct change *found, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (row->at == 0 || (found[i].at + 2 >= row->at && found[i].at <= row->at + 2))
			return true;
	return false;
}

static void test_row(const struct row *row)
{
	struct change found[CHANGE_MOST];
	double y[POINTS], pct;
	size_t hits = 0;

	state = 20261123;
	for (size_t i = 0; i < row->series; i++) {
		make(row, y);
		hits += is_found(row, found, change_find(y, row->n, found));
	}
	pct = 100.0 * (double)hits / (double)row->series;
	ok(pct >= row->least && pct <= row->most,
	   "%s: found in %.1f %% of %zu series of %zu points", row->name, pct, row->series, row->n);
}

static void test_rates(void)
{
	static const struct row rows[] = {
		{ "no change", normal, 0, 100, 0, 400, 0, 5 },
		{ "no change, skewed", skewed, 0, 100, 0, 200, 0, 5 },
		{ "no change, t3", t3, 0, 100, 0, 400, 0, 5 },
		{ "no change, AR1 0.3", normal, 0.3, 100, 0, 200, 0, 6 },
		{ "no change, AR1 0.5", normal, 0.5, 100, 0, 200, 0, 6 },
		{ "no change, AR1 0.7", normal, 0.7, 100, 0, 200, 0, 9 },
		{ "no change, few", normal, 0, 12, 0, 400, 0, 5 },
		{ "3 sd in the middle", normal, 0, 100, 50, 150, 95, 100 },
		{ "3 sd, skewed", skewed, 0, 100, 60, 100, 95, 100 },
		{ "3 sd near the start", normal, 0, 100, 12, 100, 95, 100 },
		{ "3 sd near the end", normal, 0, 100, 90, 100, 90, 100 },
		{ "3 sd, AR1 0.3", normal, 0.3, 100, 50, 100, 90, 100 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_row(&rows[i]);
}

static void test_values(void)
{
	struct change found[CHANGE_MOST];
	double y[3000];
	size_t n;

	state = 1;
	for (size_t i = 0; i < 3000; i++)
		y[i] = (i < 900 ? 100 : i < 2100 ? 103 : 100) + normal();
	n = change_find(y, 3000, found);
	ok(n == 2 && found[0].at + 24 >= 900 && found[0].at <= 924 && found[1].at + 24 >= 2100 &&
		   found[1].at <= 2124,
	   "a level that comes back gives two changes, each in its section");
	ok(fabs(found[0].before - 100) < 0.2 && fabs(found[0].after - 103) < 0.2 &&
		   fabs(found[1].after - 100) < 0.2,
	   "changes have the levels on both sides");
	for (size_t i = 0; i < 100; i++)
		y[i] = 7;
	ok(change_find(y, 100, found) == 0, "equal values have no change");
	y[50] = 7e6;
	ok(change_find(y, 100, found) == 0, "one outlier is not a change");
	ok(change_find(y, 0, found) + change_find(y, 1, found) + change_find(y, 4, found) == 0,
	   "zero, one or four values have no change");
}

/* A run with a row every ten steps: 100 ms per step, then another time. */
static void add_rows(struct model_run *mr, enum metric metric, size_t n, double other, bool clock)
{
	struct series_point p = { .train_ms = clock ? 0 : RUN_ABSENT };

	mr->series[metric] = series_new(SERIES_CAP_POINTS);
	for (size_t i = 0; i < n; i++) {
		p.value = (i < n / 2 ? 100 : other) * (1 + 0.002 * normal());
		/* One row in 40 waits for a checkpoint. */
		p.value += i % 40 == 7 ? 20 : 0;
		p.step += 10;
		if (clock)
			p.train_ms += 10 * p.value;
		series_push(mr->series[metric], &p);
	}
	mr->run.series = calloc(1, sizeof(*mr->run.series));
	mr->run.n_series = 1;
	mr->run.series[0].metric = metric;
	mr->run.series[0].points = n;
}

static void drop_rows(struct model_run *mr, enum metric metric)
{
	series_free(mr->series[metric]);
	free(mr->run.series);
	memset(mr, 0, sizeof(*mr));
}

static void test_run(void)
{
	static const struct {
		const char *name;
		enum metric metric;
		size_t rows;
		double other;
		bool clock;
		size_t found;
	} cases[] = {
		{ "200 rows", METRIC_MS_PER_STEP, 200, 103, true, 1 },
		{ "200 equal rows", METRIC_MS_PER_STEP, 200, 100, true, 0 },
		{ "a third of a per cent", METRIC_MS_PER_STEP, 200, 100.3, true, 0 },
		{ "no clock", METRIC_STEP_MS, 200, 103, false, 1 },
		/* Merged points keep minimum and maximum, so they are not a fair sample of the
		 * original rows. */
		{ "20,000 rows alike", METRIC_MS_PER_STEP, 20000, 100, true, 0 },
		{ "20,000 rows", METRIC_MS_PER_STEP, 20000, 103, true, 1 },
		{ "20,000 rows without a clock", METRIC_STEP_MS, 20000, 103, false, 0 },
		{ "a mean since the start", METRIC_STEP_AVG_MS, 200, 103, false, 0 },
	};
	struct model_run mr = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct step_changes changes = { 0 };
		double half = (double)cases[i].rows * 5;

		state = 7;
		add_rows(&mr, cases[i].metric, cases[i].rows, cases[i].other, cases[i].clock);
		step_changes_update(&changes, &mr);
		ok(changes.n == cases[i].found &&
			   (changes.n == 0 ||
			    (fabs(changes.v[0].at.step - half) < half / 20 &&
			     fabs(changes.v[0].after / changes.v[0].before - 1.03) < 0.01)),
		   "%s: %zu changes", cases[i].name, changes.n);
		drop_rows(&mr, cases[i].metric);
	}
}

static void test_again(void)
{
	struct step_changes changes = { 0 };
	struct model_run mr = { .run.status = RUN_RUNNING };
	struct series_point p;

	state = 7;
	add_rows(&mr, METRIC_MS_PER_STEP, 200, 103, true);
	step_changes_update(&changes, &mr);
	p = *series_last(mr.series[METRIC_MS_PER_STEP]);
	p.step += 10;
	p.train_ms += 1030;
	series_push(mr.series[METRIC_MS_PER_STEP], &p);
	step_changes_update(&changes, &mr);
	ok(changes.count == 200, "one more row does not start a new search");
	mr.run.status = RUN_FINISHED;
	step_changes_update(&changes, &mr);
	ok(changes.count == 201, "at the end of the run all rows are searched");
	drop_rows(&mr, METRIC_MS_PER_STEP);
	step_changes_update(&changes, &mr);
	ok(changes.n == 0 && changes.mr == &mr, "no rows, no changes");
}

int main(void)
{
	test_rates();
	test_values();
	test_run();
	test_again();
	return tap_done();
}
