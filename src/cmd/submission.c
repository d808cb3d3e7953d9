/* SPDX-License-Identifier: MIT */
/* `submission`: one group of runs as a folder for a pull request. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "board/submission.h"
#include "cmd/board_ask.h"
#include "report/out.h"

enum submission_option {
	OPT_OUT = ASK_COUNT,
	OPT_GROUP,
	OPT_NAME,
	OPT_AUTHOR,
	OPT_GITHUB,
	OPT_BLURB,
	OPT_HARDWARE,
	OPT_DATE,
	OPT_NO_LOGS,
};

static const struct cmd_option option_list[] = {
	BOARD_ASK_OPTIONS,
	{ 0, "out", "DIR",
	  "make this folder (default: print submission.json)" },
	{ 0, "group", "NAME", "the group to submit" },
	{ 0, "name", "TEXT", "title (default: the group's name)" },
	{ 0, "author", "TEXT", "who submits" },
	{ 0, "github-id", "TEXT", "account" },
	{ 0, "blurb", "TEXT", "a sentence on what it is" },
	{ 0, "hardware", "TEXT", "what it ran on" },
	{ 0, "date", "DATE", "YYYY-MM-DD (default: today, UTC)" },
	{ 0, "no-logs", NULL, "do not copy the logs" },
	{ 0, NULL, NULL, NULL },
};

struct call {
	struct board_ask ask;
	struct submission submission;
	const char *out, *group;
	bool no_logs;
};

/* A day as it is written; nothing is known of months here. */
static int
take_date(struct call *call, const char *value, struct err *err)
{
	static const char shape[] = "dddd-dd-dd";
	size_t i = 0;

	while (shape[i] != '\0' &&
	       (shape[i] == 'd' ? value[i] >= '0' && value[i] <= '9'
				: value[i] == '-'))
		i++;
	if (shape[i] != '\0' || value[i] != '\0')
		return err_set(err, ERR_USAGE,
			       "submission: --date takes YYYY-MM-DD");
	call->submission.date = value;
	return 0;
}

static int
take_option(void *user, int option, const char *value, struct err *err)
{
	struct call *call = user;

	switch ((enum submission_option)option) {
	case OPT_OUT:
		call->out = value;
		break;
	case OPT_GROUP:
		call->group = value;
		break;
	case OPT_NAME:
		call->submission.name = value;
		break;
	case OPT_AUTHOR:
		call->submission.author = value;
		break;
	case OPT_GITHUB:
		call->submission.github_id = value;
		break;
	case OPT_BLURB:
		call->submission.blurb = value;
		break;
	case OPT_HARDWARE:
		call->submission.hardware = value;
		break;
	case OPT_DATE:
		return take_date(call, value, err);
	case OPT_NO_LOGS:
		call->no_logs = true;
		break;
	}
	return 0;
}

/* The group that was named, else the only one that is no baseline. */
static const struct board_group *
choose_group(const struct board *board, const char *name, struct err *err)
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
	err_set(err, n == 0 ? ERR_NODATA : ERR_USAGE,
		"there are %zu groups to submit%s", n,
		n == 0 ? "" : "; name one (--group)");
	return NULL;
}

static void
say(void *user, const char *sentence)
{
	struct buf clean;

	(void)user;
	buf_init(&clean, 4096);
	utf8_sanitize(&clean, str_from(sentence));
	(void)fprintf(stderr, "hgym-tui: submission: %s\n", clean.data);
	buf_release(&clean);
}

static int
print_json(const struct submission *s, struct err *err)
{
	cJSON *root = submission_json(s);
	char *text = cJSON_Print(root);

	(void)printf("%s\n", text);
	cJSON_free(text);
	cJSON_Delete(root);
	return out_flush(err);
}

static int
run_submission(const struct cmd_args *args, struct call *call, struct err *err)
{
	struct board_built *built = board_ask_build(args, &call->ask, err);
	struct submission *s = &call->submission;
	char today[CLOCK_RFC3339_SIZE];
	int status = -1;

	if (built == NULL)
		return -1;
	clock_rfc3339(clock_real.wall_ms(&clock_real), today);
	today[strcspn(today, "T")] = '\0';
	if (s->date == NULL)
		s->date = today;
	s->board = &built->board;
	s->group = choose_group(&built->board, call->group, err);
	if (s->group != NULL)
		submission_find_logs(&built->board, s->group);
	if (s->group == NULL)
		(void)err_prefix(err, "submission");
	else if (call->out == NULL)
		status = print_json(s, err);
	else
		status = submission_write(s, call->out, !call->no_logs, err);
	if (status == 0 && submission_check(s, say, NULL) > 0)
		status = err_exit_status(ERR_CHECK);
	if (status == 0)
		status = built->input.status;
	board_built_free(built);
	return status;
}

static int
exec_submission(struct cmd_args *args, struct err *err)
{
	struct call call = { .out = NULL };

	if (board_ask_options(args, &call.ask, take_option, &call, err) != 0)
		return -1;
	return run_submission(args, &call, err);
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
	.options = option_list,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_submission,
};
