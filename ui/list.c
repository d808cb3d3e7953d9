/* SPDX-License-Identifier: MIT */
/* The list under every view and overlay: order, filter, keys, drawing. */
#include "config.h"

#include "ui/list.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "ui/theme.h"

#define NAMED_SCORE 1000 /* more than a row that matches elsewhere has */

/* What a row is sorted by. */
struct list_key {
	size_t row;
	double number;
	char *text; /* owned; where there is no number */
};

void
list_cellf(struct list_cell *cell, unsigned int style, const char *fmt, ...)
{
	va_list ap;

	cell->style = style;
	va_start(ap, fmt);
	(void)vsnprintf(cell->text, sizeof(cell->text), fmt, ap);
	va_end(ap);
}

static void
list_cell(const struct list *list, size_t row, size_t column,
	  struct list_cell *cell)
{
	cell->number = (double)NAN;
	cell->is_blank = false;
	cell->style = STYLE_NORMAL;
	cell->text[0] = '\0';
	list->ops->cell(list->user, row, column, cell);
}

/* The same as it is shown, its number written by its column. */
static void
list_cell_text(const struct list *list, size_t row, size_t i,
	       struct list_cell *cell)
{
	const struct list_column *column = &list->ops->columns[i];

	list_cell(list, row, i, cell);
	if (cell->text[0] == '\0' && column->kind != FMT_TEXT &&
	    !cell->is_blank)
		(void)fmt_value(column->kind, cell->number, column->decimals,
				cell->text);
	if (column->kind == FMT_SIGNED && cell->style == STYLE_NORMAL)
		cell->style = theme_delta(cell->number);
}

int
list_score(const char *typed, const char *name)
{
	int score = 1, run = 0;
	const char *at = name;

	for (; *typed != '\0'; typed++) {
		if (*typed == ' ')
			continue;
		while (*at != '\0' && tolower((unsigned char)*at) !=
					      tolower((unsigned char)*typed)) {
			at++;
			run = 0;
		}
		if (*at == '\0')
			return 0;
		run++;
		score += run * 4;
		if (at == name || !isalnum((unsigned char)at[-1]))
			score += 8;
		at++;
	}
	return score * 16 - (int)(strlen(name) > 400 ? 400 : strlen(name)) / 4;
}

static bool
list_is_filtered(const struct list *list)
{
	return list->filter != NULL && list->filter[0] != '\0';
}

/* How well a row matches the filter; 0: not at all. */
static int
list_match(const struct list *list, size_t row)
{
	struct list_cell cell;
	int score = 0, here;

	for (size_t i = 0; i < list->ops->n_columns; i++) {
		list_cell(list, row, i, &cell);
		here = i != list->ops->filtered
			       ? strcasestr(cell.text, list->filter) != NULL
			       : list_score(list->filter, cell.text);
		if (here > 0 && i == list->ops->filtered)
			here += NAMED_SCORE;
		score = int_max(score, here);
	}
	return score;
}

/* What the row is sorted by; false: the filter hides it. */
static bool
list_key_of(const struct list *list, size_t row, struct list_key *key)
{
	struct list_cell cell;

	*key = (struct list_key){ row, (double)row, NULL };
	if (list_is_filtered(list)) {
		key->number = -list_match(list, row);
		return key->number < 0;
	}
	if (list->sort == 0 && list->ops->rank != NULL) {
		key->number = list->ops->rank(list->user, row);
	} else if (list->sort > 0) {
		list_cell(list, row, list->sort, &cell);
		key->number = cell.number;
		if (list->ops->columns[list->sort].kind == FMT_TEXT &&
		    isnan(cell.number))
			key->text = xstrdup(cell.text);
	}
	return true;
}

/* Absent values come last, whichever way the order is; equal ones stay. */
static int
list_compare(const void *a, const void *b, void *user)
{
	const struct list_key *x = a, *y = b;
	const struct list *list = user;
	int order = isnan(x->number) - isnan(y->number);

	if (x->text != NULL && y->text != NULL)
		order = strcmp(x->text, y->text);
	else if (order == 0)
		order = (x->number > y->number) - (x->number < y->number);
	else
		return order;
	if (order == 0)
		return (x->row > y->row) - (x->row < y->row);
	return list->descending && !list_is_filtered(list) ? -order : order;
}

static void
list_put_in_order(struct list *list, size_t n_rows)
{
	struct list_key *keys = xcalloc(n_rows + 1, sizeof(*keys));

	for (size_t i = 0; i < n_rows; i++)
		list->n += list_key_of(list, i, &keys[list->n]);
	if (list->n > 0)
		qsort_r(keys, list->n, sizeof(*keys), list_compare, list);
	for (size_t i = 0; i < list->n; i++) {
		list->order[i] = keys[i].row;
		free(keys[i].text);
	}
	free(keys);
}

size_t
list_row(const struct list *list)
{
	return list->selected < list->n ? list->order[list->selected]
					: SIZE_MAX;
}

static void
list_select_place(struct list *list, size_t place)
{
	size_t row;

	list->selected = place;
	row = list_row(list);
	if (list->ops != NULL && list->ops->id != NULL)
		list->id = row != SIZE_MAX ? list->ops->id(list->user, row) : 0;
}

void
list_select(struct list *list, size_t row)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->order[i] == row)
			list_select_place(list, i);
}

void
list_fill(struct list *list, const struct list_ops *ops, void *user,
	  size_t n_rows)
{
	size_t row = list_row(list);

	for (size_t i = 0; list->id != 0 && i < n_rows; i++)
		if (ops->id(user, i) == list->id)
			row = i;
	list->ops = ops;
	list->user = user;
	if (list->cap < n_rows) {
		list->cap = n_rows + 16;
		list->order = xreallocarray(list->order, list->cap,
					    sizeof(*list->order));
	}
	list->n = 0;
	if (list->sort > 0 || list->descending || ops->rank != NULL ||
	    list_is_filtered(list)) {
		list_put_in_order(list, n_rows);
	} else {
		for (; list->n < n_rows; list->n++)
			list->order[list->n] = list->n;
	}
	list_select(list, row);
	if (list->selected >= list->n)
		list_select_place(list, list->n > 0 ? list->n - 1 : 0);
}

void
list_release(struct list *list)
{
	free(list->order);
	memset(list, 0, sizeof(*list));
}

/* The columns that are shown, and how wide they are (0: not at all). */
struct list_widths {
	const struct list_ops *ops;
	int of[LIST_MAX_COLUMNS];
};

/* Columns of the screen that are taken, one blank between. */
static int
list_width(const struct list_widths *widths)
{
	int sum = 0;

	for (size_t i = 0; i < widths->ops->n_columns; i++)
		if (widths->of[i] > 0)
			sum += widths->of[i] + 1;
	return sum > 0 ? sum - 1 : 0;
}

/* Drop the column that goes first; false: none may go. */
static bool
list_drop(struct list_widths *widths)
{
	const struct list_column *columns = widths->ops->columns;
	size_t worst = SIZE_MAX;

	for (size_t i = 0; i < widths->ops->n_columns; i++)
		if (widths->of[i] > 0 && columns[i].drop > 0 &&
		    (worst == SIZE_MAX ||
		     columns[i].drop > columns[worst].drop))
			worst = i;
	if (worst != SIZE_MAX)
		widths->of[worst] = 0;
	return worst != SIZE_MAX;
}

static void
list_fit(struct list_widths *widths, int room)
{
	const struct list_column *columns = widths->ops->columns;
	int growing = 0, extra;

	for (size_t i = 0; i < widths->ops->n_columns; i++)
		widths->of[i] = columns[i].width;
	while (list_width(widths) > room && list_drop(widths))
		;
	extra = room - list_width(widths);
	for (size_t i = 0; i < widths->ops->n_columns; i++)
		growing += columns[i].grow && widths->of[i] > 0;
	for (size_t i = 0; i < widths->ops->n_columns && extra > 0; i++) {
		if (!columns[i].grow || widths->of[i] == 0)
			continue;
		/* Each gets its share, and no more than it can use well. */
		int share = int_min(extra / growing--, columns[i].width * 2);

		widths->of[i] += share;
		extra -= share;
	}
}

static void
list_draw_head(const struct list *list, struct canvas *canvas, struct rect r,
	       const struct list_widths *widths)
{
	for (size_t i = 0; i < list->ops->n_columns; i++) {
		const struct list_column *column = &list->ops->columns[i];
		char title[LIST_CELL_BYTES];

		if (widths->of[i] == 0)
			continue;
		r.w = widths->of[i];
		(void)snprintf(title, sizeof(title), "%s%s", column->title,
			       i == 0 || i != list->sort ? ""
			       : list->descending	 ? "▼"
							 : "▲");
		(column->kind == FMT_TEXT ? canvas_line : canvas_right)(
			canvas, r, STYLE_HEAD, str_from(title));
		r.x += r.w + 1;
	}
}

static void
list_draw_row(const struct list *list, struct canvas *canvas, struct rect r,
	      const struct list_widths *widths, size_t row)
{
	for (size_t i = 0; i < list->ops->n_columns; i++) {
		const struct list_column *column = &list->ops->columns[i];
		struct list_cell cell;

		if (widths->of[i] == 0)
			continue;
		list_cell_text(list, row, i, &cell);
		r.w = widths->of[i];
		(column->kind == FMT_TEXT ? canvas_line : canvas_right)(
			canvas, r, cell.style, str_from(cell.text));
		r.x += r.w + 1;
	}
}

/* Scroll as little as shows the selected row. */
static void
list_scroll(struct list *list)
{
	size_t height = list->height > 0 ? (size_t)list->height : 1;

	if (list->selected < list->top)
		list->top = list->selected;
	if (list->selected >= list->top + height)
		list->top = list->selected - height + 1;
	if (list->n <= height)
		list->top = 0;
	else if (list->top > list->n - height)
		list->top = list->n - height;
}

/*
 * Beside rows of which some are out of sight: a bar whose thick part is what
 * is seen, and its rows by number where the head has a blank place for them.
 */
static void
list_draw_place(const struct list *list, struct canvas *canvas, struct rect r)
{
	size_t height = (size_t)list->height, hidden = list->n - height;
	int thumb = int_max((int)(height * height / list->n), 1), at, n, from;
	char text[64];

	/* At an end only when nothing is left there. */
	at = (int)((size_t)(list->height - thumb) * list->top / hidden);
	if (at == 0 && list->top > 0 && thumb < list->height)
		at = 1;
	for (int i = 0; i < list->height; i++)
		canvas_put(canvas, r.x + r.w - 1, r.y + 1 + i, STYLE_DIM,
			   i >= at && i < at + thumb ? 0x2588 : 0x2502);
	n = snprintf(text, sizeof(text), "%zu-%zu/%zu", list->top + 1,
		     list->top + height, list->n);
	from = r.x + r.w - n;
	for (int x = from - 1; x < r.x + r.w; x++)
		if (x < canvas->clip.x || canvas_at(canvas, x, r.y)->cp > ' ')
			return;
	(void)canvas_text(canvas, from, r.y, STYLE_DIM, text);
}

void
list_draw(struct list *list, struct canvas *canvas, struct rect rect)
{
	struct rect before = canvas_clip(canvas, rect), whole = rect, line;
	struct list_widths widths = { .ops = list->ops };
	bool is_long;

	list->height = rect.h - 1;
	is_long = list->height > 0 && list->n > (size_t)list->height;
	rect.w -= is_long;
	list_fit(&widths, rect.w);
	list_draw_head(list, canvas, rect_take_top(&rect, 1), &widths);
	list->body = rect;
	list_scroll(list);
	for (size_t i = list->top; i < list->n; i++) {
		line = rect_take_top(&rect, 1);
		if (line.h == 0)
			break;
		list_draw_row(list, canvas, line, &widths, list->order[i]);
		if (i == list->selected)
			canvas_fill(canvas, line, STYLE_STRONG | STYLE_REVERSE,
				    0);
	}
	if (is_long)
		list_draw_place(list, canvas, whole);
	canvas_unclip(canvas, before);
}

/* The next column that it can be sorted by, round and round. */
static void
list_sort_next(struct list *list)
{
	const unsigned char *sorts = list->ops->sorts;
	size_t i = 0;

	if (list->sort > 0)
		while (sorts[i++] != list->sort)
			;
	/* By none of those that are not there. */
	while (sorts[i] > 0 && list->ops->columns[sorts[i]].width == 0)
		i++;
	list->sort = sorts[i];
	list->descending = list->ops->columns[sorts[i]].descending;
}

bool
list_act(struct list *list, enum action action)
{
	size_t page = list->height > 2 ? (size_t)list->height / 2 : 1;
	size_t last = list->n > 0 ? list->n - 1 : 0, at = list->selected;
	bool has_order = list->ops != NULL && list->ops->sorts != NULL;

	if (action == ACTION_UP)
		at = at > 0 ? at - 1 : 0;
	else if (action == ACTION_DOWN)
		at = at + 1;
	else if (action == ACTION_PAGE_UP)
		at = at > page ? at - page : 0;
	else if (action == ACTION_PAGE_DOWN)
		at = at + page;
	else if (action == ACTION_TOP)
		at = 0;
	else if (action == ACTION_BOTTOM)
		at = last;
	else if (has_order &&
		 (action == ACTION_SORT || action == ACTION_SORT_PODS))
		list_sort_next(list);
	else if (has_order && action == ACTION_SORT_REVERSE)
		list->descending = !list->descending;
	else
		return false;
	list_select_place(list, at < last ? at : last);
	return true;
}

bool
list_click(struct list *list, int x, int y)
{
	size_t place = list->top + (size_t)(y - list->body.y);

	if (!rect_has(&list->body, x, y) || place >= list->n)
		return false;
	list_select_place(list, place);
	return true;
}

/* Whether any row has something in the column. */
static bool
list_column_is_used(const struct list *list, size_t column, size_t n_rows)
{
	struct list_cell cell;

	for (size_t i = 0; i < n_rows; i++) {
		list_cell(list, i, column, &cell);
		if (!isnan(cell.number) || (cell.text[0] != '\0' &&
					    strcmp(cell.text, FMT_ABSENT) != 0))
			return true;
	}
	return false;
}

void
list_hide_empty(const struct list_ops *ops, void *user, size_t n_rows,
		struct list_column *shown)
{
	const struct list list = { .ops = ops, .user = user };

	memcpy(shown, ops->columns, ops->n_columns * sizeof(*shown));
	for (size_t i = 0; n_rows > 0 && i < ops->n_columns; i++)
		if (shown[i].kind != FMT_TEXT &&
		    !list_column_is_used(&list, i, n_rows))
			shown[i].width = 0;
}

void
list_export_md(const struct list *list, struct buf *out)
{
	const struct list_ops *ops = list->ops;
	struct list_cell cell;

	for (size_t c = 0; c < ops->n_columns; c++)
		if (ops->columns[c].width > 0)
			buf_appendf(out, "| %s ", ops->columns[c].title);
	buf_append_str(out, "|\n");
	for (size_t c = 0; c < ops->n_columns; c++)
		buf_append_str(out, ops->columns[c].width > 0 ? "| --- " : "");
	buf_append_str(out, "|\n");
	for (size_t i = 0; i < list->n; i++) {
		for (size_t c = 0; c < ops->n_columns; c++) {
			if (ops->columns[c].width == 0)
				continue;
			list_cell_text(list, list->order[i], c, &cell);
			buf_append_str(out, "| ");
			for (const char *p = cell.text; *p != '\0'; p++)
				buf_appendf(out, *p == '|' ? "\\%c" : "%c", *p);
			buf_append_char(out, ' ');
		}
		buf_append_str(out, "|\n");
	}
}
