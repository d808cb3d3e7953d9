/* SPDX-License-Identifier: MIT */
/* `parse`: a row for each run that the given logs hold. */

#include "base/say.h"
#include "cmd/cmd.h"
#include "report/run_columns.h"

struct parse_call {
	enum out_format format;
	uint64_t jobs; /* 0: what pays */
	bool accept_new;
};

static const struct cmd_option options[] = {
	CMD_OUTPUT_OPTIONS(parse_call),
	CMD_FORMAT_OPTION,
	{ 'j', "jobs", "N", "read N files at once (default: what pays)", CMD_COUNT,
	  CMD_AT(parse_call, jobs), .low = 1, .high = 64 },
	{ 0, "accept-new", NULL, "accept the keys of hosts not yet known", CMD_FLAG,
	  CMD_AT(parse_call, accept_new) },
	CMD_OPTIONS_END,
};

static const char table_columns[] =
	"file, status, seed:0, steps:0, ms_per_step=ms/step:2, "
	"train_ms=train s:1*0.001, tok_s_derived=tok/s:0, "
	"last_val_loss=val loss, prequant_bpb=pre-quant, final_bpb=final BPB, "
	"final_class=stage, eval_s=eval s:1, artifact_bytes=artifact bytes:0";

static const char csv_columns[] =
	"file, run_index:0, status, " RUN_COLUMNS
	", source_lines:0, lines:0, bytes:0, matched:0, formats, events:0";

/* Verifiers' scores: a table of their own. */
static const char score_columns[] =
	"file, task, mode, repeats:0, score_key=key, score=valid score, "
	"status, score_why=why it does not count";

struct parse_job {
	enum out_format format;
	struct out *out; /* NULL until there is a run */
	cJSON *scores;	 /* rows held for the table behind the runs */
	size_t rows;
	int status;
};

/* The row with its file's path in front; the same row. */
static cJSON *put_file(const struct parsed_file *file, cJSON *row)
{
	cJSON *path;

	json_add_clean(row, "file", file->path);
	path = cJSON_DetachItemFromObjectCaseSensitive(row, "file");
	cJSON_InsertItemInArray(row, 0, path);
	return row;
}

/* The table of runs; made with its first row, or for want of any. */
static struct out *runs_out(struct parse_job *job)
{
	if (job->out == NULL)
		job->out =
			cmd_out(job->format, job->format == OUT_CSV ? csv_columns : table_columns);
	return job->out;
}

static void print_run(struct parse_job *job, const struct parsed_file *file, const struct run *run)
{
	out_take(runs_out(job), put_file(file, run_to_json(run)));
	job->rows++;
}

/* A score's row: in its place as JSON, else behind the runs. */
static void take_score(struct parse_job *job, const struct parsed_file *file)
{
	cJSON *row = put_file(file, score_row_json(file->score));

	job->rows++;
	if (job->format == OUT_JSON)
		out_take(runs_out(job), row);
	else
		cJSON_AddItemToArray(job->scores, row);
}

/* The table of scores, apart from that of the runs. */
static int print_scores(struct parse_job *job, int status, struct err *err)
{
	struct out *out;

	if (job->scores->child == NULL)
		return status;
	if (job->out != NULL)
		(void)putchar('\n');
	out = cmd_out(job->format, score_columns);
	json_each (row, job->scores)
		out_row(out, row);
	return cmd_out_end(out, status, err);
}

/* Why there is no row of a file that could be read. */
static const char *why_nothing(const struct parsed_file *file)
{
	const char *end = strrchr(file->path, '.');

	if (file->bytes == 0)
		return "empty";
	if (end != NULL && str_is_among(str_from(end), ".gz .bz2 .xz .zst"))
		return "compressed: unpack it first";
	return "no training run and no score in it";
}

static void print_file(void *user, struct parsed_file *file)
{
	struct parse_job *job = user;

	if (file->from->name != NULL)
		file->path = file->from->name;
	for (size_t i = 0; i < file->n_runs; i++)
		print_run(job, file, &file->runs[i]);
	if (file->score != NULL)
		take_score(job, file);
	if (file->err.code != ERR_NONE) {
		say_error("%s", file->err.text);
		job->status = err_exit_status(file->err.code);
	} else if (file->n_runs == 0 && file->score == NULL && file->from->named) {
		say_error("%s: %s", file->path, why_nothing(file));
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
	parse_files(paths.v, paths.n, &how, print_file, &job);
	log_paths_release(&paths);
	if (job.rows == 0)
		(void)runs_out(&job);
	if (job.out != NULL)
		status = cmd_out_end(job.out, 0, err);
	status = print_scores(&job, status, err);
	cJSON_Delete(job.scores);
	if (status == 0)
		status = job.status;
	return status == 0 && job.rows == 0 ? err_exit_status(ERR_NODATA) : status;
}

const struct cmd cmd_parse = {
	.name = "parse",
	.usage = "[OPTIONS] PATH...",
	.summary = "read training logs, print a row for each run",
	.help = "PATH is a file, a directory, a glob pattern, - for standard "
		"input, or\nHOST:PATH for logs on a pod ([user@]host[:port], "
		"an alias of ssh, or a name of\nthe configuration), which are "
		"fetched first. Needs no database, and a\nconfiguration only "
		"for pods. A value that a log does not hold is null (a dash\n"
		"in the table), never 0. The JSON that a verifier or benchmark "
		"printed is read\ntoo: its rows have the kind \"score\" and "
		"stand in a table of their own.\n\n"
		"Of a directory all logs below it are read, but for links to "
		"directories:\n*.log, *.txt, *.out and *.stdout; where a "
		"folder has none of these, .csv and\n.jsonl files with "
		"metrics, log or history in their name. Metrics files are\n"
		"read like logs: CSV whose header names a step (or an epoch), "
		"JSON of an\nobject a line, and trainer_state.json of Hugging "
		"Face's Trainer.",
	.options = options,
	.size = sizeof(struct parse_call),
	.least = 1,
	.most = CMD_ANY,
	.wants = "name at least one log (- is stdin)",
	.needs = CONTEXT_FORMATS,
	.exec = exec_parse,
};
