/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "ingest/parse_files.h"
#include "report/out.h"

/* Commands of the command line: one const struct per command, one file per subject. A command gets
 * its parsed options and returns an exit status. --help, the COMMANDS section of the manual and the
 * shell completions are generated from these structs. No other module prints to stdout. */

/* How an option's value is parsed and stored in the command's struct of options. */
enum cmd_kind {
	CMD_FLAG = 1, /* bool: true; takes no value */
	CMD_VALUE,    /* enum: cmd_option.value; takes no value */
	CMD_TEXT,     /* const char *, borrowed */
	CMD_WORD,     /* const char *: one of cmd_option.words */
	CMD_CHOICE,   /* enum: an index into cmd_option.words */
	CMD_SET,      /* unsigned int: a bit for each word given, "a,b" */
	CMD_NUMBER,   /* double from low to high */
	CMD_POSITIVE, /* double above 0 and below high */
	CMD_COUNT,    /* uint64_t from low to high */
	CMD_LIST,     /* struct cmd_list: append */
	CMD_FORMAT,   /* rule file: main loads it into the context */
	CMD_TAKE,     /* call cmd_option.take */
};

#define CMD_LIST_MAX 64
struct cmd_list {
	const char *v[CMD_LIST_MAX];
	size_t n;
};

struct cmd_option {
	char short_name;  /* 'j', or 0 */
	const char *name; /* "json" */
	const char *arg;  /* "FILE"; NULL: takes no value */
	const char *help; /* "print one JSON object per line" */
	enum cmd_kind kind;
	size_t at; /* offset of the member in the struct of options */
	unsigned int value;
	double low, high;
	/* Allowed words, ended by NULL. For CMD_TEXT: suggestions for completion. */
	const char *const *words;
	int (*take)(void *options, const char *value, struct err *err);
	const char *heading; /* of the group that starts here; NULL: same group */
};

#define CMD_AT(type, member) .at = offsetof(struct type, member)
/* For a command: its table of options, and the struct that they are stored in. */
#define CMD_OPTIONS(table, type) .options = (table), .size = sizeof(struct type)

/* A row of a table of options, for macros that several tables share. */
#define CMD_ROW(name_, arg_, help_, kind_, type, member, ...)                     \
	{                                                                         \
		.name = (name_), .arg = (arg_), .help = (help_), .kind = (kind_), \
		CMD_AT(type, member), __VA_ARGS__                                 \
	}

struct cmd_args {
	struct context *context;
	const struct cmd *cmd;
	int argc; /* arguments without options */
	char **argv;
	struct cmd_list formats; /* values of CMD_FORMAT options */
};

#define CMD_ANY INT_MAX /* for cmd.most: no upper limit */

struct cmd {
	const char *name;    /* "parse"; "bench run" for a subcommand */
	const char *usage;   /* "[OPTIONS] PATH..."; one line per form */
	const char *summary; /* for the list of commands; no full stop; also the text of --help and
			      * the manual if help.txt has none */
	const char *example; /* shown after the options; NULL: none */
	const char *section; /* heading that starts here in the list of commands; NULL: none */
	/* Adjacent commands with the same text share one entry in the list of commands. */
	const char *fold;
	const struct cmd_option *options; /* ended by a NULL name; or NULL */
	/* Size of the struct of options, and its values before the command line is read. NULL: all
	 * zero. If preset is not 0, defaults has only that many bytes, and the rest is zero. */
	size_t size, preset;
	const void *defaults;
	/* Number of arguments, and the error message for a wrong number:
	 * "give at least one log". NULL: takes no arguments. */
	int least, most;
	const char *wants;
	/* Called for each argument, if arguments belong to the preceding
	 * option; they are not added to argv. */
	int (*word)(void *options, const char *word, struct err *err);
	/* Check combinations of options and arguments before anything is opened; may be NULL. */
	int (*check)(const struct cmd_args *args, void *options, struct err *err);
	unsigned int needs; /* enum context_part: opened before exec */
	bool discovers;	    /* with CONTEXT_CONF: run the programs of "discover" too */
	/* Return the exit status, or -1 with err: main prints it and derives the status. */
	int (*exec)(struct cmd_args *args, void *options, struct err *err);
};

/* All commands, in the order of the help; ended by NULL. */
extern const struct cmd *const cmd_table[];
/* The dashboard, which runs without a command; its options are valid for every command. */
extern const struct cmd cmd_dash;

/* Is one of the arguments a log on a pod, HOST:PATH? */
bool cmd_has_place(const struct cmd_args *args);

/* Fetch the current content of the logs that words (HOST:PATH) name into *logs. Return 0; 128 + n
 * after signal n; or -1 with err. If a pod is unreachable, report it on stderr, fetch the logs of
 * the others and return the exit status for unreachable pods. */
int cmd_fetch(struct context *context, char *const *words, size_t n, bool accept_new,
	      struct log_paths *logs, struct err *err) MUST_USE;

/* Options that every command takes. */
struct cmd_globals {
	struct context_options context;
	bool help, version;
};

/* Find the command at the start of argv, or NULL; *words: how many words its name has (NULL: 1). */
const struct cmd *cmd_find(int argc, char **argv, int *words);
/* Is word the first word, or the only one, of the command's name? */
bool cmd_starts_with(const struct cmd *cmd, const char *word);
/* Is word the first word of commands with two words, such as "bench"? */
bool cmd_is_group(const char *word);
/* Find the option in cmd (may be NULL) or in the options of every command. */
const struct cmd_option *cmd_find_option(const struct cmd *cmd, const char *word);
/* For shell completion: print each candidate for the last word, a tab and its
 * help, one per line. Prints nothing if a file is expected. Returns the exit status. */
int cmd_complete(int argc, char **argv);

/* Print the records that replace a line like @man-commands@ in the source of a manual page;
 * man/fill.awk turns them into roff. Return the exit status, 2 if form is unknown. */
int reference_print(const char *form);

/* Run a command line (without the program's name); returns the exit status. */
int cmd_main(int argc, char **argv);

/* Set err: unknown command "group word" (group NULL: "word"). Returns -1. */
int cmd_fail_unknown(const char *group, const char *word, struct err *err);
/* Print --help of a command, or of the program (cmd_dash). */
void cmd_print_help(const struct cmd *cmd);
/* Print --help of a group: the list of its commands. */
void cmd_print_group(const char *group);

/* Options of a command that prints rows; its struct has a member enum out_format `format`. */
#define CMD_OUTPUT_OPTIONS(type)                                                              \
	CMD_ROW("json", NULL, "print one JSON object per line", CMD_VALUE, type, format,      \
		.value = OUT_JSON),                                                           \
		CMD_ROW("csv", NULL, "print comma-separated values", CMD_VALUE, type, format, \
			.value = OUT_CSV),                                                    \
		CMD_ROW("md", NULL, "print a Markdown table", CMD_VALUE, type, format,        \
			.value = OUT_MD)

#define CMD_FORMAT_OPTION                                                                  \
	{                                                                                  \
		0, "format", "FILE", "also use the rules in this file", .kind = CMD_FORMAT \
	}

#define CMD_ACCEPT_NEW_OPTION(type) \
	CMD_ROW("accept-new", NULL, "accept unknown host keys", CMD_FLAG, type, accept_new)

#define CMD_OPTIONS_END      \
	{                    \
		.name = NULL \
	}

/* For commands with no options except those for output. */
struct cmd_output {
	enum out_format format;
};
extern const struct cmd_option cmd_output_options[];
#define CMD_OUTPUT_ONLY .options = cmd_output_options, .size = sizeof(struct cmd_output)

/* Width of the terminal on stdout; 0: stdout is not a terminal. */
size_t cmd_columns(void);
/* Start printing rows to stdout. */
struct out *cmd_out(enum out_format format, const char *columns);
/* Finish and free out. Returns status, or -1 with err if writing failed. */
int cmd_out_end(struct out *out, int status, struct err *err);
/* Print text to stdout; 0, or -1 with err. */
int cmd_print(const struct buf *text, struct err *err);
/* Print an object to stdout as one line, and free it. */
int cmd_print_json(cJSON *object, struct err *err);
/* Flush stdout; 0, or -1 with err if anything written to it was lost. */
int cmd_flush(struct err *err);
