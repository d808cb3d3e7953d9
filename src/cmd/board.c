/* SPDX-License-Identifier: MIT */
/* `board`, `submission` and `export`: the leaderboard over seeds, of the given
 * logs, on the screen, as a folder for a pull request and as files; `diff`. */
#include <stdlib.h>
#include <unistd.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "board/input.h"
#include "board/print.h"
#include "board/submission.h"
#include "cmd/cmd.h"
#include "model/run_diff.h"
#include "parsers/json.h"
#include "parsers/run_series.h"
#include "report/new_folder.h"
#include "report/run_columns.h"

static const char *const board_group_words[] = { "dirname", "file", "source", "pod", NULL };

/*
 * What `board`, `submission` and `export` share: the options that say which
 * leaderboard.  The first member of each one's struct.
 */
struct board_call {
	struct board_ask ask;
	struct cmd_list values;
};

#define BOARD_ASK_OPTIONS                                                                        \
	CMD_ROW("group-by", "RULE", "dirname, file, source, pod, or a pattern that captures it", \
		CMD_TEXT, board_call, ask.group_by, .words = board_group_words),                 \
		CMD_ROW("baseline", "WHAT",                                                      \
			"a group, a log, a table or a folder, or "                               \
			"[NAME=]v1,v2,..",                                                       \
			CMD_TEXT, board_call, ask.baseline),                                     \
		CMD_ROW("values", "LIST", "[NAME=]v1,v2,..: a group of bare scores", CMD_LIST,   \
			board_call, values),                                                     \
		CMD_ROW("nats-per-bpb", "K", "nats per BPB (default: from the logs)",            \
			CMD_POSITIVE, board_call, ask.nats_per_bpb, .high = 1000),               \
		CMD_ROW("usd-per-hour", "X",                                                     \
			"what a run's pod costs (default: the "                                  \
			"configuration's)",                                                      \
			CMD_POSITIVE, board_call, ask.usd_per_hour, .high = 1e6),                \
		CMD_ROW("track", "NAME", "the track, or a file with one", CMD_TEXT, board_call,  \
			ask.track),                                                              \
		CMD_ROW("score", "NAME", "rank by another number (quant_bpb, ..) or metric",     \
			CMD_TEXT, board_call, ask.score),                                        \
		CMD_ROW("higher", NULL, "a higher score is better", CMD_FLAG, board_call,        \
			ask.higher),                                                             \
		CMD_FORMAT_OPTION

/* What --fail-on may name: bits, and in their order their words. */
enum fail_on {
	FAIL_INVALID = 1 << 0 | 1 << 1,
	FAIL_NOT_SHOWN = 1 << 2,
	FAIL_BELOW = 1 << 3,
	FAIL_UNFINISHED = 1 << 4,
	FAIL_COPIES = 1 << 5,
};

static const char *const fail_words[] = { "invalid",	"cap",	  "not-shown", "below",
					  "unfinished", "copies", NULL };

struct board_print_call {
	struct board_call board;
	enum out_format format;
	unsigned int fail_on;
	struct board_look look;
};

static const struct cmd_option board_options[] = {
	BOARD_ASK_OPTIONS,
	CMD_OUTPUT_OPTIONS(board_print_call),
	{ 0, "summary", NULL, "one row a group, without its runs", CMD_FLAG,
	  CMD_AT(board_print_call, look.summary) },
	{ 0, "all-tests", NULL, "show tests C to F too", CMD_FLAG,
	  CMD_AT(board_print_call, look.all_tests) },
	{ 0, "fail-on", "LIST", "exit 3 on: invalid, not-shown, below, unfinished, copies", CMD_SET,
	  CMD_AT(board_print_call, fail_on), .words = fail_words },
	CMD_OPTIONS_END,
};

/* The board of the command's options and arguments; err says which command. */
static struct board_built *board_ask_build(const struct cmd_args *args, struct board_call *call,
					   struct err *err)
{
	call->ask.values = call->values.v;
	call->ask.n_values = call->values.n;
	struct board_built *built =
		board_build(args->context, args->argv, (size_t)args->argc, &call->ask, err);
	if (built == NULL)
		(void)err_prefix(err, "%s", args->cmd->name);
	return built;
}

static bool wants_color(const char *when)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (strcmp(when, "always") == 0)
		return true;
	return strcmp(when, "never") != 0 && isatty(STDOUT_FILENO) &&
	       (no == NULL || no[0] == '\0') && (term == NULL || strcmp(term, "dumb") != 0);
}

/* Why the group fails what was asked for; NULL: it does not. */
static const char *failure_of(const struct board_group *group, unsigned int fail_on)
{
	enum board_word word = group->verdict.word;

	if (group->is_baseline)
		return NULL;
	if ((fail_on & FAIL_INVALID) != 0 && word == BOARD_WORD_INVALID)
		return group->verdict.text;
	if ((fail_on & FAIL_BELOW) != 0 && word == BOARD_WORD_BELOW_BAR)
		return group->verdict.text;
	if ((fail_on & FAIL_NOT_SHOWN) != 0 &&
	    (word != BOARD_WORD_SHOWN || strstr(group->verdict.text, "UNCHECKED") != NULL))
		return group->verdict.text[0] != '\0' ? group->verdict.text : "not judged";
	if ((fail_on & FAIL_UNFINISHED) != 0 &&
	    group->n_uncounted[BOARD_UNFINISHED] + group->n_uncounted[BOARD_NO_SCORE] > 0)
		return "runs that are not finished";
	if ((fail_on & FAIL_COPIES) != 0 &&
	    group->n_uncounted[BOARD_COPY] + group->n_uncounted[BOARD_SAME_RUN] > 0)
		return "copies of one run";
	return NULL;
}

/* 3 when a group fails --fail-on, each said on stderr. */
static int check_failures(const struct board *board, unsigned int fail_on)
{
	int status = 0;

	for (size_t i = 0; i < board->n_groups; i++) {
		const struct board_group *group = &board->groups[board->rank[i]];
		const char *why = failure_of(group, fail_on);

		if (why == NULL)
			continue;
		say_error("%s: %s", group->title, why);
		status = err_exit_status(ERR_CHECK);
	}
	return status;
}

static int exec_board(struct cmd_args *args, void *opaque, struct err *err)
{
	struct board_print_call *call = opaque;
	struct board_built *built = board_ask_build(args, &call->board, err);
	struct board_input *input;

	if (built == NULL)
		return -1;
	input = &built->input;
	call->look.columns = cmd_columns();
	call->look.color = wants_color(args->context->options.color);
	if (input->n_runs > 0)
		board_print(stdout, &built->board, call->format, &call->look);
	/* The verifiers' scores, behind the runs. */
	if (input->n_runs > 0 && input->scores.n > 0 && call->format != OUT_JSON)
		(void)putchar('\n');
	(void)score_board_print(&input->scores, stdout, call->format);
	int status = cmd_flush(err);
	if (status == 0)
		status = check_failures(&built->board, call->fail_on);
	if (status == 0)
		status = input->status;
	board_built_free(built);
	return status;
}

const struct cmd cmd_board = {
	.name = "board",
	.usage = "[OPTIONS] [PATH...]",
	.summary = "leaderboard over seeds, with spreads, tests and verdicts",
	.help = "PATH is a log, a folder of logs, a glob pattern, a table of "
		"runs (.csv, .json,\n.jsonl with the keys of `parse`), or - "
		"for standard input; without a PATH it is\nthe database. "
		"A row a run, a summary a group; the best mean comes first,\n"
		"groups that broke a cap behind those that kept them."
		"\n\n"
		"Only finished runs with a score count. Byte-identical logs "
		"and two logs of one\nrun count once. A seed that ran twice is "
		"no second seed: the tests then take\nthe mean of its runs as "
		"one value.\n\n"
		"--score takes the name of any metric that the runs print "
		"(`parse --json`, metrics):\nit ranks by its last value, the "
		"lower one first unless --higher is given, with\nwhich the "
		"tests take the values negated. Runs whose logs "
		"do not tell how long they should be count then too, and the "
		"bar is\nthe baseline's mean (track metric).\n\n"
		"Tests (p is one-sided: the mean is lower): A one sample "
		"against the bar,\nB Welch against the baseline with the "
		"margin, C one sample against the\nbaseline's mean, D Welch "
		"without the margin, E and F pooled with and without.\nThe bar "
		"is the baseline's mean less the track's margin in nats, or "
		"the track's\ntarget. A trainer looks at its clock between "
		"steps: a cap on training that is\npassed by no more than the "
		"steps that the track grants is kept, and marked ~.",
	.options = board_options,
	.size = sizeof(struct board_print_call),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_board,
};

struct submission_call {
	struct board_call board;
	struct submission submission;
	const char *out, *group;
	bool no_logs;
};

/* A day as it is written; nothing is known of months here. */
static int take_date(void *opaque, const char *value, struct err *err)
{
	static const char shape[] = "dddd-dd-dd";
	struct submission_call *call = opaque;
	size_t i = 0;

	while (shape[i] != '\0' &&
	       (shape[i] == 'd' ? value[i] >= '0' && value[i] <= '9' : value[i] == '-'))
		i++;
	if (shape[i] != '\0' || value[i] != '\0')
		return err_set(err, ERR_USAGE, "submission: --date takes YYYY-MM-DD");
	call->submission.date = value;
	return 0;
}

static const struct cmd_option submission_options[] = {
	BOARD_ASK_OPTIONS,
	{ 0, "out", "DIR", "make this folder (default: print submission.json)", CMD_TEXT,
	  CMD_AT(submission_call, out) },
	{ 0, "group", "NAME", "the group to submit", CMD_TEXT, CMD_AT(submission_call, group) },
	{ 0, "name", "TEXT", "title (default: the group's name)", CMD_TEXT,
	  CMD_AT(submission_call, submission.name) },
	{ 0, "author", "TEXT", "who submits", CMD_TEXT,
	  CMD_AT(submission_call, submission.author) },
	{ 0, "github-id", "TEXT", "account", CMD_TEXT,
	  CMD_AT(submission_call, submission.github_id) },
	{ 0, "blurb", "TEXT", "a sentence on what it is", CMD_TEXT,
	  CMD_AT(submission_call, submission.blurb) },
	{ 0, "hardware", "TEXT", "what it ran on", CMD_TEXT,
	  CMD_AT(submission_call, submission.hardware) },
	{ 0, "date", "DATE", "YYYY-MM-DD (default: today, UTC)", CMD_TAKE, .take = take_date },
	{ 0, "no-logs", NULL, "do not copy the logs", CMD_FLAG, CMD_AT(submission_call, no_logs) },
	CMD_OPTIONS_END,
};

/* The group that was named, else the only one that is no baseline. */
static const struct board_group *choose_group(const struct board *board, const char *name,
					      struct err *err)
{
	const struct board_group *found = NULL;
	size_t n = 0;

	if (name != NULL)
		return board_find_group(board, name, err);
	for (size_t i = 0; i < board->n_groups; i++) {
		if (board->groups[i].is_baseline)
			continue;
		found = &board->groups[i];
		n++;
	}
	if (n == 1)
		return found;
	err_set(err, n == 0 ? ERR_NODATA : ERR_USAGE, "there are %zu groups to submit%s", n,
		n == 0 ? "" : "; name one (--group)");
	return NULL;
}

static void say_missing(void *user, const char *sentence)
{
	(void)user;
	say_error("submission: %s", sentence);
}

static int print_json(const struct submission *s, struct err *err)
{
	AUTO_TEXT text = submission_text(s);

	(void)fputs(text, stdout);
	return cmd_flush(err);
}

static int exec_submission(struct cmd_args *args, void *opaque, struct err *err)
{
	struct submission_call *call = opaque;
	struct board_built *built = board_ask_build(args, &call->board, err);
	struct submission *s = &call->submission;
	const struct clock *clock = args->context->clock;
	char today[CLOCK_RFC3339_SIZE];
	int status = -1;

	if (built == NULL)
		return -1;
	clock_rfc3339(clock->wall_ms(clock), today);
	today[strcspn(today, "T")] = '\0';
	if (s->date == NULL)
		s->date = today;
	s->board = &built->board;
	if (built->board.chosen_name != NULL)
		(void)err_set(err, ERR_USAGE,
			      "--score takes a key of a BPB or a loss here "
			      "(final_bpb, quant_bpb, final_val_loss, ..)");
	else
		s->group = choose_group(&built->board, call->group, err);
	if (s->group != NULL)
		submission_find_logs(&built->board, s->group);
	if (s->group == NULL)
		(void)err_prefix(err, "submission");
	else if (call->out == NULL)
		status = print_json(s, err);
	else
		status = submission_write(s, call->out, !call->no_logs, err);
	if (status == 0 && submission_check(s, say_missing, NULL) > 0)
		status = err_exit_status(ERR_CHECK);
	if (status == 0)
		status = built->input.status;
	board_built_free(built);
	return status;
}

const struct cmd cmd_submission = {
	.name = "submission",
	.usage = "[OPTIONS] [PATH...]",
	.summary = "a folder for a pull request out of one group of runs",
	.help = "PATH is what `board` takes. The folder gets README.md with "
		"the results table,\nsubmission.json, and the logs as "
		"train_seedN.log. Every number is one of the\nlogs; what they "
		"do not hold is null. What reviewers would still ask for is "
		"said\non stderr and in the README, and makes the exit status "
		"3.",
	.options = submission_options,
	.size = sizeof(struct submission_call),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_submission,
};

static const char run_columns[] =
	"group, file, run_index:0, status, use, " RUN_COLUMNS ", sha256, note";

static const char sample_columns[] =
	"file, run_index:0, step:0, metric, value, wall_s:3, train_ms, line:0";

/* A row a run, with all keys of `parse` and its group. */
static int put_runs(FILE *stream, enum out_format format, const struct board *board)
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

static void put_sample(struct out *out, const char *file, unsigned int run_index,
		       const char *metric, const struct sample *s)
{
	cJSON *row = json_new(JCLEAN("file", file), JNUM("run_index", run_index));

	board_add_sample(row, metric, s);
	out_take(out, row);
}

/* One log that is read for its series. */
struct series_of {
	struct out *out;
	const char *file;
};

static void take_sample(void *user, const struct run *run, const struct sample *sample)
{
	const struct series_of *series = user;
	char label[SERIES_LABEL_BYTES];

	put_sample(series->out, series->file, run->run_index,
		   series_label(sample->metric, sample->name, label), sample);
}

static int read_log(const char *path, const struct format_set *formats,
		    const struct run_reader_cb *cb, void *user, struct err *err)
{
	struct run_reader *reader = run_reader_new(formats, cb, user);
	int rc = log_read(path, reader, err);

	run_reader_free(reader);
	return rc;
}

static int samples_of_file(struct out *out, const char *path, const struct format_set *formats,
			   struct err *err)
{
	static const struct run_reader_cb cb = { .on_sample = take_sample };
	struct series_of series = { out, path };

	return read_log(path, formats, &cb, &series, err);
}

static int samples_of_files(struct out *out, char *const *argv, size_t n,
			    const struct format_set *formats, struct err *err)
{
	struct log_paths paths;
	int status = 0;

	log_paths_find(&paths, argv, n);
	for (size_t i = 0; i < paths.n && status == 0; i++)
		if (!paths.v[i].table)
			status = samples_of_file(out, paths.v[i].path, formats, err);
	log_paths_release(&paths);
	return status;
}

/* The series of the database; a run at a time. */
struct stored_series {
	struct out *out;
	struct store *store;
	const char *file; /* pod:path */
	unsigned int run_index;
	struct err *err;
};

static int take_stored(void *user, const struct stored_sample *sample)
{
	const struct stored_series *series = user;

	put_sample(series->out, series->file, series->run_index, sample->metric, &sample->sample);
	return 0;
}

static int samples_of_run(void *user, const struct stored_run *run)
{
	AUTO_TEXT file = xasprintf("%s:%s", run->pod, run->path);
	struct stored_series *series = user;

	series->file = file;
	series->run_index = run->run.run_index;
	return store_each_sample(series->store, run->run_id, NULL, take_stored, series,
				 series->err);
}

/*
 * A row a point: of these logs or, without any, of all runs of the database.
 * -1 with err.
 */
static int put_samples(FILE *stream, enum out_format format, struct context *context,
		       char *const *paths, size_t n_paths, struct err *err)
{
	int status;

	if (n_paths == 0 && context_open(context, CONTEXT_DB, err) != 0)
		return -1;
	struct out *out = out_new(stream, format, sample_columns);
	if (n_paths > 0)
		status = samples_of_files(out, paths, n_paths, context->formats, err);
	else
		status = store_each_run(
			context->store, 0, samples_of_run,
			&(struct stored_series){ .out = out, .store = context->store, .err = err },
			err);
	if (out_free(out) != 0 && status == 0)
		status = err_set(err, ERR_IO, "cannot write the output");
	return status;
}

enum what { WHAT_BOARD, WHAT_RUNS, WHAT_SAMPLES };

static const char *const what_words[] = { "board", "runs", "samples", NULL };

struct export_call {
	struct board_call board;
	enum out_format format;
	enum what what;
	const char *out;
};

static const struct export_call export_defaults = { .format = OUT_JSON };

static const struct cmd_option export_options[] = {
	BOARD_ASK_OPTIONS,
	CMD_OUTPUT_OPTIONS(export_call),
	{ 0, "what", "WORD", "board (default), runs or samples", CMD_CHOICE,
	  CMD_AT(export_call, what), .words = what_words },
	{ 0, "out", "DIR", "all of it into this new folder", CMD_TEXT, CMD_AT(export_call, out) },
	CMD_OPTIONS_END,
};

/* One thing in one form, to stream. */
static int put(const struct cmd_args *args, const struct export_call *call,
	       const struct board_built *built, FILE *stream, struct err *err)
{
	const struct board_look look = { .all_tests = true };

	if (call->what == WHAT_SAMPLES)
		return put_samples(stream, call->format, args->context, args->argv,
				   (size_t)args->argc, err);
	if (call->what == WHAT_BOARD)
		board_print(stream, &built->board,
			    call->format == OUT_TABLE ? OUT_JSON : call->format, &look);
	else if (put_runs(stream, call->format, &built->board) != 0)
		return err_set(err, ERR_IO, "cannot write the output");
	return 0;
}

/* Every file of the folder. */
static int put_folder(const struct cmd_args *args, struct export_call *call,
		      const struct board_built *built, struct err *err)
{
	static const struct {
		const char *name;
		enum what what;
		enum out_format format;
	} files[] = {
		{ "board.json", WHAT_BOARD, OUT_JSON }, { "board.csv", WHAT_BOARD, OUT_CSV },
		{ "board.md", WHAT_BOARD, OUT_MD },	{ "runs.json", WHAT_RUNS, OUT_JSON },
		{ "runs.csv", WHAT_RUNS, OUT_CSV },	{ "samples.csv", WHAT_SAMPLES, OUT_CSV },
	};

	if (new_folder_make(call->out, err) != 0)
		return -1;
	for (size_t i = 0; i < LENGTH(files); i++) {
		char *path;
		FILE *stream = new_folder_create(call->out, files[i].name, &path, err);

		if (stream == NULL)
			return -1;
		call->what = files[i].what;
		call->format = files[i].format;
		int status = put(args, call, built, stream, err);
		if (new_folder_finish(stream, path, status == 0 ? err : NULL) != 0 || status != 0)
			return -1;
	}
	return 0;
}

static int exec_export(struct cmd_args *args, void *opaque, struct err *err)
{
	struct export_call *call = opaque;
	int status;

	if (call->what == WHAT_SAMPLES && call->out == NULL)
		return put(args, call, NULL, stdout, err);
	struct board_built *built = board_ask_build(args, &call->board, err);
	if (built == NULL)
		return -1;
	if (built->input.n_runs == 0)
		status = err_set(err, ERR_NODATA, "export: no run found in the given paths");
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
	.options = export_options,
	.size = sizeof(struct export_call),
	.defaults = &export_defaults,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_export,
};

static const struct cmd_option diff_options[] = {
	CMD_FORMAT_OPTION,
	CMD_OPTIONS_END,
};

/* A log that is read twice: for where its last run begins, and for that. */
struct diff_side {
	struct run_text text;
	uint64_t first_line;
};

static void diff_on_line(void *user, uint64_t line, struct str text, enum line_class class)
{
	struct diff_side *side = user;

	if (line == side->first_line)
		run_text_next_run(&side->text);
	run_text_line(&side->text, text, class);
}

static void diff_on_run(void *user, const struct run *run)
{
	((struct diff_side *)user)->first_line = run->first_line;
}

static int read_side(struct diff_side *side, const char *path, const struct format_set *formats,
		     struct err *err)
{
	static const struct run_reader_cb where = { .on_run = diff_on_run };
	static const struct run_reader_cb what = { .on_line = diff_on_line };

	if (read_log(path, formats, &where, side, err) != 0 ||
	    read_log(path, formats, &what, side, err) != 0)
		return err_prefix(err, "diff");
	if (side->text.n == 0 && side->text.source.len == 0)
		return err_set(err, ERR_NODATA, "diff: %s prints neither settings nor a script",
			       path);
	return 0;
}

static int exec_diff(struct cmd_args *args, void *opaque, struct err *err)
{
	AUTO_BUF out = buf_new(SIZE_MAX / 2);
	struct diff_side sides[2] = { { .first_line = 0 } };
	int status = 0;

	(void)opaque;
	for (int i = 0; i < 2; i++)
		run_text_init(&sides[i].text);
	for (int i = 0; i < 2 && status == 0; i++)
		status = read_side(&sides[i], args->argv[i], args->context->formats, err);
	if (status == 0) {
		run_diff_print(&sides[0].text, &sides[1].text, &out);
		status = cmd_print(&out, err);
	}
	for (int i = 0; i < 2; i++)
		run_text_release(&sides[i].text);
	return status;
}

const struct cmd cmd_diff = {
	.name = "diff",
	.usage = "[OPTIONS] LOG LOG",
	.summary = "settings and training scripts in which two runs differ",
	.help = "Of each log the last run. Settings are what it prints as "
		"`name: value` or\n`name=value` before its first row with a "
		"loss; those that differ come first.\nThen the scripts that "
		"were printed into the logs, as a unified diff. In the\n"
		"dashboard Compare shows the same by the key of `diff`.",
	.options = diff_options,
	.least = 2,
	.most = 2,
	.wants = "name two logs",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_diff,
};
