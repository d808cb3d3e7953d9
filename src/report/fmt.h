/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Numbers for people: "—" for unknown values, never 0. */
#define FMT_SIZE   48
#define FMT_ABSENT "—"

/* A formatted value: fmt_age(41).s is "41 s". */
struct fmt {
	char s[FMT_SIZE];
};

/* Number formats. */
enum fmt_kind {
	FMT_TEXT,   /* text, not a number */
	FMT_NUMBER, /* fmt_number, and so on */
	FMT_SIGNED, /* a difference: lower is better */
	FMT_MEASURE,
	FMT_DIGITS,  /* fixed decimals, integer part in groups */
	FMT_GROUPED, /* integer, digits in groups */
	FMT_STEPS,
	FMT_BYTES,
	FMT_AGE, /* seconds */
};

/* value in the format of the kind; decimals is ignored if the kind has none. */
struct fmt fmt_value(enum fmt_kind kind, double value, int decimals);
/* value for machines: integers with all digits, others with ten; "" for unknown. */
struct fmt fmt_raw(double value);
/* Append a CSV cell (RFC 4180).  With is_text, a ' precedes text that a spreadsheet evaluates. */
void fmt_add_csv(struct buf *out, const char *text, bool is_text);
/* Append text with Markdown's special characters escaped. */
void fmt_add_md(struct buf *out, const char *text);
/* value with that many decimals. */
struct fmt fmt_number(double value, int decimals);
/* The same with a sign: "+", or "−", which is as wide as a digit. */
struct fmt fmt_signed(double value, int decimals);
/* A measurement with grouped digits ("1,378,296.78"), or three significant digits instead of 0. */
struct fmt fmt_measure(double value, int decimals);
/* Suitable number of decimals for a measurement of that size. */
int fmt_measure_decimals(double value);
/* 15952086 as "15,952,086". */
struct fmt fmt_grouped(double value);
/* Steps in six columns: "99,999", "329.4k", "1.23M". */
struct fmt fmt_steps(double steps);
/* Bytes in powers of 1000: "15.95 MB". */
struct fmt fmt_bytes(double bytes);
/* Seconds as "41 s", "12 min", "3.2 h", "5 d". */
struct fmt fmt_age(double seconds);
/* Time of day: "14:07:31". */
struct fmt fmt_clock(int64_t wall_ms);
/* Time of day, or the date if it is not today's: "14:07:31", "Nov 20". */
struct fmt fmt_when(int64_t wall_ms, int64_t now_wall_ms);
/* Time of day, with the date if it is not today's: "14:07:31", "Nov 20 14:07". */
struct fmt fmt_moment(int64_t wall_ms, int64_t now_wall_ms);
/* Show times of day in UTC (the default) or in the local time zone, for the whole process. */
void fmt_set_utc(bool utc);
/* Name of the time zone of times of day: "UTC", "CET"; "" if it has none. */
struct fmt fmt_zone(int64_t wall_ms);
