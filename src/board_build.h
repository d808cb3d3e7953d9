/* SPDX-License-Identifier: MIT */
#ifndef HGYM_SRC_BOARD_BUILD_H
#define HGYM_SRC_BOARD_BUILD_H

#include "board_input.h"
#include "cmd.h"
#include "conf.h"
#include "model/board.h"

/*
 * A leaderboard as the user asked for it, from files or the database and the
 * configuration: what `board`, `submission` and `export` share.
 */
#define BOARD_MAX_VALUE_LISTS 64

enum board_ask_option {
	ASK_GROUP_BY,
	ASK_BASELINE,
	ASK_VALUES,
	ASK_NATS,
	ASK_TRACK,
	ASK_SCORE,
	ASK_FORMAT,
	ASK_COUNT
};

/* These stand first in the command's list of options. */
#define BOARD_ASK_OPTIONS                                                      \
	{ 0, "group-by", "RULE",                                               \
	  "dirname, file, source, pod, or a pattern that captures it" },       \
		{ 0, "baseline", "WHAT",                                       \
		  "a group, a log, a table or a folder, or [NAME=]v1,v2,.." }, \
		{ 0, "values", "LIST",                                         \
		  "[NAME=]v1,v2,..: a group of bare scores" },                 \
		{ 0, "nats-per-bpb", "K",                                      \
		  "nats per BPB (default: from the logs)" },                   \
		{ 0, "track", "NAME", "the track, or a file with one" },       \
		{ 0, "score", "KEY",                                           \
		  "rank by another number (quant_bpb, ..)" },                  \
	{                                                                      \
		0, "format", "FILE", "read the rules of this file too"         \
	}

struct board_ask {
	const char *group_by, *baseline, *track, *score; /* borrowed */
	const char *values[BOARD_MAX_VALUE_LISTS];	 /* borrowed */
	size_t n_values;
	double nats_per_bpb;
	struct format_set *formats; /* owned */
};

void board_ask_init(struct board_ask *ask);
void board_ask_release(struct board_ask *ask);
/*
 * Read the command's options: BOARD_ASK_OPTIONS into ask, each other one by
 * take(call, ...), which returns 0, or -1 with err.
 */
int board_ask_options(struct cmd_args *args, struct board_ask *ask,
		      int (*take)(void *call, int option, const char *value,
				  struct err *err),
		      void *call, struct err *err)
	__attribute__((warn_unused_result));

struct board_built {
	struct conf conf;
	struct track track, no_track;
	struct board board;	  /* computed */
	struct board_input input; /* input.status: of what could not be read */
};

/*
 * Read the configuration and the runs of the command's arguments (without
 * any: the database), choose track and baseline, compute.  NULL with err;
 * ERR_NODATA when there is neither a run nor a verifier's score.
 */
struct board_built *board_build(const struct cmd_args *args,
				struct board_ask *ask, struct err *err)
	__attribute__((warn_unused_result));
void board_built_free(struct board_built *built);

#endif
