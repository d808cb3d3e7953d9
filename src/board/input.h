/* SPDX-License-Identifier: MIT */
#pragma once

#include "board/score_board.h"
#include "context.h"
#include "model/board.h"
#include "parsers/pattern.h"
#include "store/query.h"

/* Reads runs from files and tables into a board. */
struct board_input {
	struct board *board;		  /* borrowed */
	const struct format_set *formats; /* borrowed */
	enum conf_group_by by;
	struct pattern *pattern;   /* owned; for CONF_BY_PATTERN */
	const char *forced_key;	   /* group for all runs; NULL: by `by` */
	struct score_board scores; /* owned; verifiers' scores */
	const struct conf *conf;   /* borrowed; prices of pods */
	double usd_per_hour;	   /* for all runs; 0: from conf */
	size_t n_runs;
	size_t n_files;
	size_t n_empty;	  /* files without a run or a score, each already reported */
	size_t n_dropped; /* runs that exceed BOARD_MAX_ROWS */
	int status;	  /* exit status for the last file that could not be read */
};

/* Group runs by the configuration's rule. */
int board_input_group_conf(struct board_input *input, const struct conf *conf,
			   struct err *err) MUST_USE;
void board_input_release(struct board_input *input);

/* The group of a run in the database; owned by the caller. */
char *board_input_key(const struct board_input *input, const struct stored_run *stored);
/* A leaderboard as a user requests it, from files or the database and the configuration; shared by
 * `board`, `submission` and `export`. */
struct board_ask {
	/* Borrowed.  score_metric replaces the metric of the track's target. */
	const char *group_by, *baseline, *track, *score, *score_metric;
	const char *const *values; /* borrowed */
	size_t n_values;
	const char *const *excluded; /* borrowed; see struct board */
	size_t n_excluded;
	double nats_per_bpb; /* 0: from the configuration or the logs */
	double usd_per_hour; /* 0: from the configuration, for stored runs */
	bool higher;	     /* a higher score is better */
};

struct board_built {
	struct track track, no_track;
	struct board board;	  /* computed */
	struct board_input input; /* with its status */
};

/* Read the runs in the paths, or without paths in the database, which is opened; choose track and
 * baseline, and compute the board.  The context must have configuration and rules.  NULL with err;
 * ERR_NODATA if there is neither a run nor a verifier's score. */
struct board_built *board_build(struct context *context, char *const *paths, size_t n_paths,
				const struct board_ask *ask, struct err *err) MUST_USE;
void board_built_free(struct board_built *built);
