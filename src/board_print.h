/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_BOARD_PRINT_H
#define HGYM_SRC_BOARD_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

#include "model/board.h"

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

/* Markdown, ready for the results section of a pull request. */
void board_print_md(FILE *stream, const struct board *board,
		    const struct board_look *look);

/* A row a run and a row a group ("kind" tells); RFC 4180. */
void board_print_csv(FILE *stream, const struct board *board,
		     const struct board_look *look);

/* One object a line, one line a group, with all that is known of it. */
void board_print_json(FILE *stream, const struct board *board,
		      const struct board_look *look);

/* The object of board_print_json; rank from 1.  Given (owned). */
cJSON *board_group_json(const struct board *board,
			const struct board_group *group, size_t rank,
			bool with_rows);

#endif
