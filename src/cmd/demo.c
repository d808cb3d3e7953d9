/* SPDX-License-Identifier: MIT */
/* `demo`: the dashboard over a fleet that is made up. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "app/demo.h"
#include "base/str.h"
#include "cmd/cmd.h"

enum option { OPTION_SNAPSHOT, OPTION_SCRIPT, OPTION_SPEED };

static const struct cmd_option options[] = {
	{ 0, "snapshot", "WxH", "print the screen of that size as text" },
	{ 0, "script", "FILE", "play keys and save screens (- is stdin)" },
	{ 0, "speed", "N", "so many times faster than the clock (default 20)" },
	{ 0, NULL, NULL, NULL },
};

struct demo_call {
	int size[2];
	bool snapshot;
	const char *script;
	double speed;
};

static int
parse_call(struct cmd_args *args, struct demo_call *call, struct err *err)
{
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (option == OPTION_SNAPSHOT) {
			call->snapshot = true;
			if (app_parse_size(str_from(value), call->size, err))
				return err_prefix(err, "demo: --snapshot");
		} else if (option == OPTION_SCRIPT) {
			call->script = value;
		} else if (!str_to_double(str_from(value), &call->speed) ||
			   !(call->speed > 0) || call->speed > 10000) {
			return err_set(err, ERR_USAGE,
				       "demo: --speed: a number up to 10000");
		}
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next < args->argc)
		return err_set(err, ERR_USAGE, "demo: takes no arguments");
	return 0;
}

static int
run_demo(const struct cmd_args *args, const struct demo_call *call,
	 struct model *model, const struct track *track, struct err *err)
{
	bool headless = call->snapshot || call->script != NULL ||
			!isatty(STDOUT_FILENO);
	struct format_set *formats = format_set_new_builtin();
	struct demo *demo = demo_new(model, formats, err);
	int status = -1;

	if (demo != NULL) {
		const struct app_setup setup = {
			.env = args->context,
			.model = model,
			.track = track,
			.clock = demo_clock(demo),
			.source = demo_source(demo, args->context,
					      headless ? 0 : call->speed),
		};

		status = headless ? app_script(&setup, call->script, call->size,
					       stdout, err)
				  : app_run(&setup, err);
		demo_free(demo);
	}
	format_set_free(formats);
	return status;
}

static int
demo_exec(struct cmd_args *args, struct err *err)
{
	struct demo_call call = { .size = { 120, 40 }, .speed = 20 };
	struct model model;
	struct track track;
	int status;

	if (parse_call(args, &call, err) ||
	    track_load(&track, "parameter-golf-10min", err))
		return -1;
	model_init(&model);
	status = run_demo(args, &call, &model, &track, err);
	model_release(&model);
	track_release(&track);
	return status;
}

const struct cmd cmd_demo = {
	.name = "demo",
	.usage = "[--snapshot WxH] [--script FILE] [--speed N]",
	.summary = "the dashboard over a fleet that is made up",
	.help = "Twelve runs on five pods, and more while you watch: recorded "
		"logs are played into\na temporary folder as the runs wrote "
		"them, and followed like any other. One run\nstalls, one "
		"diverges, one is out of memory, one crashes, one pod is slow, "
		"a link\nfails, one artifact is over the cap. No network, no "
		"configuration; the folder is\nremoved at the end. Where "
		"standard output is no terminal, one screen is printed\nas "
		"text. A script has one of these a line: wait SECONDS, key "
		"NAME.., type TEXT,\nsize WxH, save FILE, styles FILE (- is "
		"standard output).",
	.options = options,
	.exec = demo_exec,
};
