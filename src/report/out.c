/* SPDX-License-Identifier: MIT */
/* Rows to a stream in four forms; every command that prints data uses it. */
#include "report/out.h"

#include <stdlib.h>

#include "base/plain.h"
#include "base/xalloc.h"
#include "parsers/json.h"
#include "report/facts_print.h"

#define CELL_MAX_BYTES 65536U
#define HELD_CELLS     4096 /* before they are printed */

struct out_column {
	const char *key, *title;
	int decimals; /* -1: as many as needed */
	double scale;
};

struct out {
	FILE *stream;
	enum out_format format;
	char *text;		    /* owned; where the columns' texts are */
	struct out_column *columns; /* owned */
	size_t n_columns, cap_columns;
	struct facts rows; /* not printed yet; of a table all are held */
	bool head_done;
	size_t screen; /* columns; 0: no limit */
};

/* Forget the rows that are held. */
static void out_begin(struct out *out)
{
	AUTO_FREE struct facts_column *columns = xcalloc(out->n_columns, sizeof(*columns));

	for (size_t i = 0; i < out->n_columns; i++) {
		columns[i].label = out->columns[i].title;
		columns[i].key = out->columns[i].key;
	}
	facts_release(&out->rows);
	facts_table(&out->rows, "", columns, out->n_columns);
}

/* End text before that mark, which is dropped; what stood behind it, or
 * otherwise. */
static const char *cut(char *text, char mark, const char *otherwise)
{
	char *at = strchr(text, mark);

	if (at == NULL)
		return otherwise;
	*at = '\0';
	return at + 1;
}

static void read_columns(struct out *out, const char *columns)
{
	char *rest = out->text = xstrdup(columns), *text;

	while ((text = strsep(&rest, ",")) != NULL) {
		struct out_column *column = xplace(out->columns, out->n_columns, out->cap_columns);

		text += strspn(text, " ");
		column->scale = strtod(cut(text, '*', "1"), NULL);
		column->decimals = (int)strtol(cut(text, ':', "-1"), NULL, 10);
		column->title = cut(text, '=', text);
		column->key = text;
	}
}

struct str out_key(struct str column)
{
	struct str key = str_trim(column);

	for (size_t i = 0; i < key.len; i++)
		if (strchr("=:*", key.p[i]) != NULL)
			key.len = i;
	return key;
}

struct out *out_new(FILE *stream, enum out_format format, const char *columns)
{
	struct out *out = xcalloc(1, sizeof(*out));

	out->stream = stream;
	if (format == OUT_CSV)
		plain_keep_bytes(stream);
	out->format = format;
	read_columns(out, columns);
	facts_init(&out->rows);
	out_begin(out);
	return out;
}

void out_fit(struct out *out, size_t columns)
{
	out->screen = columns;
}

/* A number as it is shown: `decimals`, or as many as it has (at most 10). */
static void format_number(struct buf *text, const struct out_column *column, double value)
{
	double scaled = value * column->scale;

	if (column->decimals >= 0)
		buf_appendf(text, "%.*f", column->decimals, scaled);
	else
		buf_append_str(text, fmt_raw(scaled).s);
}

/* The text of one cell; absent gives nothing. */
static void cell_text(struct buf *text, const struct out_column *column, const cJSON *node)
{
	if (node == NULL || cJSON_IsNull(node))
		return;
	if (cJSON_IsString(node))
		buf_append_str(text, node->valuestring);
	else if (cJSON_IsNumber(node))
		format_number(text, column, node->valuedouble);
	else if (cJSON_IsBool(node))
		buf_append_str(text, cJSON_IsTrue(node) ? "yes" : "no");
	else
		json_print(text, node);
}

/* A cell, which stands to the right where its column has numbers alone. */
static void add_cell(struct out *out, const struct out_column *column, const cJSON *node)
{
	bool absent = node == NULL || cJSON_IsNull(node);
	AUTO_BUF text = buf_new(CELL_MAX_BYTES);

	cell_text(&text, column, node);
	if (absent && out->format != OUT_CSV)
		buf_append_str(&text, FMT_ABSENT);
	facts_text(&out->rows, "", FACT_PLAIN, "%s", text.data)->kind =
		absent || cJSON_IsNumber(node) ? FMT_NUMBER : FMT_TEXT;
}

/* A column is one of numbers when all its cells are numbers or absent. */
static void find_kinds(struct out *out)
{
	struct facts_column *columns = out->rows.sections[0].columns;

	for (size_t i = 0; i < out->n_columns; i++)
		columns[i].kind = FMT_NUMBER;
	for (size_t i = 0; i < out->rows.n; i++)
		if (out->rows.v[i].kind == FMT_TEXT && out->rows.v[i].text[0] != '\0')
			columns[i % out->n_columns].kind = FMT_TEXT;
}

/* Print the rows that are held. */
static void out_print(struct out *out)
{
	const struct facts_look look = { .columns = out->screen, .is_whole = true };
	AUTO_BUF text = buf_new(SIZE_MAX / 2);

	if (out->format != OUT_CSV)
		find_kinds(out);
	if (out->format == OUT_CSV)
		facts_print_csv(&text, &out->rows, 0, !out->head_done);
	else if (out->format == OUT_MD)
		facts_print_md_table(&text, &out->rows, 0, !out->head_done);
	else
		facts_print(&text, &out->rows, &look);
	(void)fwrite(text.data, 1, text.len, out->stream);
	out->head_done = true;
	out_begin(out);
}

void out_row(struct out *out, const cJSON *row)
{
	AUTO_BUF line = buf_new(JSON_MAX_BYTES);

	if (out->format == OUT_JSON) {
		json_print(&line, row);
		(void)fprintf(out->stream, "%s\n", line.data);
		return;
	}
	for (size_t i = 0; i < out->n_columns; i++)
		add_cell(out, &out->columns[i], json_get(row, out->columns[i].key));
	if (out->format != OUT_TABLE && out->rows.n > HELD_CELLS)
		out_print(out);
}

void out_take(struct out *out, cJSON *row)
{
	out_row(out, row);
	cJSON_Delete(row);
}

void out_add_members(cJSON *row, cJSON *from)
{
	while (from->child != NULL) {
		cJSON *member = cJSON_DetachItemViaPointer(from, from->child);

		cJSON_AddItemToObject(row, member->string, member);
	}
	cJSON_Delete(from);
}

void out_gap(struct out *out)
{
	for (size_t i = 0; out->format == OUT_TABLE && i < out->n_columns; i++)
		facts_text(&out->rows, "", FACT_PLAIN, "%s", "");
}

int out_free(struct out *out)
{
	if (out->format != OUT_JSON &&
	    (out->rows.n > 0 || (out->format != OUT_TABLE && !out->head_done)))
		out_print(out);
	int failed = fflush(out->stream) != 0 || ferror(out->stream);
	facts_release(&out->rows);
	free(out->columns);
	free(out->text);
	free(out);
	return failed ? -1 : 0;
}
