/* SPDX-License-Identifier: MIT */
/* The table of commands, and options parsed by it. */
#include "config.h"

#include "cmd.h"

#include <string.h>

#include "cmd_list.h"

#define X(id) extern const struct cmd cmd_##id;
CMD_LIST(X)
#undef X

const struct cmd *const cmd_table[] = {
#define X(id) &cmd_##id,
	CMD_LIST(X)
#undef X
		NULL,
};

/* The option of that name; a NULL name in the result when there is none. */
static int
find_long(const struct cmd *cmd, const char *name, size_t len)
{
	for (int i = 0; cmd->options != NULL && cmd->options[i].name != NULL;
	     i++)
		if (strlen(cmd->options[i].name) == len &&
		    memcmp(cmd->options[i].name, name, len) == 0)
			return i;
	return -1;
}

static int
find_short(const struct cmd *cmd, char c)
{
	for (int i = 0; cmd->options != NULL && cmd->options[i].name != NULL;
	     i++)
		if (cmd->options[i].short_name == c)
			return i;
	return -1;
}

static int
wrong(const struct cmd *cmd, struct err *err, const char *what,
      const char *word)
{
	err_set(err, ERR_USAGE, "%s: %s: %s (see hgym-tui %s --help)",
		cmd->name, word, what, cmd->name);
	return CMD_OPTIONS_WRONG;
}

int
cmd_next_option(struct cmd_args *args, const char **value, struct err *err)
{
	const char *word, *equals = NULL;
	int i;

	*value = NULL;
	if (args->next == 0)
		args->next = 1;
	if (args->next >= args->argc)
		return CMD_OPTIONS_END;
	word = args->argv[args->next];
	if (word[0] != '-' || word[1] == '\0')
		return CMD_OPTIONS_END;
	args->next++;
	if (strcmp(word, "--") == 0)
		return CMD_OPTIONS_END;
	if (word[1] == '-') {
		equals = strchr(word, '=');
		i = find_long(args->cmd, word + 2,
			      equals != NULL ? (size_t)(equals - word - 2)
					     : strlen(word + 2));
	} else {
		i = word[2] == '\0' ? find_short(args->cmd, word[1]) : -1;
	}
	if (i < 0)
		return wrong(args->cmd, err, "no such option", word);
	if (args->cmd->options[i].arg == NULL)
		return equals == NULL
			       ? i
			       : wrong(args->cmd, err, "takes no value", word);
	if (equals != NULL)
		*value = equals + 1;
	else if (args->next < args->argc)
		*value = args->argv[args->next++];
	else
		return wrong(args->cmd, err, "needs a value", word);
	return i;
}
