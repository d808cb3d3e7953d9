/* SPDX-License-Identifier: MIT */
/* The table of commands, and options parsed by it. */
#include "config.h"

#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "cmd/list.h"

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

/* Move argv[from] before the `shift` words in front of it. */
static void
move_forward(char **argv, int from, int shift)
{
	char *word = argv[from];

	memmove(argv + from - shift + 1, argv + from - shift,
		(size_t)shift * sizeof(*argv));
	argv[from - shift] = word;
}

/*
 * How many arguments stand before the next option, which is moved before
 * them; -1 when no option is left.  The global options end at the command,
 * which has options of its own.
 */
static int
bring_option(struct cmd_args *args)
{
	int at = args->next;

	while (at < args->argc &&
	       (args->argv[at][0] != '-' || args->argv[at][1] == '\0'))
		at++;
	if (at >= args->argc || (at > args->next && (args->cmd->exec == NULL ||
						     args->cmd->in_order)))
		return -1;
	move_forward(args->argv, at, at - args->next);
	return at - args->next;
}

int
cmd_next_option(struct cmd_args *args, const char **value, struct err *err)
{
	const char *word, *equals = NULL;
	int i, shift;

	*value = NULL;
	if (args->next == 0)
		args->next = 1;
	shift = bring_option(args);
	if (shift < 0)
		return CMD_OPTIONS_END;
	word = args->argv[args->next];
	args->next++;
	if (strcmp(word, "--") == 0)
		return CMD_OPTIONS_END;
	if (word[1] == '-') {
		equals = strchr(word, '=');
		i = find_long(args->cmd, word + 2,
			      equals != NULL ? (size_t)(equals - word - 2)
					     : strlen(word + 2));
	} else {
		i = find_short(args->cmd, word[1]);
		if (i >= 0 && word[2] != '\0') {
			*value = word + 2;
			i = args->cmd->options[i].arg != NULL ? i : -1;
		}
	}
	if (i < 0)
		return wrong(args->cmd, err, "no such option", word);
	if (args->cmd->options[i].arg == NULL)
		return equals == NULL
			       ? i
			       : wrong(args->cmd, err, "takes no value", word);
	if (equals != NULL)
		*value = equals + 1;
	if (*value != NULL)
		return i;
	if (args->next + shift >= args->argc)
		return wrong(args->cmd, err, "needs a value", word);
	move_forward(args->argv, args->next + shift, shift);
	*value = args->argv[args->next++];
	return i;
}

bool
cmd_output_option(int option, enum out_format *format)
{
	if (option < 0 || option >= CMD_OUTPUT_COUNT)
		return false;
	*format = (enum out_format)(OUT_JSON + option);
	return true;
}

int
cmd_output_options(struct cmd_args *args, enum out_format *format,
		   struct err *err)
{
	const char *value;
	int option;

	*format = OUT_TABLE;
	while ((option = cmd_next_option(args, &value, err)) >= 0)
		(void)cmd_output_option(option, format);
	return option == CMD_OPTIONS_WRONG ? -1 : 0;
}
