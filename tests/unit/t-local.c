/* SPDX-License-Identifier: MIT */
/* Local logs whose names and bytes change between two scans. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/xalloc.h"
#include "ingest/ingest.h"
#include "tests/support/tap.h"

struct scene {
	const struct clock *clock; /* NULL: the real one */
	struct loop *loop;	   /* NULL: read_all() does the work */
	struct scratch scratch;
	struct model model;
	struct format_set *formats;
	struct ingest *ingest;
	char *path, *old; /* path of the log, and its next path */
};

static void put_log(const struct scene *s, int seed, int steps)
{
	FILE *file = fopen(s->path, "we");

	if (file == NULL)
		abort();
	fprintf(file, "seed:%d\n", seed);
	for (int i = 1; i <= steps; i++)
		fprintf(file,
			"step:%d/900 train_loss:3.5 train_time:%dms "
			"step_avg:100.00ms\n",
			i, i * 100);
	fclose(file);
}

static void scene_init(struct scene *s)
{
	const struct ingest_options options = {
		.clock = s->clock != NULL ? s->clock : &clock_real,
		.loop = s->loop,
		.model = &s->model,
		.formats = s->formats = format_set_new_builtin(),
		.keep_view = true,
	};

	if (scratch_make(&s->scratch, "t-local", NULL) != 0)
		abort();
	s->path = xasprintf("%s/train.log", s->scratch.path);
	s->old = xasprintf("%s.1", s->path);
	model_init(&s->model);
	(void)model_pod_add(&s->model, "here", "local");
	s->ingest = ingest_new(&options, NULL);
}

static void scene_release(struct scene *s)
{
	(void)ingest_free(s->ingest, NULL);
	model_release(&s->model);
	format_set_free(s->formats);
	scratch_remove(&s->scratch);
	free(s->path);
	free(s->old);
}

static void read_all(struct scene *s)
{
	for (int i = 0; i < 100; i++)
		(void)ingest_poll(s->ingest);
}

static void holds(const struct scene *s, size_t i, double seed, double steps)
{
	static const struct run none;
	const struct run *run = i < s->model.n_runs ? &s->model.runs[i]->run : &none;

	is_near(run->seed, seed, 0, "each run has its seed");
	is_near(run->steps, steps, 0, "each run has its steps");
}

/* A log is renamed before a byte of it was read. */
static void test_renamed_unread(void)
{
	struct scene s = { .clock = NULL };

	scene_init(&s);
	put_log(&s, 1, 300);
	is_int(ingest_add_file(s.ingest, 0, s.path, true, NULL), 0, "add a log");
	if (rename(s.path, s.old) != 0)
		abort();
	put_log(&s, 2, 50);
	read_all(&s);
	is_int((long long)s.model.n_runs, 2,
	       "a log that was renamed before its first turn is read");
	holds(&s, 0, 1, 300);
	holds(&s, 1, 2, 50);
	scene_release(&s);
}

/* A log that was created by truncation is renamed before a byte of it was read. */
static void test_cut_and_renamed(void)
{
	struct scene s = { .clock = NULL };

	scene_init(&s);
	put_log(&s, 1, 300);
	is_int(ingest_add_file(s.ingest, 0, s.path, true, NULL), 0, "add a log");
	read_all(&s);
	put_log(&s, 2, 50);
	read_all(&s);
	if (rename(s.path, s.old) != 0)
		abort();
	put_log(&s, 3, 60);
	read_all(&s);
	is_int((long long)s.model.n_runs, 3, "a log that was truncated and then renamed is read");
	holds(&s, 0, 1, 300);
	holds(&s, 1, 2, 50);
	holds(&s, 2, 3, 60);
	scene_release(&s);
}

/* The program ends although a file became shorter than it was when its size was read. */
static void test_shortened_at_end(void)
{
	struct scene s = { .clock = NULL };

	scene_init(&s);
	put_log(&s, 1, 300);
	is_int(ingest_add_file(s.ingest, 0, s.path, true, NULL), 0, "add a log");
	is_int(truncate(s.path, 0), 0, "truncate it before a byte of it is read");
	scene_release(&s);
	ok(true, "ending does not wait for bytes that are gone");
}

/* A program waits for a reader of a FIFO that took the place of a log. */
static void test_fifo(void)
{
	struct scene s = { .clock = NULL };

	scene_init(&s);
	put_log(&s, 1, 300);
	is_int(ingest_add_file(s.ingest, 0, s.path, true, NULL), 0, "add a log");
	read_all(&s);
	/* The log is renamed and rewritten, so its path must be opened again. */
	put_log(&s, 2, 400);
	if (rename(s.path, s.old) != 0 || mkfifo(s.path, 0600) != 0)
		abort();
	pid_t writer = fork();
	if (writer == 0)
		_exit(open(s.path, O_WRONLY | O_CLOEXEC) < 0);
	is_int(ingest_add_file(s.ingest, 0, s.path, true, NULL), -1, "a FIFO is not a log");
	read_all(&s);
	ok(!ingest_poll(s.ingest), "a log whose path is a FIFO leaves no work");
	is_int((long long)s.model.n_runs, 1, "a FIFO is not read");
	holds(&s, 0, 1, 300);
	usleep(50000);
	is_int(waitpid(writer, NULL, WNOHANG), 0, "the writer of the FIFO still waits");
	kill(writer, SIGKILL);
	(void)waitpid(writer, NULL, 0);
	if (unlink(s.path) != 0)
		abort();
	put_log(&s, 3, 60);
	read_all(&s);
	is_int((long long)s.model.n_runs, 2, "a log that took the place of the FIFO is read");
	holds(&s, 1, 3, 60);
	scene_release(&s);
}

static int64_t still_ms(const struct clock *clock)
{
	(void)clock;
	return INT64_C(1768483200000);
}

static void end_log(const struct scene *s)
{
	FILE *file = fopen(s->path, "ae");

	if (file == NULL)
		abort();
	fprintf(file, "step:900/900 val_loss:2.7700 val_bpb:1.0725 "
		      "train_time:90000ms step_avg:100.00ms\n");
	fclose(file);
}

/* A log that was just copied here: only its last lines show that it is finished. */
static void test_over(void)
{
	static const struct clock still = { still_ms, still_ms, still_ms };
	struct scene s = { .clock = &still };
	const struct model_run *mr;

	scene_init(&s);
	put_log(&s, 5, 899);
	is_int(ingest_add_file(s.ingest, 0, s.path, false, NULL), 0, "add a log");
	read_all(&s);
	mr = s.model.n_runs > 0 ? s.model.runs[0] : NULL;
	ok(mr != NULL && mr->live && mr->run.status == RUN_RUNNING,
	   "a run without its end may continue");
	end_log(&s);
	read_all(&s);
	ok(mr != NULL && mr->live && mr->run.status == RUN_RUNNING,
	   "a run whose end was just written may continue");
	scene_release(&s);
	scene_init(&s);
	put_log(&s, 5, 899);
	end_log(&s);
	is_int(ingest_add_file(s.ingest, 0, s.path, false, NULL), 0, "add a log");
	read_all(&s);
	mr = s.model.n_runs > 0 ? s.model.runs[0] : NULL;
	ok(mr != NULL && !mr->live && mr->run.status == RUN_FINISHED,
	   "a run whose end was written earlier has ended");
	scene_release(&s);
}

static void put_words(const struct scene *s, const char *words)
{
	FILE *file = fopen(s->path, "ae");

	if (file == NULL)
		abort();
	fputs(words, file);
	fclose(file);
}

/* A log that has no run yet has the row of its first run. */
static void test_blank(void)
{
	static const struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	struct scene s = { .clock = NULL };
	struct model_run *mr;

	scene_init(&s);
	put_words(&s, "");
	is_int(ingest_add_file(s.ingest, 0, s.path, false, NULL), 0, "add a log");
	is_int((long long)s.model.n_runs, 1, "an empty log has a row");
	put_words(&s, "loading\ncompiling\n");
	read_all(&s);
	mr = s.model.n_runs == 1 ? s.model.runs[0] : NULL;
	ok(mr != NULL && mr->blank && mr->live && mr->run.lines == 2,
	   "a log without figures shows its number of lines");
	ok(mr != NULL && !run_has(model_run_cost(&s.model, mr)) && !run_has(mr->run.steps),
	   "a log without figures has no cost and no steps");
	put_words(&s, "step:7/900 train_loss:3.5 train_time:700ms "
		      "step_avg:100.00ms\n");
	read_all(&s);
	ok(s.model.n_runs == 1 && !s.model.runs[0]->blank,
	   "the log's first run uses the row of the log");
	is_near(s.model.runs[0]->run.steps, 7, 0, "the row has the steps of the run");
	is_int(s.model.runs[0]->n_gaps, 0, "the wait before the first step is not counted");
	scene_release(&s);
	scene_init(&s);
	put_words(&s, "a remark\n");
	(void)utimensat(AT_FDCWD, s.path, old, 0);
	is_int(ingest_add_file(s.ingest, 0, s.path, false, NULL), 0, "add a file");
	is_int((long long)s.model.n_reading, 1, "an old file must be read");
	read_all(&s);
	is_int((long long)s.model.n_reading, 0, "the file was read");
	is_int((long long)s.model.n_runs, 0, "an old text is not a starting run");
	scene_release(&s);
}

#define MANY 40

struct wait {
	struct scene *s;
	const struct model_run *mr; /* whose series were requested; NULL: all logs are read */
};

static void check_end(void *user)
{
	const struct wait *wait = user;
	const struct model *model = &wait->s->model;
	size_t n_read = 0;

	for (size_t i = 0; i < model->n_runs; i++)
		n_read += model->runs[i]->run.steps >= 300;
	if (wait->mr != NULL ? wait->mr->history == MODEL_WHOLE : n_read == MANY)
		loop_stop(wait->s->loop);
}

static void run_until_done(struct scene *s, const struct model_run *mr)
{
	struct wait wait = { s, mr };
	struct loop_timer *timer = loop_timer_new(s->loop, check_end, &wait);

	loop_timer_start(timer, 1, 1);
	loop_run(s->loop);
	loop_timer_close(timer);
}

static size_t count_points(const struct model_run *mr)
{
	const struct series *series = mr->series[METRIC_TRAIN_LOSS];

	return series != NULL ? series_count(series) : 0;
}

/* With many logs, only some runs keep all points; the others are read again when a view needs them.
 */
static void test_many(void)
{
	struct scene s = { .loop = loop_new(NULL) };
	struct model_run *few[MANY];
	size_t n_few = 0, n_whole = 0;

	scene_init(&s);
	for (int i = 0; i < MANY; i++) {
		free(s.path);
		s.path = xasprintf("%s/%d.log", s.scratch.path, i);
		put_log(&s, i, 300);
		if (ingest_add_file(s.ingest, 0, s.path, true, NULL) != 0)
			abort();
	}
	run_until_done(&s, NULL);
	for (size_t i = 0; i < s.model.n_runs; i++) {
		n_whole += count_points(s.model.runs[i]) == 300;
		if (count_points(s.model.runs[i]) < 100)
			few[n_few++] = s.model.runs[i];
	}
	is_int((long long)(n_whole + n_few), MANY, "many logs are read");
	ok(n_whole == 28 && n_few == MANY - 28,
	   "28 runs keep all points: %zu, the others keep few: %zu", n_whole, n_few);
	if (n_few < 2)
		exit(1);
	model_request_series(&s.model, few[0]);
	ok(few[0]->history == MODEL_ASKED, "the points of another run are requested");
	run_until_done(&s, few[0]);
	is_int((long long)count_points(few[0]), 300, "the points are read from the log again");
	is_near(series_last(few[0]->series[METRIC_TRAIN_LOSS])->step, 300, 0,
		"the points are read up to the end of the log");
	(void)unlink(few[1]->log->file);
	model_request_series(&s.model, few[1]);
	run_until_done(&s, few[1]);
	ok(count_points(few[1]) > 10, "the points of a deleted log stay unchanged");
	scene_release(&s);
	loop_free(s.loop);
}

int main(void)
{
	test_renamed_unread();
	test_cut_and_renamed();
	test_shortened_at_end();
	test_fifo();
	test_over();
	test_blank();
	test_many();
	return tap_done();
}
