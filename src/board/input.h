/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "board/score_board.h"
#include "conf/conf.h"
#include "context.h"
#include "model/board.h"
#include "parsers/format.h"
#include "parsers/pattern.h"
#include "store/query.h"

/* Runs from files and tables into a board. */
struct board_input {
	struct board *board;		  /* borrowed */
	const struct format_set *formats; /* borrowed */
	enum conf_group_by by;
	struct pattern *pattern;   /* owned; of CONF_BY_PATTERN */
	const char *forced_key;	   /* all runs into this group; NULL: by `by` */
	struct score_board scores; /* owned; of verifiers, no runs */
	const struct conf *conf;   /* borrowed; the prices of pods */
	double usd_per_hour;	   /* of all runs; 0: as conf has it */
	size_t n_runs;		   /* read so far */
	size_t n_files;		   /* logs read so far */
	size_t n_empty;		   /* of them, that were said to be so */
	size_t n_dropped;	   /* runs beyond what a board takes */
	int status;		   /* exit status of the last that could not be read */
};

/* How runs are grouped, as the configuration has it. */
int board_input_group_conf(struct board_input *input, const struct conf *conf, struct err *err)
	__attribute__((warn_unused_result));
void board_input_release(struct board_input *input);

/* The group of a run of the database; owned by the caller. */
char *board_input_key(const struct board_input *input, const struct stored_run *stored);
/*
 * A leaderboard as the user asked for it, from files or the database and the
 * configuration: what `board`, `submission` and `export` share.
 */
struct board_ask {
	const char *group_by, *baseline, *track, *score; /* borrowed */
	const char *const *values;			 /* borrowed */
	size_t n_values;
	double nats_per_bpb; /* 0: by configuration or logs */
	double usd_per_hour; /* 0: by the configuration, for stored runs */
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
struct board_built *board_build(struct context *context, char *const *paths, size_t n_paths,
				const struct board_ask *ask, struct err *err)
	__attribute__((warn_unused_result));
void board_built_free(struct board_built *built);
