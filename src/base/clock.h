/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/*
 * Where the time comes from: the real one (clock_real), or one that a test or
 * the demo sets.  Borrowed by who may get another one.
 */
struct clock {
	/* Never goes back; stands still in suspend. */
	int64_t (*mono_ms)(const struct clock *clock);
	/* Never goes back; counts suspend too. */
	int64_t (*boot_ms)(const struct clock *clock);
	/* Milliseconds since 1970 UTC; may jump. */
	int64_t (*wall_ms)(const struct clock *clock);
};

extern const struct clock clock_real;

/* What that one says. */
int64_t clock_mono_ms(void);
int64_t clock_boot_ms(void);
int64_t clock_wall_ms(void);

#define CLOCK_RFC3339_SIZE 32

/* wall_ms as RFC 3339 UTC with seconds ("2026-11-20T21:30:00Z") in out. */
void clock_rfc3339(int64_t wall_ms, char out[CLOCK_RFC3339_SIZE]);

/* Days and seconds since 1970 from a civil UTC date; proleptic Gregorian. */
int64_t clock_from_civil_s(int year, int month, int day, int hour, int min, int sec);

/* The UTC time that a text begins with, as seconds since 1970: digits as in
 * "2026-11-20T21:30:00", anything between them.  NAN: it begins with none. */
double clock_read_s(struct str text);

/*
 * A random wait of at least 80 % and at most 120 % of base milliseconds, so that
 * pods that were lost together do not all come back together.
 */
int64_t clock_spread_ms(int64_t base);

/*
 * How long to wait before the next attempt after so many failures in a row:
 * 0.5, 1, 2 .. 30 s in milliseconds, spread by clock_spread_ms.
 */
int64_t clock_backoff_ms(unsigned int failures);
