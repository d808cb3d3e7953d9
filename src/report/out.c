/* SPDX-License-Identifier: MIT */
/* Print rows in one of four formats; used by every command that prints data. */
#include "report/out.h"

#include "base/plain.h"
#include "parsers/json.h"
#include "report/facts_print.h"

#define HELD_CELLS 4096 /* CSV and Markdown are printed in batches of about this many cells */

struct out_column {
	const char *key, *title;
	int decimals; /* -1: as many as needed */
	double scale;
};

struct out {
	FILE *stream;
	enum out_format format;
	char *text;		    /* owned; the texts of the columns point into it */
	struct out_column *columns; /* owned */
	size_t n_columns, cap_columns;
	struct facts rows; /* not printed yet; a table keeps all of its rows */
	bool head_done;
	size_t screen; /* width in columns; 0: unlimited */
};

static void clear_rows(struct out *out)
{
	AUTO_FREE struct facts_column *columns = xcalloc(out->n_columns, sizeof(*columns));

	for (size_t i = 0; i < out->n_columns; i++) {
		columns[i].label = out->columns[i].title;
		columns[i].key = out->columns[i].key;
	}
	facts_release(&out->rows);
	facts_table(&out->rows, "", columns, out->n_columns);
}

/* Cut text at a mark; returns the text after the mark, or `otherwise` without one. */
static const char *cut_at(char *text, char mark, const char *otherwise)
{
	char *at = strchr(text, mark);

	if (at == NULL)
		return otherwise;
	*at = '\0';
	return at + 1;
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
	char *rest = xstrdup(columns), *text;

	out->stream = stream;
	out->text = rest;
	if (format == OUT_CSV)
		plain_keep_bytes(stream);
	out->format = format;
	while ((text = strsep(&rest, ",")) != NULL) {
		struct out_column *column = xplace(out->columns, out->n_columns, out->cap_columns);

		text += strspn(text, " ");
		column->scale = strtod(cut_at(text, '*', "1"), NULL);
		column->decimals = (int)strtol(cut_at(text, ':', "-1"), NULL, 10);
		column->title = cut_at(text, '=', text);
		column->key = text;
	}
	clear_rows(out);
	return out;
}

void out_fit(struct out *out, size_t columns)
{
	out->screen = columns;
}

static void print_rows(struct out *out)
{
	const struct facts_look look = { .columns = out->screen, .is_whole = true };
	AUTO_BUF text = buf_new(SIZE_MAX / 2);

	/* A column whose cells are all numbers or absent is aligned to the right. */
	struct facts_column *columns = out->rows.sections[0].columns;
	for (size_t i = 0; out->format != OUT_CSV && i < out->n_columns; i++)
		columns[i].kind = FMT_NUMBER;
	for (size_t i = 0; out->format != OUT_CSV && i < out->rows.n; i++)
		if (out->rows.v[i].kind == FMT_TEXT && out->rows.v[i].text[0] != '\0')
			columns[i % out->n_columns].kind = FMT_TEXT;
	if (out->format == OUT_CSV)
		facts_print_csv(&text, &out->rows, 0, !out->head_done);
	else if (out->format == OUT_MD)
		facts_print_md_table(&text, &out->rows, 0, !out->head_done);
	else
		facts_print(&text, &out->rows, &look);
	(void)fwrite(text.data, 1, text.len, out->stream);
	out->head_done = true;
	clear_rows(out);
}

void out_row(struct out *out, const cJSON *row)
{
	AUTO_BUF line = buf_new(JSON_MAX_BYTES);

	if (out->format == OUT_JSON) {
		json_print(&line, row);
		(void)fprintf(out->stream, "%s\n", line.data);
		return;
	}
	for (size_t i = 0; i < out->n_columns; i++) {
		const struct out_column *column = &out->columns[i];
		const cJSON *node = json_get(row, column->key);
		bool is_absent = node == NULL || cJSON_IsNull(node);
		double value = cJSON_IsNumber(node) ? node->valuedouble * column->scale : 0;

		buf_clear(&line);
		if (is_absent)
			buf_append_str(&line, out->format != OUT_CSV ? FMT_ABSENT : "");
		else if (cJSON_IsString(node))
			buf_append_str(&line, node->valuestring);
		else if (cJSON_IsNumber(node) && column->decimals >= 0)
			buf_appendf(&line, "%.*f", column->decimals, value);
		else if (cJSON_IsNumber(node))
			buf_append_str(&line, fmt_raw(value).s);
		else if (cJSON_IsBool(node))
			buf_append_str(&line, cJSON_IsTrue(node) ? "yes" : "no");
		else
			json_print(&line, node);
		facts_text(&out->rows, "", FACT_PLAIN, "%s", line.data)->kind =
			is_absent || cJSON_IsNumber(node) ? FMT_NUMBER : FMT_TEXT;
	}
	if (out->format != OUT_TABLE && out->rows.n > HELD_CELLS)
		print_rows(out);
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
		print_rows(out);
	int failed = fflush(out->stream) != 0 || ferror(out->stream);
	facts_release(&out->rows);
	free(out->columns);
	free(out->text);
	free(out);
	return failed ? -1 : 0;
}
