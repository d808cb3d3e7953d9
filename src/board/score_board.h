/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/score_json.h"
#include "report/out.h"

/*
 * Verifiers' scores beside the leaderboard of training runs: one group for
 * each folder (or what --group-by says) and each kind of work, which is task,
 * mode, score key, warm-up and repeats.  dev and final never meet.  Only
 * scores that count make the median; no verdict is drawn from them here.
 */
struct score_group {
	char *key;	/* owned, raw bytes: the folder */
	char *work;	/* owned: what was measured */
	double *values; /* owned: scores that count */
	size_t n, cap;
	double median; /* NAN: of none; while it is printed */
	unsigned int invalid;
};

struct score_board {
	struct score_group *groups; /* owned */
	size_t n, cap;
};

void score_board_add(struct score_board *board, const char *key, const struct score_row *row);
/* A row a group, by work, then by median; -1 when the stream had an error. */
int score_board_print(struct score_board *board, FILE *stream, enum out_format format);
void score_board_release(struct score_board *board);
