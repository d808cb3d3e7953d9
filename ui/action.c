/* SPDX-License-Identifier: MIT */
/* The list of actions as a table. */
#include "config.h"

#include "ui/action.h"

#include <assert.h>

static const struct action_info actions[] = { { "", "", 0, "" },
#define X(id, name, keys, place, help) { (name), (keys), (place), (help) },
					      ACTION_LIST(X)
#undef X
};

const struct action_info *
action_info(enum action action)
{
	assert(action < ACTION_COUNT);
	return &actions[action];
}

enum action
action_by_name(struct str name)
{
	for (int i = 1; i < ACTION_COUNT; i++)
		if (str_eq_cstr(name, actions[i].name))
			return (enum action)i;
	return ACTION_NONE;
}

bool
action_is_acting(enum action action)
{
	return action == ACTION_SHELL || action == ACTION_BENCH_START ||
	       action == ACTION_BENCH_STOP;
}
