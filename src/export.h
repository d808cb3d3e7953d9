/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_EXPORT_H
#define HGYM_SRC_EXPORT_H

#include <stdio.h>

#include "board_build.h"
#include "out.h"

/* What is known, out of the program, in the forms of out.h. */

/* A row a run, with all keys of `parse` and its group. */
int export_runs(FILE *stream, enum out_format format,
		const struct board *board);

/*
 * A row a point: of the logs that the command's arguments name or, without
 * any, of all runs of the database.  -1 with err.
 */
int export_samples(FILE *stream, enum out_format format,
		   const struct cmd_args *args,
		   const struct format_set *formats, struct err *err)
	__attribute__((warn_unused_result));

#endif
