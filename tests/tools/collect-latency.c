/* SPDX-License-Identifier: MIT */
/* Measure how long a row takes from its append to the model: collect logs whose train_loss is the
 * CLOCK_MONOTONIC time of the append in seconds, and print "<rows> <p50 ms> <p99 ms> <max ms>". For
 * tests/bench/bench-collect.py.
 *
 *   collect-latency CONFIG DB SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"
#include "base/xalloc.h"
#include "ingest/ingest.h"

#define LOOK_MS	  1
#define WARM_UP_S 3 /* the rows present at the start are a backlog */

struct watch {
	struct loop *loop;
	struct model model;
	double *seen_s; /* last time stamp of each run */
	size_t n_seen, cap_seen;
	double *latency_ms;
	size_t n, cap;
	double start_s, end_s;
};

static double now_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void look(void *user)
{
	struct watch *w = user;
	double now = now_s();

	while (w->n_seen < w->model.n_runs) {
		w->seen_s = xgrow(w->seen_s, w->n_seen, &w->cap_seen, sizeof(*w->seen_s));
		w->seen_s[w->n_seen++] = 0;
	}
	for (size_t i = 0; i < w->model.n_runs; i++) {
		double stamp = w->model.runs[i]->run.last_train_loss;

		if (!run_has(stamp) || stamp <= w->seen_s[i])
			continue;
		w->seen_s[i] = stamp;
		if (stamp < w->start_s + WARM_UP_S)
			continue;
		w->latency_ms = xgrow(w->latency_ms, w->n, &w->cap, sizeof(*w->latency_ms));
		w->latency_ms[w->n++] = (now - stamp) * 1e3;
	}
	if (now >= w->end_s)
		loop_stop(w->loop);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int fail(const struct err *err)
{
	(void)fprintf(stderr, "%s\n", err->text);
	return 1;
}

int main(int argc, char **argv)
{
	struct watch w = { .start_s = now_s() };
	struct err err = { ERR_NONE, "" };
	struct ingest_options o = { .model = &w.model, .must_write = true };
	struct loop_timer *timer;
	struct ingest *c;
	struct conf conf;
	double seconds;

	if (argc != 4 || !str_to_double(str_from(argv[3]), &seconds))
		return 2;
	w.loop = loop_new(&err);
	if (w.loop == NULL || conf_load(&conf, argv[1], &err) != 0)
		return fail(&err);
	model_init(&w.model);
	o.loop = w.loop;
	o.formats = format_set_new_builtin();
	o.conf = &conf;
	o.db_path = argv[2];
	c = ingest_new(&o, &err);
	if (c == NULL)
		return fail(&err);
	w.end_s = w.start_s + seconds;
	timer = loop_timer_new(w.loop, look, &w);
	loop_timer_start(timer, LOOK_MS, LOOK_MS);
	loop_run(w.loop);
	loop_timer_close(timer);
	if (ingest_free(c, &err) != 0)
		return fail(&err);
	if (w.n == 0)
		return 1;
	qsort(w.latency_ms, w.n, sizeof(*w.latency_ms), compare);
	printf("%zu %.1f %.1f %.1f\n", w.n, w.latency_ms[w.n / 2], w.latency_ms[w.n * 99 / 100],
	       w.latency_ms[w.n - 1]);
	return 0;
}
