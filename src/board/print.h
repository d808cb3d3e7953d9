/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/board.h"
#include "parsers/json.h"
#include "report/out.h"
#include "store/query.h"

/* The forms of a computed leaderboard; best group first. */
struct board_look {
	size_t columns; /* of the screen; 0: no limit */
	bool color;	/* escape sequences are welcome */
	bool summary;	/* a line a group, no runs */
	bool all_tests; /* C to F too */
};

/*
 * A table for people; Markdown, ready for the results section of a pull
 * request; CSV (RFC 4180), a row a run and a row a group ("kind" tells); JSON,
 * one object a line, one line a group, with all that is known of it.
 */
void board_print(FILE *stream, const struct board *board, enum out_format format,
		 const struct board_look *look);

/* One group in Markdown: heading, table, what is said of it, the track. */
void board_print_md_group(FILE *stream, const struct board *board, const struct board_group *group);

/* The row of one run, keys of `parse` and what the board makes of it. */
cJSON *board_row_json(const struct board *board, const struct board_row *row);

/* A test as JSON has it. */
cJSON *board_test_json(const struct board_test *test);

/*
 * The row of `runs`: run_id, pod, path, file, gen, the keys of `parse`,
 * first_seen and last_seen.  writer: the process that writes the database
 * now, or 0: a run that one follows is running.  Given (owned).
 */
cJSON *board_stored_json(const struct stored_run *run, long writer);
/* Add the keys of a point: step, metric, value, wall_s, train_ms, line. */
void board_add_sample(cJSON *row, const char *metric, const struct sample *sample);

/* The word for its status now. */
const char *board_stored_status(const struct stored_run *run, long writer);

/* Is that a key of any row above, of a run or in CSV? */
bool board_is_key(const char *key);
