/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_RUN_DIFF_H
#define HGYM_MODEL_RUN_DIFF_H

#include "model/model.h"
#include "parsers/json.h"
#include "parsers/pattern.h"

/*
 * What a run was set to do, as its log prints it: the settings before its
 * first row with a loss (`name: value`, `name=value`; told twice, the later
 * one), and the training script.  What a further run of the log does not tell
 * anew, as several runs of one process do not, stays as it was.
 */
#define RUN_TEXT_MAX_SETTINGS 4096U
#define RUN_TEXT_MAX_LINES    100000U
#define RUN_TEXT_MAX_SOURCE   (8U << 20) /* bytes */

struct run_text {
	struct pattern *setting; /* owned */
	cJSON *settings;	 /* owned; name to value, sanitised */
	size_t n;
	struct buf source; /* of the script printed last; lines end with LF */
	bool in_source;
	bool is_over; /* the first row with a loss came: nothing more counts */
};

void run_text_init(struct run_text *text);
void run_text_release(struct run_text *text);
/* The next line, without its end; a further run of the log begins. */
void run_text_line(struct run_text *text, struct str line,
		   enum line_class class);
void run_text_next_run(struct run_text *text);
/*
 * All of that of a run whose log lies on this machine; false: it does not, or
 * the run is beyond RUN_TEXT_MAX_LINES of it.
 */
bool run_text_read(struct run_text *text, const struct model_run *mr);

/*
 * {"settings": [{"name", "a", "b"}], "removed": lines, "added": lines,
 * "source": [lines of a unified diff]}: what differs, null where one does not
 * tell it; given.
 */
cJSON *run_diff_json(const struct run_text *a, const struct run_text *b);
/* "source differs in 14 lines, 3 settings differ", of that. */
void run_diff_say(const cJSON *diff, struct buf *out);
/* All of it as lines: the settings in three columns, then the script. */
void run_diff_print(const cJSON *diff, struct buf *out);

#endif
