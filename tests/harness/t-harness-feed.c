/* SPDX-License-Identifier: MIT */
/* Directories into the model: here as they grow, and over a transport. */
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

#define LIMIT_MS 120000

struct test {
	struct loop *loop;
	struct model model;
	const char *dir;
	size_t step;
	bool late;
};

static void on_late(void *user)
{
	struct test *test = user;

	test->late = true;
	loop_stop(test->loop);
}

static const struct harness_run *run_at(const struct test *test, size_t place)
{
	const struct harness_place *p = &test->model.harness->places[place];

	return p->read ? harness_workspace_run(&p->ws, NULL) : NULL;
}

/* A few steps each time, until the summary stands and both have seen it. */
static void on_step(void *user)
{
	struct test *test = user;
	struct harness_gen gen = { .dir = test->dir };
	const struct harness_run *here = run_at(test, 0), *there;

	for (int i = 0; i < 6 && test->step < harness_gen_steps(); i++)
		if (harness_gen_step(&gen, test->step++, NULL) != 0)
			loop_stop(test->loop);
	there = run_at(test, 1);
	/* The pod's may have been read while a file was written. */
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
	   "the first score's wall time in minutes");
	ok(isnan(points[1].x[HARNESS_X_COST]), "its cost is not known");
	its[0].usage.cost_usd = harness_number(1.5);
	its[1].usage.cost_usd = harness_number(0.25);
	paid.iterations = its;
	paid.n_iterations = 2;
	n = harness_view_points(&paid, points, 64);
	ok(fabs(points[n - 1].x[HARNESS_X_COST] - 1.75) < 1e-9, "where it is told, it adds up");
	n = harness_view_points(run, points, 64);
	is_int(kinds[HARNESS_POINT_BASELINE], 1, "a baseline");
	is_int(kinds[HARNESS_POINT_VERIFIED], 3, "three verified points");
	is_int(kinds[HARNESS_POINT_SESSION], 4, "four of the agent's tool");
	n = harness_view_texts(place, run, 4, texts, 16);
	ok(n >= 3 && strcmp(texts[0].name, "build stdout") == 0,
	   "texts of an iteration, the newest phase first");
}

/* A clock that no pod can have is none, and what follows it is noise. */
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
		ok(wire.now_ms == 0 && !wire.ended, "a pod's clock: %.26s", heads[i]);
		harness_wire_feed(&wire, STR_LIT("HGH1 253402300799\nEND\n"));
		ok(wire.now_ms == INT64_C(253402300799000) && wire.ended,
		   "and the last one that it can have");
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

/* What the pattern of a pod matches gets a place of its own. */
static void on_match(void *user)
{
	struct test *test = user;

	if (test->model.harness->n > 3 && run_at(test, 3) != NULL)
		loop_stop(test->loop);
}

static void test_pattern(struct test *test, struct harness_feed *feed, struct transport *transport)
{
	struct loop_timer *timer = loop_timer_new(test->loop, on_match, test);
	char *more = xasprintf("%s/more 1", test->dir);
	char *pattern = xasprintf("%s/more*", test->dir);

	ok(harness_gen_write(more, 6, NULL) == 0, "one more workspace");
	harness_feed_pod(feed, 0, transport, 0, pattern);
	harness_feed_poll(feed);
	loop_timer_start(timer, 50, 50);
	loop_run(test->loop);
	loop_timer_close(timer);
	ok(test->late || (test->model.harness->n == 4 && run_at(test, 3)->has_config),
	   "a pattern is expanded on the pod");
	ok(!test->late && strstr(test->model.harness->places[2].why, "1") != NULL,
	   "and its own place says how many it matches");
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
	struct loop_timer *late, *stepper;
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
	late = loop_timer_new(test.loop, on_late, &test);
	loop_timer_start(late, LIMIT_MS, 0);
	stepper = loop_timer_new(test.loop, on_none, &test);
	loop_timer_start(stepper, 50, 50);
	loop_run(test.loop);
	loop_timer_close(stepper);
	ok(!test.late && !test.model.harness->places[0].read, "a directory without a run says so");
	ok(harness_gen_write(dir, 6, &err) == 0, "a run begins");
	test.step = 6;
	harness_feed_pod(feed, 0, fleet_transport(fleet), 0, dir);
	stepper = loop_timer_new(test.loop, on_step, &test);
	loop_timer_start(stepper, 50, 50);
	loop_run(test.loop);
	loop_timer_close(stepper);
	ok(!test.late, "both were seen in time");
	ok(run_at(&test, 0) != NULL && run_at(&test, 0)->has_summary, "here: to its end");
	ok(run_at(&test, 1) != NULL && run_at(&test, 1)->has_config, "on the pod: read");
	is_str(test.model.harness->places[0].why, "", "no trouble is left");
	ok((test.model.changed & MODEL_HARNESS) != 0, "the model tells");
	test_points(&test.model.harness->places[0]);

	test_pattern(&test, feed, fleet_transport(fleet));

	/* A command under way when all is freed. */
	harness_feed_pod(feed, 0, fleet_transport(fleet), 0, dir);
	harness_feed_poll(feed);
	loop_timer_close(late);
	harness_feed_free(feed);
	fleet_free(fleet);
	loop_free(test.loop);
	model_release(&test.model);
	ok(test.model.harness == NULL, "and all is freed");
	free(dir);
	(void)fflush(stdout);
	if (fork() == 0)
		(void)execlp("rm", "rm", "-rf", root, (char *)NULL);
	(void)wait(NULL);
	return tap_done();
}
