/* SPDX-License-Identifier: MIT */
/* `parse`: a row for each run that the given logs hold. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "cmd/cmd.h"
#include "ingest/parse_files.h"
#include "parsers/json.h"
#include "report/out.h"
#include "report/run_columns.h"

enum parse_option {
	OPT_FORMAT = CMD_OUTPUT_COUNT,
	OPT_JOBS,
};

static const struct cmd_option option_list[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "format", "FILE", "read the rules of this file too" },
	{ 'j', "jobs", "N", "read N files at once (default: what pays)" },
	{ 0, NULL, NULL, NULL },
};

static const struct out_column table_columns[] = {
	{ "file", "file", 0, 0 },
	{ "status", "status", 0, 0 },
	{ "seed", "seed", 0, 0 },
	{ "steps", "steps", 0, 0 },
	{ "ms_per_step", "ms/step", 2, 0 },
	{ "train_ms", "train s", 1, 0.001 },
	{ "tok_s_derived", "tok/s", 0, 0 },
	{ "last_val_loss", "val loss", -1, 0 },
	{ "prequant_bpb", "pre-quant", -1, 0 },
	{ "final_bpb", "final BPB", -1, 0 },
	{ "final_class", "stage", 0, 0 },
	{ "eval_s", "eval s", 1, 0 },
	{ "artifact_bytes", "artifact bytes", 0, 0 },
	{ NULL, NULL, 0, 0 },
};

static const struct out_column csv_columns[] = {
	{ "file", NULL, 0, 0 },		{ "run_index", NULL, 0, 0 },
	{ "status", NULL, 0, 0 },	RUN_COLUMNS,
	{ "source_lines", NULL, 0, 0 }, { "lines", NULL, 0, 0 },
	{ "bytes", NULL, 0, 0 },	{ "matched", NULL, 0, 0 },
	{ "formats", NULL, 0, 0 },	{ "events", NULL, 0, 0 },
	{ NULL, NULL, 0, 0 },
};

/* Verifiers' scores: a table of their own. */
static const struct out_column score_columns[] = {
	{ "file", NULL, 0, 0 },
	{ "task", NULL, 0, 0 },
	{ "mode", NULL, 0, 0 },
	{ "repeats", NULL, 0, 0 },
	{ "score_key", "key", 0, 0 },
	{ "score", "valid score", -1, 0 },
	{ "status", NULL, 0, 0 },
	{ "score_why", "why it does not count", 0, 0 },
	{ NULL, NULL, 0, 0 },
};

struct parse_job {
	enum out_format format;
	struct out *out; /* NULL until there is a run */
	cJSON *scores;	 /* rows held for the table behind the runs */
	size_t rows;
	int status;
};

/* The row with its file's path in front; the same row. */
static cJSON *
put_file(const struct parsed_file *file, cJSON *row)
{
	cJSON *path;

	json_add_clean(row, "file", file->path);
	path = cJSON_DetachItemFromObjectCaseSensitive(row, "file");
	cJSON_InsertItemInArray(row, 0, path);
	return row;
}

/* The table of runs; made with its first row, or for want of any. */
static struct out *
runs_out(struct parse_job *job)
{
	if (job->out == NULL)
		job->out = out_new(stdout, job->format,
				   job->format == OUT_CSV ? csv_columns
							  : table_columns);
	return job->out;
}

static void
print_run(struct parse_job *job, const struct parsed_file *file,
	  const struct run *run)
{
	cJSON *row = put_file(file, run_to_json(run));

	out_row(runs_out(job), row);
	job->rows++;
	cJSON_Delete(row);
}

/* A score's row: in its place as JSON, else behind the runs. */
static void
take_score(struct parse_job *job, const struct parsed_file *file)
{
	cJSON *row = put_file(file, score_row_json(file->score));

	job->rows++;
	if (job->format == OUT_JSON) {
		out_row(runs_out(job), row);
		cJSON_Delete(row);
	} else {
		cJSON_AddItemToArray(job->scores, row);
	}
}

/* The table of scores, apart from that of the runs. */
static int
print_scores(struct parse_job *job)
{
	const cJSON *row;
	struct out *out;

	if (job->scores->child == NULL)
		return 0;
	if (job->out != NULL)
		(void)putchar('\n');
	out = out_new(stdout, job->format, score_columns);
	cJSON_ArrayForEach(row, job->scores) out_row(out, row);
	return out_free(out);
}

static void
print_file(void *user, struct parsed_file *file)
{
	struct parse_job *job = user;
	char text[512];

	for (size_t i = 0; i < file->n_runs; i++)
		print_run(job, file, &file->runs[i]);
	if (file->score != NULL)
		take_score(job, file);
	if (file->err.code != ERR_NONE) {
		say_error(file->err.text);
		job->status = err_exit_status(file->err.code);
	} else if (file->n_runs == 0 && file->score == NULL) {
		(void)snprintf(text, sizeof(text), "%s: %s", file->path,
			       file->bytes == 0
				       ? "empty"
				       : "no training run and no score in it");
		say_error(text);
	}
}

struct parse_call {
	enum out_format format;
	unsigned int jobs;
	struct format_set *formats; /* owned */
};

static int
take_jobs(struct parse_call *call, const char *value, struct err *err)
{
	uint64_t n;

	if (!str_to_u64(str_from(value), &n) || n < 1 || n > 64)
		return err_set(err, ERR_USAGE,
			       "parse: --jobs takes a number from 1 to 64");
	call->jobs = (unsigned int)n;
	return 0;
}

static int
take_options(struct cmd_args *args, struct parse_call *call, struct err *err)
{
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0) {
		if (cmd_output_option(option, &call->format))
			continue;
		switch ((enum parse_option)option) {
		case OPT_FORMAT:
			if (format_set_load(call->formats, value, err) != 0)
				return -1;
			break;
		case OPT_JOBS:
			if (take_jobs(call, value, err) != 0)
				return -1;
			break;
		}
	}
	if (option == CMD_OPTIONS_WRONG)
		return -1;
	if (args->next >= args->argc)
		return err_set(err, ERR_USAGE,
			       "parse: name at least one log (- is stdin)");
	return 0;
}

static int
parse_and_print(struct cmd_args *args, const struct parse_call *call,
		struct err *err)
{
	const struct parse_options how = { call->formats, call->jobs, false };
	struct parse_job job = { .format = call->format,
				 .scores = cJSON_CreateArray() };
	size_t n;
	int failed;
	char **paths = path_list_expand(args->argv + args->next,
					(size_t)(args->argc - args->next), &n);

	parse_files(paths, n, &how, print_file, &job);
	path_list_free(paths);
	if (job.rows == 0)
		(void)runs_out(&job);
	failed = job.out != NULL && out_free(job.out) != 0;
	failed |= print_scores(&job) != 0;
	cJSON_Delete(job.scores);
	if (failed)
		return err_set(err, ERR_IO, "cannot write to stdout");
	if (job.rows == 0 && job.status == 0)
		return err_exit_status(ERR_NODATA);
	return job.status;
}

static int
exec_parse(struct cmd_args *args, struct err *err)
{
	struct parse_call call = { OUT_TABLE, 0, format_set_new_builtin() };
	int status = -1;

	if (take_options(args, &call, err) == 0)
		status = parse_and_print(args, &call, err);
	format_set_free(call.formats);
	return status;
}

const struct cmd cmd_parse = {
	.name = "parse",
	.usage = "[OPTIONS] PATH...",
	.summary = "read training logs, print a row for each run",
	.help = "PATH is a file, a glob pattern or - for standard input. "
		"Needs neither a\nconfiguration nor a database. A value that "
		"a log does not hold is null\n(a dash in the table), never 0. "
		"The JSON that a verifier or benchmark printed\nis read too: "
		"its rows have the kind \"score\" and stand in a table of "
		"their own.",
	.options = option_list,
	.exec = exec_parse,
};
