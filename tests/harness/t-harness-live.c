/* SPDX-License-Identifier: MIT */
/*
 * Read a run repeatedly while another process truncates and rewrites its files:
 * no read may lose what an earlier one found, and the last read must equal a
 * fresh one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "harness/pod.h"
#include "parsers/harness/json.h"
#include "tests/tools/harness_gen.h"

#include "tests/support/tap.h"

#define POLL_MS	 2
#define TORN_US	 1500
#define LIMIT_MS (600 * 1000)

/* Facts that a read of the run found and that later reads must not lose. */
struct known {
	size_t iterations, runs;
	unsigned int calls, scores;
	bool baseline, config, best, checkpoint;
	double best_value;
	char status[64]; /* of iteration 1 */
};

static void wait_ms(long ms)
{
	struct timespec wait = { ms / 1000, (ms % 1000) * 1000000 };

	(void)nanosleep(&wait, NULL);
}

/* Write one step of the run after each byte in the pipe, which announces a read. */
static void write_live(const char *path, int looked)
{
	struct harness_gen gen = { .dir = path, .torn_us = TORN_US };
	struct err err = { ERR_NONE, "" };
	char byte;

	gen.start_ms = clock_wall_ms();
	for (size_t i = 0; i < harness_gen_steps(); i++)
		if (read(looked, &byte, 1) != 1 || harness_gen_step(&gen, i, &err) != 0)
			_exit(1);
	_exit(0);
}

static struct known summarize(const struct harness_workspace *ws)
{
	const struct harness_run *run = harness_workspace_run(ws, "rmsnorm-h100");
	struct known k = { .runs = ws->n_runs, .calls = ws->calls.total };

	if (run == NULL)
		return k;
	k.iterations = run->n_iterations;
	k.baseline = run->has_baseline && harness_is_finite(run->baseline.score);
	k.config = run->has_config;
	k.best = run->best.present;
	k.best_value = run->best.value;
	k.checkpoint = run->checkpoint.present;
	for (size_t i = 0; i < run->n_iterations; i++)
		k.scores += run->iterations[i].verified_score.present;
	if (run->n_iterations > 0 && run->iterations[0].status != NULL)
		(void)snprintf(k.status, sizeof(k.status), "%s", run->iterations[0].status);
	return k;
}

/* Return the name of a fact that a has and b has lost; NULL: none. */
static const char *find_loss(const struct known *a, const struct known *b)
{
	if (b->runs < a->runs)
		return "a run";
	if (b->iterations < a->iterations)
		return "an iteration";
	if (b->calls < a->calls)
		return "a tool call";
	if (b->scores < a->scores)
		return "a verified score";
	if (a->baseline && !b->baseline)
		return "the baseline";
	if (a->config && !b->config)
		return "the configuration";
	if (a->best && (!b->best || b->best_value > a->best_value))
		return "the best";
	if (a->checkpoint && !b->checkpoint)
		return "the checkpoint";
	if (a->status[0] != '\0' && b->status[0] == '\0')
		return "a status";
	return NULL;
}

static char *print_run(const struct harness_files *files, int64_t now_ms)
{
	struct harness_workspace ws;
	struct buf text;
	cJSON *object;

	harness_workspace_read(&ws, files, now_ms);
	object = harness_run_json(&ws, harness_workspace_run(&ws, NULL));
	buf_init(&text, 1 << 22);
	json_print(&text, object);
	cJSON_Delete(object);
	harness_workspace_release(&ws);
	return buf_detach(&text);
}

struct watched {
	const char *path;
	struct harness_files *files;
	pid_t writer;
	const int *looked; /* pipe that announces reads to the writer */
};

/* Announce a read to the writer, unless it has not taken the last announcement. */
static void announce_read(const int *looked)
{
	int waits = 0;

	if (ioctl(looked[0], FIONREAD, &waits) == 0 && waits == 0)
		(void)!write(looked[1], "", 1);
}

/* Read the directory into files again; returns whether anything changed. */
static bool read_again(const char *path, struct harness_files *files)
{
	uint64_t before = files->generation;
	struct err err = { ERR_NONE, "" };
	struct harness_wire wire;

	harness_wire_init(&wire, files);
	if (harness_pod_fetch(NULL, path, &wire, &err) != 0)
		ok(false, "a read failed: %s", err.text);
	harness_wire_release(&wire);
	return files->generation != before;
}

/* Read until the writer has ended, or nothing has changed for a long time. */
static struct known watch(const struct watched *w, unsigned int *looks, const char **lost)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	struct known last = { .runs = 0 };
	bool ended = false;

	while (!ended && clock_mono_ms() < end_ms) {
		struct harness_workspace ws;
		struct known now;

		ended = waitpid(w->writer, NULL, WNOHANG) == w->writer;
		if (read_again(w->path, w->files)) {
			*looks += 1;
			end_ms = clock_mono_ms() + LIMIT_MS;
			harness_workspace_read(&ws, w->files, 0);
			now = summarize(&ws);
			if (*lost == NULL)
				*lost = find_loss(&last, &now);
			last = now;
			harness_workspace_release(&ws);
		}
		announce_read(w->looked);
		wait_ms(POLL_MS);
	}
	ok(ended, "the writer ended");
	return last;
}

static void test_watch(const char *path)
{
	struct err err = { ERR_NONE, "" };
	struct harness_files live, after;
	unsigned int looks = 0;
	const char *lost = NULL;
	int64_t now_ms;
	struct known end;
	char *a, *b;
	int looked[2];
	struct watched w = { .path = path, .files = &live, .looked = looked };

	if (pipe(looked) != 0)
		exit(1);
	/* Write the first step before the first read: the directory must exist. */
	ok(harness_gen_write(path, 1, &err) == 0, "a workspace is created");
	harness_files_init(&live);
	harness_files_init(&after);
	(void)read_again(path, &live);
	(void)fflush(stdout);
	w.writer = fork();
	if (w.writer == 0)
		write_live(path, looked[0]);
	end = watch(&w, &looks, &lost);
	ok(lost == NULL, "a read keeps what an earlier read found%s%s", lost != NULL ? ": " : "",
	   lost != NULL ? lost : "");
	ok(looks >= 20, "the run was read in %u states", looks);
	is_int((long long)end.iterations, 4, "four iterations");
	is_int(end.calls, 53, "53 calls");
	is_int(end.scores, 3, "three verified scores");
	is_near(end.best_value, 99.744, 1e-9, "the best score");
	(void)read_again(path, &live);
	(void)read_again(path, &after);
	now_ms = clock_wall_ms();
	a = print_run(&live, now_ms);
	b = print_run(&after, now_ms);
	is_str(a, b, "the last read equals a fresh one");
	free(a);
	free(b);
	harness_files_release(&live);
	harness_files_release(&after);
	close(looked[0]);
	close(looked[1]);
}

int main(void)
{
	char path[] = "harness-live.XXXXXX";
	char *command;

	if (mkdtemp(path) == NULL)
		return 1;
	test_watch(path);
	if (asprintf(&command, "exec rm -rf %s", path) > 0) {
		(void)fflush(stdout);
		if (fork() == 0)
			(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		(void)wait(NULL);
		free(command);
	}
	return tap_done();
}
