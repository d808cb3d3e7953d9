/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_BUILD_H
#define HGYM_BOARD_BUILD_H

#include "board/input.h"
#include "context.h"
#include "model/board.h"

/*
 * A leaderboard as the user asked for it, from files or the database and the
 * configuration: what `board`, `submission` and `export` share.
 */
struct board_ask {
	const char *group_by, *baseline, *track, *score; /* borrowed */
	const char *const *values;			 /* borrowed */
	size_t n_values;
	double nats_per_bpb; /* 0: by configuration or logs */
	bool higher;	     /* a higher score is better */
};

struct board_built {
	struct track track, no_track;
	struct board board;	  /* computed */
	struct board_input input; /* input.status: of what could not be read */
};

/*
 * Read the runs of the paths (none: of the database, which is opened), choose
 * track and baseline, compute.  The context has configuration and rules.  NULL
 * with err; ERR_NODATA when there is neither a run nor a verifier's score.
 */
struct board_built *board_build(struct context *context, char *const *paths,
				size_t n_paths, const struct board_ask *ask,
				struct err *err)
	__attribute__((warn_unused_result));
void board_built_free(struct board_built *built);

#endif
