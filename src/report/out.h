/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include <cjson/cJSON.h>

#include "base/err.h"
#include "report/facts.h"

/*
 * Rows of data to a stream, in one of four forms from one list of columns:
 * an aligned table for people, JSON lines, CSV (RFC 4180), Markdown.
 * A row is a cJSON object; JSON prints it whole, the other forms print its
 * listed columns.  Text cells pass utf8_sanitize; null is "—" in a table and
 * in Markdown, empty in CSV.  No escape sequences.
 */
enum out_format { OUT_TABLE, OUT_JSON, OUT_CSV, OUT_MD };

/*
 * Columns are a text, "seed:0, train_ms=train s:1*0.001": each the member of
 * the row, its head in a table and in Markdown where that is another, the
 * decimals of its numbers where they are not as many as needed, and by what
 * these are multiplied.
 */
struct out;

struct out *out_new(FILE *stream, enum out_format format, const char *columns);
/* The key of one column of such a text. */
struct str out_key(struct str column);
/* A table is to stand on a screen of so many columns: what is wider folds, or
 * becomes a record a row; nothing is cut. */
void out_fit(struct out *out, size_t columns);
/* Print or hold one row; the caller keeps it. */
void out_row(struct out *out, const cJSON *row);
/* The same, and free it. */
void out_take(struct out *out, cJSON *row);
/* Give all members of from, which is freed, to row. */
void out_add_members(cJSON *row, cJSON *from);
/* A blank line in a table (between groups); nothing in the other forms. */
void out_gap(struct out *out);
/* Print what is held and free; -1 when the stream had an error. */
int out_free(struct out *out);
