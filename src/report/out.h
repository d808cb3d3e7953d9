/* SPDX-License-Identifier: MIT */
#pragma once

#include <cjson/cJSON.h>

#include "base/err.h"
#include "report/facts.h"

/* Print rows of data in one of four formats, from one list of columns: an aligned table for
 * people, JSON lines, CSV (RFC 4180) or Markdown. JSON prints the whole cJSON object of a row, the
 * other formats its listed columns. Texts pass utf8_sanitize; null is "—" in a table and in
 * Markdown, and empty in CSV. Escape sequences are never printed. */
enum out_format { OUT_TABLE, OUT_JSON, OUT_CSV, OUT_MD, OUT_ALL };

/* Columns are given as text, for example "seed:0, train_ms=train s:1*0.001".  Each starts with the
 * key of the member in the row.  After '=' comes its header in tables and Markdown, after ':' the
 * number of decimals (default: as many as needed), after '*' a factor. */
struct out;

struct out *out_new(FILE *stream, enum out_format format, const char *columns);
/* The key of one such column. */
struct str out_key(struct str column);
/* Fit tables into this many screen columns: a wider one folds, or becomes one record per row. */
void out_fit(struct out *out, size_t columns);
/* Print a row, or keep a copy until later; `row` still belongs to the caller. */
void out_row(struct out *out, const cJSON *row);
/* The same, and frees row. */
void out_take(struct out *out, cJSON *row);
/* Move all members of `from` into row; frees `from`. */
void out_add_members(cJSON *row, cJSON *from);
/* Add a blank line to a table, between groups; nothing in other formats. */
void out_gap(struct out *out);
/* Print the remaining rows and free; -1 if the stream had an error. */
int out_free(struct out *out);
