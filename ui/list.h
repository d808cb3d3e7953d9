/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/keymap.h"
#include "report/fmt.h"
#include "ui/canvas.h"

/*
 * Rows and columns with a selected row: the one list under all views and
 * overlays.  It has the order of the rows, by a column or by how well they
 * match a filter, scrolls, and knows what a key or a click means.
 *
 * Columns have fixed widths, so that nothing jumps when a number grows; where
 * there is no room for all, the ones with the highest `drop` go first, and
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
	bool name;	 /* one that is too long loses its middle */
	bool descending; /* sorted by it, the greatest comes first */
	bool same_goes;	 /* not shown where it is the same in all rows */
};

#define LIST_MAX_COLUMNS 24
#define LIST_CELL_BYTES	 256
#define LIST_FILTER_SIZE 256

struct list_cell {
	double number; /* absent: none, or unknown */
	unsigned int style;
	bool is_blank;		    /* no dash where there is no number */
	size_t spare;		    /* of a name, see canvas_line_elided() */
	char text[LIST_CELL_BYTES]; /* "": the number, as its column says */
};

/* What a list shows; static. */
struct list_ops {
	const struct list_column *columns;
	size_t n_columns;
	/* Fill the cell, which is empty; text is sanitised by the canvas. */
	void (*cell)(void *user, size_t row, size_t column, struct list_cell *cell);
	/* What tells a row from all others, not 0: the selection stays on it
	 * while rows come and go.  NULL: rows keep their numbers. */
	uint64_t (*id)(void *user, size_t row);
	/* The order where it is sorted by none, the least first; NULL: as
	 * they are. */
	double (*rank)(void *user, size_t row);
	/* Whether it is in the list at all; NULL: each row is. */
	bool (*has)(void *user, size_t row);
	/* The row that it stays below, however they are sorted: itself or one
	 * before it; NULL: none stays below another. */
	size_t (*parent)(void *user, size_t row);
	/* Columns (not the first) that `s` goes through; ends with 0.  NULL:
	 * all that are shown, from the left. */
	const unsigned char *sorts;
	/* The best match of a filter comes first; letters of the column
	 * `filtered` need not be next to each other for that. */
	bool best_first;
	size_t filtered;
	bool swatch; /* column 0 keeps its look where the row is selected */
};

/* Zeroed is an empty one. */
struct list {
	const struct list_ops *ops;
	void *user;
	size_t selected, top, n; /* in their order; n: those that are shown */
	size_t all;		 /* rows, with those that a filter hides */
	uint64_t id;		 /* of the selected row; 0: none, or not known */
	size_t *order;		 /* owned; the row at each place */
	size_t cap;
	size_t sort; /* a column + 1; 0: none */
	bool descending;
	char filter[LIST_FILTER_SIZE]; /* words; "": all rows are shown */
	int height;		       /* rows that fit, as drawn last */
	struct rect body;	       /* where the rows were drawn last */
	int widths[LIST_MAX_COLUMNS];  /* there; 0: is not shown */
};

/* Take so many rows; ops and user are borrowed. */
void list_fill(struct list *list, const struct list_ops *ops, void *user, size_t n_rows);
void list_release(struct list *list);
/* The selected row; SIZE_MAX: there is none. */
size_t list_row(const struct list *list);
/* Select a row, where it is shown. */
void list_select(struct list *list, size_t row);
/* Draw the head in the first line of rect and rows below it. */
void list_draw(struct list *list, struct canvas *canvas, struct rect rect);

/*
 * Move the selection, or sort anew and go to the top; false when the action
 * does neither.
 */
bool list_act(struct list *list, enum action action);
/* Select the row at a place of the screen; false when there is none. */
bool list_click(struct list *list, int x, int y);
/* Sort by the column whose title is there, or turn that round. */
bool list_click_header(struct list *list, int x, int y);
/* Whether rows are sorted or filtered, as somebody chose. */
bool list_is_ordered(const struct list *list);
/* What it is sorted by; NULL: its own order. */
const char *list_sorted_by(const struct list *list);
/*
 * Show the rows that have each of the words in a cell, in any case; the first
 * of them is selected.  "": all, and the selected one stays it.
 */
void list_filter(struct list *list, const char *words);

/* Append all rows that are shown, and all columns, as a table of Markdown or
 * as CSV with numbers in full. */
void list_export(const struct list *list, bool as_csv, struct buf *out);

/* Cell text by printf. */
void list_cellf(struct list_cell *cell, unsigned int style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * How well the letters of `typed` are found in `name`, in order and in any
 * case: 0 not at all; higher for beginnings of words and runs of letters.
 */
int list_score(const char *typed, const char *name);
