/* SPDX-License-Identifier: MIT */
/* What --help prints: the program's commands, or one command's options. */
#include "config.h"

#include <stdio.h>

#include "cmd/cmd.h"

static void
print_options(const struct cmd_option *options)
{
	(void)printf("\noptions:\n");
	for (; options->name != NULL; options++) {
		char left[64];

		(void)snprintf(left, sizeof(left), "%c%c%s --%s%s%s",
			       options->short_name ? '-' : ' ',
			       options->short_name ? options->short_name : ' ',
			       options->short_name ? "," : " ", options->name,
			       options->arg != NULL ? " " : "",
			       options->arg != NULL ? options->arg : "");
		(void)printf("  %-24s %s\n", left, options->help);
	}
}

static void
print_program(void)
{
	(void)printf("usage: hgym-tui %s\n\nTails training logs on many pods, "
		     "keeps a leaderboard over seeds and runs A/B\nbenchmarks "
		     "with sound statistics. Without a command: the "
		     "dashboard.\n\ncommands:\n",
		     cmd_dash.usage);
	for (size_t i = 0; cmd_table[i] != NULL; i++)
		(void)printf("  %-16s %s\n", cmd_table[i]->name,
			     cmd_table[i]->summary);
	print_options(cmd_dash.options);
	(void)printf("\n`hgym-tui COMMAND --help` tells more; `man hgym-tui` "
		     "all.\n");
}

void
cmd_help(const struct cmd *cmd)
{
	if (cmd == &cmd_dash) {
		print_program();
		return;
	}
	(void)printf("usage: hgym-tui %s %s\n\n%s.\n", cmd->name, cmd->usage,
		     cmd->summary);
	if (cmd->help != NULL)
		(void)printf("\n%s\n", cmd->help);
	if (cmd->options != NULL)
		print_options(cmd->options);
}
