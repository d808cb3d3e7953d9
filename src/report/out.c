/* SPDX-License-Identifier: MIT */
/* Rows to a stream in four forms; every command that prints data uses it. */
#include "config.h"

#include "report/out.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "parsers/json.h"

#define CELL_MAX_BYTES	   65536U
#define TABLE_CELL_COLUMNS 60U

struct out {
	FILE *stream;
	enum out_format format;
	const struct out_column *columns;
	size_t n_columns;
	bool head_done;
	char **cells;  /* owned; a table is held until its end: n_columns a row
			*/
	bool *numeric; /* a cell each */
	size_t n_cells, cap_cells, cap_numeric;
};

struct out *
out_new(FILE *stream, enum out_format format, const struct out_column *columns)
{
	struct out *out = xcalloc(1, sizeof(*out));

	out->stream = stream;
	out->format = format;
	out->columns = columns;
	while (columns[out->n_columns].key != NULL)
		out->n_columns++;
	return out;
}

static const char *
column_title(const struct out_column *column)
{
	return column->title != NULL ? column->title : column->key;
}

/* A number as it is shown: `decimals`, or as many as it has (at most 10). */
static void
format_number(struct buf *text, const struct out_column *column, double value)
{
	double scaled = value * (column->scale != 0 ? column->scale : 1);

	if (column->decimals >= 0)
		buf_appendf(text, "%.*f", column->decimals, scaled);
	else if (floor(scaled) == scaled && fabs(scaled) < 1e15)
		buf_appendf(text, "%.0f", scaled);
	else
		buf_appendf(text, "%.10g", scaled);
}

/* The text of one cell; absent gives nothing. */
static void
cell_text(struct buf *text, const struct out_column *column, const cJSON *node)
{
	struct buf raw;

	if (node == NULL || cJSON_IsNull(node))
		return;
	if (cJSON_IsString(node)) {
		utf8_sanitize(text, str_from(node->valuestring));
	} else if (cJSON_IsNumber(node)) {
		format_number(text, column, node->valuedouble);
	} else if (cJSON_IsBool(node)) {
		buf_append_str(text, cJSON_IsTrue(node) ? "yes" : "no");
	} else {
		buf_init(&raw, CELL_MAX_BYTES);
		json_print(&raw, node);
		utf8_sanitize(text, (struct str){ raw.data, raw.len });
		buf_release(&raw);
	}
}

static void
print_csv_cell(FILE *stream, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		(void)fputs(text, stream);
		return;
	}
	(void)fputc('"', stream);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			(void)fputc('"', stream);
		(void)fputc(*text, stream);
	}
	(void)fputc('"', stream);
}

static void
print_md_cell(FILE *stream, const char *text)
{
	(void)fputs(" ", stream);
	for (; *text != '\0'; text++) {
		if (*text == '|')
			(void)fputc('\\', stream);
		(void)fputc(*text, stream);
	}
	(void)fputs(" |", stream);
}

static void
print_head(struct out *out)
{
	out->head_done = true;
	for (size_t i = 0; i < out->n_columns; i++) {
		if (out->format == OUT_CSV) {
			if (i > 0)
				(void)fputc(',', out->stream);
			print_csv_cell(out->stream, out->columns[i].key);
		} else {
			if (i == 0)
				(void)fputc('|', out->stream);
			print_md_cell(out->stream,
				      column_title(&out->columns[i]));
		}
	}
	(void)fputc('\n', out->stream);
	if (out->format != OUT_MD)
		return;
	for (size_t i = 0; i < out->n_columns; i++)
		(void)fputs(i == 0 ? "| --- |" : " --- |", out->stream);
	(void)fputc('\n', out->stream);
}

/* Keep a cell of a table, cut to a width that a screen can take. */
static void
hold_cell(struct out *out, const char *text, bool numeric)
{
	struct str s = str_from(text);
	size_t fits = utf8_prefix(s, TABLE_CELL_COLUMNS);

	out->cells = xgrow(out->cells, out->n_cells, &out->cap_cells,
			   sizeof(*out->cells));
	out->numeric = xgrow(out->numeric, out->n_cells, &out->cap_numeric,
			     sizeof(*out->numeric));
	out->numeric[out->n_cells] = numeric;
	out->cells[out->n_cells++] =
		fits == s.len
			? xstrdup(text)
			: xasprintf("%.*s…",
				    (int)utf8_prefix(s, TABLE_CELL_COLUMNS - 1),
				    text);
}

/* One cell of a row in the out's form. */
static void
put_cell(struct out *out, size_t i, const cJSON *node)
{
	struct buf text;
	bool absent = node == NULL || cJSON_IsNull(node);

	buf_init(&text, CELL_MAX_BYTES);
	cell_text(&text, &out->columns[i], node);
	if (out->format == OUT_TABLE) {
		hold_cell(out, absent ? "—" : text.data,
			  absent || cJSON_IsNumber(node));
	} else if (out->format == OUT_CSV) {
		if (i > 0)
			(void)fputc(',', out->stream);
		print_csv_cell(out->stream, text.data);
	} else {
		if (i == 0)
			(void)fputc('|', out->stream);
		print_md_cell(out->stream, absent ? "—" : text.data);
	}
	buf_release(&text);
}

void
out_row(struct out *out, const cJSON *row)
{
	struct buf line;

	if (out->format == OUT_JSON) {
		buf_init(&line, JSON_MAX_BYTES);
		json_print(&line, row);
		(void)fprintf(out->stream, "%s\n", line.data);
		buf_release(&line);
		return;
	}
	if (out->format != OUT_TABLE && !out->head_done)
		print_head(out);
	for (size_t i = 0; i < out->n_columns; i++)
		put_cell(out, i,
			 cJSON_GetObjectItemCaseSensitive(row,
							  out->columns[i].key));
	if (out->format != OUT_TABLE)
		(void)fputc('\n', out->stream);
}

void
out_take(struct out *out, cJSON *row)
{
	out_row(out, row);
	cJSON_Delete(row);
}

void
out_add_members(cJSON *row, cJSON *from)
{
	while (from->child != NULL) {
		cJSON *member = cJSON_DetachItemViaPointer(from, from->child);

		cJSON_AddItemToObject(row, member->string, member);
	}
	cJSON_Delete(from);
}

void
out_gap(struct out *out)
{
	if (out->format != OUT_TABLE)
		return;
	for (size_t i = 0; i < out->n_columns; i++)
		hold_cell(out, "", false);
}

/* One line of the table; blanks at its end are left out. */
static void
print_table_row(const struct out *out, const size_t *widths, char *const *cells,
		const bool *right)
{
	size_t owed = 0;

	for (size_t i = 0; i < out->n_columns; i++) {
		size_t pad = widths[i] - utf8_width(str_from(cells[i]));

		if (right[i])
			owed += pad;
		if (cells[i][0] != '\0') {
			(void)fprintf(out->stream, "%*s%s", (int)owed, "",
				      cells[i]);
			owed = 0;
		} else if (right[i]) {
			pad = 0;
		}
		owed += (right[i] ? 0 : pad) + 2;
	}
	(void)fputc('\n', out->stream);
}

/* A column is set to the right when all its cells are numbers or absent. */
static void
measure_table(const struct out *out, size_t *widths, bool *right)
{
	assert(out->n_columns > 0);
	for (size_t i = 0; i < out->n_columns; i++) {
		widths[i] =
			utf8_width(str_from(column_title(&out->columns[i])));
		right[i] = true;
	}
	for (size_t k = 0; k < out->n_cells; k++) {
		size_t width = utf8_width(str_from(out->cells[k]));
		size_t i = k % out->n_columns;

		if (width > widths[i])
			widths[i] = width;
		if (!out->numeric[k] && out->cells[k][0] != '\0')
			right[i] = false;
	}
}

static void
print_table(const struct out *out)
{
	size_t *widths = xcalloc(out->n_columns, sizeof(*widths));
	bool *right = xcalloc(out->n_columns, sizeof(*right));
	char **titles = xcalloc(out->n_columns, sizeof(*titles));

	measure_table(out, widths, right);
	for (size_t i = 0; i < out->n_columns; i++)
		titles[i] = xstrdup(column_title(&out->columns[i]));
	print_table_row(out, widths, titles, right);
	for (size_t k = 0; k < out->n_cells; k += out->n_columns)
		print_table_row(out, widths, out->cells + k, right);
	for (size_t i = 0; i < out->n_columns; i++)
		free(titles[i]);
	free(titles);
	free(right);
	free(widths);
}

int
out_free(struct out *out)
{
	int failed;

	if (out->format == OUT_TABLE && out->n_cells > 0)
		print_table(out);
	else if (out->format != OUT_TABLE && out->format != OUT_JSON &&
		 !out->head_done)
		print_head(out);
	failed = fflush(out->stream) != 0 || ferror(out->stream);
	for (size_t k = 0; k < out->n_cells; k++)
		free(out->cells[k]);
	free(out->cells);
	free(out->numeric);
	free(out);
	return failed ? -1 : 0;
}
