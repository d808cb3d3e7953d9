/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/score_json.h"
#include "report/out.h"

/* Verifiers' scores, shown after the leaderboard of training runs: one group per folder (or per
 * --group-by) and kind of work, which is task, mode, score key, warm-up and repeats. dev and final
 * are never mixed. The median covers valid scores; no verdict is given. */
struct score_group {
	char *key;	/* owned, raw bytes; the folder */
	char *work;	/* owned; kind of work */
	double *values; /* owned; valid scores */
	size_t n, cap;
	double median; /* set while printing; NAN: no valid score */
	unsigned int invalid;
};

struct score_board {
	struct score_group *groups; /* owned */
	size_t n, cap;
};

void score_board_add(struct score_board *board, const char *key, const struct score_row *row);
/* Print one row per group, by work, then by median; -1 if the stream had an error. */
int score_board_print(struct score_board *board, FILE *stream, enum out_format format);
void score_board_release(struct score_board *board);
