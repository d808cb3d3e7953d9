/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_FACTS_H
#define HGYM_BOARD_FACTS_H

#include "model/board.h"
#include "report/facts.h"

/*
 * A computed leaderboard as facts, which its text, its Markdown, its CSV and
 * the Board view print: one column or sentence is written here once.
 */

/* Its tables; all groups in the order of their rank. */
enum board_table {
	BOARD_TABLE_GROUPS, /* a row a group */
	BOARD_TABLE_ALL,    /* the same, and below each group its runs */
	BOARD_TABLE_CSV,    /* the runs of a group, then the group */
	BOARD_TABLE_COUNT
};
void board_facts_table(struct facts *facts, const struct board *board,
		       enum board_table table);
/* The groups of BOARD_TABLE_CSV, without their runs. */
void board_facts_csv_groups(struct facts *facts, const struct board *board);

/* The track and its rule, what the marks of caps mean. */
void board_facts_track(struct facts *facts, const struct track *track);
/* What is said of a group: mean and spread, caps, tests .. (all: C to F too);
 * a list of labelled facts of the section at hand. */
void board_facts_said(struct facts *facts, const struct board *board,
		      const struct board_group *group, bool all_tests);
/* A group under a title of its own: verdict, runs, what is said of it. */
void board_facts_group(struct facts *facts, const struct board *board,
		       const struct board_group *group, const char *title,
		       bool all_tests);
/* Track and groups: the whole document. */
void board_facts(struct facts *facts, const struct board *board,
		 bool all_tests);

/* Is that the key of a column of BOARD_TABLE_CSV? */
bool board_facts_is_key(const char *key);

#endif
