/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_BOARD_PANELS_H
#define HGYM_UI_BOARD_PANELS_H

#include "model/board.h"
#include "ui/canvas.h"

/* What stands below the table of the board. */

/* The words of a group's verdict, its numbers and notes. */
void board_panel_verdict(const struct board *board, size_t selected,
			 struct canvas *canvas, struct rect r);

#define BOARD_SPREAD_LEAST 6
/* How high the box is in which each group has a line; 0: nothing to show. */
int board_panel_spread_height(const struct board *board);
/*
 * The score of each seed on one axis, a line a group: groups that are far
 * behind the best are named at the right, or they would squeeze the others.
 */
void board_panel_spread(const struct board *board, size_t selected,
			struct canvas *canvas, struct rect r);

#endif
