/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BENCH_DRIVE_H
#define HGYM_BENCH_DRIVE_H

#include <stdbool.h>

#include "base/err.h"
#include "bench/folder.h"
#include "bench/plan.h"
#include "bench/session.h"
#include "context.h"

/*
 * What the bench commands share: where benches lie, how to reach their pods,
 * and driving one to its end.
 */

/* Where results folders lie; owned. */
char *bench_base(void);

/*
 * The folder of the bench that `word` names: an id, or its beginning when
 * only one begins so.  -1 with err (ERR_NODATA).
 */
int bench_find(const char *word, char id[FOLDER_ID_SIZE],
	       char path[FOLDER_PATH_SIZE], struct err *err)
	__attribute__((warn_unused_result));

/* The plan that a results folder keeps. */
int bench_load_plan(struct plan *plan, const char *path, struct err *err)
	__attribute__((warn_unused_result));

enum bench_print { BENCH_TEXT, BENCH_JSON, BENCH_MD, BENCH_QUIET };

struct bench_drive {
	const struct context *env;
	const struct plan *plan;
	const char *id, *path;
	enum session_mode mode;
	enum bench_print print; /* the report on stdout at the end */
	bool accept_new;	/* unknown host keys */
};

/*
 * Run, abort or clean until it is over; notes go to stderr.  The lock of the
 * folder must be held.  The exit status, or -1 with err.
 */
int bench_drive(const struct bench_drive *drive, struct err *err);

/* A line about a bench to stderr, with the time; plain text. */
void bench_drive_say(const char *line);

/*
 * Judge a bench that is over once more, by what the noise register knows now,
 * and keep that as its verdict.
 */
int bench_judge_again(const struct bench_drive *drive, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Print the report of a folder as it stands (id, path, plan and print of
 * drive); -1 with err.
 */
int bench_report(const struct bench_drive *drive, struct err *err)
	__attribute__((warn_unused_result));

#endif
