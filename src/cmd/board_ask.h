/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_BOARD_ASK_H
#define HGYM_CMD_BOARD_ASK_H

#include "board/build.h"
#include "cmd/cmd.h"

/* The options that `board`, `submission` and `export` share. */
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

/*
 * Read the command's options: BOARD_ASK_OPTIONS into ask, each other one by
 * take(call, ...), which returns 0, or -1 with err.
 */
int board_ask_options(struct cmd_args *args, struct board_ask *ask,
		      int (*take)(void *call, int option, const char *value,
				  struct err *err),
		      void *call, struct err *err)
	__attribute__((warn_unused_result));

/* board_build for the command's arguments; err says which command. */
struct board_built *board_ask_build(const struct cmd_args *args,
				    const struct board_ask *ask,
				    struct err *err)
	__attribute__((warn_unused_result));

#endif
