/* SPDX-License-Identifier: MIT */
/* The leaderboard that `board`, `submission` and `export` are asked for. */
#include "config.h"

#include "cmd/board_ask.h"

const char *const board_group_words[] = { "dirname", "file", "source", "pod",
					  NULL };

struct board_built *
board_ask_build(const struct cmd_args *args, struct board_call *call,
		struct err *err)
{
	struct board_built *built;

	call->ask.values = call->values.v;
	call->ask.n_values = call->values.n;
	built = board_build(args->context, args->argv, (size_t)args->argc,
			    &call->ask, err);
	if (built == NULL)
		(void)err_prefix(err, "%s", args->cmd->name);
	return built;
}
