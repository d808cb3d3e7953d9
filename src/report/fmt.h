/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Numbers for people: "—" for what is not known, never 0. */
#define FMT_SIZE   48
#define FMT_ABSENT "—"

/* What a number is written as: fmt_age(41).s is "41 s". */
struct fmt {
	char s[FMT_SIZE];
};

/* How a number is written. */
enum fmt_kind {
	FMT_TEXT,   /* it is no number */
	FMT_NUMBER, /* fmt_number, and so on */
	FMT_SIGNED, /* a difference: less is better */
	FMT_MEASURE,
	FMT_DIGITS,  /* so many digits, the whole part in groups */
	FMT_GROUPED, /* whole, its digits in groups */
	FMT_STEPS,
	FMT_BYTES,
	FMT_AGE, /* seconds */
};

/* value as the kind (not FMT_TEXT) writes it; decimals where it has some. */
struct fmt fmt_value(enum fmt_kind kind, double value, int decimals);
/* For machines: whole numbers with all digits, others with ten; "" for none. */
struct fmt fmt_raw(double value);
/* A cell of CSV (RFC 4180); is_text: what a spreadsheet would compute has a '
 * before it. */
void fmt_add_csv(struct buf *out, const char *text, bool is_text);
/* Text of Markdown, which takes no mark of it for its own. */
void fmt_add_md(struct buf *out, const char *text);
/* value with that many decimals. */
struct fmt fmt_number(double value, int decimals);
/* With a sign, and "−" as a minus of the width of a digit. */
struct fmt fmt_signed(double value, int decimals);
/* A measurement, its whole part in groups: "1,378,296.78"; three digits where
 * the decimals would leave it 0. */
struct fmt fmt_measure(double value, int decimals);
/* Decimals that a measurement of that size deserves. */
int fmt_measure_decimals(double value);
/* 15952086 as "15,952,086". */
struct fmt fmt_grouped(double value);
/* Steps in six columns: "99,999", "329.4k", "1.23M". */
struct fmt fmt_steps(double steps);
/* Bytes in powers of 1000: "15.95 MB". */
struct fmt fmt_bytes(double bytes);
/* Seconds as "41 s", "12 min", "3.2 h", "5 d". */
struct fmt fmt_age(double seconds);
/* Tokens a second in millions: "6.56". */
struct fmt fmt_mtok(double tok_s);
/* Time of day, "14:07:31", in UTC. */
struct fmt fmt_clock(int64_t wall_ms);
/* Time of day; of another day than now, the day: "14:07:31", "Nov 20". */
struct fmt fmt_when(int64_t wall_ms, int64_t now_wall_ms);
/*
 * Whether times of day are UTC (the default) or of the time zone here; like
 * a locale, one setting for the program.
 */
void fmt_set_utc(bool utc);
/* The zone that times of day are in: "UTC", "CET"; "" when it has no name. */
struct fmt fmt_zone(int64_t wall_ms);
