/* SPDX-License-Identifier: MIT */
/* Rows and columns with a selection, for every view that lists something. */
#include "config.h"

#include "ui/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "ui/theme.h"

void
table_cellf(struct table_cell *cell, unsigned int style, const char *fmt, ...)
{
	va_list ap;

	cell->style = style;
	va_start(ap, fmt);
	(void)vsnprintf(cell->text, sizeof(cell->text), fmt, ap);
	va_end(ap);
}

void
table_set_rows(struct table *table, size_t rows)
{
	table->rows = rows;
	if (table->selected >= rows)
		table->selected = rows > 0 ? rows - 1 : 0;
}

/* Columns taken by those that are shown, one blank between. */
static int
shown_width(const struct table_spec *spec, const int *widths)
{
	int sum = 0;

	for (size_t i = 0; i < spec->n_columns; i++)
		if (widths[i] > 0)
			sum += widths[i] + 1;
	return sum > 0 ? sum - 1 : 0;
}

/* The shown column that is dropped first, or SIZE_MAX. */
static size_t
next_dropped(const struct table_spec *spec, const int *widths)
{
	size_t worst = SIZE_MAX;

	for (size_t i = 0; i < spec->n_columns; i++) {
		if (widths[i] == 0 || spec->columns[i].drop == 0)
			continue;
		if (worst == SIZE_MAX ||
		    spec->columns[i].drop > spec->columns[worst].drop)
			worst = i;
	}
	return worst;
}

static void
fit_columns(const struct table_spec *spec, int room, int *widths)
{
	int growing = 0, extra;
	size_t drop;

	for (size_t i = 0; i < spec->n_columns; i++)
		widths[i] = spec->columns[i].width;
	while (shown_width(spec, widths) > room &&
	       (drop = next_dropped(spec, widths)) != SIZE_MAX)
		widths[drop] = 0;
	extra = room - shown_width(spec, widths);
	for (size_t i = 0; i < spec->n_columns; i++)
		growing += spec->columns[i].grow && widths[i] > 0;
	for (size_t i = 0; i < spec->n_columns && extra > 0 && growing > 0;
	     i++) {
		if (!spec->columns[i].grow || widths[i] == 0)
			continue;
		/* Each gets its share, and no more than it can use well. */
		int share = extra / growing;

		if (share > spec->columns[i].width * 2)
			share = spec->columns[i].width * 2;
		widths[i] += share;
		extra -= share;
		growing--;
	}
}

static void
draw_cell(struct canvas *canvas, struct rect rect, bool right,
	  const struct table_cell *cell)
{
	if (right)
		canvas_right(canvas, rect, cell->style, str_from(cell->text));
	else
		canvas_line(canvas, rect, cell->style, str_from(cell->text));
}

static void
draw_head(struct canvas *canvas, struct rect rect,
	  const struct table_spec *spec, const int *widths)
{
	struct table_cell cell;

	for (size_t i = 0; i < spec->n_columns; i++) {
		const struct table_column *column = &spec->columns[i];

		if (widths[i] == 0)
			continue;
		rect.w = widths[i];
		table_cellf(&cell, STYLE_HEAD, "%s%s", column->title,
			    i != spec->sorted  ? ""
			    : spec->descending ? "▼"
					       : "▲");
		draw_cell(canvas, rect, column->right, &cell);
		rect.x += widths[i] + 1;
	}
}

static void
draw_row(struct canvas *canvas, struct rect rect, const struct table_spec *spec,
	 const int *widths, size_t row)
{
	for (size_t i = 0; i < spec->n_columns; i++) {
		struct table_cell cell = { "", STYLE_NORMAL };

		if (widths[i] == 0)
			continue;
		rect.w = widths[i];
		spec->cell(spec->user, row, i, &cell);
		draw_cell(canvas, rect, spec->columns[i].right, &cell);
		rect.x += widths[i] + 1;
	}
}

/* Scroll as little as shows the selected row. */
static void
scroll_to_selected(struct table *table)
{
	size_t height = table->height > 0 ? (size_t)table->height : 1;

	if (table->selected < table->top)
		table->top = table->selected;
	if (table->selected >= table->top + height)
		table->top = table->selected - height + 1;
	if (table->rows <= height)
		table->top = 0;
	else if (table->top > table->rows - height)
		table->top = table->rows - height;
}

/*
 * Beside rows of which some are out of sight: a bar whose thick part is what
 * is seen, and its rows by number where the head has a blank place for them.
 */
static void
draw_place(const struct table *table, struct canvas *canvas, struct rect r)
{
	size_t height = (size_t)table->height, hidden = table->rows - height;
	int thumb = (int)(height * height / table->rows), at, n, from;
	char text[64];

	thumb = thumb > 0 ? thumb : 1;
	/* At an end only when nothing is left there. */
	at = (int)((size_t)(table->height - thumb) * table->top / hidden);
	if (at == 0 && table->top > 0 && thumb < table->height)
		at = 1;
	for (int i = 0; i < table->height; i++)
		canvas_put(canvas, r.x + r.w - 1, r.y + 1 + i, STYLE_DIM,
			   i >= at && i < at + thumb ? 0x2588 : 0x2502);
	n = snprintf(text, sizeof(text), "%zu-%zu/%zu", table->top + 1,
		     table->top + height, table->rows);
	from = r.x + r.w - n;
	for (int x = from - 1; x < r.x + r.w; x++)
		if (x < canvas->clip.x || canvas_at(canvas, x, r.y)->cp > ' ')
			return;
	(void)canvas_text(canvas, from, r.y, STYLE_DIM, text);
}

void
table_draw(struct table *table, struct canvas *canvas, struct rect rect,
	   const struct table_spec *spec)
{
	struct rect before = canvas_clip(canvas, rect), whole = rect;
	int widths[TABLE_MAX_COLUMNS] = { 0 };
	bool is_long;

	table->height = rect.h - 1;
	is_long = table->height > 0 && table->rows > (size_t)table->height;
	if (is_long)
		rect.w--;
	fit_columns(spec, rect.w, widths);
	draw_head(canvas, (struct rect){ rect.x, rect.y, rect.w, 1 }, spec,
		  widths);
	table->body = (struct rect){ rect.x, rect.y + 1, rect.w, rect.h - 1 };
	scroll_to_selected(table);
	for (int i = 0; i < table->height; i++) {
		size_t row = table->top + (size_t)i;
		struct rect line = { rect.x, rect.y + 1 + i, rect.w, 1 };

		if (row >= table->rows)
			break;
		draw_row(canvas, line, spec, widths, row);
		if (row == table->selected)
			canvas_restyle(canvas, line,
				       STYLE_STRONG | STYLE_REVERSE);
	}
	if (is_long)
		draw_place(table, canvas, whole);
	canvas_unclip(canvas, before);
}

bool
table_act(struct table *table, enum action action)
{
	size_t page = table->height > 2 ? (size_t)table->height / 2 : 1;
	size_t last = table->rows > 0 ? table->rows - 1 : 0;
	size_t at = table->selected;

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
	else
		return false;
	table->selected = at < last ? at : last;
	return true;
}

bool
table_click(struct table *table, int x, int y)
{
	const struct rect *body = &table->body;
	size_t row;

	if (x < body->x || x >= body->x + body->w || y < body->y ||
	    y >= body->y + body->h)
		return false;
	row = table->top + (size_t)(y - body->y);
	if (row >= table->rows)
		return false;
	table->selected = row;
	return true;
}
