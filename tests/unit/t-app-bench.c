/* SPDX-License-Identifier: MIT */
/* app/bench.c: benches that several dashboards start at the same time. */
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/bench.h"
#include "base/scratch.h"
#include "base/xalloc.h"
#include "tests/support/tap.h"

/*
 * The dashboard starts this program itself, as "PROGRAM bench run --yes PLAN".  PLAN is a file;
 * once it is removed, the bench fails. The bench creates another file to report that it has
 * started.
 */
static int fail_as_bench(const char *plan)
{
	AUTO_TEXT started = xasprintf("%s.started", plan);
	const char *name = strrchr(plan, '/') + 1;

	(void)fprintf(stderr, "plan: %s\n", name);
	(void)close(creat(started, 0600));
	while (access(plan, F_OK) == 0)
		(void)usleep(10000);
	(void)fprintf(stderr, "%s failed\n", name);
	return 1;
}

struct dashboard {
	struct model model;
	struct app_bench *bench;
	char *plan, *started; /* owned */
};

static struct loop *loop;
static struct context context;
static struct scratch scratch;

static void start_bench(struct dashboard *d, const char *plan)
{
	struct err err = { ERR_NONE, "" };

	d->plan = xasprintf("%s/%s", scratch.path, plan);
	d->started = xasprintf("%s.started", d->plan);
	(void)close(creat(d->plan, 0600));
	model_init(&d->model);
	d->bench = app_bench_new(loop, &d->model, &context);
	ok(app_bench_launch(d->bench, d->plan, NULL, &err) == 0, "bench %s starts %s", plan,
	   err.text);
	while (access(d->started, F_OK) != 0)
		(void)usleep(10000);
}

static void stop_at_event(void *user)
{
	const struct dashboard *d = user;

	if (d->model.n_events > 0)
		loop_stop(loop);
}

/* Let the dashboard's bench fail, and wait for its event. */
static void expect_event(struct dashboard *d, const char *text)
{
	struct loop_timer *timer = loop_timer_new(loop, stop_at_event, d);

	(void)unlink(d->plan);
	loop_timer_start(timer, 1, 10);
	loop_run(loop);
	loop_timer_close(timer);
	is_str(model_event_at(&d->model, 0)->text, text, text);
	app_bench_free(d->bench);
	model_release(&d->model);
	free(d->plan);
	free(d->started);
}

static size_t count_logs(void)
{
	AUTO_TEXT pattern = xasprintf("%s/hgym-tui/bench-*.log", scratch.path);
	glob_t found;
	size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;

	globfree(&found);
	return n;
}

int main(int argc, char **argv)
{
	struct dashboard a = { 0 }, b = { 0 }, c = { 0 };
	struct err err;

	if (argc > 1)
		return fail_as_bench(argv[argc - 1]);
	if (scratch_make(&scratch, "t-app-bench", &err) != 0)
		return 1;
	(void)setenv("XDG_STATE_HOME", scratch.path, 1);
	loop = loop_new(&err);
	context_init(&context, &(struct context_options){ .config = NULL });
	start_bench(&a, "a");
	start_bench(&b, "longer-name");
	is_int((long long)count_logs(), 2, "two dashboards write two logs");
	expect_event(&b, "bench: longer-name failed");
	expect_event(&a, "bench: a failed");
	start_bench(&c, "c");
	is_int((long long)count_logs(), 2, "a log that no process uses any more is reused");
	expect_event(&c, "bench: c failed");
	context_close(&context);
	loop_free(loop);
	scratch_remove(&scratch);
	return tap_done();
}
