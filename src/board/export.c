/* SPDX-License-Identifier: MIT */
/* Runs and their series as rows; called by the command `export`. */
#include "config.h"

#include "board/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "board/print.h"
#include "ingest/parse_files.h"
#include "parsers/json.h"
#include "parsers/run_reader.h"
#include "parsers/run_series.h"
#include "report/run_columns.h"

#define READ_BYTES 65536U

static const struct out_column run_columns[] = {
	{ "group", NULL, 0, 0 },     { "file", NULL, 0, 0 },
	{ "run_index", NULL, 0, 0 }, { "status", NULL, 0, 0 },
	{ "use", NULL, 0, 0 },	     RUN_COLUMNS,
	{ "sha256", NULL, 0, 0 },    { "note", NULL, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

static const struct out_column sample_columns[] = {
	{ "file", NULL, 0, 0 },	     { "run_index", NULL, 0, 0 },
	{ "step", NULL, 0, 0 },	     { "metric", NULL, 0, 0 },
	{ "value", NULL, -1, 0 },    { "wall_s", NULL, 3, 0 },
	{ "train_ms", NULL, -1, 0 }, { "line", NULL, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

int
export_runs(FILE *stream, enum out_format format, const struct board *board)
{
	struct out *out = out_new(stream, format, run_columns);

	for (size_t i = 0; i < board->n_rows; i++) {
		const struct board_row *row = board->rows[i];
		cJSON *object = board_row_json(board, row);

		json_add_clean(object, "group", board->groups[row->group].key);
		out_take(out, object);
	}
	return out_free(out);
}

void
export_add_sample(cJSON *row, const char *metric, const struct sample *s)
{
	json_add_number(row, "step", s->step);
	json_add_string(row, "metric", metric);
	json_add_number(row, "value", s->value);
	json_add_number(row, "wall_s",
			s->wall_ms != 0 ? (double)s->wall_ms / 1e3
					: RUN_ABSENT);
	json_add_number(row, "train_ms", s->train_ms);
	json_add_number(row, "line", (double)s->line);
}

static void
put_sample(struct out *out, const char *file, unsigned int run_index,
	   const char *metric, const struct sample *s)
{
	cJSON *row = cJSON_CreateObject();

	json_add_clean(row, "file", file);
	json_add_number(row, "run_index", run_index);
	export_add_sample(row, metric, s);
	out_take(out, row);
}

/* One log that is read for its series. */
struct series_of {
	struct out *out;
	const char *file;
};

static void
take_sample(void *user, const struct run *run, const struct sample *sample)
{
	const struct series_of *series = user;
	char label[SERIES_LABEL_BYTES];

	put_sample(series->out, series->file, run->run_index,
		   series_label(sample->metric, sample->name, label), sample);
}

static int
samples_of_file(struct out *out, const char *path,
		const struct format_set *formats, struct err *err)
{
	static const struct run_reader_cb cb = { .on_sample = take_sample };
	struct series_of series = { out, path };
	struct run_reader *reader;
	bool is_stdin = strcmp(path, "-") == 0, failed;
	FILE *from = is_stdin ? stdin : fopen(path, "rbe");
	char *block;
	size_t n;

	if (from == NULL)
		return err_set_errno(err, ERR_IO, "cannot open %s", path);
	reader = run_reader_new(formats, &cb, &series);
	block = xmalloc(READ_BYTES);
	while ((n = fread(block, 1, READ_BYTES, from)) > 0)
		run_reader_feed(reader, block, n);
	run_reader_finish(reader);
	run_reader_free(reader);
	free(block);
	failed = ferror(from) != 0;
	if (!is_stdin)
		(void)fclose(from);
	return failed ? err_set(err, ERR_IO, "cannot read %s", path) : 0;
}

static int
samples_of_files(struct out *out, char *const *argv, size_t n,
		 const struct format_set *formats, struct err *err)
{
	struct log_paths paths;
	int status = 0;

	log_paths_find(&paths, argv, n);
	for (size_t i = 0; i < paths.n && status == 0; i++)
		if (!paths.v[i].table)
			status = samples_of_file(out, paths.v[i].path, formats,
						 err);
	log_paths_release(&paths);
	return status;
}

/* The runs of the database, kept while their samples are asked for. */
struct known_run {
	int64_t run_id;
	char *file; /* owned; pod:path */
	unsigned int run_index;
};

struct known_runs {
	struct known_run *v; /* owned */
	size_t n, cap;
};

static int
keep_run(void *user, const struct stored_run *run)
{
	struct known_runs *runs = user;

	runs->v = xgrow(runs->v, runs->n, &runs->cap, sizeof(*runs->v));
	runs->v[runs->n++] = (struct known_run){
		run->run_id,
		xasprintf("%s:%s", run->pod, run->path),
		run->run.run_index,
	};
	return 0;
}

struct series_stored {
	struct out *out;
	const struct known_run *run;
};

static int
take_stored(void *user, const struct stored_sample *sample)
{
	const struct series_stored *series = user;

	put_sample(series->out, series->run->file, series->run->run_index,
		   sample->metric, &sample->sample);
	return 0;
}

static int
samples_of_database(struct out *out, struct store *store, struct err *err)
{
	struct known_runs runs = { NULL, 0, 0 };
	int status = store_each_run(store, 0, keep_run, &runs, err);

	for (size_t i = 0; i < runs.n; i++) {
		struct series_stored series = { out, &runs.v[i] };

		if (status == 0)
			status =
				store_each_sample(store, runs.v[i].run_id, NULL,
						  take_stored, &series, err);
		free(runs.v[i].file);
	}
	free(runs.v);
	return status;
}

int
export_samples(FILE *stream, enum out_format format, struct context *context,
	       char *const *paths, size_t n_paths, struct err *err)
{
	struct out *out;
	int status;

	if (n_paths == 0 && context_open(context, CONTEXT_DB, err) != 0)
		return -1;
	out = out_new(stream, format, sample_columns);
	if (n_paths > 0)
		status = samples_of_files(out, paths, n_paths, context->formats,
					  err);
	else
		status = samples_of_database(out, context->store, err);
	if (out_free(out) != 0 && status == 0)
		status = err_set(err, ERR_IO, "cannot write the output");
	return status;
}
