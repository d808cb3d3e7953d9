/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "parsers/json.h"
#include "parsers/run_reader.h"
#include "tests/support/tap.h"

#define RUN_CASE_ROWS 4

/* A log, its number of runs, and the expected values of the last one. */
struct run_case {
	const char *name, *text;
	size_t n_runs;
	struct {
		const char *key, *want; /* as JSON; ends with NULL */
	} say[10];
};

/* Append a run as one line of JSON to a buf, as the reader reports it. */
static void run_case_note(void *user, const struct run *run)
{
	cJSON *row = run_to_json(run);

	json_print(user, row);
	buf_append_char(user, '\n');
	cJSON_Delete(row);
}

/* The runs in a text, one parsed JSON object per run. */
static size_t run_case_rows(const struct format_set *formats, const char *text, cJSON **rows,
			    size_t max)
{
	static const struct run_reader_cb cb = { .on_run = run_case_note };
	struct run_reader *reader;
	struct str rest, line;
	struct buf out;
	size_t n = 0;

	buf_init(&out, 1 << 20);
	reader = run_reader_new(formats, &cb, &out);
	run_reader_feed(reader, text, strlen(text));
	run_reader_finish(reader);
	run_reader_free(reader);
	rest = (struct str){ out.data, out.len };
	while (n < max && str_next(&rest, '\n', &line))
		if (line.len > 0)
			rows[n++] = json_parse(line, false, NULL);
	buf_release(&out);
	return n;
}

/* Read the log of a case and compare its last run with the expected values. */
static void run_case_check(const struct format_set *formats, const struct run_case *c)
{
	cJSON *rows[RUN_CASE_ROWS];
	size_t n = run_case_rows(formats, c->text, rows, RUN_CASE_ROWS);

	ok(n == c->n_runs, "%s: %zu run(s)", c->name, c->n_runs);
	for (size_t k = 0; n > 0 && c->say[k].key != NULL; k++) {
		struct buf got;

		buf_init(&got, 4096);
		json_print(&got, cJSON_GetObjectItemCaseSensitive(rows[n - 1], c->say[k].key));
		is_str(got.data, c->say[k].want, c->say[k].key);
		buf_release(&got);
	}
	for (size_t k = 0; k < n; k++)
		cJSON_Delete(rows[k]);
}
