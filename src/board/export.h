/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_EXPORT_H
#define HGYM_BOARD_EXPORT_H

#include <stdio.h>

#include "board/input.h"
#include "report/out.h"

/* What is known, out of the program, in the forms of out.h. */

/* Add the keys of a point: step, metric, value, wall_s, train_ms, line. */
void export_add_sample(cJSON *row, const char *metric,
		       const struct sample *sample);

/* A row a run, with all keys of `parse` and its group. */
int export_runs(FILE *stream, enum out_format format,
		const struct board *board);

/*
 * A row a point: of these logs or, without any, of all runs of the database.
 * -1 with err.
 */
int export_samples(FILE *stream, enum out_format format,
		   struct context *context, char *const *paths, size_t n_paths,
		   struct err *err) __attribute__((warn_unused_result));

#endif
