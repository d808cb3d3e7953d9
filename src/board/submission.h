/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "model/board.h"
#include "parsers/json.h"

/*
 * One group of a leaderboard as a submission: submission.json, a README with
 * the results table, and the logs.  Every number is one of the logs; what
 * they do not hold is null and said by the check.
 */
struct submission {
	const struct board *board; /* computed; borrowed, like all below */
	const struct board_group *group;
	const char *name, *author, *github_id, *blurb, *hardware; /* or NULL */
	const char *date;					  /* YYYY-MM-DD */
};

/*
 * Hash the logs of the group that are files here and were not hashed when
 * they were read: those of the database, whose mirrors hold their bytes.
 */
void submission_find_logs(struct board *board, const struct board_group *group);

/* What submission.json holds; owned. */
char *submission_text(const struct submission *s);

/*
 * Hold the group against what reviewers ask for: enough seeds, all finished,
 * no seed twice, caps kept, logs there, an author.  One sentence for each
 * that is not so goes to say; returns how many.
 */
size_t submission_check(const struct submission *s, void (*say)(void *user, const char *sentence),
			void *user);

/*
 * Make the folder (it must not exist, or be empty) with README.md,
 * submission.json and, with logs, a copy of each counted log that is a file
 * here.  A log whose bytes are no more those that were read is an error.
 */
int submission_write(const struct submission *s, const char *folder, bool logs, struct err *err)
	__attribute__((warn_unused_result));
