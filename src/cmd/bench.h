/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_BENCH_H
#define HGYM_CMD_BENCH_H

#include "bench/drive.h"
#include "bench/folder.h"
#include "cmd/cmd.h"

/* What the commands of benches share: bench.c, `audit` and `judge`. */

/* The forms of a verdict. */
enum bench_print { BENCH_TEXT, BENCH_JSON, BENCH_CSV, BENCH_MD };

/* The entries of a command with a struct that has an enum bench_print
 * `print`; when: "", or " at the end". */
#define BENCH_PRINT_OPTIONS(type, when)                                        \
	CMD_ROW("json", NULL, "print the object of verdict.json" when,         \
		CMD_VALUE, type, print, .value = BENCH_JSON),                  \
		CMD_ROW("csv", NULL,                                           \
			"print comma-separated values, a row a variant" when,  \
			CMD_VALUE, type, print, .value = BENCH_CSV),           \
		CMD_ROW("md", NULL, "print Markdown" when, CMD_VALUE, type,    \
			print, .value = BENCH_MD)

/* How a bench is begun; the first member of the commands' structs. */
struct bench_ask {
	bool yes, detach, dry, accept_new;
	bool quiet; /* no report at the end */
	enum bench_print print;
};

#define BENCH_ASK_OPTIONS                                                      \
	CMD_ROW("yes", NULL, "do not ask before it begins", CMD_FLAG,          \
		bench_ask, yes, .short_name = 'y'),                            \
		CMD_ROW("detach", NULL,                                        \
			"return at once, drive it in the background",          \
			CMD_FLAG, bench_ask, detach),                          \
		CMD_ROW("dry-run", NULL, "show what would run, and stop",      \
			CMD_FLAG, bench_ask, dry, .short_name = 'n'),          \
		CMD_ROW("accept-new", NULL,                                    \
			"accept host keys that are not known yet", CMD_FLAG,   \
			bench_ask, accept_new)

/* A verdict.json to stdout; what text and Markdown have behind it, or "". */
int bench_print_verdict(const cJSON *verdict, enum bench_print print,
			const char *behind, struct err *err);

/*
 * Say what would run, ask where `yes` is not set, then run it in a results
 * folder of its own.  given is the definition to keep there; NULL: that of
 * plan->file.  The exit status, or -1 with err.
 */
int bench_begin(struct context *context, const struct plan *plan,
		const char *given, const struct bench_ask *ask,
		struct err *err);

#endif
