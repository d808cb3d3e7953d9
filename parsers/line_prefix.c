/* SPDX-License-Identifier: MIT */
/* Rank and time prefixes of a line. */
#include "config.h"

#include "parsers/line_prefix.h"

#include <stdbool.h>

#include "base/clock.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
count_digits(struct str s, size_t at)
{
	size_t n = 0;

	while (at + n < s.len && is_digit(s.p[at + n]))
		n++;
	return n;
}

/* n digits at `at` as a number; the caller has checked them. */
static int
digits(struct str s, size_t at, size_t n)
{
	int value = 0;

	for (size_t i = 0; i < n; i++)
		value = value * 10 + (s.p[at + i] - '0');
	return value;
}

static struct str
skip(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.len - n };
}

static struct str
skip_blanks(struct str s)
{
	while (s.len > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = skip(s, 1);
	return s;
}

/* "[rank3]:" or "[default3]:", the blank behind it included. */
static bool
take_rank(struct line_prefix *out)
{
	static const char *const words[] = { "[rank", "[default" };
	struct str s = out->rest;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t at = strlen(words[i]), n;

		if (!str_starts_with(s, words[i]))
			continue;
		n = count_digits(s, at);
		if (n == 0 || n > 5 || at + n + 1 >= s.len ||
		    s.p[at + n] != ']' || s.p[at + n + 1] != ':')
			return false;
		out->rank = digits(s, at, n);
		out->rest = skip(s, at + n + 2);
		if (out->rest.len > 0 && out->rest.p[0] == ' ')
			out->rest = skip(out->rest, 1);
		return true;
	}
	return false;
}

/* Milliseconds of a fraction ".261" or ",261" at `at`; *len its length. */
static int
fraction_ms(struct str s, size_t at, size_t *len)
{
	size_t n;
	int ms = 0;

	*len = 0;
	if (at >= s.len || (s.p[at] != '.' && s.p[at] != ','))
		return 0;
	n = count_digits(s, at + 1);
	if (n == 0)
		return 0;
	*len = n + 1;
	for (size_t i = 0; i < 3; i++)
		ms = ms * 10 + (i < n ? s.p[at + 1 + i] - '0' : 0);
	return ms;
}

/* "1776143914.261 " */
static bool
take_epoch(struct line_prefix *out)
{
	struct str s = out->rest;
	int64_t seconds = 0;
	size_t frac;
	int ms;

	if (s.len < 12 || s.p[0] != '1' || count_digits(s, 0) != 10)
		return false;
	ms = fraction_ms(s, 10, &frac);
	if (frac == 0 || 10 + frac >= s.len || s.p[10 + frac] != ' ')
		return false;
	for (size_t i = 0; i < 10; i++)
		seconds = seconds * 10 + (s.p[i] - '0');
	out->wall_ms = seconds * 1000 + ms;
	out->rest = skip(s, 10 + frac + 1);
	return true;
}

/* Whether s has the shape, '0' standing for any digit. */
static bool
has_shape(struct str s, const char *shape)
{
	size_t n = strlen(shape);

	if (s.len < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (shape[i] == '0' ? !is_digit(s.p[i]) : s.p[i] != shape[i])
			return false;
	return true;
}

/* Minutes of a zone "Z", "+02:00", "-0730" at `at`; *len its length. */
static int
zone_minutes(struct str s, size_t at, size_t *len)
{
	struct str z = at < s.len ? skip(s, at) : (struct str){ NULL, 0 };
	int minutes = 0;

	*len = 0;
	if (z.len > 0 && z.p[0] == 'Z') {
		*len = 1;
		return 0;
	}
	if (has_shape(z, "+00:00") || has_shape(z, "-00:00")) {
		*len = 6;
		minutes = digits(z, 1, 2) * 60 + digits(z, 4, 2);
	} else if (has_shape(z, "+0000") || has_shape(z, "-0000")) {
		*len = 5;
		minutes = digits(z, 1, 2) * 60 + digits(z, 3, 2);
	}
	return *len > 0 && z.p[0] == '-' ? -minutes : minutes;
}

/* "2026-03-18 14:38:12,123 ", "[2026-03-18T14:38:12Z] " */
static bool
take_iso(struct line_prefix *out)
{
	bool bracket = out->rest.len > 0 && out->rest.p[0] == '[';
	struct str s = bracket ? skip(out->rest, 1) : out->rest;
	size_t at = 19, frac, zone;
	int ms, zone_min;

	if (!has_shape(s, "0000-00-00T00:00:00") &&
	    !has_shape(s, "0000-00-00 00:00:00"))
		return false;
	ms = fraction_ms(s, at, &frac);
	zone_min = zone_minutes(s, at + frac, &zone);
	at += frac + zone;
	if (at >= s.len || s.p[at] != (bracket ? ']' : ' '))
		return false;
	out->wall_ms = (clock_from_civil_s(digits(s, 0, 4), digits(s, 5, 2),
					   digits(s, 8, 2), digits(s, 11, 2),
					   digits(s, 14, 2), digits(s, 17, 2)) -
			(int64_t)zone_min * 60) *
			       1000 +
		       ms;
	out->rest = skip_blanks(skip(s, at + 1));
	return true;
}

void
line_prefix_split(struct str line, struct line_prefix *out)
{
	*out = (struct line_prefix){ -1, 0, line };
	for (int i = 0; i < 3; i++) {
		char c = out->rest.len > 0 ? out->rest.p[0] : 'x';

		if (c != '[' && !is_digit(c))
			return;
		if (!take_rank(out) && !take_epoch(out) && !take_iso(out))
			return;
	}
}
