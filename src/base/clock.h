/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* A source of time: the real clock (clock_real), or one set by a test or the demo. Borrowed. */
struct clock {
	/* Monotonic; does not advance during suspend. */
	int64_t (*mono_ms)(const struct clock *clock);
	/* Monotonic; advances during suspend. */
	int64_t (*boot_ms)(const struct clock *clock);
	/* Milliseconds since 1970 UTC; may jump. */
	int64_t (*wall_ms)(const struct clock *clock);
};

extern const struct clock clock_real;

/* The values of clock_real. */
int64_t clock_mono_ms(void);
int64_t clock_boot_ms(void);
int64_t clock_wall_ms(void);

/* Only for tests: get the milliseconds by which all clocks are ahead of the real ones, an int64_t
 * in the file that HGYM_TUI_TEST_CLOCK names. Returns false without such a file. */
bool clock_test_ahead(int64_t *ms);

#define CLOCK_RFC3339_SIZE 32

/* Format wall_ms as RFC 3339 UTC with seconds ("2026-11-20T21:30:00Z"). */
void clock_rfc3339(int64_t wall_ms, char out[CLOCK_RFC3339_SIZE]);

/* Seconds since 1970 of a UTC date and time in the proleptic Gregorian calendar. */
int64_t clock_from_civil_s(int year, int month, int day, int hour, int min, int sec);

/* Parse a UTC time at the start of a text, as seconds since 1970: digits as in
 * "2026-11-20T21:30:00", with any separators. NAN if there is none. */
double clock_read_s(struct str text);

/* Random delay of 80 to 120 % of base: pods lost together do not reconnect together. */
int64_t clock_spread_ms(int64_t base);

/* Delay before the next attempt after the given number of failures in a row: 0.5, 1, 2 .. 30 s, in
 * milliseconds, randomized by clock_spread_ms. */
int64_t clock_backoff_ms(unsigned int failures);
