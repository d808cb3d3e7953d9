/* SPDX-License-Identifier: MIT */
#ifndef HGYM_CMD_BOARD_ASK_H
#define HGYM_CMD_BOARD_ASK_H

#include "board/build.h"
#include "cmd/cmd.h"

/*
 * What `board`, `submission` and `export` share: the options that say which
 * leaderboard.  The first member of each one's struct.
 */
struct board_call {
	struct board_ask ask;
	struct cmd_list values;
};

extern const char *const board_group_words[];

#define BOARD_ASK_OPTIONS                                                      \
	CMD_ROW("group-by", "RULE",                                            \
		"dirname, file, source, pod, or a pattern that captures it",   \
		CMD_TEXT, board_call, ask.group_by,                            \
		.words = board_group_words),                                   \
		CMD_ROW("baseline", "WHAT",                                    \
			"a group, a log, a table or a folder, or "             \
			"[NAME=]v1,v2,..",                                     \
			CMD_TEXT, board_call, ask.baseline),                   \
		CMD_ROW("values", "LIST",                                      \
			"[NAME=]v1,v2,..: a group of bare scores", CMD_LIST,   \
			board_call, values),                                   \
		CMD_ROW("nats-per-bpb", "K",                                   \
			"nats per BPB (default: from the logs)", CMD_POSITIVE, \
			board_call, ask.nats_per_bpb, .high = 1000),           \
		CMD_ROW("track", "NAME", "the track, or a file with one",      \
			CMD_TEXT, board_call, ask.track),                      \
		CMD_ROW("score", "KEY",                                        \
			"rank by another number (quant_bpb, ..)", CMD_TEXT,    \
			board_call, ask.score),                                \
		CMD_FORMAT_OPTION

/* The board of the command's options and arguments; err says which command. */
struct board_built *board_ask_build(const struct cmd_args *args,
				    struct board_call *call, struct err *err)
	__attribute__((warn_unused_result));

#endif
