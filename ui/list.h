/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/keymap.h"
#include "report/fmt.h"
#include "ui/canvas.h"

/* A list of rows and columns with a selected row, used by all views and overlays. It orders rows by
 * a column or by how well they match a filter, scrolls, and handles keys and clicks.
 *
 * Columns have fixed widths, so that nothing moves when a number grows. If the columns do not fit,
 * those with the highest `drop` are hidden; spare room goes to columns that may grow. If the rows
 * do not fit, a scroll bar and, with room, the header ("8-19/120") show which part is visible. */
struct list_column {
	const char *title; /* with its unit */
	int width;
	int drop;	    /* order in which columns are hidden, highest first; 0: never */
	enum fmt_kind kind; /* format of its numbers, which are aligned to the right */
	int decimals;
	bool grow;
	bool fit;			     /* as wide as its widest cell, at least `width` */
	bool name;			     /* long texts are shortened with list_cut_name() */
	void (*cut)(char text[], int width); /* shortens a text that is too wide; or NULL */
	bool descending;		     /* sorting by this column shows the greatest first */
	bool same_goes;			     /* hidden if all rows have the same text */
};

/* Make a struct list_column of a row X(id, members..) of an X-macro list. */
#define LIST_COLUMN(id, ...) { __VA_ARGS__ },

#define LIST_MAX_COLUMNS 24
#define LIST_CELL_BYTES	 256
#define LIST_FILTER_SIZE 256
#define LIST_WORDS	 1024

struct list_cell {
	double number; /* absent: the cell has no number */
	unsigned int style;
	bool is_blank; /* show nothing instead of a dash for an absent number */
	/* Another word that filters match, or NULL; static. In the column `filtered`, "" means that
	 * only whole words match and not their letters. */
	const char *also;
	char text[LIST_CELL_BYTES]; /* "": show the number in the format of the column */
};

/* Describes and fills a list; static. */
struct list_ops {
	const struct list_column *columns;
	size_t n_columns;
	/* Fill the empty cell. Its text may be unsanitized: the canvas sanitizes it. */
	void (*cell)(void *user, size_t row, size_t column, struct list_cell *cell);
	/* Returns the identity of a row, not 0; the selection follows it when rows are added or
	 * removed. NULL: rows are identified by their number. */
	uint64_t (*id)(void *user, size_t row);
	/* Returns the sort key of the default order, smallest first. NULL: order by row number. */
	double (*rank)(void *user, size_t row);
	/* Does the list contain the row? NULL: it contains all rows. */
	bool (*has)(void *user, size_t row);
	/* Returns the row that this row must follow in any order: an earlier row, or the row itself
	 * if there is none. NULL: rows have no parents. */
	size_t (*parent)(void *user, size_t row);
	/* Columns that the key `s` sorts by, ended by 0. NULL: all visible columns. */
	const unsigned char *sorts;
	/* With a filter, best match first. In the column `filtered`, words may have gaps. */
	bool best_first;
	size_t filtered;
	bool swatch; /* column 0 keeps its style (a color of the chart) in the selected row */
};

/* A zeroed list is empty. */
struct list {
	const struct list_ops *ops;
	void *user;
	size_t selected, top, n; /* positions in the order; n: number of rows that match */
	size_t all;		 /* number of rows, including those that the filter hides */
	uint64_t id;		 /* identity of the selected row; 0: none or unknown */
	size_t *order;		 /* owned; row at each position */
	size_t cap;
	size_t sort; /* column + 1; 0: default order */
	bool descending;
	char filter[LIST_FILTER_SIZE]; /* words; "": no filter */
	int height;		       /* number of rows that fit, as drawn last */
	struct rect body;	       /* area of the rows, as drawn last */
	int widths[LIST_MAX_COLUMNS];  /* as drawn last; 0: hidden */
	/* The owner sets it before list_fill, to another value whenever rows or cells changed.
	 * While it stays the same, nothing is computed again. 0: always compute. */
	uint64_t version;
	uint64_t filled, measured;  /* hashes of the inputs of the order and of `uses` */
	int uses[LIST_MAX_COLUMNS]; /* width of the widest text of each column; 0: no text */
	uint16_t words[LIST_WORDS]; /* number of names that have a word with this hash */
};

/* Set the rows 0..n_rows - 1; ops and user are borrowed. */
void list_fill(struct list *list, const struct list_ops *ops, void *user, size_t n_rows);
void list_release(struct list *list);
/* Return the selected row; SIZE_MAX if there is none. */
size_t list_row(const struct list *list);
/* Select a row, unless the filter hides it. */
void list_select(struct list *list, size_t row);
/* Draw the header in the first line of rect and rows below it. */
void list_draw(struct list *list, struct canvas *canvas, struct rect rect);

/* Run an action that moves the selection, or orders and selects the first row; false for others. */
bool list_act(struct list *list, enum action action);
/* Select the row at a position of the screen; false if no row is there. */
bool list_click(struct list *list, int x, int y);
/* Sort by the column whose title is at this position, or reverse its order; false if none is. */
bool list_click_header(struct list *list, int x, int y);
/* Sort by a column, or reverse its order if it is the current one. n_columns: the default order. */
void list_sort_by(struct list *list, size_t column);
/* Copy the text of a cell of the selected row; "" if no row is selected. */
void list_cell_text(const struct list *list, size_t column, char text[LIST_CELL_BYTES]);
/* Has the user sorted or filtered the rows? */
bool list_is_ordered(const struct list *list);
/* Return the title of the column that the rows are sorted by; NULL in the default order. */
const char *list_sorted_by(const struct list *list);
/* Show only rows where each word is in a cell, ignoring case, and select the first. "" shows all
 * rows and keeps the selection. "state:crash" searches only columns whose title contains "state";
 * "seed=42" does the same, but the whole cell must be equal. */
void list_filter(struct list *list, const char *words);

/* Append the rows that match the filter, with all columns, as Markdown or as CSV (full numbers). */
void list_export(const struct list *list, bool as_csv, struct buf *out);

/* Set style and text of a cell; without printf, since a filter reads every cell. */
void list_cell_set(struct list_cell *cell, unsigned int style, const char *text);
void list_cellf(struct list_cell *cell, unsigned int style, const char *fmt, ...) LIKE_PRINTF(3, 4);

/* Shorten a name to `width` columns. The words that most names of the list have are removed first:
 * "SP8192_QK5_LegalTTT_PClip12" becomes "QK5_LegalTTT…". */
void list_cut_name(const struct list *list, char name[LIST_CELL_BYTES], int width);

/* Rate how well `name` contains the letters of `typed` in this order, ignoring case: 0 if it does
 * not, and more for letters at the start of a word or next to each other. */
int list_score(const char *typed, const char *name);
