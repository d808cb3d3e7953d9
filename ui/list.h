/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/keymap.h"
#include "report/fmt.h"
#include "ui/canvas.h"

/* A list of rows and columns with a selected row, used by all views and overlays.  It orders rows
 * by a column or by how well they match a filter, scrolls, and handles keys and clicks.
 *
 * Columns have fixed widths, so that nothing jumps when a number grows. If they do not fit, those
 * with the highest `drop` are hidden; spare room goes to columns that may grow. If rows do not fit,
 * a scroll bar shows the visible part, and the header names it ("8-19/120") if it has room. */
struct list_column {
	const char *title; /* with its unit */
	int width;
	int drop;	    /* order in which columns are hidden, highest first; 0: never */
	enum fmt_kind kind; /* of its numbers, which are aligned to the right */
	int decimals;
	bool grow;
	bool fit;	 /* as wide as its widest cell, at least `width` */
	bool name;	 /* a text that is too long loses the words that most rows have */
	bool descending; /* when sorted by it, the greatest comes first */
	bool same_goes;	 /* hidden if all rows have the same text */
};

/* A row of a table of columns, from a list of X(id, members) with LIST_ID for the enum. */
#define LIST_COLUMN(id, ...) { __VA_ARGS__ },

#define LIST_MAX_COLUMNS 24
#define LIST_CELL_BYTES	 256
#define LIST_FILTER_SIZE 256
#define LIST_WORDS	 1024

struct list_cell {
	double number; /* absent: none, or unknown */
	unsigned int style;
	bool is_blank; /* show nothing instead of a dash for an absent number */
	/* Static; a word that filters match too, or NULL; in the column `filtered`, "" matches
	 * whole words instead of their letters. */
	const char *also;
	char text[LIST_CELL_BYTES]; /* "": the number, formatted as its column */
};

/* Content of a list; static. */
struct list_ops {
	const struct list_column *columns;
	size_t n_columns;
	/* Fill the empty cell; the canvas sanitizes its text. */
	void (*cell)(void *user, size_t row, size_t column, struct list_cell *cell);
	/* Identity of a row, not 0: the selection follows it when rows come and go.  NULL: the
	 * row's number. */
	uint64_t (*id)(void *user, size_t row);
	/* Default order, smallest first; NULL: by row. */
	double (*rank)(void *user, size_t row);
	/* Does the list contain the row?  NULL: all rows. */
	bool (*has)(void *user, size_t row);
	/* The row that this one stays below in any order: an earlier one, or the row itself for
	 * none.  NULL: no row has one. */
	size_t (*parent)(void *user, size_t row);
	/* Columns (not the first) that `s` sorts by, ended by 0; NULL: all visible ones. */
	const unsigned char *sorts;
	/* With a filter, put the best match first; in the column `filtered` the letters of a word
	 * may have others between them. */
	bool best_first;
	size_t filtered;
	bool swatch; /* column 0 keeps its style in the selected row */
};

/* A zeroed list is empty. */
struct list {
	const struct list_ops *ops;
	void *user;
	size_t selected, top, n; /* positions in the order; n: visible rows */
	size_t all;		 /* rows including those that the filter hides */
	uint64_t id;		 /* of the selected row; 0: none or unknown */
	size_t *order;		 /* owned; row at each position */
	size_t cap;
	size_t sort; /* column + 1; 0: default order */
	bool descending;
	char filter[LIST_FILTER_SIZE]; /* words; "": no filter */
	int height;		       /* rows that fit, as drawn last */
	struct rect body;	       /* area of the rows, as drawn last */
	int widths[LIST_MAX_COLUMNS];  /* as drawn last; 0: hidden */
	/* Set by the owner before list_fill: as long as it is the same, so are rows and cells, and
	 * nothing is computed again. 0: unknown. */
	uint64_t version;
	uint64_t filled, measured;  /* hash of what the order and `uses` were computed from */
	int uses[LIST_MAX_COLUMNS]; /* columns that the texts can use; 0: no text */
	uint16_t words[LIST_WORDS]; /* how often words with this hash are in names */
};

/* Show n_rows rows; ops and user are borrowed. */
void list_fill(struct list *list, const struct list_ops *ops, void *user, size_t n_rows);
void list_release(struct list *list);
/* The selected row; SIZE_MAX if there is none. */
size_t list_row(const struct list *list);
/* Select a row if it is visible. */
void list_select(struct list *list, size_t row);
/* Draw the header in the first line of rect and rows below it. */
void list_draw(struct list *list, struct canvas *canvas, struct rect rect);

/* Move the selection, or change the order and go to the top; false for other actions. */
bool list_act(struct list *list, enum action action);
/* Select the row at a position of the screen; false if there is none. */
bool list_click(struct list *list, int x, int y);
/* Sort by the column whose title is there, or reverse its order. */
bool list_click_header(struct list *list, int x, int y);
/* Sort by a column, or reverse its order if the rows are sorted by it; n_columns: default order. */
void list_sort_by(struct list *list, size_t column);
/* Text of a cell of the selected row; "" without one. */
void list_cell_text(const struct list *list, size_t column, char text[LIST_CELL_BYTES]);
/* Has the user sorted or filtered the rows? */
bool list_is_ordered(const struct list *list);
/* Title of the column that it is sorted by; NULL: default order. */
const char *list_sorted_by(const struct list *list);
/* Show only rows that contain each of the words in a cell, ignoring case, and select the first;
 * "" shows all rows and keeps the selection.  "seed=42" and "state:crash" look only at the columns
 * whose title contains the name: for this text, and for a part of it. */
void list_filter(struct list *list, const char *words);

/* Append the visible rows with all columns: as a Markdown table, or as CSV with full numbers. */
void list_export(const struct list *list, bool as_csv, struct buf *out);

/* Set style and text of a cell. */
void list_cellf(struct list_cell *cell, unsigned int style, const char *fmt, ...) LIKE_PRINTF(3, 4);

/* Shorten a name to `width` columns: remove the words that most names of the list have, as long as
 * rarer ones are left: "SP8192_QK5_LegalTTT_PClip12" becomes "QK5_LegalTTT…". */
void list_cut_name(const struct list *list, char name[LIST_CELL_BYTES], int width);

/* How well the letters of `typed` match `name`, in order and ignoring case: 0: not at all; more
 * for starts of words and for letters next to each other. */
int list_score(const char *typed, const char *name);
