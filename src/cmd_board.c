/* SPDX-License-Identifier: MIT */
/* `board`: the leaderboard over seeds, of the given logs. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "board_input.h"
#include "board_print.h"
#include "cmd.h"
#include "conf.h"
#include "out.h"
#include "stored.h"

#define DEFAULT_TRACK "parameter-golf-10min"
#define MIN_COLUMNS   40
#define MAX_COLUMNS   1000
#define MAX_VALUES    64

enum board_option {
	OPT_JSON,
	OPT_CSV,
	OPT_MD,
	OPT_GROUP_BY,
	OPT_BASELINE,
	OPT_VALUES,
	OPT_NATS,
	OPT_TRACK,
	OPT_SCORE,
	OPT_FORMAT,
	OPT_SUMMARY,
	OPT_ALL_TESTS,
	OPT_FAIL_ON,
};

static const struct cmd_option option_list[] = {
	CMD_OUTPUT_OPTIONS,
	{ 0, "group-by", "RULE",
	  "dirname, file, source, pod, or a pattern that captures it" },
	{ 0, "baseline", "WHAT",
	  "a group, a log, a table or a folder, or [NAME=]v1,v2,.." },
	{ 0, "values", "LIST", "[NAME=]v1,v2,..: a group of bare scores" },
	{ 0, "nats-per-bpb", "K", "nats per BPB (default: from the logs)" },
	{ 0, "track", "NAME", "the track, or a file with one" },
	{ 0, "score", "KEY", "rank by another number (quant_bpb, ..)" },
	{ 0, "format", "FILE", "read the rules of this file too" },
	{ 0, "summary", NULL, "one row a group, without its runs" },
	{ 0, "all-tests", NULL, "show tests C to F too" },
	{ 0, "fail-on", "LIST",
	  "exit 3 on: invalid, not-shown, below, unfinished, copies" },
	{ 0, NULL, NULL, NULL },
};

/* What --fail-on may name. */
enum fail_on {
	FAIL_INVALID = 1 << 0,
	FAIL_NOT_SHOWN = 1 << 1,
	FAIL_BELOW = 1 << 2,
	FAIL_UNFINISHED = 1 << 3,
	FAIL_COPIES = 1 << 4,
};

static const struct {
	const char *name;
	unsigned int bit;
} fail_words[] = {
	{ "invalid", FAIL_INVALID },	   { "cap", FAIL_INVALID },
	{ "not-shown", FAIL_NOT_SHOWN },   { "below", FAIL_BELOW },
	{ "unfinished", FAIL_UNFINISHED }, { "copies", FAIL_COPIES },
};

struct call {
	enum out_format format;
	const char *group_by, *baseline, *track, *score;
	const char *values[MAX_VALUES];
	size_t n_values;
	double nats_per_bpb;
	unsigned int fail_on;
	struct board_look look;
	struct format_set *formats; /* owned */
	struct conf conf;	    /* owned */
};

static int
take_fail_on(struct call *call, const char *value, struct err *err)
{
	struct str rest = str_from(value), word;

	while (str_next(&rest, ',', &word)) {
		size_t i = 0, n = sizeof(fail_words) / sizeof(fail_words[0]);

		while (i < n && !str_eq_cstr(word, fail_words[i].name))
			i++;
		if (i == n)
			return err_set(err, ERR_USAGE,
				       "board: --fail-on takes invalid, "
				       "not-shown, below, unfinished, copies, "
				       "with commas between");
		call->fail_on |= fail_words[i].bit;
	}
	return 0;
}

static int
take_nats(struct call *call, const char *value, struct err *err)
{
	if (!str_to_double(str_from(value), &call->nats_per_bpb) ||
	    !(call->nats_per_bpb > 0 && call->nats_per_bpb < 1000))
		return err_set(err, ERR_USAGE,
			       "board: --nats-per-bpb takes a number above 0");
	return 0;
}

static int
take_option(struct call *call, enum board_option option, const char *value,
	    struct err *err)
{
	switch (option) {
	case OPT_JSON:
		call->format = OUT_JSON;
		return 0;
	case OPT_CSV:
		call->format = OUT_CSV;
		return 0;
	case OPT_MD:
		call->format = OUT_MD;
		return 0;
	case OPT_GROUP_BY:
		call->group_by = value;
		return 0;
	case OPT_BASELINE:
		call->baseline = value;
		return 0;
	case OPT_VALUES:
		if (call->n_values == MAX_VALUES)
			return err_set(err, ERR_USAGE,
				       "board: more than %d --values",
				       MAX_VALUES);
		call->values[call->n_values++] = value;
		return 0;
	case OPT_NATS:
		return take_nats(call, value, err);
	case OPT_TRACK:
		call->track = value;
		return 0;
	case OPT_SCORE:
		call->score = value;
		return 0;
	case OPT_FORMAT:
		return format_set_load(call->formats, value, err);
	case OPT_SUMMARY:
		call->look.summary = true;
		return 0;
	case OPT_ALL_TESTS:
		call->look.all_tests = true;
		return 0;
	case OPT_FAIL_ON:
		return take_fail_on(call, value, err);
	}
	return 0;
}

static int
take_options(struct cmd_args *args, struct call *call, struct err *err)
{
	const char *value;
	int option;

	while ((option = cmd_next_option(args, &value, err)) >= 0)
		if (take_option(call, (enum board_option)option, value, err) !=
		    0)
			return -1;
	return option == CMD_OPTIONS_WRONG ? -1 : 0;
}

/* Does any run tell bits per byte? */
static bool
any_bpb(const struct board *board)
{
	for (size_t i = 0; i < board->n_rows; i++)
		if (run_has(board->rows[i]->run.final_bpb))
			return true;
	return false;
}

/* The track of a name: the user's own files come first. */
static int
load_track(struct track *track, const char *name, const struct conf *conf,
	   struct err *err)
{
	for (size_t i = 0; i < conf->tracks.n; i++) {
		if (track_load(track, conf->tracks.v[i], err) != 0)
			return -1;
		if (strcmp(track->name, name) == 0)
			return 0;
		track_release(track);
	}
	return track_load(track, name, err);
}

/*
 * The track that was asked for, else the configuration's, else the one that
 * the logs can be of: without any BPB there is no rule to hold them to.
 */
static int
choose_track(struct board *board, const struct call *call, struct track *track,
	     struct err *err)
{
	const char *name = call->track != NULL ? call->track : call->conf.track;

	if (name == NULL)
		name = any_bpb(board) || call->n_values > 0 ? DEFAULT_TRACK
							    : "open";
	if (load_track(track, name, &call->conf, err) != 0)
		return -1;
	board_set_track(board, track);
	return 0;
}

static int
choose_score(struct board *board, const struct call *call, struct err *err)
{
	struct str name;

	if (call->score == NULL)
		return 0;
	name = str_from(call->score);
	board->score = run_number_by_name(name);
	if (board->score == NULL ||
	    (!str_ends_with(name, "_bpb") && !str_ends_with(name, "_loss")))
		return err_set(err, ERR_USAGE,
			       "board: --score takes a key of a BPB or a loss "
			       "(final_bpb, quant_bpb, final_val_loss, ..)");
	return 0;
}

static void
choose_nats(struct board *board, const struct call *call)
{
	if (run_has(call->nats_per_bpb)) {
		board->nats_per_bpb = call->nats_per_bpb;
		board->nats_source = "--nats-per-bpb";
	} else if (call->baseline == NULL &&
		   run_has(call->conf.baseline.nats_per_bpb)) {
		board->nats_per_bpb = call->conf.baseline.nats_per_bpb;
		board->nats_source = "the configuration";
	}
}

/* The baseline of the configuration, in the unit of the board's score. */
static int
baseline_of_conf(struct board_input *input, const struct conf_baseline *from,
		 struct err *err)
{
	struct board *board = input->board;
	bool loss = board->score != NULL &&
		    !str_ends_with(str_from(board->score->name), "_bpb");
	const double *values = loss ? from->val_loss : from->bpb;
	size_t n = loss ? from->n_val_loss : from->n_bpb;

	if (n == 0 && from->file != NULL)
		return board_input_baseline(input, from->file, err);
	if (n == 0 || from->name == NULL)
		return 0;
	board_add_values(board, from->name, values, n);
	board->groups[board->n_groups - 1].is_baseline = true;
	return 0;
}

static int
choose_baseline(struct board_input *input, const struct call *call,
		struct err *err)
{
	if (call->baseline == NULL)
		return baseline_of_conf(input, &call->conf.baseline, err);
	if (strcmp(call->baseline, "none") == 0)
		return 0;
	return board_input_baseline(input, call->baseline, err);
}

static int
choose_groups(struct board_input *input, const struct call *call,
	      struct err *err)
{
	if (call->group_by != NULL)
		return board_input_group_by(input, call->group_by, err);
	if (call->conf.group_by == CONF_BY_POD)
		return board_input_group_by(input, "pod", err);
	if (call->conf.group_by == CONF_BY_SOURCE)
		return board_input_group_by(input, "source", err);
	if (call->conf.group_by == CONF_BY_PATTERN)
		return board_input_group_by(input, call->conf.group_pattern,
					    err);
	return 0;
}

/* Columns of the screen; 0 where there is none. */
static size_t
screen_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns = 0;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (text == NULL || !str_to_u64(str_from(text), &columns))
		columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
				  ? size.ws_col
				  : 0;
	if (columns == 0 || columns > MAX_COLUMNS)
		return 0;
	return columns < MIN_COLUMNS ? MIN_COLUMNS : (size_t)columns;
}

static bool
wants_color(const char *when)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (strcmp(when, "always") == 0)
		return true;
	return strcmp(when, "never") != 0 && isatty(STDOUT_FILENO) &&
	       (no == NULL || no[0] == '\0') &&
	       (term == NULL || strcmp(term, "dumb") != 0);
}

static void
print_board(const struct board *board, struct call *call, const char *color)
{
	call->look.columns = screen_columns();
	call->look.color = wants_color(color);
	switch (call->format) {
	case OUT_JSON:
		board_print_json(stdout, board, &call->look);
		break;
	case OUT_CSV:
		board_print_csv(stdout, board, &call->look);
		break;
	case OUT_MD:
		board_print_md(stdout, board, &call->look);
		break;
	case OUT_TABLE:
		board_print_table(stdout, board, &call->look);
		break;
	}
}

/* Why the group fails what was asked for; NULL: it does not. */
static const char *
failure_of(const struct board_group *group, unsigned int fail_on)
{
	enum board_word word = group->verdict.word;

	if (group->is_baseline)
		return NULL;
	if ((fail_on & FAIL_INVALID) != 0 && word == BOARD_WORD_INVALID)
		return group->verdict.text;
	if ((fail_on & FAIL_BELOW) != 0 && word == BOARD_WORD_BELOW_BAR)
		return group->verdict.text;
	if ((fail_on & FAIL_NOT_SHOWN) != 0 &&
	    (word != BOARD_WORD_SHOWN ||
	     strstr(group->verdict.text, "UNCHECKED") != NULL))
		return group->verdict.text[0] != '\0' ? group->verdict.text
						      : "not judged";
	if ((fail_on & FAIL_UNFINISHED) != 0 &&
	    group->n_uncounted[BOARD_UNFINISHED] +
			    group->n_uncounted[BOARD_NO_SCORE] >
		    0)
		return "runs that are not finished";
	if ((fail_on & FAIL_COPIES) != 0 &&
	    group->n_uncounted[BOARD_COPY] +
			    group->n_uncounted[BOARD_SAME_RUN] >
		    0)
		return "copies of one run";
	return NULL;
}

/* 3 when a group fails --fail-on, each said on stderr. */
static int
check_failures(const struct board *board, unsigned int fail_on)
{
	int status = 0;

	for (size_t i = 0; i < board->n_groups; i++) {
		const struct board_group *group =
			&board->groups[board->rank[i]];
		const char *why = failure_of(group, fail_on);
		struct buf title;

		if (why == NULL)
			continue;
		buf_init(&title, 4096);
		utf8_sanitize(&title, str_from(group->title));
		(void)fprintf(stderr, "hgym-tui: %s: %s\n", title.data, why);
		buf_release(&title);
		status = err_exit_status(ERR_CHECK);
	}
	return status;
}

static int
read_database(struct board_input *input, const struct cmd_env *env,
	      struct err *err)
{
	struct stored stored;
	int status;

	if (stored_open(&stored, env, err) != 0)
		return -1;
	status = board_input_store(input, stored.store, err);
	stored_close(&stored);
	return status;
}

/* All of the runs, from PATHs or, without one and without --values, stored. */
static int
read_runs(struct cmd_args *args, struct board_input *input,
	  const struct call *call, struct err *err)
{
	if (args->next >= args->argc)
		return call->n_values > 0
			       ? 0
			       : read_database(input, args->env, err);
	board_input_read(input, args->argv + args->next,
			 (size_t)(args->argc - args->next));
	return 0;
}

static int
add_values(struct board_input *input, const struct call *call, struct err *err)
{
	for (size_t i = 0; i < call->n_values; i++) {
		char fallback[32];
		char *name;

		(void)snprintf(fallback, sizeof(fallback), "values %zu", i + 1);
		if (board_input_values(input, call->values[i], fallback, &name,
				       err) != 0)
			return err_prefix(err, "board: --values");
		free(name);
	}
	return 0;
}

static int
run_board(struct cmd_args *args, struct call *call, struct board_input *input,
	  struct track *track, struct err *err)
{
	struct board *board = input->board;
	int status;

	if (choose_groups(input, call, err) != 0 ||
	    read_runs(args, input, call, err) != 0 ||
	    choose_track(board, call, track, err) != 0 ||
	    choose_score(board, call, err) != 0 ||
	    add_values(input, call, err) != 0)
		return -1;
	if (input->n_runs == 0)
		return input->status != 0 ? input->status
					  : err_set(err, ERR_NODATA,
						    "board: no run in what "
						    "was named");
	if (choose_baseline(input, call, err) != 0)
		return -1;
	choose_nats(board, call);
	board_compute(board);
	print_board(board, call, args->env->color);
	if (fflush(stdout) != 0 || ferror(stdout))
		return err_set(err, ERR_IO, "cannot write to stdout");
	status = check_failures(board, call->fail_on);
	return status != 0 ? status : input->status;
}

static int
exec_board(struct cmd_args *args, struct err *err)
{
	struct call call = { .format = OUT_TABLE,
			     .nats_per_bpb = RUN_ABSENT,
			     .formats = format_set_new_builtin() };
	struct track none = { 0 }, track = { 0 };
	struct board board;
	struct board_input input = { .board = &board, .formats = call.formats };
	int status = -1;

	board_init(&board, &none);
	if (take_options(args, &call, err) == 0 &&
	    conf_load(&call.conf, args->env->config_path, err) == 0) {
		status = run_board(args, &call, &input, &track, err);
		conf_release(&call.conf);
	}
	board_release(&board);
	board_input_release(&input);
	track_release(&track);
	format_set_free(call.formats);
	return status;
}

const struct cmd cmd_board = {
	.name = "board",
	.usage = "[OPTIONS] [PATH...]",
	.summary = "leaderboard over seeds, with spreads, tests and verdicts",
	.help = "PATH is a log, a folder of logs, a glob pattern, a table of "
		"runs (.csv, .json,\n.jsonl with the keys of `parse`), or - "
		"for standard input; without a PATH the runs of the "
		"database. A row a\nrun, a summary a group; the best mean "
		"comes first.\n\n"
		"Only finished runs with a score count. Byte-identical logs "
		"and two logs of one\nrun count once. A seed that ran twice is "
		"no second seed: the tests then take\nthe mean of its runs as "
		"one value.\n\n"
		"Tests (p is one-sided: the mean is lower): A one sample "
		"against the bar,\nB Welch against the baseline with the "
		"margin, C one sample against the\nbaseline's mean, D Welch "
		"without the margin, E and F pooled with and without.\nThe bar "
		"is the baseline's mean less the track's margin in nats, or "
		"the track's\ntarget.",
	.options = option_list,
	.exec = exec_board,
};
