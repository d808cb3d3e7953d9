/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_START_H
#define HGYM_BENCH_START_H

#include "bench/drive.h"
#include "bench/noise_register.h"

/* What `bench run` and `bench audit` share: say what will run, ask, begin. */

struct bench_ask {
	bool yes, detach, dry, accept_new;
	enum bench_print print;
};

/* The entries that both commands begin with, and how many they are. */
#define BENCH_ASK_COUNT 4
#define BENCH_ASK_OPTIONS                                                      \
	{ 'y', "yes", NULL, "do not ask before it begins" },                   \
		{ 0, "detach", NULL,                                           \
		  "return at once, drive it in the background" },              \
		{ 'n', "dry-run", NULL, "show what would run, and stop" },     \
	{                                                                      \
		0, "accept-new", NULL,                                         \
			"accept host keys that are not known yet"              \
	}

/* Take option when it is one of them; false: another one. */
bool bench_ask_option(struct bench_ask *ask, int option);

/*
 * What will run, where, in which order; what it costs and what it can show,
 * by the noise that is known (reg may be NULL).  Plain text, sanitised.
 */
void bench_describe(struct buf *out, const struct plan *plan,
		    const struct noise_register *reg);

/*
 * The same behind the command that starts it, by what the database knows;
 * owned, or NULL with err where the file is no plan.
 */
char *bench_preview(struct context *context, const char *file, struct err *err);

/*
 * Describe, ask where `yes` is not set, then run it in a results folder of
 * its own.  text is the definition to keep there; NULL: that of plan->file.
 * The exit status, or -1 with err.
 */
int bench_ask_and_start(struct context *context, const struct plan *plan,
			const char *text, const struct bench_ask *ask,
			struct err *err);

#endif
