/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The Test Anything Protocol: one `ok` line per check, the plan at the end. */

static int tap_count, tap_failed;

static inline bool __attribute__((format(printf, 2, 3))) ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	if (!pass)
		tap_failed++;
	return pass;
}

static inline bool is_str(const char *got, const char *want, const char *name)
{
	bool same = got != NULL && want != NULL ? strcmp(got, want) == 0 : got == want;

	if (!ok(same, "%s", name))
		printf("#  got: %s\n# want: %s\n", got ? got : "(null)", want ? want : "(null)");
	return same;
}

static inline bool is_int(long long got, long long want, const char *name)
{
	if (!ok(got == want, "%s", name))
		printf("#  got: %lld\n# want: %lld\n", got, want);
	return got == want;
}

/* |got - want| <= tol * max(1, |want|); two NaNs are equal. */
static inline bool is_near(double got, double want, double tol, const char *name)
{
	bool same = (isnan(got) && isnan(want)) || fabs(got - want) <= tol * fmax(1.0, fabs(want));

	if (!ok(same, "%s", name))
		printf("#  got: %.17g\n# want: %.17g\n", got, want);
	return same;
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed > 0;
}
