/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_CMD_H
#define HGYM_CMD_CMD_H

#include <stdbool.h>

#include "base/err.h"
#include "context.h"
#include "report/out.h"

/*
 * Commands of the command line.  One const struct a command, in a file of its
 * own; --help, the man page's COMMANDS and the shell completions are made
 * from these structs.
 */
struct cmd_option {
	char short_name;  /* 'j', or 0 */
	const char *name; /* "json" */
	const char *arg;  /* "FILE"; NULL: takes none */
	const char *help; /* "one JSON object a line" */
};

struct cmd_args {
	struct context *context;
	const struct cmd *cmd;
	int argc; /* argv[0] is the command's name */
	char **argv;
	int next; /* after the last option: first argument */
};

struct cmd {
	const char *name;    /* "parse"; "bench run" for a sub-command */
	const char *usage;   /* "[OPTIONS] PATH..." */
	const char *summary; /* one line, no full stop */
	const char *help;    /* paragraphs for the man page, may be NULL */
	const struct cmd_option *options; /* ended by a NULL name; or NULL */
	/* Arguments belong to the option before them: CMD_OPTIONS_END at
	 * each, and the command takes it itself and asks again. */
	bool in_order;
	/* What main opens of the context before exec: enum context_part. */
	unsigned int needs;
	/* Returns the exit status; on -1 main prints err and maps its code. */
	int (*exec)(struct cmd_args *args, struct err *err);
};

/* All commands, in the order of the help; ended by NULL. */
extern const struct cmd *const cmd_table[];
/* What no command's name begins: the dashboard, over PATHs or all pods. */
extern const struct cmd cmd_dash;

#define CMD_OPTIONS_END	  (-1)
#define CMD_OPTIONS_WRONG (-2)

/*
 * The next option: its index in cmd->options with *value set to its argument,
 * CMD_OPTIONS_END when the arguments begin (at argv[args->next]), or
 * CMD_OPTIONS_WRONG with err.  --help is served by main.
 */
int cmd_next_option(struct cmd_args *args, const char **value, struct err *err);

/*
 * The entries of a command that prints rows, in the order of enum out_format
 * (OUT_TABLE needs none), and how many they are.
 */
#define CMD_OUTPUT_COUNT 3
#define CMD_OUTPUT_OPTIONS                                                     \
	{ 0, "json", NULL, "print one JSON object a line" },                   \
		{ 0, "csv", NULL, "print comma-separated values" },            \
	{                                                                      \
		0, "md", NULL, "print a Markdown table"                        \
	}

/*
 * Is an option one of them, where it counts from the first of them?  *format
 * is set then.
 */
bool cmd_output_option(int option, enum out_format *format);
/*
 * All options of a command that has no others: the arguments come next.  -1
 * with err when one is wrong; *format is OUT_TABLE where none is given.
 */
int cmd_output_options(struct cmd_args *args, enum out_format *format,
		       struct err *err);

#endif
