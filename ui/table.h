/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_TABLE_H
#define HGYM_UI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/action.h"
#include "ui/canvas.h"

/*
 * Rows and columns with a selected row.  Columns have fixed widths, so that
 * nothing jumps when a number grows; where there is no room for all, the
 * ones with the highest `drop` go first, and what is over goes to the
 * columns that grow.  Where rows are out of sight, a bar at the right shows
 * which part is seen, and the head names it ("8-19/120") where it has room.
 */
struct table_column {
	const char *title; /* with its unit */
	int width;
	bool right; /* numbers */
	int drop;   /* 0: never dropped */
	bool grow;
};

#define TABLE_MAX_COLUMNS 24
#define TABLE_CELL_BYTES  256

struct table_cell {
	char text[TABLE_CELL_BYTES];
	unsigned int style;
};

struct table {
	size_t selected, top, rows;
	int height;	  /* rows that fit, as drawn last */
	struct rect body; /* where the rows were drawn last */
};

struct table_spec {
	const struct table_column *columns;
	size_t n_columns;
	/* Fill the cell; text is sanitised by the canvas. */
	void (*cell)(void *user, size_t row, size_t column,
		     struct table_cell *cell);
	void *user;
	size_t sorted; /* column with a mark in its title, SIZE_MAX: none */
	bool descending;
};

/* Draw the head in the first line of rect and rows below it. */
void table_draw(struct table *table, struct canvas *canvas, struct rect rect,
		const struct table_spec *spec);

/* Move the selection; true when the action was one that moves. */
bool table_act(struct table *table, enum action action);
/* Select the row at a place of the screen; false when there is none. */
bool table_click(struct table *table, int x, int y);
/* Keep `selected` inside of `rows`. */
void table_set_rows(struct table *table, size_t rows);

/* Cell text by printf. */
void table_cellf(struct table_cell *cell, unsigned int style, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));

#endif
