/* SPDX-License-Identifier: MIT */
/* HarnessGym directories in the model: a local directory that grows, and one on a pod. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "harness/feed.h"
#include "harness/wire.h"
#include "loop/loop.h"
#include "model/harness_view.h"
#include "remote/fleet.h"
#include "tests/tools/harness_gen.h"

#include "tests/support/tap.h"

#define LIMIT_MS 600000

struct test {
	struct loop *loop;
	struct model model;
	const char *dir;
	size_t step;
	bool timed_out;
};

static void on_timeout(void *user)
{
	struct test *test = user;

	test->timed_out = true;
	loop_stop(test->loop);
}

static const struct harness_run *get_run(const struct test *test, size_t place)
{
	const struct harness_place *p = &test->model.harness->places[place];

	return p->read ? harness_workspace_run(&p->ws, NULL) : NULL;
}

/* Write a few steps of the run, until the summary is written and both places have it. */
static void on_step(void *user)
{
	struct test *test = user;
	struct harness_gen gen = { .dir = test->dir };
	const struct harness_run *here = get_run(test, 0), *there;

	for (int i = 0; i < 6 && test->step < harness_gen_steps(); i++)
		if (harness_gen_step(&gen, test->step++, NULL) != 0)
			loop_stop(test->loop);
	there = get_run(test, 1);
	/* The last read on the pod may have met a file that was being written. */
	if (here != NULL && here->has_summary && there != NULL && there->has_config)
		loop_stop(test->loop);
}

static void test_points(const struct harness_place *place)
{
	const struct harness_run *run = harness_workspace_run(&place->ws, "rmsnorm-h100");
	struct harness_point points[64];
	struct harness_text texts[16];
	size_t n = harness_view_points(run, points, 64);
	unsigned int kinds[5] = { 0 };
	struct harness_run paid = *run;
	struct harness_iteration its[2] = { run->iterations[0], run->iterations[1] };

	for (size_t i = 0; i < n; i++)
		kinds[points[i].kind]++;
	ok(fabs(points[1].x[HARNESS_X_WALL] - 501.4 / 60) < 1e-9,
	   "wall time of the first score in minutes");
	ok(isnan(points[1].x[HARNESS_X_COST]), "the cost of an iteration is unknown");
	its[0].usage.cost_usd = harness_number(1.5);
	its[1].usage.cost_usd = harness_number(0.25);
	paid.iterations = its;
	paid.n_iterations = 2;
	n = harness_view_points(&paid, points, 64);
	ok(fabs(points[n - 1].x[HARNESS_X_COST] - 1.75) < 1e-9, "known costs are summed");
	n = harness_view_points(run, points, 64);
	is_int(kinds[HARNESS_POINT_BASELINE], 1, "the baseline has one point");
	is_int(kinds[HARNESS_POINT_VERIFIED], 3, "verified scores have three points");
	is_int(kinds[HARNESS_POINT_SESSION], 4, "scores of the agent's tool have four points");
	n = harness_view_texts(place, run, 4, texts, 16);
	ok(n >= 3 && strcmp(texts[0].name, "build stdout") == 0,
	   "the texts of an iteration start with the newest phase");
}

/* A header with an impossible time is ignored, like all text before the header. */
static void test_clock(void)
{
	static const char *const heads[] = { "HGH1 9223372036854775807\n", "HGH1 253402300800\n",
					     "HGH1 -5\n", "HGH1 0\n" };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct harness_files files;
		struct harness_wire wire;

		harness_files_init(&files);
		harness_wire_init(&wire, &files);
		harness_wire_feed(&wire, str_from(heads[i]));
		harness_wire_feed(&wire, STR_LIT("END\n"));
		ok(wire.now_ms == 0 && !wire.ended, "an impossible time is ignored: %.26s",
		   heads[i]);
		harness_wire_feed(&wire, STR_LIT("HGH1 253402300799\nEND\n"));
		ok(wire.now_ms == INT64_C(253402300799000) && wire.ended,
		   "the last possible time is read");
		harness_wire_release(&wire);
		harness_files_release(&files);
	}
}

static void on_none(void *user)
{
	struct test *test = user;

	if (test->model.harness->places[0].why[0] != '\0')
		loop_stop(test->loop);
}

/* A directory that matches the pattern gets its own place. */
static void on_match(void *user)
{
	struct test *test = user;

	if (test->model.harness->n > 3 && get_run(test, 3) != NULL)
		loop_stop(test->loop);
}

static void test_pattern(struct test *test, struct harness_feed *feed, struct transport *transport)
{
	struct loop_timer *timer = loop_timer_new(test->loop, on_match, test);
	char *more = xasprintf("%s/more 1", test->dir);
	char *pattern = xasprintf("%s/more*", test->dir);

	ok(harness_gen_write(more, 6, NULL) == 0, "another workspace is created");
	harness_feed_pod(feed, 0, transport, 0, pattern);
	harness_feed_poll(feed);
	loop_timer_start(timer, 50, 50);
	loop_run(test->loop);
	loop_timer_close(timer);
	ok(test->timed_out || (test->model.harness->n == 4 && get_run(test, 3)->has_config),
	   "a pattern is expanded on the pod");
	ok(!test->timed_out && strstr(test->model.harness->places[2].why, "1") != NULL,
	   "the place of the pattern shows the number of matches");
	free(pattern);
	free(more);
}

int main(void)
{
	static const struct remote_pod pod = { .name = "here", .transport = REMOTE_LOCAL };
	static const struct fleet_options options = { .user = NULL };
	char root[] = "harness-feed.XXXXXX", *dir;
	struct err err = { ERR_NONE, "" };
	struct test test = { .loop = loop_new(&err) };
	struct loop_timer *limit, *stepper;
	struct harness_feed *feed;
	struct fleet *fleet;

	test_clock();
	if (mkdtemp(root) == NULL || test.loop == NULL)
		return 1;
	dir = realpath(root, NULL);
	test.dir = dir;
	model_init(&test.model);
	(void)model_pod_add(&test.model, "here", "local");
	fleet = fleet_new(test.loop, &pod, 1, &options);
	feed = harness_feed_new(test.loop, &test.model);
	harness_feed_local(feed, dir);
	harness_feed_poll(feed);
	limit = loop_timer_new(test.loop, on_timeout, &test);
	loop_timer_start(limit, LIMIT_MS, 0);
	stepper = loop_timer_new(test.loop, on_none, &test);
	loop_timer_start(stepper, 50, 50);
	loop_run(test.loop);
	loop_timer_close(stepper);
	ok(!test.timed_out && !test.model.harness->places[0].read,
	   "a directory without a run has a message");
	ok(harness_gen_write(dir, 6, &err) == 0, "a run starts");
	test.step = 6;
	harness_feed_pod(feed, 0, fleet_transport(fleet), 0, dir);
	stepper = loop_timer_new(test.loop, on_step, &test);
	loop_timer_start(stepper, 50, 50);
	loop_run(test.loop);
	loop_timer_close(stepper);
	ok(!test.timed_out, "both places were read in time");
	ok(get_run(&test, 0) != NULL && get_run(&test, 0)->has_summary,
	   "the local run is read to its end");
	ok(get_run(&test, 1) != NULL && get_run(&test, 1)->has_config,
	   "the run on the pod is read");
	is_str(test.model.harness->places[0].why, "", "the message is gone");
	ok((test.model.changed & MODEL_HARNESS) != 0, "the model reports the change");
	test_points(&test.model.harness->places[0]);

	test_pattern(&test, feed, fleet_transport(fleet));

	/* Free everything while a command is still running. */
	harness_feed_pod(feed, 0, fleet_transport(fleet), 0, dir);
	harness_feed_poll(feed);
	loop_timer_close(limit);
	harness_feed_free(feed);
	fleet_free(fleet);
	loop_free(test.loop);
	model_release(&test.model);
	ok(test.model.harness == NULL, "everything is freed");
	free(dir);
	(void)fflush(stdout);
	if (fork() == 0)
		(void)execlp("rm", "rm", "-rf", root, (char *)NULL);
	(void)wait(NULL);
	return tap_done();
}
