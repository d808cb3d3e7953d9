/* SPDX-License-Identifier: MIT */
/* `demo`: the dashboard with recorded sample data. */
#include <unistd.h>

#include "app/demo.h"
#include "cmd/cmd.h"

struct demo_call {
	int size[2];
	bool snapshot;
	const char *script;
	double speed;
};

static int take_size(void *opaque, const char *value, struct err *err)
{
	struct demo_call *call = opaque;

	call->snapshot = true;
	return app_parse_size(str_from(value), call->size, err)
		       ? err_prefix(err, "demo: --snapshot")
		       : 0;
}

static const struct demo_call defaults = { .size = { 120, 40 }, .speed = 20 };

static const struct cmd_option options[] = {
	{ 0, "snapshot", "WxH", "print one screen of this size as text", CMD_TAKE,
	  .take = take_size },
	{ 0, "script", "FILE", "play keys and save screens (- is standard input)", CMD_TEXT,
	  CMD_AT(demo_call, script) },
	{ 0, "speed", "N", "playback speed, times real time (default 20)", CMD_POSITIVE,
	  CMD_AT(demo_call, speed), .high = 10001 },
	CMD_OPTIONS_END,
};

static int demo_exec(struct cmd_args *args, void *opaque, struct err *err)
{
	struct context_options given = args->context->options;
	const struct demo_call *call = opaque;
	bool headless = call->snapshot || call->script != NULL || !isatty(STDOUT_FILENO);
	struct context context;
	struct model model;
	int status = -1;

	/* Neither show nor change the user's own data. */
	given.config = given.db = NULL;
	context_init(&context, &given);
	model_init(&model);
	struct demo *demo = demo_new(&model, &context, err);
	if (demo != NULL) {
		const struct app_setup setup = {
			.context = &context,
			.model = &model,
			.track = &context.track,
			.clock = demo_clock(demo),
			.source = demo_source(demo, headless ? 0 : call->speed),
		};

		status = headless ? app_script(&setup, call->script, call->size, stdout, err)
				  : app_run(&setup, err);
		demo_free(demo);
	}
	model_release(&model);
	context_close(&context);
	return status;
}

const struct cmd cmd_demo = {
	.name = "demo",
	.usage = "[--snapshot WxH] [--script FILE] [--speed N]",
	.summary = "play a recorded fleet; needs no pods and no configuration",
	CMD_OPTIONS(options, demo_call),
	.defaults = &defaults,
	.exec = demo_exec,
};
