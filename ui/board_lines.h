/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_BOARD_LINES_H
#define HGYM_UI_BOARD_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/board.h"
#include "ui/table.h"

/*
 * The lines of the board's table: the groups as they are ranked, and below
 * the one that is unfolded its runs, a seed each.
 */
struct board_line {
	size_t group, row; /* indices of the board; row SIZE_MAX: the group */
};

/* All zero is an empty one, nothing unfolded. */
struct board_lines {
	const struct board *board; /* of the last fill; borrowed */
	struct board_line *at;	   /* owned */
	size_t n, cap;
	char *unfolded; /* owned; key of the group whose seeds are shown */
};

/* Take the groups of a board that was computed. */
void board_lines_fill(struct board_lines *lines, const struct board *board);
/* Is line i < n a group, not one of its runs? */
bool board_lines_is_group(const struct board_lines *lines, size_t i);
/* Unfold the group, or fold it again; only one is unfolded at a time. */
void board_lines_toggle(struct board_lines *lines, size_t group);
void board_lines_draw(struct board_lines *lines, struct table *table,
		      struct canvas *canvas, struct rect r);
/* Append all lines as a table of Markdown. */
void board_lines_export(struct board_lines *lines, struct buf *out);
void board_lines_release(struct board_lines *lines);

#endif
