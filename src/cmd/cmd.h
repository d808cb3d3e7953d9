/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "context.h"
#include "ingest/parse_files.h"
#include "report/out.h"

/*
 * Commands of the command line.  One const struct a command, a file a subject:
 * its options in, an exit status out.  --help, the man page's COMMANDS and the
 * shell completions are made from these structs.  This room alone
 * prints to stdout.
 */

/* What becomes of an option's value, in the command's struct of options. */
enum cmd_kind {
	CMD_FLAG = 1, /* bool: true; takes no value */
	CMD_VALUE,    /* an enum: `value`; takes no value */
	CMD_TEXT,     /* const char *, borrowed */
	CMD_WORD,     /* const char *: one of words */
	CMD_CHOICE,   /* an enum: the index in words */
	CMD_SET,      /* unsigned int: 1 << index of each of words, "a,b" */
	CMD_NUMBER,   /* double, low..high */
	CMD_POSITIVE, /* double above 0 and below high */
	CMD_COUNT,    /* uint64_t, low..high */
	CMD_LIST,     /* struct cmd_list: one more */
	CMD_FORMAT,   /* a rule file, which main adds to those of the context */
	CMD_TAKE,     /* what `take` makes of it */
};

#define CMD_LIST_MAX 64
struct cmd_list {
	const char *v[CMD_LIST_MAX];
	size_t n;
};

struct cmd_option {
	char short_name;  /* 'j', or 0 */
	const char *name; /* "json" */
	const char *arg;  /* "FILE"; NULL: takes none */
	const char *help; /* "print one JSON object a line" */
	enum cmd_kind kind;
	size_t at; /* of the member in the struct of options */
	unsigned int value;
	double low, high;
	/* Ended by NULL.  A TEXT may have them too: the usual ones. */
	const char *const *words;
	int (*take)(void *options, const char *value, struct err *err);
};

#define CMD_AT(type, member) .at = offsetof(struct type, member)

/* A row of a macro that several tables share: it may be of any struct. */
#define CMD_ROW(name_, arg_, help_, kind_, type, member, ...)                     \
	{                                                                         \
		.name = (name_), .arg = (arg_), .help = (help_), .kind = (kind_), \
		CMD_AT(type, member), __VA_ARGS__                                 \
	}

struct cmd_args {
	struct context *context;
	const struct cmd *cmd;
	int argc; /* arguments that are no options */
	char **argv;
	struct cmd_list formats; /* of CMD_FORMAT */
};

#define CMD_ANY INT_MAX /* most arguments, where any number may stand */

struct cmd {
	const char *name;		  /* "parse"; "bench run" for a sub-command */
	const char *usage;		  /* "[OPTIONS] PATH..." */
	const char *summary;		  /* one line, no full stop */
	const char *help;		  /* paragraphs for the man page, may be NULL */
	const struct cmd_option *options; /* ended by a NULL name; or NULL */
	/* The options as they are when none is given; NULL: all 0.  Where
	 * preset is given, defaults are so many bytes, and the rest is 0. */
	size_t size, preset;
	const void *defaults;
	/* How many arguments, and what to do where they are not as many:
	 * "name at least one log".  NULL: takes none. */
	int least, most;
	const char *wants;
	/* Arguments belong to the option before them: each goes here in its
	 * turn and is no argument; NULL: they are arguments. */
	int (*word)(void *options, const char *word, struct err *err);
	/* Hold options and arguments against each other, before anything is
	 * opened; may be NULL. */
	int (*check)(const struct cmd_args *args, void *options, struct err *err);
	/* What main opens of the context: enum context_part. */
	unsigned int needs;
	/* With CONTEXT_CONF: the pods that programs print are there too. */
	bool discovers;
	/* The exit status; on -1 main prints err and maps its code. */
	int (*exec)(struct cmd_args *args, void *options, struct err *err);
};

/* All commands, in the order of the help; ended by NULL. */
extern const struct cmd *const cmd_table[];
/* What no command is named: the dashboard, over PATHs or all pods.  Its
 * options are those that every command takes. */
extern const struct cmd cmd_dash;

/* Whether one of its words names logs on a pod: HOST:PATH. */
bool cmd_has_place(const struct cmd_args *args);

/*
 * Fetch the logs that places (conf_place) mean, as they are now.  0; the exit
 * status of a signal, or of a pod that cannot be reached (which was said, and
 * the logs of the others are there); or -1 with err.
 */
int cmd_fetch(struct context *context, char *const *words, size_t n, bool accept_new,
	      struct log_paths *logs, struct err *err) __attribute__((warn_unused_result));

/* Options that every command takes. */
struct cmd_globals {
	struct context_options context;
	bool help, version;
};

/* The command that the words at argv name; NULL: none.  *words is how many
 * they are, 1 where it is none. */
const struct cmd *cmd_find(int argc, char **argv, int *words);
/* Is that the first word, or the only one, of its name? */
bool cmd_is_of(const struct cmd *cmd, const char *word);
/* Are there commands whose first of two words that is? */
bool cmd_is_group(const char *word);
/* The option of cmd (may be NULL) or of every command that a word names. */
const struct cmd_option *cmd_find_option(const struct cmd *cmd, const char *word);
/* Print what the last of the words could be, a line each: the word, a tab,
 * what it is.  Nothing: a file.  Its exit status. */
int cmd_complete(int argc, char **argv);

/*
 * Print a part of the manual in man(7) roff, out of what the program knows: a
 * page's source names it as @man-commands@.  Returns an exit status: 2 for a
 * form that is not known.
 */
int reference_print(const char *form);

/* Run the command that the words (without the program's name) are; its exit
 * status. */
int cmd_main(int argc, char **argv);

/* -1: there is no such command, or none of that group (NULL: of none). */
int cmd_refuse(const char *group, const char *word, struct err *err);
/* Print what --help says: of a command, or of the program (cmd_dash). */
void cmd_print_help(const struct cmd *cmd);
/* The same of a group: its commands. */
void cmd_print_group(const char *group);

/*
 * The entries of a command that prints rows: its struct has an enum
 * out_format `format`, OUT_TABLE by default.
 */
#define CMD_OUTPUT_OPTIONS(type)                                                              \
	CMD_ROW("json", NULL, "print one JSON object a line", CMD_VALUE, type, format,        \
		.value = OUT_JSON),                                                           \
		CMD_ROW("csv", NULL, "print comma-separated values", CMD_VALUE, type, format, \
			.value = OUT_CSV),                                                    \
		CMD_ROW("md", NULL, "print a Markdown table", CMD_VALUE, type, format,        \
			.value = OUT_MD)

#define CMD_FORMAT_OPTION                                                                  \
	{                                                                                  \
		0, "format", "FILE", "read the rules of this file too", .kind = CMD_FORMAT \
	}

#define CMD_OPTIONS_END      \
	{                    \
		.name = NULL \
	}

/* Options of a command that has no others. */
struct cmd_output {
	enum out_format format;
};
extern const struct cmd_option cmd_output_options[];

/* Columns of the screen that stdout is; 0: it is none. */
size_t cmd_columns(void);
/* A list of rows to stdout. */
struct out *cmd_out(enum out_format format, const char *columns);
/* Print it to its end: status, or -1 with err when it cannot be written. */
int cmd_out_end(struct out *out, int status, struct err *err);
/* A text to stdout; 0, or -1 with err. */
int cmd_print(const struct buf *text, struct err *err);
/* An object to stdout, as one line; freed. */
int cmd_print_json(cJSON *object, struct err *err);
/* What was written to stdout otherwise: 0, or -1 with err. */
int cmd_flush(struct err *err);
