/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/model.h"
#include "parsers/json.h"
#include "parsers/pattern.h"

/* The settings and the script of a run, as its log prints them. Settings (`name: value`,
 * `name=value`; the last one wins) are read up to the first row with a loss. A later run in the
 * same log that prints neither has those of the run before. */
#define RUN_TEXT_MAX_SETTINGS 4096U
#define RUN_TEXT_MAX_LINES    100000U
#define RUN_TEXT_MAX_SOURCE   (8U << 20) /* bytes */

struct run_text {
	struct pattern *setting; /* owned */
	cJSON *settings;	 /* owned; name to value, sanitised */
	size_t n;
	struct buf source; /* the script printed last; lines end with LF */
	bool in_source;
	bool is_over; /* the first row with a loss was read; the rest is ignored */
	bool is_next; /* this run printed nothing yet */
};

void run_text_init(struct run_text *text);
void run_text_release(struct run_text *text);
/* Read the next line (without line end), or start the next run. */
void run_text_line(struct run_text *text, struct str line, enum line_class class);
void run_text_next_run(struct run_text *text);
/* Read a run's log; false if it is not on this machine or the run is beyond RUN_TEXT_MAX_LINES. */
bool run_text_read(struct run_text *text, const struct model_run *mr);

/* Print what differs: "source differs in 14 lines, 3 settings differ", the settings (name, of a, of
 * b), and a unified diff of the scripts. */
void run_diff_print(const struct run_text *a, const struct run_text *b, struct buf *out);
