/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* A line of a log on its way through the readers, without the prefixes of launchers and loggers. */
struct log_line {
	struct str text;  /* borrowed for the call */
	struct str exact; /* text with the indentation of the line */
	struct str raw;	  /* text with times and the names of loggers */
	uint64_t line;	  /* 1-based */
	int64_t wall_ms;  /* from an epoch or an ISO 8601 time; 0: none */
	int rank;	  /* of "[rank3]:", "[default3]:"; -1: none */
	bool ends_line;	  /* see struct segment */
	bool cut;	  /* the log may end within the line */
	bool plain;	  /* certainly not from a metrics file */
	/* Set when a row is reported: */
	bool inside;	 /* text is only a part of the line */
	bool joined;	 /* it joins several lines */
	bool late;	 /* it was held back: lines after it were read first */
	bool is_summary; /* a row about the whole run; its loss is a mean */
};

/* Can a line that starts with c have a prefix? Letters start log levels and months. */
static inline bool line_prefix_may_start(char c)
{
	return (c >= '0' && c <= '9') || c == '[' || (c >= 'A' && c <= 'W');
}

/* Strip the prefixes of a line, and set text, exact, wall_ms and rank of *out:
 *   "1776143914.261 ", "12:00:00 ", "Nov 20 12:00:00 ": times, also followed by host and process
 *     ("node-3 python3[123]: ")
 *   "2026-03-18 14:38:12,123 ": ISO times, also with T, in brackets, with Z or an offset
 *   "INFO:root:", "[INFO] ", " - train - INFO - ", " | INFO | a:b:12 - ": loggers of Python
 *
 * The sure prefixes of prefix_table.h between these are stripped, too. The default zone is UTC. */
void line_prefix_split(struct str line, struct log_line *out);

/* The same for a line that starts with the number of a task before those prefixes, as printed by
 * srun ("3: "). False for any other line. */
bool line_prefix_task(struct str line, struct log_line *out);

/* Return the milliseconds since 1970 of the ISO 8601 time that s starts with, also in the compact
 * form "20260318T143812Z", with its length in *len. 0 if s does not start with a time (*len is 0)
 * or with an impossible one (month 13). */
int64_t line_prefix_time(struct str s, size_t *len, bool *has_zone);
