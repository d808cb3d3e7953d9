/* SPDX-License-Identifier: MIT */
/* crossing: forecast where a live run crosses its target from the finished runs of its group. */
#include "model/crossing.h"

#include <glob.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "parsers/format.h"
#include "parsers/run_reader.h"
#include "parsers/run_series.h"
#include "tests/support/tap.h"

#define RUNS 12

static struct track track;

/* A run of 3,000 steps that loses 0.0001 nats per step and ends at `end` nats. */
static void make_run(struct run *run, double end, double last)
{
	run_init(run);
	run->status = RUN_RUNNING;
	struct run_series *series = run_series_get_metric(run, METRIC_VAL_LOSS);
	for (double step = 250; step <= last; step += 250)
		run_series_add(series, end + (3000 - step) * 1e-4, step);
}

static void test_synthetic(void)
{
	struct run others[5], live;
	const struct run *pointers[5];
	struct crossing c;

	/* These runs cross 3.28 at steps 2900, 2880, .. 2820. */
	for (size_t i = 0; i < 5; i++) {
		make_run(&others[i], 3.27 - 0.002 * (double)i, 3000);
		pointers[i] = &others[i];
	}
	make_run(&live, 3.269, 2000);
	c = crossing_forecast(&track, &live, pointers, 5);
	is_near(c.step, 2890, 1e-6, "the forecast shifts other runs' curves by the gap");
	is_near(c.error, 0, 1e-6, "the other runs' forecasts of each other are exact");
	is_int((long long)c.n, 5, "the forecast comes from five runs");
	c = crossing_forecast(&track, &live, pointers, 2);
	ok(!run_has(c.step), "two runs are not enough");
	run_release(&live);
	make_run(&live, 3.269, 1250);
	c = crossing_forecast(&track, &live, pointers, 5);
	ok(!run_has(c.step), "no forecast in the first half of the run");
	run_release(&live);
	make_run(&live, 3.269, 3000);
	c = crossing_forecast(&track, &live, pointers, 5);
	ok(!run_has(c.step), "no forecast after the crossing");
	run_release(&live);
	make_run(&live, 3.9, 2000);
	c = crossing_forecast(&track, &live, pointers, 5);
	ok(!run_has(c.step), "a run that will not cross has no forecast");
	run_release(&live);
	for (size_t i = 0; i < 5; i++)
		run_release(&others[i]);
}

static void keep_run(void *user, const struct run *run)
{
	struct run *to = user;

	run_release(to);
	run_copy(to, run);
}

/* Leave out each run of a group: cut it at three quarters, and forecast it from the others. */
static void test_group(const char *folder, struct run_reader *reader, size_t *covered, size_t *all)
{
	AUTO_TEXT pattern = xasprintf("%s*.txt", folder);
	struct run runs[RUNS];
	glob_t files;
	size_t n = 0;

	(void)glob(pattern, 0, NULL, &files);
	for (; n < files.gl_pathc && n < RUNS; n++) {
		AUTO_BUF text = buf_new(1U << 28);

		run_init(&runs[n]);
		run_reader_reset(reader, &runs[n]);
		if (file_read(files.gl_pathv[n], &text, NULL) == 0)
			run_reader_feed(reader, text.data, text.len);
		run_reader_finish(reader);
	}
	for (size_t i = 0; i < n; i++) {
		const struct run *others[RUNS];
		struct run_series *series =
			runs[i].n_series > 0 ? run_series_get_metric(&runs[i], METRIC_VAL_LOSS)
					     : NULL;
		size_t k = 0, crossed = 0;

		for (size_t j = 0; j < n; j++)
			if (j != i)
				others[k++] = &runs[j];
		if (series == NULL)
			continue;
		struct run_points *points = &series->validations, whole = *points;
		while (crossed < whole.n && whole.v[crossed].value > 3.28)
			crossed++;
		if (crossed == whole.n)
			continue;
		double actual = whole.v[crossed].step;
		while (points->n > 0 && points->v[points->n - 1].step > 0.75 * actual)
			points->n--;
		struct crossing c = crossing_forecast(&track, &runs[i], others, k);
		*points = whole;
		if (!run_has(c.step))
			continue;
		++*all;
		/* The crossing is between two validations. */
		*covered +=
			c.step - c.error <= actual && c.step + c.error >= whole.v[crossed - 1].step;
	}
	for (size_t i = 0; i < n; i++)
		run_release(&runs[i]);
	globfree(&files);
}

static void test_results(void)
{
	const char *shared = getenv("HGYM_SHARED"), *src = getenv("HGYM_SRC");
	AUTO_TEXT pattern = shared != NULL ? xasprintf("%s/corpus/track3/results/*/", shared)
					   : xasprintf("%s/../shared/corpus/track3/results/*/",
						       src != NULL ? src : ".");
	static const struct run_reader_cb cb = { .on_run = keep_run };
	size_t covered = 0, all = 0;
	glob_t folders;

	if (glob(pattern, 0, NULL, &folders) != 0) {
		ok(true, "published results # SKIP needs ../shared/corpus");
		return;
	}
	struct format_set *formats = format_set_new_builtin();
	struct run_reader *reader = run_reader_new(formats, &cb, NULL);
	for (size_t i = 0; i < folders.gl_pathc; i++)
		test_group(folders.gl_pathv[i], reader, &covered, &all);
	run_reader_free(reader);
	format_set_free(formats);
	globfree(&folders);
	ok(all >= 30 && covered * 10 >= all * 8,
	   "at three quarters %zu of %zu published runs cross within the error", covered, all);
}

int main(void)
{
	struct err err = { ERR_NONE, "" };

	if (track_load(&track, "nanogpt-optimization", &err) != 0)
		return 1;
	test_synthetic();
	test_results();
	track_release(&track);
	return tap_done();
}
