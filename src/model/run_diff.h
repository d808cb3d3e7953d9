/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"
#include "parsers/json.h"
#include "parsers/pattern.h"

/*
 * What a run was set to do, as its log prints it: the settings before its
 * first row with a loss (`name: value`, `name=value`; told twice, the later
 * one), and the training script.  A further run of the log that tells none of
 * it, as several runs of one process do not, has that of the run before.
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
	bool is_next; /* nothing was told since run_text_next_run */
};

void run_text_init(struct run_text *text);
void run_text_release(struct run_text *text);
/* The next line, without its end; before the first of a further run. */
void run_text_line(struct run_text *text, struct str line, enum line_class class);
void run_text_next_run(struct run_text *text);
/*
 * All of that of a run whose log lies on this machine; false: it does not, or
 * the run is beyond RUN_TEXT_MAX_LINES of it.
 */
bool run_text_read(struct run_text *text, const struct model_run *mr);

/*
 * What differs, as lines: "source differs in 14 lines, 3 settings differ", the
 * settings (name, of a, of b), the scripts as a unified diff.
 */
void run_diff_print(const struct run_text *a, const struct run_text *b, struct buf *out);
