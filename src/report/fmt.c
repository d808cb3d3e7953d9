/* SPDX-License-Identifier: MIT */
/* Format numbers for people. */
#include "report/fmt.h"

#include <math.h>
#include <time.h>

#define MD_SPECIAL "|\\`*_<"

LIKE_PRINTF(1, 2)
static struct fmt format_text(const char *fmt, ...)
{
	struct fmt out;

	print_args(out.s, fmt);
	return out;
}

#define ABSENT ((struct fmt){ FMT_ABSENT })

struct fmt fmt_raw(double value)
{
	bool whole = floor(value) == value && fabs(value) < 1e15;

	return isfinite(value) ? format_text(whole ? "%.0f" : "%.10g", value) : (struct fmt){ "" };
}

/* Return 0 for a value that rounds to zero, which would be printed as "-0.0". */
static double without_minus_zero(double value, int decimals)
{
	return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

struct fmt fmt_number(double value, int decimals)
{
	static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
	double scaled =
		(size_t)decimals < LENGTH(powers) ? fabs(value) * powers[decimals] : (double)NAN;
	char digits[24], *at = digits + sizeof(digits);
	struct fmt out;

	/* A filter formats each number of a list.  Away from a tie the multiplication's error
	 * cannot change a digit, and this is ten times as fast as printf. */
	if (!(scaled < 1e9 && fabs(scaled - floor(scaled) - 0.5) > 1e-6)) {
		value = without_minus_zero(value, decimals);
		return isnan(value) ? ABSENT : format_text("%.*f", decimals, value);
	}
	uint64_t rounded = (uint64_t)(scaled + 0.5), rest = rounded;
	*--at = '\0';
	for (int i = 0; i <= decimals || rest > 0; i++) {
		if (i == decimals && i > 0)
			*--at = '.';
		*--at = (char)('0' + rest % 10);
		rest /= 10;
	}
	if (value < 0 && rounded > 0)
		*--at = '-';
	memcpy(out.s, at, (size_t)(digits + sizeof(digits) - at));
	return out;
}

struct fmt fmt_signed(double value, int decimals)
{
	value = without_minus_zero(value, decimals);
	return isnan(value) ? ABSENT
			    : format_text("%s%s", value < 0 ? "−" : "+",
					  fmt_number(fabs(value), decimals).s);
}

int fmt_measure_decimals(double value)
{
	double size = fabs(value);

	return size >= 1e5 ? 0 : size >= 1000 ? 1 : size >= 10 ? 3 : 5;
}

struct fmt fmt_measure(double value, int decimals)
{
	struct fmt out = { "" }, digits;
	size_t len = 0, whole;

	if (!isfinite(value) || fabs(value) > 1e15)
		return ABSENT;
	if (value != 0.0 && fabs(value) < 0.5 * pow(10.0, -decimals))
		return format_text("%.3g", value);
	digits = fmt_number(fabs(value), decimals);
	whole = strcspn(digits.s, ".");
	if (value < 0.0)
		out.s[len++] = '-';
	for (size_t i = 0; digits.s[i] != '\0' && len + 2 < FMT_SIZE; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			out.s[len++] = ',';
		out.s[len++] = digits.s[i];
	}
	return out;
}

static struct fmt fmt_digits(double value, int digits)
{
	struct fmt out = ABSENT;

	if (!isnan(value))
		(void)str_number(value, digits, out.s);
	return out;
}

struct fmt fmt_grouped(double value)
{
	char digits[STR_NUMBER_SIZE];

	if (isnan(value) || fabs(value) >= 1e15)
		return ABSENT;
	return format_text("%s%s", value < 0 ? "−" : "",
			   str_number(round(fabs(value)), 17, digits));
}

struct fmt fmt_steps(double steps)
{
	bool millions = steps >= 999950;
	double part = steps / (millions ? 1e6 : 1e3);

	if (isnan(steps) || steps < 100000 || steps > 1e15)
		return fmt_grouped(steps);
	return format_text("%.*f%c", !millions || part >= 99.995 ? 1 : 2, part,
			   millions ? 'M' : 'k');
}

struct fmt fmt_bytes(double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	if (isnan(bytes))
		return ABSENT;
	/* If rounding to two decimals gives 1000, use the next unit. */
	while (fabs(bytes) >= (unit == 0 ? 1000 : 999.995) && unit < 4) {
		bytes /= 1000;
		unit++;
	}
	return format_text("%.*f %s", unit == 0 ? 0 : 2, bytes, units[unit]);
}

struct fmt fmt_age(double seconds)
{
	return isnan(seconds)	  ? ABSENT
	       : seconds < 120	  ? format_text("%.0f s", seconds)
	       : seconds < 7200	  ? format_text("%.0f min", seconds / 60)
	       : seconds < 172800 ? format_text("%.1f h", seconds / 3600)
				  : format_text("%.0f d", seconds / 86400);
}

struct fmt fmt_value(enum fmt_kind kind, double value, int decimals)
{
	static struct fmt (*const exact[])(double, int) = {
		[FMT_TEXT] = fmt_number,     [FMT_NUMBER] = fmt_number, [FMT_SIGNED] = fmt_signed,
		[FMT_MEASURE] = fmt_measure, [FMT_DIGITS] = fmt_digits,
	};
	static struct fmt (*const plain[])(double) = {
		[FMT_GROUPED] = fmt_grouped,
		[FMT_STEPS] = fmt_steps,
		[FMT_BYTES] = fmt_bytes,
		[FMT_AGE] = fmt_age,
	};

	return kind < FMT_GROUPED ? exact[kind](value, decimals) : plain[kind](value);
}

/* The time zone of printed times. */
static bool local_time;

void fmt_set_utc(bool utc)
{
	local_time = !utc;
}

static const struct tm *fmt_break_down(int64_t wall_ms, struct tm *tm)
{
	time_t t = (time_t)(wall_ms / 1000);

	if ((local_time ? localtime_r(&t, tm) : gmtime_r(&t, tm)) == NULL)
		*tm = (struct tm){ .tm_mday = 1 };
	return tm;
}

struct fmt fmt_zone(int64_t wall_ms)
{
	struct fmt out;
	struct tm tm;

	if (!local_time || strftime(out.s, sizeof(out.s), "%Z", fmt_break_down(wall_ms, &tm)) == 0)
		return format_text("%s", local_time ? "" : "UTC");
	return out;
}

struct fmt fmt_clock(int64_t wall_ms)
{
	struct tm tm;

	if (wall_ms <= 0)
		return ABSENT;
	(void)fmt_break_down(wall_ms, &tm);
	return format_text("%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

struct fmt fmt_when(int64_t wall_ms, int64_t now_wall_ms)
{
	struct fmt out;
	struct tm then, now;

	(void)fmt_break_down(now_wall_ms, &now);
	(void)fmt_break_down(wall_ms, &then);
	if (wall_ms <= 0 || (then.tm_yday == now.tm_yday && then.tm_year == now.tm_year) ||
	    strftime(out.s, sizeof(out.s), "%b %e", &then) == 0)
		return fmt_clock(wall_ms);
	return out;
}

struct fmt fmt_moment(int64_t wall_ms, int64_t now_wall_ms)
{
	struct fmt when = fmt_when(wall_ms, now_wall_ms), clock = fmt_clock(wall_ms);

	return strcmp(when.s, clock.s) == 0 ? clock : format_text("%s %.5s", when.s, clock.s);
}

void fmt_add_csv(struct buf *out, const char *text, bool is_text)
{
	const char *quote = strpbrk(text, ",\"\r\n") != NULL ? "\"" : "";
	bool is_formula =
		is_text && text[0] != '\0' && text[1] != '\0' && strchr("=+-@", text[0]) != NULL;

	buf_append_str(out, quote);
	buf_append_str(out, is_formula ? "'" : "");
	for (; *text != '\0'; text++)
		buf_appendf(out, *text == '"' ? "\"%c" : "%c", *text);
	buf_append_str(out, quote);
}

void fmt_add_md(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		/* A bracket is only special where it could start a link. */
		if (strchr(MD_SPECIAL, *text) != NULL || (*text == ']' && text[1] == '('))
			buf_append_char(out, '\\');
		buf_append_char(out, *text);
	}
}
