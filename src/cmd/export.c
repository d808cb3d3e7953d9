/* SPDX-License-Identifier: MIT */
/* `export`: leaderboard, runs and series to files or to stdout. */
#include "config.h"

#include <stdio.h>

#include "board/export.h"
#include "board/print.h"
#include "cmd/board_ask.h"
#include "report/new_folder.h"

enum what { WHAT_BOARD, WHAT_RUNS, WHAT_SAMPLES };

static const char *const what_words[] = { "board", "runs", "samples", NULL };

struct call {
	struct board_call board;
	enum out_format format;
	enum what what;
	const char *out;
};

static const struct call defaults = { .format = OUT_JSON };

static const struct cmd_option options[] = {
	BOARD_ASK_OPTIONS,
	CMD_OUTPUT_OPTIONS(call),
	{ 0, "what", "WORD", "board (default), runs or samples", CMD_CHOICE,
	  CMD_AT(call, what), .words = what_words },
	{ 0, "out", "DIR", "all of it into this new folder", CMD_TEXT,
	  CMD_AT(call, out) },
	CMD_OPTIONS_END,
};

/* One thing in one form, to stream. */
static int
put(const struct cmd_args *args, const struct call *call,
    const struct board_built *built, FILE *stream, struct err *err)
{
	const struct board_look look = { .all_tests = true };

	if (call->what == WHAT_SAMPLES)
		return export_samples(stream, call->format, args->context,
				      args->argv, (size_t)args->argc, err);
	if (call->what == WHAT_BOARD)
		board_print(stream, &built->board,
			    call->format == OUT_TABLE ? OUT_JSON : call->format,
			    &look);
	else if (export_runs(stream, call->format, &built->board) != 0)
		return err_set(err, ERR_IO, "cannot write the output");
	return 0;
}

/* Every file of the folder. */
static int
put_folder(const struct cmd_args *args, struct call *call,
	   const struct board_built *built, struct err *err)
{
	static const struct {
		const char *name;
		enum what what;
		enum out_format format;
	} files[] = {
		{ "board.json", WHAT_BOARD, OUT_JSON },
		{ "board.csv", WHAT_BOARD, OUT_CSV },
		{ "board.md", WHAT_BOARD, OUT_MD },
		{ "runs.json", WHAT_RUNS, OUT_JSON },
		{ "runs.csv", WHAT_RUNS, OUT_CSV },
		{ "samples.csv", WHAT_SAMPLES, OUT_CSV },
	};

	if (new_folder_make(call->out, err) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char *path;
		FILE *stream =
			new_folder_create(call->out, files[i].name, &path, err);
		int status;

		if (stream == NULL)
			return -1;
		call->what = files[i].what;
		call->format = files[i].format;
		status = put(args, call, built, stream, err);
		if (new_folder_finish(stream, path, status == 0 ? err : NULL) !=
			    0 ||
		    status != 0)
			return -1;
	}
	return 0;
}

static int
exec_export(struct cmd_args *args, void *opaque, struct err *err)
{
	struct call *call = opaque;
	struct board_built *built;
	int status;

	if (call->what == WHAT_SAMPLES && call->out == NULL)
		return put(args, call, NULL, stdout, err);
	built = board_ask_build(args, &call->board, err);
	if (built == NULL)
		return -1;
	if (built->input.n_runs == 0)
		status = err_set(err, ERR_NODATA,
				 "export: no run found in the given paths");
	else if (call->out != NULL)
		status = put_folder(args, call, built, err);
	else
		status = put(args, call, built, stdout, err);
	if (status == 0)
		status = cmd_flush(err);
	if (status == 0)
		status = built->input.status;
	board_built_free(built);
	return status;
}

const struct cmd cmd_export = {
	.name = "export",
	.usage = "[OPTIONS] [PATH...]",
	.summary = "leaderboard, runs and series as JSON, CSV or Markdown",
	.help = "Of the logs that PATH names, as `board` takes it; without a "
		"PATH of the database.\nPrints what --what says, as JSON lines "
		"unless told otherwise; with --out it makes\na folder with "
		"board.json, board.csv, board.md, runs.json, runs.csv and\n"
		"samples.csv.",
	.options = options,
	.size = sizeof(struct call),
	.defaults = &defaults,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_export,
};
