/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_BENCH_ON_H
#define HGYM_CMD_BENCH_ON_H

#include "bench/drive.h"
#include "bench/kept.h"
#include "cmd/cmd.h"

/*
 * Benches on the command line: what `bench run`, `attach`, `audit`, `abort`,
 * `clean` and `stop` share of asking, telling and concluding.
 */
/* The forms of a verdict. */
enum bench_print { BENCH_TEXT, BENCH_JSON, BENCH_CSV, BENCH_MD };

/* The entries of a command with a struct that has an enum bench_print
 * `print`; when: "", or " at the end". */
#define BENCH_PRINT_OPTION(type, name, what, form)                             \
	{                                                                      \
		0, name, NULL, what, CMD_VALUE, CMD_AT(type, print),           \
			.value = (form)                                        \
	}
#define BENCH_PRINT_OPTIONS(type, when)                                        \
	BENCH_PRINT_OPTION(type, "json",                                       \
			   "print the object of verdict.json" when,            \
			   BENCH_JSON),                                        \
		BENCH_PRINT_OPTION(type, "csv",                                \
				   "print comma-separated values, a row a "    \
				   "variant" when,                             \
				   BENCH_CSV),                                 \
		BENCH_PRINT_OPTION(type, "md", "print Markdown" when,          \
				   BENCH_MD)

/* How a bench is begun; the first member of the commands' structs. */
struct bench_ask {
	bool yes, detach, dry, accept_new;
	bool quiet; /* no report at the end */
	enum bench_print print;
};

#define BENCH_ASK_OPTIONS                                                      \
	{ 'y',	    "yes",                                                     \
	  NULL,	    "do not ask before it begins",                             \
	  CMD_FLAG, CMD_AT(bench_ask, yes) },                                  \
		{ 0,	    "detach",                                          \
		  NULL,	    "return at once, drive it in the background",      \
		  CMD_FLAG, CMD_AT(bench_ask, detach) },                       \
		{ 'n',	    "dry-run",                                         \
		  NULL,	    "show what would run, and stop",                   \
		  CMD_FLAG, CMD_AT(bench_ask, dry) },                          \
	{                                                                      \
		0, "accept-new", NULL,                                         \
			"accept host keys that are not known yet", CMD_FLAG,   \
			CMD_AT(bench_ask, accept_new)                          \
	}

/* A line to stderr, with the time. */
void bench_tell(const char *line);

/*
 * Drive it to its end, print the report that print asks for (NULL: none) and
 * ask about pods that are still up.  The exit status, or -1 with err.
 */
int bench_conclude(const struct bench_drive *drive,
		   const enum bench_print *print, struct err *err);

/* A verdict.json to stdout; what text and Markdown have behind it, or "". */
int bench_print_verdict(const cJSON *verdict, enum bench_print print,
			const char *behind, struct err *err);
/* The verdict of a folder, and how the bench stands, to stdout. */
int bench_print_report(const struct bench_drive *drive, enum bench_print print,
		       struct err *err);

/*
 * Say what would run, ask where `yes` is not set, then run it in a results
 * folder of its own.  given is the definition to keep there; NULL: that of
 * plan->file.  The exit status, or -1 with err.
 */
int bench_begin(struct context *context, const struct plan *plan,
		const char *given, const struct bench_ask *ask,
		struct err *err);

/* The bench that an ID names, and the plan that its folder keeps. */
struct bench_named {
	char id[FOLDER_ID_SIZE], path[FOLDER_PATH_SIZE];
	struct plan plan;
};

/* -1 with err; release it with plan_release(&named->plan). */
int bench_named_open(struct bench_named *named, const char *word,
		     struct err *err) __attribute__((warn_unused_result));

#endif
