/* SPDX-License-Identifier: MIT */
/* `board`, `submission`, `export` and `diff`. */
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "board/input.h"
#include "board/print.h"
#include "board/submission.h"
#include "cmd/cmd.h"
#include "model/run_diff.h"
#include "parsers/run_series.h"
#include "report/new_folder.h"
#include "report/run_columns.h"

static const char *const board_group_words[] = { "dirname", "file", "source", "pod", NULL };

/* Options that select and group the runs; the first member of three structs of options. */
struct board_call {
	struct board_ask ask;
	struct cmd_list values, excluded;
};

#define BOARD_ASK_OPTIONS                                                                          \
	CMD_ROW("group-by", "RULE", "dirname, file, source, pod, or a pattern with a group",       \
		CMD_TEXT, board_call, ask.group_by, .words = board_group_words,                    \
		.heading = "runs"),                                                                \
		CMD_ROW("baseline", "WHAT",                                                        \
			"compare with this: a group, log, table, folder, or [NAME=]v1,v2,..",      \
			CMD_TEXT, board_call, ask.baseline),                                       \
		CMD_ROW("values", "LIST", "add a group of bare scores: [NAME=]v1,v2,..", CMD_LIST, \
			board_call, values),                                                       \
		CMD_ROW("exclude", "RUN",                                                          \
			"leave out a run used for tuning (its path, or the end of it)", CMD_LIST,  \
			board_call, excluded),                                                     \
		CMD_ROW("nats-per-bpb", "K", "nats per BPB (default: from the logs)",              \
			CMD_POSITIVE, board_call, ask.nats_per_bpb, .high = 1000),                 \
		CMD_ROW("usd-per-hour", "X",                                                       \
			"price of a run's pod (default: the configuration's)", CMD_POSITIVE,       \
			board_call, ask.usd_per_hour, .high = 1e6),                                \
		CMD_ROW("track", "NAME", "check runs against this contest's caps (name or file)",  \
			CMD_TEXT, board_call, ask.track),                                          \
		CMD_ROW("score", "NAME", "rank by another number (quant_bpb, ..) or metric",       \
			CMD_TEXT, board_call, ask.score),                                          \
		CMD_ROW("score-metric", "NAME",                                                    \
			"metric that the track's target applies to (val_ema_loss, ..)", CMD_TEXT,  \
			board_call, ask.score_metric),                                             \
		CMD_ROW("higher", NULL, "a higher score is better", CMD_FLAG, board_call,          \
			ask.higher),                                                               \
		CMD_FORMAT_OPTION

/* Bits of --fail-on, in the order of fail_words; invalid and cap mean the same. */
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
	{ 0, "summary", NULL, "print one row per group, without its runs", CMD_FLAG,
	  CMD_AT(board_print_call, look.summary), .heading = "output" },
	{ 0, "all-tests", NULL, "show tests C to F too", CMD_FLAG,
	  CMD_AT(board_print_call, look.all_tests) },
	{ 0, "fail-on", "LIST", "exit 3 on: invalid, not-shown, below, unfinished, copies", CMD_SET,
	  CMD_AT(board_print_call, fail_on), .words = fail_words },
	CMD_OUTPUT_OPTIONS(board_print_call),
	CMD_OPTIONS_END,
};

/* Build the leaderboard that options and arguments ask for; NULL with err. */
static struct board_built *build_board(const struct cmd_args *args, struct board_call *call,
				       struct err *err)
{
	call->ask.values = call->values.v;
	call->ask.n_values = call->values.n;
	call->ask.excluded = call->excluded.v;
	call->ask.n_excluded = call->excluded.n;
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

/* Return why the group fails --fail-on; NULL if it passes. */
static const char *find_failure(const struct board_group *group, unsigned int fail_on)
{
	enum board_word word = group->verdict.word;

	if (group->is_baseline)
		return NULL;
	if ((fail_on & FAIL_INVALID) != 0 && word == BOARD_WORD_INVALID)
		return group->verdict.text;
	if ((fail_on & FAIL_BELOW) != 0 && word == BOARD_WORD_BELOW_BAR)
		return group->verdict.text;
	if ((fail_on & FAIL_NOT_SHOWN) != 0 &&
	    (word != BOARD_WORD_SHOWN || group->verdict.is_provisional ||
	     strstr(group->verdict.text, "UNCHECKED") != NULL))
		return group->verdict.text[0] != '\0' ? group->verdict.text : "not judged";
	if ((fail_on & FAIL_UNFINISHED) != 0 &&
	    group->n_uncounted[BOARD_UNFINISHED] + group->n_uncounted[BOARD_NO_SCORE] > 0)
		return "has runs that did not finish";
	if ((fail_on & FAIL_COPIES) != 0 &&
	    group->n_uncounted[BOARD_COPY] + group->n_uncounted[BOARD_SAME_RUN] > 0)
		return "has copies of one run";
	return NULL;
}

static int exec_board(struct cmd_args *args, void *opaque, struct err *err)
{
	struct board_print_call *call = opaque;
	struct board_built *built = build_board(args, &call->board, err);

	if (built == NULL)
		return -1;
	struct board_input *input = &built->input;
	call->look.columns = cmd_columns();
	call->look.color = wants_color(args->context->options.color);
	if (input->n_runs > 0)
		board_print(stdout, &built->board, call->format, &call->look);
	/* The scores of verifiers come after the runs. */
	if (input->n_runs > 0 && input->scores.n > 0 && call->format != OUT_JSON)
		(void)putchar('\n');
	(void)score_board_print(&input->scores, stdout, call->format);
	int status = cmd_flush(err), failed = 0;
	board_each_ranked (group, &built->board) {
		const char *why = status == 0 ? find_failure(group, call->fail_on) : NULL;

		if (why == NULL)
			continue;
		say_error("%s: %s", group->title, why);
		failed = err_exit_status(ERR_CHECK);
	}
	if (status == 0)
		status = failed != 0 ? failed : input->status;
	board_built_free(built);
	return status;
}

const struct cmd cmd_board = {
	.name = "board",
	.usage = "[OPTIONS] [PATH...]",
	.summary = "rank groups of seeds: means, spread, tests, caps",
	CMD_OPTIONS(board_options, board_print_call),
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

static int take_date(void *opaque, const char *value, struct err *err)
{
	struct submission_call *call = opaque;
	struct tm day = { 0 };
	const char *end = strptime(value, "%Y-%m-%d", &day);

	if (end == NULL || *end != '\0' || strcspn(value, " ") != strlen("YYYY-MM-DD"))
		return err_set(err, ERR_USAGE, "submission: --date %s: expected YYYY-MM-DD", value);
	call->submission.date = value;
	return 0;
}

static const struct cmd_option submission_options[] = {
	BOARD_ASK_OPTIONS,
	{ 0, "group", "NAME", "group to submit (default: the only one besides the baseline)",
	  CMD_TEXT, CMD_AT(submission_call, group), .heading = "submission" },
	{ 0, "out", "DIR", "create this folder (default: print submission.json)", CMD_TEXT,
	  CMD_AT(submission_call, out) },
	{ 0, "name", "TEXT", "title (default: the group's name)", CMD_TEXT,
	  CMD_AT(submission_call, submission.name) },
	{ 0, "author", "TEXT", "your name", CMD_TEXT, CMD_AT(submission_call, submission.author) },
	{ 0, "github-id", "TEXT", "your GitHub account", CMD_TEXT,
	  CMD_AT(submission_call, submission.github_id) },
	{ 0, "blurb", "TEXT", "one sentence that describes the submission", CMD_TEXT,
	  CMD_AT(submission_call, submission.blurb) },
	{ 0, "hardware", "TEXT", "hardware of the runs", CMD_TEXT,
	  CMD_AT(submission_call, submission.hardware) },
	{ 0, "date", "DATE", "YYYY-MM-DD (default: today, UTC)", CMD_TAKE, .take = take_date },
	{ 0, "no-logs", NULL, "do not copy the logs", CMD_FLAG, CMD_AT(submission_call, no_logs) },
	CMD_OPTIONS_END,
};

/* Return the named group, or else the only one that is not the baseline. */
static const struct board_group *choose_group(const struct board *board, const char *name,
					      struct err *err)
{
	size_t n = array_count(group, board->groups, board->n_groups, !group->is_baseline);

	if (name != NULL)
		return board_find_group(board, name, err);
	if (n == 1)
		return array_find(group, board->groups, board->n_groups, !group->is_baseline);
	if (n == 0)
		err_set(err, ERR_NODATA, "no group to submit");
	else
		err_set(err, ERR_USAGE, "found %zu groups; choose one with --group NAME", n);
	return NULL;
}

static void print_open_question(UNUSED void *user, const char *sentence)
{
	say_error("submission: %s", sentence);
}

static int exec_submission(struct cmd_args *args, void *opaque, struct err *err)
{
	struct submission_call *call = opaque;
	struct board_built *built = build_board(args, &call->board, err);
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
			      "--score %s: expected a BPB or a loss "
			      "(final_bpb, quant_bpb, final_val_loss, ..)",
			      built->board.chosen_name);
	else
		s->group = choose_group(&built->board, call->group, err);
	if (s->group != NULL)
		submission_find_logs(&built->board, s->group);
	if (s->group == NULL)
		(void)err_prefix(err, "submission");
	else if (call->out != NULL)
		status = submission_write(s, call->out, !call->no_logs, err);
	else {
		AUTO_TEXT text = submission_text(s);

		(void)fputs(text, stdout);
		status = cmd_flush(err);
	}
	if (status == 0 && submission_check(s, print_open_question, NULL) > 0)
		status = err_exit_status(ERR_CHECK);
	if (status == 0)
		status = built->input.status;
	board_built_free(built);
	return status;
}

const struct cmd cmd_submission = {
	.name = "submission",
	.usage = "[OPTIONS] [PATH...]",
	.summary = "write the pull-request folder for one group of seeds",
	CMD_OPTIONS(submission_options, submission_call),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_submission,
};

static const char run_columns[] =
	"group, file, run_index:0, status, use, " RUN_COLUMNS ", sha256, note";

static const char sample_columns[] =
	"file, run_index:0, step:0, metric, value, wall_s:3, train_ms, line:0";

static void put_sample(struct out *out, const char *file, unsigned int run_index,
		       const char *metric, const struct sample *s)
{
	cJSON *row = json_new(JCLEAN("file", file), JNUM("run_index", run_index));

	board_add_sample(row, metric, s);
	out_take(out, row);
}

/* Where samples are written; file and run_index identify the current run. */
struct series_of {
	struct out *out;
	struct store *store;
	const char *file; /* in the database: pod:path */
	unsigned int run_index;
	struct err *err;
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

static int take_stored_sample(void *user, const struct stored_sample *sample)
{
	const struct series_of *series = user;

	put_sample(series->out, series->file, series->run_index, sample->metric, &sample->sample);
	return 0;
}

static int put_stored_run(void *user, const struct stored_run *run)
{
	AUTO_TEXT file = xasprintf("%s:%s", run->pod, run->path);
	struct series_of *series = user;

	series->file = file;
	series->run_index = run->run.run_index;
	return store_each_sample(series->store, run->run_id, NULL, take_stored_sample, series,
				 series->err);
}

/* Print a row per sample of the logs or, without any, of the runs in the database; -1 with err. */
static int put_samples(FILE *stream, enum out_format format, struct context *context,
		       char *const *paths, size_t n_paths, struct err *err)
{
	static const struct run_reader_cb cb = { .on_sample = take_sample };
	struct log_paths logs = { .n = 0 };
	int status = 0;

	if (n_paths == 0 && context_open(context, CONTEXT_DB, err) != 0)
		return -1;
	struct out *out = out_new(stream, format, sample_columns);
	struct series_of series = { .out = out, .store = context->store, .err = err };
	if (n_paths > 0)
		log_paths_find(&logs, paths, n_paths);
	else
		status = store_each_run(context->store, 0, put_stored_run, &series, err);
	for (size_t i = 0; i < logs.n && status == 0; i++) {
		series.file = logs.v[i].path;
		if (!logs.v[i].table && (logs.v[i].named || file_packed_end(series.file) == NULL))
			status = read_log(series.file, context->formats, &cb, &series, err);
	}
	log_paths_release(&logs);
	if (out_free(out) != 0 && status == 0)
		status = stream == stdout ? cmd_flush(err)
					  : err_set(err, ERR_IO, "cannot write the samples");
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
	{ 0, "what", "WORD", "board (default), runs or samples", CMD_CHOICE,
	  CMD_AT(export_call, what), .words = what_words, .heading = "output" },
	{ 0, "out", "DIR", "write everything, in all formats, to this new folder", CMD_TEXT,
	  CMD_AT(export_call, out) },
	CMD_OUTPUT_OPTIONS(export_call),
	CMD_OPTIONS_END,
};

static int export_to(const struct cmd_args *args, const struct export_call *call,
		     const struct board_built *built, FILE *stream, struct err *err)
{
	const struct board_look look = { .all_tests = true };

	if (call->what == WHAT_SAMPLES)
		return put_samples(stream, call->format, args->context, args->argv,
				   (size_t)args->argc, err);
	if (call->what == WHAT_BOARD) {
		board_print(stream, &built->board,
			    call->format == OUT_TABLE ? OUT_JSON : call->format, &look);
		return 0;
	}
	struct out *out = out_new(stream, call->format, run_columns);
	array_each (at, built->board.rows, built->board.n_rows) {
		cJSON *object = board_row_json(&built->board, *at);

		json_add_clean(object, "group", built->board.groups[(*at)->group].key);
		out_take(out, object);
	}
	if (out_free(out) == 0)
		return 0;
	return stream == stdout ? cmd_flush(err) : err_set(err, ERR_IO, "cannot write the runs");
}

static int export_folder(const struct cmd_args *args, struct export_call *call,
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
	AUTO_TEXT partial = new_folder_make(call->out, err);
	int status = partial != NULL ? 0 : -1;

	for (size_t i = 0; i < LENGTH(files) && status == 0; i++) {
		char *path;
		FILE *stream = new_folder_create(partial, files[i].name, &path, err);

		if (stream == NULL) {
			status = -1;
			break;
		}
		call->what = files[i].what;
		call->format = files[i].format;
		status = export_to(args, call, built, stream, err);
		if (new_folder_finish(stream, path, status == 0 ? err : NULL) != 0 || status != 0)
			status = -1;
	}
	return partial != NULL ? new_folder_end(partial, call->out, status, err) : -1;
}

static int exec_export(struct cmd_args *args, void *opaque, struct err *err)
{
	struct export_call *call = opaque;
	int status;

	if (call->what == WHAT_SAMPLES && call->out == NULL)
		return export_to(args, call, NULL, stdout, err);
	struct board_built *built = build_board(args, &call->board, err);
	if (built == NULL)
		return -1;
	if (built->input.n_runs == 0)
		status = err_set(err, ERR_NODATA, "export: no run found in the given paths");
	else if (call->out != NULL)
		status = export_folder(args, call, built, err);
	else
		status = export_to(args, call, built, stdout, err);
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
	.summary = "write leaderboard, runs or series as JSON, CSV or Markdown",
	CMD_OPTIONS(export_options, export_call),
	.defaults = &export_defaults,
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_export,
};

static const struct cmd_option diff_options[] = {
	CMD_FORMAT_OPTION,
	CMD_OPTIONS_END,
};

/* A log is read twice: first to find where its last run starts, then to collect that run. */
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
		return err_set(err, ERR_NODATA,
			       "diff: %s contains neither settings nor a training script", path);
	return 0;
}

static int exec_diff(struct cmd_args *args, UNUSED void *opaque, struct err *err)
{
	AUTO_BUF out = buf_new(SIZE_MAX / 2);
	struct diff_side sides[2] = { { .first_line = 0 } };
	int status = 0;

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
	.summary = "compare the settings and source code of two runs",
	.options = diff_options,
	.least = 2,
	.most = 2,
	.wants = "give two logs",
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_diff,
};
