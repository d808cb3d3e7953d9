/* SPDX-License-Identifier: MIT */
#pragma once

#include "ingest/ingest.h"

/*
 * Plays a recording: files below a folder grow, and pods get telemetry and connection states, at
 * the pace at which they were recorded.
 *
 * A recording (demo/NAME.rec) is a text with one record per line: milliseconds since the previous
 * record or the start (nothing for 0), a character for its kind, and its text.
 *
 *	>PATH	create or truncate a file below the folder
 *	+PATH	continue a file
 *	*PATH	create a file that is a log of the pod
 *	 TEXT	append a line to the file
 *	@TEXT	the same; the folder replaces each @ in TEXT
 *	_TEXT	append text without a line end
 *	^TEXT	append text and a carriage return, as a progress bar does
 *	=POD	the following records belong to that pod
 *	!STATE WHY	state of the pod's connection: "live", or "reconnecting" and the reason
 *	:LINE	a line of the pod's telemetry, in the format of parsers/telemetry.h
 *
 * tests/tools/record-demo writes recordings.
 */
struct demo_player;

/* Borrowed until demo_player_free. */
struct demo_stage {
	const char *folder;
	struct model *model;
	struct ingest *ingest; /* reads the logs */
	int64_t begin_ms;      /* wall clock at the start of recordings */
};

struct demo_player *demo_player_new(const struct demo_stage *stage, const char *recording);
void demo_player_free(struct demo_player *player);

/* Play the records up to this time after the start. -1 with err, and the end, if writing fails. */
int demo_player_advance(struct demo_player *player, int64_t until_ms, struct err *err) MUST_USE;
/* Number of records played. */
size_t demo_player_played(const struct demo_player *player);
