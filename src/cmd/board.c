/* SPDX-License-Identifier: MIT */
/* `board`: the leaderboard over seeds, of the given logs. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/say.h"
#include "base/xalloc.h"
#include "board/print.h"
#include "cmd/board_ask.h"

#define MIN_COLUMNS 40
#define MAX_COLUMNS 1000

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
	struct board_call board;
	enum out_format format;
	unsigned int fail_on;
	struct board_look look;
};

static int
take_fail_on(void *opaque, const char *value, struct err *err)
{
	struct call *call = opaque;
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

static const struct cmd_option options[] = {
	BOARD_ASK_OPTIONS,
	CMD_OUTPUT_OPTIONS(call),
	{ 0, "summary", NULL, "one row a group, without its runs", CMD_FLAG,
	  CMD_AT(call, look.summary) },
	{ 0, "all-tests", NULL, "show tests C to F too", CMD_FLAG,
	  CMD_AT(call, look.all_tests) },
	{ 0, "fail-on", "LIST",
	  "exit 3 on: invalid, not-shown, below, unfinished, copies", CMD_TAKE,
	  .take = take_fail_on },
	CMD_OPTIONS_END,
};

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
	board_print(stdout, board, call->format, &call->look);
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
		char *text;

		if (why == NULL)
			continue;
		text = xasprintf("%s: %s", group->title, why);
		say_error(text);
		free(text);
		status = err_exit_status(ERR_CHECK);
	}
	return status;
}

static int
exec_board(struct cmd_args *args, void *opaque, struct err *err)
{
	struct call *call = opaque;
	struct board_built *built = board_ask_build(args, &call->board, err);
	struct board_input *input;
	int status;

	if (built == NULL)
		return -1;
	input = &built->input;
	if (input->n_runs > 0)
		print_board(&built->board, call, args->context->options.color);
	/* The verifiers' scores, behind the runs. */
	if (input->n_runs > 0 && input->scores.n > 0 &&
	    call->format != OUT_JSON)
		(void)putchar('\n');
	(void)score_board_print(&input->scores, stdout, call->format);
	status = cmd_flush(err);
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
		"Tests (p is one-sided: the mean is lower): A one sample "
		"against the bar,\nB Welch against the baseline with the "
		"margin, C one sample against the\nbaseline's mean, D Welch "
		"without the margin, E and F pooled with and without.\nThe bar "
		"is the baseline's mean less the track's margin in nats, or "
		"the track's\ntarget. A trainer looks at its clock between "
		"steps: a cap on training that is\npassed by no more than the "
		"steps that the track grants is kept, and marked ~.",
	.options = options,
	.size = sizeof(struct call),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_board,
};
