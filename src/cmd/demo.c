/* SPDX-License-Identifier: MIT */
/* `demo`: the dashboard over a fleet that is made up. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "app/demo.h"
#include "app/demo_bench.h"
#include "base/str.h"
#include "cmd/cmd.h"

struct demo_call {
	int size[2];
	bool snapshot;
	const char *script;
	double speed;
	uint64_t seed;
};

static int
take_size(void *opaque, const char *value, struct err *err)
{
	struct demo_call *call = opaque;
	struct str rest = str_from(value), width;
	int64_t w, h;

	if (!str_next(&rest, 'x', &width) || !str_to_i64(width, &w) ||
	    !str_to_i64(rest, &h) || w < 1 || h < 1 || w > 1000 || h > 1000)
		return err_set(err, ERR_USAGE,
			       "demo: --snapshot: a size is WxH, at most "
			       "1000x1000");
	call->snapshot = true;
	call->size[0] = (int)w;
	call->size[1] = (int)h;
	return 0;
}

static const struct demo_call defaults = { .size = { 120, 40 }, .speed = 20 };

static const struct cmd_option options[] = {
	{ 0, "snapshot", "WxH", "print the screen of that size as text",
	  CMD_TAKE, .take = take_size },
	{ 0, "script", "FILE", "play keys and save screens (- is stdin)",
	  CMD_TEXT, CMD_AT(demo_call, script) },
	{ 0, "speed", "N", "so many times faster than the clock (default 20)",
	  CMD_POSITIVE, CMD_AT(demo_call, speed), .high = 10001 },
	{ 0, "seed", "N", "other noise (default 0)", CMD_COUNT,
	  CMD_AT(demo_call, seed), .high = 1.8e19 },
	CMD_OPTIONS_END,
};

/* The demo as the dashboard's source. */
struct demo_source {
	struct loop *loop; /* while it runs; NULL without a terminal */
	struct demo *demo;
	double speed;
	int64_t last_ms; /* of the real clock; 0: not begun */
	double owed_ms;
};

static bool
source_poll(void *user)
{
	struct demo_source *source = user;
	int64_t now_ms = clock_real.mono_ms(&clock_real);

	if (source->speed > 0) {
		if (source->last_ms != 0)
			source->owed_ms += (double)(now_ms - source->last_ms) *
					   source->speed;
		source->last_ms = now_ms;
		demo_advance(source->demo, (int64_t)source->owed_ms);
		source->owed_ms -= (double)(int64_t)source->owed_ms;
	}
	return demo_poll(source->demo);
}

static int
source_start(void *user, struct loop *loop, struct ui *ui, struct err *err)
{
	struct demo_source *source = user;

	(void)ui;
	(void)err;
	source->loop = loop;
	return 0;
}

static int
source_stop(void *user, struct err *err)
{
	struct demo_source *source = user;

	(void)err;
	demo_bench_stop(demo_bench_of(source->demo));
	source->loop = NULL;
	return 0;
}

static int
source_bench(void *user, const char *plan, const char *stop_id, char said[200],
	     struct err *err)
{
	struct demo_source *source = user;

	if (source->loop == NULL)
		return err_set(err, ERR_USAGE,
			       "a bench is started on a terminal only");
	if (demo_bench_launch(demo_bench_of(source->demo), source->loop, plan,
			      stop_id, err))
		return -1;
	(void)snprintf(said, 200, "the bench %s",
		       plan != NULL ? "begins" : "is being ended");
	return 0;
}

static char *
source_plan(void *user, const struct command *command, struct err *err)
{
	struct demo_source *source = user;

	return demo_bench_compose(demo_bench_of(source->demo), command, err);
}

static void
source_advance(void *user, int64_t ms)
{
	struct demo_source *source = user;

	demo_advance(source->demo, ms);
}

static int
run_demo(struct context *context, const struct demo_call *call,
	 struct model *model, struct err *err)
{
	bool headless = call->snapshot || call->script != NULL ||
			!isatty(STDOUT_FILENO);
	struct demo_source source = { .speed = headless ? 0 : call->speed };
	struct app_setup setup = {
		.context = context,
		.model = model,
		.track = &context->track,
		.source = { .start = source_start,
			    .poll = source_poll,
			    .stop = source_stop,
			    .bench = source_bench,
			    .plan = source_plan,
			    .advance = source_advance,
			    .user = &source },
	};
	int status = -1;

	source.demo = demo_new(model, context->formats, call->seed, err);
	if (source.demo != NULL) {
		setup.clock = demo_clock(source.demo);
		status = headless ? app_script(&setup, call->script, call->size,
					       stdout, err)
				  : app_run(&setup, err);
		demo_free(source.demo);
	}
	return status;
}

static int
demo_exec(struct cmd_args *args, void *opaque, struct err *err)
{
	struct context_options given = args->context->options;
	struct context context;
	struct model model;
	int status = -1;

	/* Nothing of the user's own is shown, or written to. */
	given.config = given.db = NULL;
	context_init(&context, &given);
	model_init(&model);
	if (context_open(&context, CONTEXT_FORMATS | CONTEXT_TRACK, err) == 0)
		status = run_demo(&context, opaque, &model, err);
	model_release(&model);
	context_close(&context);
	return status;
}

const struct cmd cmd_demo = {
	.name = "demo",
	.usage = "[--snapshot WxH] [--script FILE] [--speed N] [--seed N]",
	.summary = "the dashboard over a fleet that is made up",
	.help = "Twelve runs on five pods: logs in real line shapes are "
		"written to a temporary\nfolder as the runs would write them, "
		"and followed. One run stalls, one diverges,\none pod is slow, "
		"one artifact is over the cap. No network, no configuration;\n"
		"the folder is removed at the end. Where standard output is no "
		"terminal, one\nscreen is printed as text. A script has one of "
		"these a line: wait SECONDS,\nkey NAME.., type TEXT, size WxH, "
		"save FILE, styles FILE (- is standard output).",
	.options = options,
	.size = sizeof(struct demo_call),
	.defaults = &defaults,
	.exec = demo_exec,
};
