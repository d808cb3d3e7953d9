/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_TEXT_H
#define HGYM_BOARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "model/board.h"

/*
 * The leaderboard in words and figures, as the table for people and the
 * Markdown share them.
 */
enum board_format {
	FORMAT_NAME,  /* the run's name; text to the left */
	FORMAT_PLAIN, /* 1337 */
	FORMAT_COUNT, /* 15,981,945 */
	FORMAT_FIXED, /* as many decimals as the column says */
	FORMAT_SCORE, /* as many decimals as the log has, 4 to 8 */
	FORMAT_CAPS,  /* a mark a cap */
	FORMAT_NOTE,  /* text to the left */
};

struct board_column {
	const char *title; /* with its unit */
	const char *key;   /* number of a run; NULL: no number */
	enum board_format format;
	int decimals; /* of FORMAT_FIXED */
	double scale; /* the number is multiplied by it */
	int keep;     /* the lowest goes first where the screen is narrow */
};

/* All columns that a board may show, in order; ended by a NULL title. */
extern const struct board_column board_columns[];

/* Does any run of the board fill that column? */
bool board_column_used(const struct board *board,
		       const struct board_column *column);

/*
 * Decimals that the logs of a group print in a column of scores: those of its
 * longest value, 4 to 8; the others are filled up with noughts.
 */
int board_decimals(const struct board *board, const struct board_group *group,
		   const struct board_column *column);

/* The cell of a row; "" for what the row has not. */
void board_cell(struct buf *out, const struct board_column *column,
		const struct board_group *group, const struct board_row *row,
		int decimals);

/* The cell of the row of means. */
void board_mean_cell(struct buf *out, const struct board_column *column,
		     const struct board_group *group, int decimals);

/* A mark for each cap; plain: letters rather than check marks. */
void board_caps(struct buf *out, const enum board_kept *caps, bool plain);

/* "caps: bytes kept (at most 15,984,387 of 16,000,000), ..."; "" if none. */
void board_caps_line(struct buf *out, const struct board *board,
		     const struct board_group *group);

/* "parameter-golf-10min: train 600 s, ...": the track and its rule. */
void board_track_line(struct buf *out, const struct track *track);

/* "sample sd 0.0004.., population sd .., standard error ..". */
void board_spread_line(struct buf *out, const struct board_group *group);

/* "3 runs, 3 seeds" and what does not count. */
void board_count_line(struct buf *out, const struct board_group *group);

/* "vs NAME: -0.0034 BPB, -0.0076 nats (2.188 nats/BPB, given)". */
void board_delta_line(struct buf *out, const struct board *board,
		      const struct board_group *group);

/* "bar 1.0588 = mean of NAME less 0.005 nats". */
void board_bar_line(struct buf *out, const struct board *board,
		    const struct board_group *group);

/* The z test with the track's known spread; "" where it has none. */
void board_z_line(struct buf *out, const struct board *board,
		  const struct board_group *group);

/* Mean and spread of the training time; "" where a run has none. */
void board_time_line(struct buf *out, const struct board *board,
		     const struct board_group *group);

/* What test `test` asks, in a few words. */
const char *board_test_words(const struct track *track, enum track_test test);

/* "t = -4.9720, df 2, one-sided p = 0.0191 (two-sided 0.0382)". */
void board_test_line(struct buf *out, const struct board_test *test);

/* "seeds in both: 42 (-0.0025), 0 (-0.0032)"; "" when there are none. */
void board_common_line(struct buf *out, const struct board_group *group);

#endif
