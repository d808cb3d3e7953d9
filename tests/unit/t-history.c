/* SPDX-License-Identifier: MIT */
/* Load series from the database in jobs: all points, the rest, and while points are written. */
#include "store/history.h"

#include <stdio.h>

#include "base/xalloc.h"
#include "tests/support/store_test.h"

struct seen_answer {
	struct loop *loop;
	unsigned int n;
	size_t points, pending;
	double last;
	size_t own_points;
	double own_last;
	uint64_t last_line;
	enum err_code code;
};

static void on_answer(void *user, struct history_answer *answer)
{
	struct seen_answer *seen = user;
	const struct series *series = answer->series[METRIC_TRAIN_LOSS];

	seen->n++;
	seen->points = series != NULL ? series_count(series) : 0;
	seen->last = series != NULL ? series_last(series)->value : RUN_ABSENT;
	series = own_series_find(&answer->own, "grad norm");
	seen->own_points = series != NULL ? series_count(series) : 0;
	seen->own_last = series != NULL ? series_last(series)->value : RUN_ABSENT;
	seen->last_line = answer->last_line;
	seen->code = answer->err.code;
	loop_stop(seen->loop);
}

static void on_pending(void *user, const struct sample *sample)
{
	struct seen_answer *seen = user;

	seen->pending++;
	seen->last_line = sample->line;
}

static void ask(struct history *history, struct seen_answer *seen, const struct history_ask *what)
{
	history_read(history, what);
	loop_run(seen->loop);
}

static void test_series(struct loop *loop)
{
	const char *path = file_in_dir("series.db");
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct seen_answer seen = { .loop = loop };
	struct history *history = history_new(loop, path, on_answer, &seen);
	struct run run;

	fill_run(&run, 9);
	for (uint64_t line = 1; line <= 1000; line++)
		add_sample(store, log, &run, line);
	store_run_put(store, log, &run, &put);
	(void)store_flush(store, NULL);
	ask(history, &seen, &(struct history_ask){ .run_id = 1 });
	is_int((long long)seen.points, 1000, "all points of a run");
	is_near(seen.last, 1.0 / 1002, 0, "the value of the last point");
	is_int((long long)seen.last_line, 1000, "the line of the last point");

	for (uint64_t line = 1001; line <= 1010; line++)
		add_sample(store, log, &run, line);
	ask(history, &seen, &(struct history_ask){ .run_id = 1, .after_line = 1000 });
	is_int((long long)seen.points, 0, "points that are not written yet are not returned");
	is_int((long long)seen.last_line, 1000, "points that are not written change no line");
	store_each_pending(store, 1, on_pending, &seen);
	is_int((long long)seen.pending, 10, "the store reports the points that wait");
	is_int((long long)seen.last_line, 1010, "the store reports them up to the last line");
	seen.pending = 0;
	store_each_pending(store, 2, on_pending, &seen);
	is_int((long long)seen.pending, 0, "no points of another run wait");
	(void)store_flush(store, NULL);
	ask(history, &seen, &(struct history_ask){ .run_id = 1, .after_line = 1000 });
	is_int((long long)seen.points, 10, "only new points of a run are returned");
	ask(history, &seen, &(struct history_ask){ .run_id = 77 });
	is_int((long long)seen.points, 0, "an unknown run has no points");
	/* The answer arrives after the requester was freed. */
	seen.n = 0;
	history_read(history, &(struct history_ask){ .run_id = 1 });
	history_free(history);
	(void)store_close(store, NULL);
	run_release(&run);
}

/* Series with printed names, one of which is also the name of a metric. */
static void test_own_series(struct loop *loop)
{
	const char *path = file_in_dir("own.db");
	struct store *store = open_store(path, false);
	struct store_log *log = store_log_get(store, "p", "/x", 0);
	struct seen_answer seen = { .loop = loop };
	struct history *history = history_new(loop, path, on_answer, &seen);
	struct sample sample = { .metric = METRIC_COUNT, .train_ms = RUN_ABSENT };
	struct run run;

	fill_run(&run, 9);
	for (uint64_t line = 1; line <= 10; line++) {
		sample.step = (double)line;
		sample.value = 2 * sample.step;
		sample.line = line;
		sample.name = "grad norm";
		store_sample_add(store, log, run.run_index, &sample);
		sample.name = "train_loss";
		store_sample_add(store, log, run.run_index, &sample);
	}
	store_run_put(store, log, &run, &put);
	(void)store_flush(store, NULL);
	ask(history, &seen, &(struct history_ask){ .run_id = 1 });
	is_int((long long)seen.own_points, 10, "points of a printed name");
	is_near(seen.own_last, 20, 0, "the value of the last printed point");
	is_int((long long)seen.points, 0,
	       "a printed name equal to a metric's is a separate series");
	ask(history, &seen, &(struct history_ask){ .run_id = 1, .after_line = 8 });
	is_int((long long)seen.own_points, 2, "only new points of a printed name are returned");
	history_free(history);
	(void)store_close(store, NULL);
	run_release(&run);
}

static void test_no_database(struct loop *loop)
{
	struct seen_answer seen = { .loop = loop };
	struct history *history = history_new(loop, file_in_dir("none.db"), on_answer, &seen);

	ask(history, &seen, &(struct history_ask){ .run_id = 1 });
	ok(seen.code != ERR_NONE, "a missing database is an error");
	history_free(history);
}

int main(void)
{
	struct loop *loop = loop_new(NULL);

	(void)snprintf(dir, sizeof(dir), "/tmp/t-history.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return 1;
	test_series(loop);
	test_own_series(loop);
	test_no_database(loop);
	loop_free(loop);
	remove_dir();
	return tap_done();
}
