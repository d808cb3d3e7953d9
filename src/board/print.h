/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_PRINT_H
#define HGYM_BOARD_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "model/board.h"
#include "parsers/json.h"
#include "store/query.h"

/* The four forms of a computed leaderboard; best group first. */
struct board_look {
	size_t columns; /* of the screen; 0: no limit */
	bool color;	/* escape sequences are welcome */
	bool summary;	/* a line a group, no runs */
	bool all_tests; /* C to F too */
};

/* Aligned columns for people. */
void board_print_table(FILE *stream, const struct board *board,
		       const struct board_look *look);

/* One row a group, as a table or as Markdown. */
void board_print_summary(FILE *stream, const struct board *board,
			 bool markdown);

/* Markdown, ready for the results section of a pull request. */
void board_print_md(FILE *stream, const struct board *board,
		    const struct board_look *look);

/* One group of it: heading, table, what is said of it. */
void board_print_md_group(FILE *stream, const struct board *board,
			  const struct board_group *group, bool all_tests);

/* A row a run and a row a group ("kind" tells); RFC 4180. */
void board_print_csv(FILE *stream, const struct board *board,
		     const struct board_look *look);

/* One object a line, one line a group, with all that is known of it. */
void board_print_json(FILE *stream, const struct board *board,
		      const struct board_look *look);

/* The row of one run, keys of `parse` and what the board makes of it. */
cJSON *board_row_json(const struct board *board, const struct board_row *row);

/*
 * The row of `runs`: run_id, pod, path, file, gen, the keys of `parse`,
 * first_seen and last_seen.  writer: the process that writes the database
 * now, or 0: a run that one follows is running.  Given (owned).
 */
cJSON *board_stored_json(const struct stored_run *run, long writer);
/* The word for its status now. */
const char *board_stored_status(const struct stored_run *run, long writer);

/* Is that a key of any row above, of a run or in CSV? */
bool board_is_key(const char *key);

/* The object of board_print_json; rank from 1.  Given (owned). */
cJSON *board_group_json(const struct board *board,
			const struct board_group *group, size_t rank,
			bool with_rows);

#endif
