/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* What launchers and loggers put before a line. */
struct line_prefix {
	int rank;	 /* of "[rank3]:", "[default3]:"; -1: none */
	int64_t wall_ms; /* of an epoch or ISO 8601 time; 0: none */
	struct str rest; /* the line behind the prefixes */
};

/*
 * Whether a line that begins with c may have a prefix at all: most have not.
 * The letters are those of a logger's levels and of months.
 */
static inline bool line_prefix_may_begin(char c)
{
	return (c >= '0' && c <= '9') || c == '[' || (c >= 'A' && c <= 'W');
}

/*
 * Take the prefixes off a line: "[rank0]:", "[default0]:" (torchrun),
 * "[pod/train-0/main] " (kubectl), an epoch ("1776143914.261 "), a time of day
 * or of syslog ("12:00:00 ", "Nov 20 12:00:00 ") and the host and the process
 * behind a time ("node-3 python3[123]: "), an ISO time ("2026-03-18
 * 14:38:12,123 ", with T, in brackets, with Z or an offset) and what Python's
 * loggers add: a time of day, the level and the logger's or the source line's
 * name beside it
 * ("INFO:root:", "[INFO] ", " - train - INFO - ", " | INFO | a:b:12 - ").
 * A time without a zone is read as UTC.
 */
void line_prefix_split(struct str line, struct line_prefix *out);

/*
 * The same of a line that has its task or its host before all of that, as
 * srun ("3: "), mpirun ("[1,3]<stdout>:") and pdsh ("node-1: ") put it; false
 * for another.
 */
bool line_prefix_task(struct str line, struct line_prefix *out);

/*
 * Milliseconds since 1970 of the ISO 8601 time that s begins with, also of its
 * compact form "20260318T143812Z"; 0 where it begins with none (*len is 0
 * then), or with one that cannot be (month 13).
 */
int64_t line_prefix_time(struct str s, size_t *len, bool *has_zone);
