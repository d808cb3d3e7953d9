/* SPDX-License-Identifier: MIT */
/* Parse the command line, run one command, return its exit status. */
#include "config.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/dash.h"
#include "base/log.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "cmd/cmd.h"
#include "cmd/reference.h"
#include "cmd/version.h"
#include "conf/conf.h"
#include "context.h"

static const struct cmd_option global_options[] = {
	{ 0, "config", "FILE", "read this configuration" },
	{ 0, "db", "FILE", "use this database" },
	{ 0, "read-only", NULL,
	  "never start, stop or write anything on a pod" },
	{ 0, "color", "WHEN", "auto, always or never" },
	{ 0, "charset", "SET", "draw charts with braille, block or ascii" },
	{ 'v', "verbose", NULL, "write a debug log to a file" },
	{ 'h', "help", NULL, "show this help" },
	{ 'V', "version", NULL, "show the version and those of the libraries" },
	{ 0, NULL, NULL, NULL },
};

enum global {
	GLOBAL_CONFIG,
	GLOBAL_DB,
	GLOBAL_READ_ONLY,
	GLOBAL_COLOR,
	GLOBAL_CHARSET,
	GLOBAL_VERBOSE,
	GLOBAL_HELP,
	GLOBAL_VERSION,
};

static const struct cmd program = {
	.name = "hgym-tui",
	.usage = "[OPTIONS] [COMMAND [ARGS]]",
	.options = global_options,
};

/* Say err on stderr, made harmless, and return its exit status. */
static int
fail(const struct err *err)
{
	say_error(err->text);
	return err_exit_status(err->code);
}

static void
print_options(const struct cmd_option *options)
{
	for (; options != NULL && options->name != NULL; options++) {
		char left[64];

		(void)snprintf(left, sizeof(left), "%c%c%s --%s%s%s",
			       options->short_name ? '-' : ' ',
			       options->short_name ? options->short_name : ' ',
			       options->short_name ? "," : " ", options->name,
			       options->arg != NULL ? " " : "",
			       options->arg != NULL ? options->arg : "");
		printf("  %-24s %s\n", left, options->help);
	}
}

static void
print_program_help(void)
{
	printf("usage: hgym-tui %s\n\nTails training logs on many pods, keeps "
	       "a leaderboard over seeds and runs A/B\nbenches that can be "
	       "believed. Without a command: the dashboard.\n\ncommands:\n",
	       program.usage);
	for (size_t i = 0; cmd_table[i] != NULL; i++)
		printf("  %-16s %s\n", cmd_table[i]->name,
		       cmd_table[i]->summary);
	printf("\noptions:\n");
	print_options(global_options);
	printf("\n`hgym-tui COMMAND --help` tells more; `man hgym-tui` all.\n");
}

static void
print_command_help(const struct cmd *cmd)
{
	printf("usage: hgym-tui %s %s\n\n%s.\n", cmd->name, cmd->usage,
	       cmd->summary);
	if (cmd->help != NULL)
		printf("\n%s\n", cmd->help);
	if (cmd->options != NULL) {
		printf("\noptions:\n");
		print_options(cmd->options);
	}
}

/*
 * The command that the words at argv name; *words how many they are.  The
 * dashboard needs no word, and takes paths.
 */
static const struct cmd *
find_command(int argc, char **argv, int *words)
{
	const struct cmd *found = NULL;

	*words = 0;
	if (argc == 0)
		return &cmd_dash;
	for (size_t i = 0; cmd_table[i] != NULL; i++) {
		const char *name = cmd_table[i]->name;
		const char *blank = strchr(name, ' ');
		size_t first =
			blank != NULL ? (size_t)(blank - name) : strlen(name);

		if (strlen(argv[0]) != first ||
		    strncmp(argv[0], name, first) != 0)
			continue;
		if (blank == NULL && found == NULL) {
			found = cmd_table[i];
			*words = 1;
		} else if (blank != NULL && argc > 1 &&
			   strcmp(argv[1], blank + 1) == 0) {
			found = cmd_table[i];
			*words = 2;
		}
	}
	return found == NULL && dash_is_path(argv[0]) ? &cmd_dash : found;
}

static int
run_command(struct context *context, int argc, char **argv)
{
	struct err err = { ERR_NONE, "" };
	int words;
	const struct cmd *cmd = find_command(argc, argv, &words);
	struct cmd_args args = { context, cmd, argc - words + 1,
				 argv + words - 1, 0 };
	int status;

	if (cmd == NULL) {
		err_set(&err, ERR_USAGE,
			"there is no command \"%s\" (see hgym-tui --help)",
			argv[0]);
		return fail(&err);
	}
	for (int i = 1; i < args.argc && strcmp(args.argv[i], "--") != 0; i++) {
		if (strcmp(args.argv[i], "--help") == 0) {
			print_command_help(cmd);
			return 0;
		}
	}
	status = context_open(context, cmd->needs, &err);
	if (status == 0)
		status = cmd->exec(&args, &err);
	return status >= 0 ? status : fail(&err);
}

/* Global options up to the command; -1 to go on, else the exit status. */
static int
parse_globals(struct cmd_args *args, struct context_options *options)
{
	struct err err = { ERR_NONE, "" };
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, &err)) >= 0) {
		switch ((enum global)option) {
		case GLOBAL_CONFIG:
			options->config = value;
			break;
		case GLOBAL_DB:
			options->db = value;
			break;
		case GLOBAL_READ_ONLY:
			options->read_only = true;
			break;
		case GLOBAL_COLOR:
			options->color = value;
			break;
		case GLOBAL_CHARSET:
			options->charset = value;
			break;
		case GLOBAL_VERBOSE:
			options->verbose = true;
			break;
		case GLOBAL_HELP:
			print_program_help();
			return 0;
		case GLOBAL_VERSION:
			version_print();
			return 0;
		}
	}
	return option == CMD_OPTIONS_WRONG ? fail(&err) : -1;
}

/* The debug log of --verbose; without it the program goes on all the same. */
static void
open_debug_log(void)
{
	char *dir = conf_dir_state();
	char *path = xasprintf("%s/debug.log", dir);
	struct err err = { ERR_NONE, "" };

	if (conf_make_dir(dir, &err) != 0 || log_open(path, &err) != 0)
		(void)fail(&err);
	free(path);
	free(dir);
}

int
main(int argc, char **argv)
{
	struct context_options options = { .color = "auto" };
	struct cmd_args args = { NULL, &program, argc, argv, 0 };
	struct context context;
	int status;

	/* Characters by the user's locale; numbers always as in C. */
	(void)setlocale(LC_CTYPE, "");
	(void)signal(SIGPIPE, SIG_IGN);
	/* For the build: the man page's lists and the completions. */
	if (argc == 3 && strcmp(argv[1], "--dump-reference") == 0)
		return reference_print(argv[2], &program);
	status = parse_globals(&args, &options);
	if (status >= 0)
		return status;
	if (options.verbose)
		open_debug_log();
	context_init(&context, &options);
	status = run_command(&context, argc - args.next, argv + args.next);
	context_close(&context);
	return status;
}
