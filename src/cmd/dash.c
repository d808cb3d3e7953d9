/* SPDX-License-Identifier: MIT */
/* No command: the dashboard, over named logs or the configured pods. */
#include "config.h"

#include "app/dash.h"

#include "cmd/cmd.h"

static int
exec_dash(struct cmd_args *args, struct err *err)
{
	return dash_run(args->context, args->argv + 1, (size_t)args->argc - 1,
			err);
}

const struct cmd cmd_dash = {
	.name = "",
	.usage = "[PATH...]",
	.summary = "the dashboard",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS | CONTEXT_TRACK,
	.exec = exec_dash,
};
