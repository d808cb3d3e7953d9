/* SPDX-License-Identifier: MIT */
#pragma once

#include "bench/folder.h"
#include "bench/noise_register.h"

/*
 * What will run, where, in which order; what it costs and what it can show,
 * by the noise that is known (reg may be NULL).  Plain text, sanitised.
 */
void bench_describe(struct buf *out, const struct plan *plan, const struct noise_register *reg);
/* The same by what the database knows; -1 with err when a file that an arm
 * ships cannot be read. */
int bench_outline(struct buf *out, struct context *context, const struct plan *plan,
		  struct err *err);
/*
 * The same of a file, behind the command that starts it; owned, or NULL with
 * err where the file is no plan, or names one that is not there.
 */
char *bench_preview(struct context *context, const char *file, struct err *err);

/*
 * Make the results folder of a bench and lock it.  given is the definition to
 * keep there; NULL: that of plan->file.
 */
int bench_create(const struct plan *plan, const char *given, char id[FOLDER_ID_SIZE],
		 char path[FOLDER_PATH_SIZE], int *lock, struct err *err)
	__attribute__((warn_unused_result));
