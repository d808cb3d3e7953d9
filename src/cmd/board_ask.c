/* SPDX-License-Identifier: MIT */
/* The options of a leaderboard; called by board, submission and export. */
#include "config.h"

#include "cmd/board_ask.h"

static int
take_nats(struct board_ask *ask, const char *value, struct err *err)
{
	if (!str_to_double(str_from(value), &ask->nats_per_bpb) ||
	    !(ask->nats_per_bpb > 0 && ask->nats_per_bpb < 1000))
		return err_set(err, ERR_USAGE,
			       "--nats-per-bpb takes a number above 0");
	return 0;
}

/* Take one of BOARD_ASK_OPTIONS. */
static int
take_ask(struct cmd_args *args, struct board_ask *ask,
	 enum board_ask_option option, const char *value, struct err *err)
{
	switch (option) {
	case ASK_GROUP_BY:
		ask->group_by = value;
		return 0;
	case ASK_BASELINE:
		ask->baseline = value;
		return 0;
	case ASK_VALUES:
		if (ask->n_values == BOARD_MAX_VALUE_LISTS)
			return err_set(err, ERR_USAGE, "more than %d --values",
				       BOARD_MAX_VALUE_LISTS);
		ask->values[ask->n_values++] = value;
		return 0;
	case ASK_NATS:
		return take_nats(ask, value, err);
	case ASK_TRACK:
		ask->track = value;
		return 0;
	case ASK_SCORE:
		ask->score = value;
		return 0;
	case ASK_FORMAT:
		return context_add_format(args->context, value, err);
	case ASK_COUNT:
		break;
	}
	return 0;
}

int
board_ask_options(struct cmd_args *args, struct board_ask *ask,
		  int (*take)(void *call, int option, const char *value,
			      struct err *err),
		  void *call, struct err *err)
{
	const char *value;
	int option, rc = 0;

	ask->nats_per_bpb = RUN_ABSENT;
	while (rc == 0 && (option = cmd_next_option(args, &value, err)) >= 0)
		rc = option < ASK_COUNT
			     ? take_ask(args, ask,
					(enum board_ask_option)option, value,
					err)
			     : take(call, option, value, err);
	return rc != 0 || option == CMD_OPTIONS_WRONG ? -1 : 0;
}

struct board_built *
board_ask_build(const struct cmd_args *args, const struct board_ask *ask,
		struct err *err)
{
	struct board_built *built =
		board_build(args->context, args->argv + args->next,
			    (size_t)(args->argc - args->next), ask, err);

	if (built == NULL)
		(void)err_prefix(err, "%s", args->cmd->name);
	return built;
}
