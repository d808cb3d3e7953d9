/* SPDX-License-Identifier: MIT */
/* No command: the dashboard; its options are those of every command. */
#include "config.h"

#include "app/dash.h"

#include "cmd/cmd.h"

static const char *const colors[] = { "auto", "always", "never", NULL };
static const char *const charsets[] = { "braille", "block", "ascii", NULL };

static const struct cmd_option options[] = {
	{ 0, "config", "FILE", "read this configuration", CMD_TEXT,
	  CMD_AT(cmd_globals, context.config) },
	{ 0, "db", "FILE", "use this database", CMD_TEXT,
	  CMD_AT(cmd_globals, context.db) },
	{ 0, "read-only", NULL, "never start, stop or write anything on a pod",
	  CMD_FLAG, CMD_AT(cmd_globals, context.read_only) },
	{ 0, "color", "WHEN", "auto, always or never", CMD_WORD,
	  CMD_AT(cmd_globals, context.color), .words = colors },
	{ 0, "charset", "SET", "draw charts with braille, block or ascii",
	  CMD_WORD, CMD_AT(cmd_globals, context.charset), .words = charsets },
	{ 0, "track", "NAME", "hold runs to this track, or a file with one",
	  CMD_TEXT, CMD_AT(cmd_globals, context.track) },
	{ 'v', "verbose", NULL, "write a debug log to a file", CMD_FLAG,
	  CMD_AT(cmd_globals, context.verbose) },
	{ 'h', "help", NULL, "show this help", CMD_FLAG,
	  CMD_AT(cmd_globals, help) },
	{ 'V', "version", NULL, "show the version and those of the libraries",
	  CMD_FLAG, CMD_AT(cmd_globals, version) },
	CMD_OPTIONS_END,
};

static int
exec_dash(struct cmd_args *args, void *opaque, struct err *err)
{
	(void)opaque;
	return dash_run(args->context, args->argv, (size_t)args->argc, err);
}

const struct cmd cmd_dash = {
	.name = "",
	.usage = "[OPTIONS] [COMMAND [ARGS]]",
	.summary = "the dashboard",
	.options = options,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS | CONTEXT_TRACK,
	.exec = exec_dash,
};
