/* SPDX-License-Identifier: MIT */
/* Numbers for people; used by every printer. */
#include "report/fmt.h"

#include <math.h>
#include <time.h>

#define MD_SPECIAL "|\\`*_<"

static const char *
fmt_absent(char out[FMT_SIZE])
{
	(void)snprintf(out, FMT_SIZE, "%s", FMT_ABSENT);
	return out;
}

const char *
fmt_raw(double value, char out[FMT_SIZE])
{
	bool whole = floor(value) == value && fabs(value) < 1e15;

	(void)snprintf(out, FMT_SIZE, whole ? "%.0f" : "%.10g", value);
	return isfinite(value) ? out : "";
}

const char *
fmt_number(double value, int decimals, char out[FMT_SIZE])
{
	if (isnan(value))
		return fmt_absent(out);
	(void)snprintf(out, FMT_SIZE, "%.*f", decimals, value);
	return out;
}

const char *
fmt_signed(double value, int decimals, char out[FMT_SIZE])
{
	if (isnan(value))
		return fmt_absent(out);
	(void)snprintf(out, FMT_SIZE, "%s%.*f", value < 0 ? "−" : "+", decimals,
		       fabs(value));
	return out;
}

int
fmt_measure_decimals(double value)
{
	double size = fabs(value);

	return size >= 1e5 ? 0 : size >= 1000 ? 1 : size >= 10 ? 3 : 5;
}

const char *
fmt_measure(double value, int decimals, char out[FMT_SIZE])
{
	char digits[FMT_SIZE];
	size_t len = 0, whole;

	if (!isfinite(value) || fabs(value) > 1e15)
		return fmt_absent(out);
	if (value != 0.0 && fabs(value) < 0.5 * pow(10.0, -decimals)) {
		(void)snprintf(out, FMT_SIZE, "%.3g", value);
		return out;
	}
	print_into(digits, "%.*f", decimals, fabs(value));
	whole = strcspn(digits, ".");
	if (value < 0.0)
		out[len++] = '-';
	for (size_t i = 0; digits[i] != '\0' && len + 2 < FMT_SIZE; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			out[len++] = ',';
		out[len++] = digits[i];
	}
	out[len] = '\0';
	return out;
}

static const char *
fmt_digits(double value, int digits, char out[FMT_SIZE])
{
	return isnan(value) ? fmt_absent(out) : str_number(value, digits, out);
}

const char *
fmt_grouped(double value, char out[FMT_SIZE])
{
	char digits[STR_NUMBER_SIZE];

	if (isnan(value) || fabs(value) >= 1e15)
		return fmt_absent(out);
	(void)snprintf(out, FMT_SIZE, "%s%s", value < 0 ? "−" : "",
		       str_number(round(fabs(value)), 17, digits));
	return out;
}

const char *
fmt_steps(double steps, char out[FMT_SIZE])
{
	bool millions = steps >= 999950;
	double part = steps / (millions ? 1e6 : 1e3);

	if (isnan(steps) || steps < 100000 || steps > 1e15)
		return fmt_grouped(steps, out);
	(void)snprintf(out, FMT_SIZE, "%.*f%c",
		       !millions || part >= 99.995 ? 1 : 2, part,
		       millions ? 'M' : 'k');
	return out;
}

const char *
fmt_bytes(double bytes, char out[FMT_SIZE])
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	if (isnan(bytes))
		return fmt_absent(out);
	/* What two decimals would round to 1000 is one of the next. */
	while (fabs(bytes) >= (unit == 0 ? 1000 : 999.995) && unit < 4) {
		bytes /= 1000;
		unit++;
	}
	(void)snprintf(out, FMT_SIZE, "%.*f %s", unit == 0 ? 0 : 2, bytes,
		       units[unit]);
	return out;
}

const char *
fmt_age(double seconds, char out[FMT_SIZE])
{
	if (isnan(seconds))
		return fmt_absent(out);
	if (seconds < 120)
		(void)snprintf(out, FMT_SIZE, "%.0f s", seconds);
	else if (seconds < 7200)
		(void)snprintf(out, FMT_SIZE, "%.0f min", seconds / 60);
	else if (seconds < 172800)
		(void)snprintf(out, FMT_SIZE, "%.1f h", seconds / 3600);
	else
		(void)snprintf(out, FMT_SIZE, "%.0f d", seconds / 86400);
	return out;
}

const char *
fmt_mtok(double tok_s, char out[FMT_SIZE])
{
	return fmt_number(tok_s / 1e6, tok_s < 1e6 ? 3 : 2, out);
}

const char *
fmt_value(enum fmt_kind kind, double value, int decimals, char out[FMT_SIZE])
{
	static const char *(*const exact[])(double, int, char *) = {
		[FMT_TEXT] = fmt_number,   [FMT_NUMBER] = fmt_number,
		[FMT_SIGNED] = fmt_signed, [FMT_MEASURE] = fmt_measure,
		[FMT_DIGITS] = fmt_digits,
	};
	static const char *(*const plain[])(double, char *) = {
		[FMT_GROUPED] = fmt_grouped,
		[FMT_STEPS] = fmt_steps,
		[FMT_BYTES] = fmt_bytes,
		[FMT_AGE] = fmt_age,
	};

	return kind < FMT_GROUPED ? exact[kind](value, decimals, out)
				  : plain[kind](value, out);
}

/* Which time zone clocks show. */
static bool local_time;

void
fmt_set_utc(bool utc)
{
	local_time = !utc;
}

static const struct tm *
fmt_break_down(int64_t wall_ms, struct tm *tm)
{
	time_t t = (time_t)(wall_ms / 1000);

	if ((local_time ? localtime_r(&t, tm) : gmtime_r(&t, tm)) == NULL)
		*tm = (struct tm){ .tm_mday = 1 };
	return tm;
}

const char *
fmt_zone(int64_t wall_ms, char out[FMT_SIZE])
{
	struct tm tm;

	if (!local_time ||
	    strftime(out, FMT_SIZE, "%Z", fmt_break_down(wall_ms, &tm)) == 0)
		(void)snprintf(out, FMT_SIZE, "%s", local_time ? "" : "UTC");
	return out;
}

const char *
fmt_when(int64_t wall_ms, int64_t now_wall_ms, char out[FMT_SIZE])
{
	struct tm then, now;

	(void)fmt_break_down(now_wall_ms, &now);
	if (wall_ms <= 0 || fmt_break_down(wall_ms, &then) == NULL ||
	    (then.tm_yday == now.tm_yday && then.tm_year == now.tm_year) ||
	    strftime(out, FMT_SIZE, "%b %e", &then) == 0)
		return fmt_clock(wall_ms, out);
	return out;
}

const char *
fmt_clock(int64_t wall_ms, char out[FMT_SIZE])
{
	struct tm tm;

	if (wall_ms <= 0)
		return fmt_absent(out);
	if (strftime(out, FMT_SIZE, "%H:%M:%S", fmt_break_down(wall_ms, &tm)) ==
	    0)
		return fmt_absent(out);
	return out;
}

void
fmt_add_csv(struct buf *out, const char *text, bool is_text)
{
	const char *quote = strpbrk(text, ",\"\r\n") != NULL ? "\"" : "";
	bool is_formula = is_text && text[0] != '\0' && text[1] != '\0' &&
			  strchr("=+-@", text[0]) != NULL;

	buf_append_str(out, quote);
	buf_append_str(out, is_formula ? "'" : "");
	for (; *text != '\0'; text++)
		buf_appendf(out, *text == '"' ? "\"%c" : "%c", *text);
	buf_append_str(out, quote);
}

void
fmt_add_md(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		/* A bracket is special where a link would begin. */
		if (strchr(MD_SPECIAL, *text) != NULL ||
		    (*text == ']' && text[1] == '('))
			buf_append_char(out, '\\');
		buf_append_char(out, *text);
	}
}
