/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/board.h"
#include "parsers/json.h"

/* A group of a leaderboard as a submission: submission.json, a README with the results table, and
 * the logs. Every number comes from a log. A missing number is null, and the check reports it. */
struct submission {
	const struct board *board; /* computed; all members are borrowed */
	const struct board_group *group;
	const char *name, *author, *github_id, *blurb, *hardware; /* or NULL */
	const char *date;					  /* YYYY-MM-DD */
};

/* Hash the group's logs that were not hashed when read: logs in the database with a local copy. */
void submission_find_logs(struct board *board, const struct board_group *group);

/* The contents of submission.json; owned. */
char *submission_text(const struct submission *s);

/* Check the group for what reviewers ask for: enough seeds, all finished, no repeated seed, caps
 * kept, logs present, an author.  Calls `say` for each missing item; returns their number. */
size_t submission_check(const struct submission *s, void (*say)(void *user, const char *sentence),
			void *user);

/* Create the folder (it must not exist, or be empty) with README.md, submission.json and, if
 * `logs`, a copy of each counted local log. Fails if a log has changed since it was read. */
int submission_write(const struct submission *s, const char *folder, bool logs,
		     struct err *err) MUST_USE;
