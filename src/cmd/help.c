/* SPDX-License-Identifier: MIT */
/*
 * What --help prints, and what could stand at the end of a command line, for
 * the shells' completions (man/hgym-tui.bash and its like), which ask by
 * --complete.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

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

/* The words before the one that is completed. */
struct before {
	const struct cmd *cmd;		 /* NULL: not named yet */
	const struct cmd_option *option; /* waits for its value; NULL: none */
	const char *group; /* first word, which is of two; NULL: none */
};

/* A candidate with what it is, where it begins as the last word does. */
static void
offer(const char *last, const char *before, const char *word, size_t len,
      const char *help)
{
	char whole[256];

	(void)snprintf(whole, sizeof(whole), "%s%.*s", before, (int)len, word);
	if (strncmp(whole, last, strlen(last)) == 0)
		(void)printf("%s\t%s\n", whole, help);
}

static void
offer_options(const char *last, const struct cmd_option *o)
{
	for (; o != NULL && o->name != NULL; o++)
		offer(last, "--", o->name, strlen(o->name), o->help);
}

/* The words that the option's value can be, behind what stands before it. */
static void
offer_values(const char *last, const char *before, const struct cmd_option *o)
{
	for (size_t i = 0; o->words != NULL && o->words[i] != NULL; i++)
		offer(last, before, o->words[i], strlen(o->words[i]), "");
}

/* First words of commands or, behind one of them, the second words. */
static void
offer_commands(const char *last, const char *group)
{
	size_t len = group != NULL ? strlen(group) : 0;

	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const char *name = cmd_table[i]->name;
		size_t first = strcspn(name, " ");
		bool again = i > 0 &&
			     first == strcspn(cmd_table[i - 1]->name, " ") &&
			     strncmp(cmd_table[i - 1]->name, name, first) == 0;

		if (group == NULL && !again)
			offer(last, "", name, first,
			      name[first] == '\0' ? cmd_table[i]->summary : "");
		else if (group != NULL && first == len && name[first] == ' ' &&
			 strncmp(name, group, len) == 0)
			offer(last, "", name + first + 1,
			      strlen(name + first + 1), cmd_table[i]->summary);
	}
}

/* Has any command that first word and a second one? */
static bool
is_group(const char *word)
{
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		size_t len = strlen(word);

		if (strncmp(cmd_table[i]->name, word, len) == 0 &&
		    cmd_table[i]->name[len] == ' ')
			return true;
	}
	return false;
}

/* Take the words before the last. */
static void
take_words(struct before *b, int argc, char **argv)
{
	int words = 1;

	for (int i = 0; i < argc; i += words) {
		words = 1;
		/* bash makes three words of --color=never. */
		if (strcmp(argv[i], "=") == 0)
			continue;
		if (b->option != NULL) {
			b->option = NULL;
		} else if (argv[i][0] == '-') {
			b->option = cmd_find_option(b->cmd, argv[i]);
			if (b->option != NULL && (b->option->arg == NULL ||
						  strchr(argv[i], '=') != NULL))
				b->option = NULL;
		} else if (b->cmd == NULL && b->group == NULL) {
			b->cmd = cmd_find(argc - i, argv + i, &words);
			if (words == 1 && is_group(argv[i]))
				b->group = argv[i];
		} else {
			b->group = NULL;
		}
	}
}

int
cmd_complete(int argc, char **argv)
{
	struct before b = { NULL, NULL, NULL };
	const char *last = argc > 0 ? argv[argc - 1] : "";
	const char *equals = strchr(last, '=');
	const struct cmd_option *o;
	char option[256];

	take_words(&b, argc - 1, argv);
	if (b.option != NULL) {
		offer_values(strcmp(last, "=") == 0 ? "" : last, "", b.option);
	} else if (last[0] == '-' && equals != NULL) {
		(void)snprintf(option, sizeof(option),
			       "%.*s=", (int)(equals - last), last);
		o = cmd_find_option(b.cmd, last);
		if (o != NULL)
			offer_values(last, option, o);
	} else if (last[0] == '-') {
		offer_options(last, b.cmd != NULL ? b.cmd->options
						  : cmd_dash.options);
		if (b.cmd != NULL)
			offer(last, "--", "help", 4, "show what it does");
	} else if (b.cmd == NULL || b.group != NULL) {
		offer_commands(last, b.group);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
