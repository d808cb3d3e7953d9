/* SPDX-License-Identifier: MIT */
#ifndef HGYM_UI_LIST_H
#define HGYM_UI_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/fmt.h"
#include "ui/canvas.h"
#include "ui/keymap.h"

/*
 * Rows and columns with a selected row: the one list under all views and
 * overlays.  It has the order of the rows, by a column or by how well they
 * match a filter, scrolls, and knows what a key or a click means.
 *
 * Columns have fixed widths, so that nothing jumps when a number grows; where
 * there is no room for all, the ones with the highest `drop` go first; one
 * without a width is never shown; and
 * what is over goes to the columns that grow.  Where rows are out of sight, a
 * bar at the right shows which part is seen, and the head names it
 * ("8-19/120") where it has room.
 */
struct list_column {
	const char *title; /* with its unit */
	int width;
	int drop;	    /* 0: never dropped */
	enum fmt_kind kind; /* of its numbers, which stand at the right */
	int decimals;
	bool grow;
	bool descending; /* sorted by it, the greatest comes first */
};

#define LIST_MAX_COLUMNS 24
#define LIST_CELL_BYTES	 256

struct list_cell {
	double number; /* absent: none, or unknown */
	unsigned int style;
	bool is_blank;		    /* no dash where there is no number */
	char text[LIST_CELL_BYTES]; /* "": the number, as its column says */
};

/* What a list shows; static. */
struct list_ops {
	const struct list_column *columns;
	size_t n_columns;
	/* Fill the cell, which is empty; text is sanitised by the canvas. */
	void (*cell)(void *user, size_t row, size_t column,
		     struct list_cell *cell);
	/* What tells a row from all others, not 0: the selection stays on it
	 * while rows come and go.  NULL: rows keep their numbers. */
	uint64_t (*id)(void *user, size_t row);
	/* The order where it is sorted by none, the least first; NULL: as
	 * they are. */
	double (*rank)(void *user, size_t row);
	/* Columns (not the first) to sort by, in that order; ends with 0. */
	const unsigned char *sorts;
	/* The column that a filter's letters are found in; text of others must
	 * hold it as it is. */
	size_t filtered;
};

/* Zeroed is an empty one. */
struct list {
	const struct list_ops *ops;
	void *user;
	size_t selected, top, n; /* in their order; n: those that are shown */
	uint64_t id;   /* of the selected row; 0: none, or not known */
	size_t *order; /* owned; the row at each place */
	size_t cap;
	size_t sort; /* a column; 0: none */
	bool descending;
	const char *filter; /* borrowed; NULL or "": all rows are shown */
	int height;	    /* rows that fit, as drawn last */
	struct rect body;   /* where the rows were drawn last */
};

/* Take so many rows; ops and user are borrowed. */
void list_fill(struct list *list, const struct list_ops *ops, void *user,
	       size_t n_rows);
void list_release(struct list *list);
/* The selected row; SIZE_MAX: there is none. */
size_t list_row(const struct list *list);
/* Select a row, where it is shown. */
void list_select(struct list *list, size_t row);
/* Draw the head in the first line of rect and rows below it. */
void list_draw(struct list *list, struct canvas *canvas, struct rect rect);

/* Move the selection or sort anew; false when the action does neither. */
bool list_act(struct list *list, enum action action);
/* Select the row at a place of the screen; false when there is none. */
bool list_click(struct list *list, int x, int y);

/*
 * Leave out the columns of numbers that no row has one of: copy the columns
 * of ops to `shown`, with no width for these.  Before list_fill, for ops that
 * have `shown` as their columns.
 */
void list_hide_empty(const struct list_ops *ops, void *user, size_t n_rows,
		     struct list_column *shown);

/* Append all that is shown as a table of Markdown. */
void list_export_md(const struct list *list, struct buf *out);

/* Cell text by printf. */
void list_cellf(struct list_cell *cell, unsigned int style, const char *fmt,
		...) __attribute__((format(printf, 3, 4)));

/*
 * How well the letters of `typed` are found in `name`, in order and in any
 * case: 0 not at all; higher for beginnings of words and runs of letters.
 */
int list_score(const char *typed, const char *name);

#endif
