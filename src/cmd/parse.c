/* SPDX-License-Identifier: MIT */
/* `parse`: print one row per run found in the given logs. */

#include "base/say.h"
#include "cmd/cmd.h"
#include "report/run_columns.h"

struct parse_call {
	enum out_format format;
	uint64_t jobs; /* 0: as many as are useful */
	bool accept_new;
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(parse_call),
	CMD_FORMAT_OPTION,
	{ 'j', "jobs", "N", "read N files at once (default: depends on the machine)", CMD_COUNT,
	  CMD_AT(parse_call, jobs), .low = 1, .high = 64 },
	CMD_ACCEPT_NEW_OPTION(parse_call),
	CMD_OPTIONS_END,
};

static const char table_columns[] =
	"file, status, seed:0, steps:0, ms_per_step=ms/step:2, "
	"train_ms=train s:1*0.001, tok_s_derived=tok/s:0, "
	"last_val_loss=val loss, prequant_bpb=pre-quant, final_bpb=final BPB, "
	"final_class=stage, eval_s=eval s:1, artifact_bytes=artifact bytes:0";

/* The last column of the table, which is shown only if a run did not finish. */
static const char reason_column[] = ", status_reason=why";

static const char csv_columns[] =
	"file, run_index:0, status, " RUN_COLUMNS
	", source_lines:0, lines:0, bytes:0, matched:0, formats, events:0, status_reason";

/* The scores of verifiers are printed as a second table. */
static const char score_columns[] =
	"file, task, mode, repeats:0, score_key=key, score=valid score, "
	"status, score_why=why it does not count";

struct parse_job {
	enum out_format format;
	struct out *out; /* NULL until the first run */
	cJSON *scores;	 /* rows of the second table */
	cJSON *table;	 /* rows of the first one, until its columns are known */
	bool has_reason; /* a run did not finish */
	size_t rows;
	int status;
};

/* Insert the file's path as the first member of row; returns row. */
static cJSON *insert_file(const struct parsed_file *file, cJSON *row)
{
	json_add_clean(row, "file", file->path);
	cJSON *path = cJSON_DetachItemFromObjectCaseSensitive(row, "file");
	cJSON_InsertItemInArray(row, 0, path);
	return row;
}

/* Start the table of runs unless it was started before. */
static struct out *open_runs(struct parse_job *job)
{
	if (job->out == NULL)
		job->out =
			cmd_out(job->format, job->format == OUT_CSV ? csv_columns : table_columns);
	return job->out;
}

static void print_file(void *user, struct parsed_file *file)
{
	struct parse_job *job = user;

	if (file->from->name != NULL)
		file->path = file->from->name;
	for (size_t i = 0; i < file->n_runs; i++) {
		bool is_finished = file->runs[i].status == RUN_FINISHED;
		cJSON *row = insert_file(file, run_to_json(&file->runs[i]));

		if (job->format != OUT_TABLE) {
			out_take(open_runs(job), row);
			continue;
		}
		if (is_finished)
			cJSON_DeleteItemFromObjectCaseSensitive(row, "status_reason");
		job->has_reason |= !is_finished;
		cJSON_AddItemToArray(job->table, row);
	}
	job->rows += file->n_runs + (file->score != NULL);
	/* JSON is one list in the order of the files; tables are separate. */
	if (file->score != NULL && job->format == OUT_JSON)
		out_take(open_runs(job), insert_file(file, score_row_json(file->score)));
	else if (file->score != NULL)
		cJSON_AddItemToArray(job->scores, insert_file(file, score_row_json(file->score)));
	if (file->err.code != ERR_NONE) {
		say_error("%s", file->err.text);
		job->status = err_exit_status(file->err.code);
	} else if (file->n_runs == 0 && file->score == NULL && file->from->named) {
		bool is_named = strcmp(file->path, "-") != 0;

		if (file->bytes == 0)
			say_error("%s: empty", file->path);
		else
			say_error("%s: no training rows or score recognized%s%s", file->path,
				  is_named ? "; try: hgym-tui formats learn " : "",
				  is_named ? file->path : "");
	}
}

static int exec_parse(struct cmd_args *args, void *opaque, struct err *err)
{
	const struct parse_call *call = opaque;
	const struct parse_options how = { args->context->formats, (unsigned int)call->jobs,
					   false };
	size_t n = (size_t)args->argc;
	struct log_paths paths = { .n = 0 };
	struct parse_job job = { .format = call->format };
	int status = 0;

	if (cmd_has_place(args))
		job.status = cmd_fetch(args->context, args->argv, n, call->accept_new, &paths, err);
	else
		log_paths_list(&paths, args->argv, n);
	if (job.status < 0 || job.status >= 128)
		return job.status;
	job.scores = cJSON_CreateArray();
	job.table = cJSON_CreateArray();
	parse_files(paths.v, paths.n, &how, print_file, &job);
	log_paths_release(&paths);
	if (job.table->child != NULL) {
		AUTO_TEXT columns =
			xasprintf("%s%s", table_columns, job.has_reason ? reason_column : "");

		job.out = cmd_out(job.format, columns);
		json_each (row, job.table)
			out_row(job.out, row);
	}
	if (job.rows == 0)
		(void)open_runs(&job);
	if (job.out != NULL)
		status = cmd_out_end(job.out, 0, err);
	if (job.scores->child != NULL) {
		if (job.out != NULL)
			(void)putchar('\n');
		struct out *out = cmd_out(job.format, score_columns);
		json_each (row, job.scores)
			out_row(out, row);
		status = cmd_out_end(out, status, err);
	}
	cJSON_Delete(job.scores);
	cJSON_Delete(job.table);
	if (status == 0)
		status = job.status;
	return status == 0 && job.rows == 0 ? err_exit_status(ERR_NODATA) : status;
}

const struct cmd cmd_parse = {
	.name = "parse",
	.usage = "[OPTIONS] PATH...",
	.summary = "print one row per run found in logs",
	.section = "logs and runs",
	CMD_OPTIONS(options, parse_call),
	.least = 1,
	.most = CMD_ANY,
	.wants = "give at least one log (- is standard input)",
	.needs = CONTEXT_FORMATS,
	.exec = exec_parse,
};
