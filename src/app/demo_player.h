/* SPDX-License-Identifier: MIT */
#pragma once

#include "ingest/ingest.h"

/*
 * Recordings played: files below a folder grow, and pods have telemetry and
 * links, at the pace at which they did when they were recorded.
 *
 * A recording (demo/NAME.rec) is a text of one record a line: how many
 * milliseconds after the record before it happened (none: at once; the first
 * counts from the begin), a character for its kind, and its text.
 *
 *	>PATH	a new file below the folder; what it held before is gone
 *	+PATH	a file that goes on
 *	*PATH	a new file, and it is a log of the pod
 *	 TEXT	a line is appended to the file
 *	@TEXT	the same; each @ in it stands for the folder
 *	_TEXT	the text without a line end
 *	^TEXT	the text and a carriage return, as of a progress bar
 *	=POD	what follows is of that pod
 *	!STATE WHY	its link: "live", or "reconnecting" and the reason
 *	:LINE	a line of its telemetry, as parsers/telemetry.h has it
 *
 * tests/tools/record-demo makes them.
 */
struct demo_player;

/* All are borrowed for the player's life. */
struct demo_stage {
	const char *folder;
	struct model *model;
	struct ingest *ingest; /* reads the logs */
	int64_t begin_ms;      /* wall clock at which recordings begin */
};

struct demo_player *demo_player_new(const struct demo_stage *stage, const char *recording);
void demo_player_free(struct demo_player *player);

/*
 * Play what happened until so many milliseconds after the begin.  -1 with err
 * where a file cannot be written; the recording is over then.
 */
int demo_player_advance(struct demo_player *player, int64_t until_ms, struct err *err)
	__attribute__((warn_unused_result));
/* How many records were played. */
size_t demo_player_played(const struct demo_player *player);
