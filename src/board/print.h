/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/board.h"
#include "parsers/json.h"
#include "report/out.h"
#include "store/query.h"

/* How to print a computed leaderboard. */
struct board_look {
	size_t columns; /* of the screen; 0: unlimited */
	bool color;	/* use colours */
	bool summary;	/* one row per group, no runs */
	bool all_tests; /* also tests C to F */
};

/* Print a table; Markdown for the results section of a pull request; CSV (RFC 4180) with one row
 * per run and per group (column "kind"); or JSON with all numbers, one line per group. */
void board_print(FILE *stream, const struct board *board, enum out_format format,
		 const struct board_look *look);

/* Print one group in Markdown: heading, table, remarks and track. */
void board_print_md_group(FILE *stream, const struct board *board, const struct board_group *group);

/* The JSON row of a run: the keys of `parse`, and what the board adds. */
cJSON *board_row_json(const struct board *board, const struct board_row *row);

cJSON *board_test_json(const struct board_test *test);

/* The JSON row of `runs`: run_id, pod, path, file, gen, the keys of `parse`, first_seen and
 * last_seen. writer: process that writes the database, or 0; its runs are running. Owned. */
cJSON *board_stored_json(const struct stored_run *run, long writer);
/* Add the keys of a point: step, metric, value, wall_s, train_ms, line. */
void board_add_sample(cJSON *row, const char *metric, const struct sample *sample);

/* The current status of a stored run. */
const char *board_stored_status(const struct stored_run *run, long writer);

/* Is it a key of any of these rows? */
bool board_is_key(const char *key);
