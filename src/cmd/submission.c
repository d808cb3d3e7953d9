/* SPDX-License-Identifier: MIT */
/* `submission`: one group of runs as a folder for a pull request. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "board/submission.h"
#include "cmd/board_ask.h"

struct call {
	struct board_call board;
	struct submission submission;
	const char *out, *group;
	bool no_logs;
};

/* A day as it is written; nothing is known of months here. */
static int
take_date(void *opaque, const char *value, struct err *err)
{
	static const char shape[] = "dddd-dd-dd";
	struct call *call = opaque;
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

static const struct cmd_option options[] = {
	BOARD_ASK_OPTIONS,
	{ 0, "out", "DIR", "make this folder (default: print submission.json)",
	  CMD_TEXT, CMD_AT(call, out) },
	{ 0, "group", "NAME", "the group to submit", CMD_TEXT,
	  CMD_AT(call, group) },
	{ 0, "name", "TEXT", "title (default: the group's name)", CMD_TEXT,
	  CMD_AT(call, submission.name) },
	{ 0, "author", "TEXT", "who submits", CMD_TEXT,
	  CMD_AT(call, submission.author) },
	{ 0, "github-id", "TEXT", "account", CMD_TEXT,
	  CMD_AT(call, submission.github_id) },
	{ 0, "blurb", "TEXT", "a sentence on what it is", CMD_TEXT,
	  CMD_AT(call, submission.blurb) },
	{ 0, "hardware", "TEXT", "what it ran on", CMD_TEXT,
	  CMD_AT(call, submission.hardware) },
	{ 0, "date", "DATE", "YYYY-MM-DD (default: today, UTC)", CMD_TAKE,
	  .take = take_date },
	{ 0, "no-logs", NULL, "do not copy the logs", CMD_FLAG,
	  CMD_AT(call, no_logs) },
	CMD_OPTIONS_END,
};

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
say_missing(void *user, const char *sentence)
{
	char *text = xasprintf("submission: %s", sentence);

	(void)user;
	say_error(text);
	free(text);
}

static int
print_json(const struct submission *s, struct err *err)
{
	cJSON *root = submission_json(s);
	char *text = cJSON_Print(root);

	(void)printf("%s\n", text);
	cJSON_free(text);
	cJSON_Delete(root);
	return cmd_flush(err);
}

static int
exec_submission(struct cmd_args *args, void *opaque, struct err *err)
{
	struct call *call = opaque;
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
	.options = options,
	.size = sizeof(struct call),
	.most = CMD_ANY,
	.needs = CONTEXT_CONF | CONTEXT_FORMATS,
	.exec = exec_submission,
};
