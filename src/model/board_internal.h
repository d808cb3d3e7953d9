/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_BOARD_INTERNAL_H
#define HGYM_MODEL_BOARD_INTERNAL_H

#include "model/board.h"

/* What the parts of the leaderboard call of each other. */

/* Which rows count, spreads and means of all groups (board_count.c). */
void board_count(struct board *board);

/* Caps, tests, words and notes of all groups (board_judge.c). */
void board_judge(struct board *board);

/* Caps of rows and groups (board_caps.c); needs board_count. */
void board_check_caps(struct board *board);

/* Copies, seeds that ran again, unlike runs of a group (board_notes.c). */
void board_note_group(const struct board *board, struct board_group *group);

/* Add a sentence to what is said of a group. */
void board_note(struct board_group *group, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Add a few words to the note of a row, "; " between. */
void board_row_note(struct board_row *row, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The counted values of a group, one a seed where seeds repeat, in the order
 * of their first run; seeds (may be NULL) gets the seed of each, RUN_ABSENT
 * for unknown.  Both have room for n_counted.  Returns how many.
 */
size_t board_seed_values(const struct board *board,
			 const struct board_group *group, double *values,
			 double *seeds);

#endif
