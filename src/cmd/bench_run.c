/* SPDX-License-Identifier: MIT */
/* `hgym-tui bench run` and `bench attach`: an A/B bench on its pods. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/waits.h"
#include "cmd/bench_on.h"

static const struct cmd_option run_options[] = {
	BENCH_ASK_OPTIONS,
	BENCH_PRINT_OPTIONS(bench_ask, " at the end"),
	CMD_OPTIONS_END,
};

struct attach_call {
	enum bench_print print;
};

static const struct cmd_option attach_options[] = {
	BENCH_PRINT_OPTIONS(attach_call, " at the end"),
	CMD_OPTIONS_END,
};

static int
exec_run(struct cmd_args *args, void *opaque, struct err *err)
{
	struct plan plan;
	int status;

	if (plan_load(&plan, args->argv[0], err) != 0)
		return -1;
	status = bench_begin(args->context, &plan, NULL, opaque, err);
	plan_release(&plan);
	return status;
}

/* What the one who drives it waits for, when that is another than before. */
static void
tell_waits(const struct clock *clock, const char *path, struct pod_wait *told,
	   size_t *n_told)
{
	struct pod_wait now[WAITS_MAX];
	size_t n = waits_read(path, true, now);
	int64_t now_ms = clock->wall_ms(clock);
	char text[WAIT_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		const struct pod_wait *old =
			waits_find(told, *n_told, now[i].pod);

		if (old != NULL && old->kind == now[i].kind &&
		    strcmp(old->why, now[i].why) == 0)
			continue;
		wait_text(&now[i], now_ms, text);
		bench_tell(text);
	}
	for (size_t i = 0; i < *n_told; i++) {
		if (waits_find(now, n, told[i].pod) != NULL)
			continue;
		wait_text_over(&told[i], now_ms, text);
		bench_tell(text);
	}
	memcpy(told, now, n * sizeof(now[0]));
	*n_told = n;
}

/* Somebody else drives it: wait until that one is done or gone. */
static int
take_over(const struct clock *clock, const char *path, int *lock,
	  struct err *err)
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
		tell_waits(clock, path, waits, &n_waits);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int
exec_attach(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct attach_call *call = opaque;
	struct bench_named named;
	const struct bench_drive drive = { .context = args->context,
					   .plan = &named.plan,
					   .id = named.id,
					   .path = named.path,
					   .mode = SESSION_RUN,
					   .note = bench_tell };
	struct folder_state state;
	int lock = -1, status = -1;

	if (args->context->options.read_only)
		return err_set(err, ERR_USAGE,
			       "bench attach starts programs on pods: not "
			       "with --read-only");
	if (bench_named_open(&named, args->argv[0], err) != 0)
		return -1;
	if (take_over(args->context->clock, named.path, &lock, err) == 0) {
		(void)folder_read_state(named.path, &state);
		if (strcmp(state.state, "running") == 0 ||
		    strcmp(state.state, "failed") == 0)
			status = bench_conclude(&drive, &call->print, err);
		else if (bench_judge_again(&drive, err) == 0)
			status = bench_print_report(&drive, call->print, err);
		(void)close(lock);
	}
	plan_release(&named.plan);
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
	.size = sizeof(struct bench_ask),
	.least = 1,
	.most = 1,
	.wants = "name one file (a bench.json)",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_run,
};

const struct cmd cmd_bench_attach = {
	.name = "bench attach",
	.usage = "[OPTIONS] ID",
	.summary = "take up a bench that was left or interrupted",
	.help = "Goes on where the results folder says; when another hgym-tui "
		"drives it, waits for\nthe end and prints the verdict.",
	.options = attach_options,
	.size = sizeof(struct attach_call),
	.least = 1,
	.most = 1,
	.wants = "name one bench by its ID",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_attach,
};
