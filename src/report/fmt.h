/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Numbers for people: "—" for what is not known, never 0. */
#define FMT_SIZE   48
#define FMT_ABSENT "—"

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
const char *fmt_value(enum fmt_kind kind, double value, int decimals,
		      char out[FMT_SIZE]);
/* For machines: whole numbers with all digits, others with ten; "" for none. */
const char *fmt_raw(double value, char out[FMT_SIZE]);
/* A cell of CSV (RFC 4180); is_text: what a spreadsheet would compute has a '
 * before it. */
void fmt_add_csv(struct buf *out, const char *text, bool is_text);
/* Text of Markdown, which takes no mark of it for its own. */
void fmt_add_md(struct buf *out, const char *text);
/* value with that many decimals. */
const char *fmt_number(double value, int decimals, char out[FMT_SIZE]);
/* With a sign, and "−" as a minus of the width of a digit. */
const char *fmt_signed(double value, int decimals, char out[FMT_SIZE]);
/* A measurement, its whole part in groups: "1,378,296.78"; three digits where
 * the decimals would leave it 0. */
const char *fmt_measure(double value, int decimals, char out[FMT_SIZE]);
/* Decimals that a measurement of that size deserves. */
int fmt_measure_decimals(double value);
/* 15952086 as "15,952,086". */
const char *fmt_grouped(double value, char out[FMT_SIZE]);
/* Steps in six columns: "99,999", "329.4k", "1.23M". */
const char *fmt_steps(double steps, char out[FMT_SIZE]);
/* Bytes in powers of 1000: "15.95 MB". */
const char *fmt_bytes(double bytes, char out[FMT_SIZE]);
/* Seconds as "41 s", "12 min", "3.2 h", "5 d". */
const char *fmt_age(double seconds, char out[FMT_SIZE]);
/* Tokens a second in millions: "6.56". */
const char *fmt_mtok(double tok_s, char out[FMT_SIZE]);
/* Time of day, "14:07:31", in UTC. */
const char *fmt_clock(int64_t wall_ms, char out[FMT_SIZE]);
/* Time of day; of another day than now, the day: "14:07:31", "Nov 20". */
const char *fmt_when(int64_t wall_ms, int64_t now_wall_ms, char out[FMT_SIZE]);
/*
 * Whether times of day are UTC (the default) or of the time zone here; like
 * a locale, one setting for the program.
 */
void fmt_set_utc(bool utc);
/* The zone that times of day are in: "UTC", "CET"; "" when it has no name. */
const char *fmt_zone(int64_t wall_ms, char out[FMT_SIZE]);
