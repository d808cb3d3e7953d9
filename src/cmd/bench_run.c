/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench run` and `bench attach`: an A/B bench on its pods. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/drive.h"
#include "bench/start.h"
#include "bench/waits.h"
#include "cmd/cmd.h"

enum option {
	OPTION_JSON = BENCH_ASK_COUNT,
	OPTION_MD,
};

static const struct cmd_option run_options[] = {
	BENCH_ASK_OPTIONS,
	{ 0, "json", NULL, "print verdict.json at the end" },
	{ 0, "md", NULL, "print Markdown at the end" },
	{ 0, NULL, NULL, NULL },
};

static const struct cmd_option attach_options[] = {
	{ 0, "json", NULL, "print verdict.json at the end" },
	{ 0, "md", NULL, "print Markdown at the end" },
	{ 0, NULL, NULL, NULL },
};

static int
exec_run(struct cmd_args *args, struct err *err)
{
	struct bench_ask q = { .print = BENCH_TEXT };
	const char *value;
	struct plan plan;
	int option, status;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (bench_ask_option(&q, option))
			continue;
		if (option == OPTION_JSON)
			q.print = BENCH_JSON;
		else if (option == OPTION_MD)
			q.print = BENCH_MD;
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next + 1 != args->argc)
		return err_set(err, ERR_USAGE,
			       "bench run needs one file (a bench.json)");
	if (plan_load(&plan, args->argv[args->next], err) != 0)
		return -1;
	status = bench_ask_and_start(args->context, &plan, NULL, &q, err);
	plan_release(&plan);
	return status;
}

/* What the one who drives it waits for, when that is another than before. */
static void
tell_waits(const char *path, struct pod_wait *told, size_t *n_told)
{
	struct pod_wait now[WAITS_MAX];
	size_t n = waits_read(path, true, now);
	int64_t now_ms = clock_real.wall_ms(&clock_real);
	char text[WAIT_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct pod_wait *old =
			waits_find(told, *n_told, now[i].pod);

		if (old != NULL && old->kind == now[i].kind &&
		    strcmp(old->why, now[i].why) == 0)
			continue;
		wait_text(&now[i], now_ms, text);
		bench_drive_say(text);
	}
	for (size_t i = 0; i < *n_told; i++) {
		struct pod_wait over = told[i];

		if (waits_find(now, n, over.pod) != NULL)
			continue;
		wait_text_over(&over, now_ms, text);
		bench_drive_say(text);
	}
	memcpy(told, now, n * sizeof(now[0]));
	*n_told = n;
}

/* Somebody else drives it: wait until that one is done or gone. */
static int
take_over(const char *path, int *lock, struct err *err)
{
	struct timespec pause = { 1, 0 };
	struct pod_wait waits[WAITS_MAX];
	size_t n_waits = 0;
	bool told = false;

	while (folder_lock(path, lock, err) != 0) {
		if (err->code != ERR_CHECK)
			return -1;
		if (!told)
			(void)fprintf(stderr, "%s; waiting for its end\n",
				      err->text);
		told = true;
		tell_waits(path, waits, &n_waits);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int
exec_attach(struct cmd_args *args, struct err *err)
{
	enum bench_print print = BENCH_TEXT;
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	struct folder_state state;
	struct bench_drive drive;
	const char *value;
	struct plan plan;
	int option, lock = -1, status = -1;

	while ((option = cmd_next_option(args, &value, err)) >= 0)
		print = option == 0 ? BENCH_JSON : BENCH_MD;
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next + 1 != args->argc)
		return err_set(err, ERR_USAGE, "bench attach needs one ID");
	if (bench_find(args->argv[args->next], id, path, err) != 0 ||
	    bench_load_plan(&plan, path, err) != 0)
		return -1;
	if (args->context->read_only) {
		err_set(err, ERR_USAGE,
			"bench attach starts programs on pods: not with "
			"--read-only");
	} else if (take_over(path, &lock, err) == 0) {
		(void)folder_read_state(path, &state);
		drive = (struct bench_drive){ args->context, &plan, id,	  path,
					      SESSION_RUN,   print, false };
		if (strcmp(state.state, "running") == 0 ||
		    strcmp(state.state, "failed") == 0)
			status = bench_drive(&drive, err);
		else if (bench_judge_again(&drive, err) == 0)
			status = bench_report(&drive, err);
		(void)close(lock);
	}
	plan_release(&plan);
	return status;
}

const struct cmd cmd_bench_run = {
	.name = "bench run",
	.usage = "[OPTIONS] FILE",
	.summary = "run the A/B bench of a bench.json on its pods",
	.help = "Every run is a job of its own on the pod: a dropped link, a "
		"closed laptop or a killed\nhgym-tui changes nothing there, "
		"and `bench attach` takes it up. Ctrl-C leaves it running.",
	.options = run_options,
	.exec = exec_run,
};

const struct cmd cmd_bench_attach = {
	.name = "bench attach",
	.usage = "[OPTIONS] ID",
	.summary = "take up a bench that was left or interrupted",
	.help = "Goes on where the results folder says; when another hgym-tui "
		"drives it, waits for\nthe end and prints the verdict.",
	.options = attach_options,
	.exec = exec_attach,
};
