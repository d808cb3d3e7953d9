/* SPDX-License-Identifier: MIT */
/* Strip times and logger names from the start of a line. */
#include "parsers/line_prefix.h"

#include "base/clock.h"
#include "parsers/prefix_table.h"

/* The end of a logger's prefix is searched for in this many bytes. */
#define ARROW_BYTES 160

/* Count the digits at `at`, which is not after the end of s. */
static size_t count_digits(struct str s, size_t at)
{
	return index_of(n, s.len - at, !str_is_digit(s.p[at + n]));
}

/* Read the n digits at `at` as a number; the caller has checked that they are digits. */
static int parse_digits(struct str s, size_t at, size_t n)
{
	int value = 0;

	for (size_t i = 0; i < n; i++)
		value = value * 10 + (s.p[at + i] - '0');
	return value;
}

static struct str skip_blanks(struct str s)
{
	while (s.len > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = str_skip(s, 1);
	return s;
}

/* Strip a launcher's prefix that follows a time: "[rank3]:", "[pod/train-worker-3/main] ". */
static bool strip_launcher(struct log_line *out)
{
	size_t n = prefix_length(out->text, &out->rank);

	out->text = str_skip(out->text, n);
	return n > 0;
}

/* Return the milliseconds of a fraction ".261" or ",261" at `at`, with its length in *len. */
static int fraction_ms(struct str s, size_t at, size_t *len)
{
	int ms = 0;

	*len = 0;
	if (at >= s.len || (s.p[at] != '.' && s.p[at] != ','))
		return 0;
	size_t n = count_digits(s, at + 1);
	if (n == 0)
		return 0;
	*len = n + 1;
	for (size_t i = 0; i < 3; i++)
		ms = ms * 10 + (i < n ? s.p[at + 1 + i] - '0' : 0);
	return ms;
}

/* Strip "1776143914.261 ". */
static bool strip_epoch(struct log_line *out)
{
	struct str s = out->text;
	size_t frac;

	if (s.len < 12 || s.p[0] != '1' || count_digits(s, 0) != 10)
		return false;
	int ms = fraction_ms(s, 10, &frac);
	if (frac == 0 || 10 + frac >= s.len || s.p[10 + frac] != ' ')
		return false;
	out->wall_ms = (int64_t)parse_digits(s, 0, 10) * 1000 + ms;
	out->text = str_skip(s, 10 + frac + 1);
	return true;
}

/* Does s have this shape? '0' is any digit, '_' for "T" or " ". */
static bool has_shape(struct str s, const char *shape)
{
	for (size_t i = 0; shape[i] != '\0'; i++) {
		if (i == s.len)
			return false;
		if (shape[i] == '0'   ? !str_is_digit(s.p[i])
		    : shape[i] == '_' ? s.p[i] != 'T' && s.p[i] != ' '
				      : s.p[i] != shape[i])
			return false;
	}
	return true;
}

/* Return the minutes of a time zone "Z", "+02:00" or "-0730" at `at`, with its length in *len. */
static int zone_minutes(struct str s, size_t at, size_t *len)
{
	struct str z = at < s.len ? str_skip(s, at) : (struct str){ NULL, 0 };

	*len = 0;
	if (z.len > 0 && z.p[0] == 'Z') {
		*len = 1;
		return 0;
	}
	if (z.len == 0 || (z.p[0] != '+' && z.p[0] != '-'))
		return 0;
	if (has_shape(str_skip(z, 1), "00:00"))
		*len = 6;
	else if (has_shape(str_skip(z, 1), "0000"))
		*len = 5;
	else
		return 0;
	int minutes = parse_digits(z, 1, 2) * 60 + parse_digits(z, *len - 2, 2);
	return z.p[0] == '-' ? -minutes : minutes;
}

int64_t line_prefix_time(struct str s, size_t *len, bool *has_zone)
{
	static const struct {
		const char *shape;
		size_t month, day, hour, min, sec;
	} forms[] = {
		{ "0000-00-00_00:00:00", 5, 8, 11, 14, 17 },
		{ "00000000T000000", 4, 6, 9, 11, 13 },
	};
	size_t i = 0, frac, zone;
	int month, day, hour, min, sec;

	*len = 0;
	*has_zone = false;
	while (!has_shape(s, forms[i].shape))
		if (++i == LENGTH(forms))
			return 0;
	int year = parse_digits(s, 0, 4);
	month = parse_digits(s, forms[i].month, 2);
	day = parse_digits(s, forms[i].day, 2);
	hour = parse_digits(s, forms[i].hour, 2);
	min = parse_digits(s, forms[i].min, 2);
	sec = parse_digits(s, forms[i].sec, 2);
	*len = strlen(forms[i].shape);
	int ms = fraction_ms(s, *len, &frac);
	int zone_min = zone_minutes(s, *len + frac, &zone);
	*len += frac + zone;
	*has_zone = zone > 0;
	if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
	    min > 59 || sec > 60)
		return 0;
	return (clock_from_civil_s(year, month, day, hour, min, sec) - (int64_t)zone_min * 60) *
		       1000 +
	       ms;
}

/* Strip "2026-03-18 14:38:12,123 " or "[2026-03-18T14:38:12Z] ". */
static bool strip_iso_time(struct log_line *out)
{
	bool bracket = out->text.len > 0 && out->text.p[0] == '[', has_zone;
	struct str s = bracket ? str_skip(out->text, 1) : out->text;
	size_t at = 0;
	int64_t ms = 0;

	if (s.len > 4 && s.p[4] == '-')
		ms = line_prefix_time(s, &at, &has_zone);
	if (at == 0)
		return false;
	if (!bracket && at + 1 < s.len && s.p[at] == ':' && s.p[at + 1] == ' ')
		at++;
	if (at >= s.len || (s.p[at] != (bracket ? ']' : ' ') && (bracket || s.p[at] != '\t')))
		return false;
	out->wall_ms = ms;
	out->text = skip_blanks(str_skip(s, at + 1));
	return true;
}

/* Strip the tag of "[titan] 2026-03-18 14:38:12,123 - ..", which precedes a time. */
static bool strip_tag(struct log_line *out)
{
	struct str s = out->text;
	size_t n = index_of(i, s.len, i > 0 && (s.p[i] < 'a' || s.p[i] > 'z'));

	if (n < 2 || s.p[0] != '[' || !has_shape(str_skip(s, n), "] 0000-00-00"))
		return false;
	out->text = str_skip(s, n + 2);
	return true;
}

static size_t name_length(struct str s)
{
	return index_of(n, s.len, !str_is_word(s.p[n]) && strchr(".<>", s.p[n]) == NULL);
}

/* Return the length of the first word of s if it is a log level, else 0. */
static size_t level_length(struct str s)
{
	static const char *const levels[] = { "INFO",	  "WARNING", "WARN",   "ERROR",
					      "CRITICAL", "DEBUG",   "SUCCESS" };

	if (s.len == 0 || s.p[0] < 'C' || s.p[0] > 'W') /* nearly all lines */
		return 0;
	for (size_t i = 0; i < LENGTH(levels); i++) {
		if (s.p[0] != levels[i][0])
			continue;
		size_t n = strlen(levels[i]);
		if (str_starts_with(s, levels[i]) && n < s.len &&
		    strchr(" \t:|]", s.p[n]) != NULL && s.p[n] != '\0')
			return n;
	}
	return 0;
}

/* Skip the blanks and one "]", "-", "|" or ":" between two parts of a prefix. */
static struct str skip_separator(struct str s)
{
	s = skip_blanks(s);
	if (s.len > 0 && (s.p[0] == ']' || s.p[0] == '-' || s.p[0] == '|' || s.p[0] == ':'))
		s = str_skip(s, 1);
	return skip_blanks(s);
}

/* Strip "12:00:00.5 ", "[12:00:00] " or "Nov 20 12:00:00 ", also after the date "11/20/2026 ". */
static bool strip_clock(struct log_line *out)
{
	struct str s = out->text;
	size_t at = 0, frac;

	if (s.len > 16 && s.p[3] == ' ' && s.p[6] == ' ' &&
	    str_is_among((struct str){ s.p, 3 }, "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"))
		at = 7;
	else if (s.len > 2 && s.p[2] == '/' && has_shape(s, "00/00/0000 "))
		at = 11;
	bool bracket = has_shape(s, "[00:00:00");
	at += bracket;
	if (!has_shape(str_skip(s, at), "00:00:00"))
		return false;
	(void)fraction_ms(s, at + 8, &frac);
	at += 8 + frac;
	if (bracket && (at >= s.len || s.p[at++] != ']'))
		return false;
	at += bracket && at < s.len && s.p[at] == ':';
	if (at >= s.len || (s.p[at] != ' ' && (!bracket || s.p[at] != '[')))
		return false;
	bool is_indented = at + 1 < s.len && s.p[at + 1] == ' ';
	s = skip_blanks(str_skip(s, at));
	if (!is_indented && s.len > 2 && s.p[s.len - 1] != '|' &&
	    (s.p[0] == '-' || s.p[0] == '|') && s.p[1] == ' ' && s.p[2] != ' ')
		s = skip_blanks(str_skip(s, 1));
	out->text = s;
	return true;
}

/* Strip "node-3 python3[123]: " after a time, but not "Train step[123]: ". */
static void strip_process(struct log_line *out)
{
	struct str s = out->text, head = { s.p, 0 }, host, name;
	const char *end = memchr(s.p, ']', s.len < ARROW_BYTES ? s.len : ARROW_BYTES);

	if (end == NULL || end + 2 >= s.p + s.len || end[1] != ':' || end[2] != ' ')
		return;
	head.len = (size_t)(end - s.p);
	if (str_next(&head, ' ', &host) && str_next(&head, '[', &name) && name.len > 0 &&
	    memchr(name.p, ' ', name.len) == NULL && str_has_only(head, "0123456789") &&
	    !str_is_like(name, "step epoch iter iteration batch round"))
		out->text = skip_blanks(str_between(end + 2, s.p + s.len));
}

/* Skip "train.py:12: ", "(train.py:12) ", "a:b:12 - " or "a.b - ". */
static struct str skip_source_line(struct str s)
{
	struct str at = s;
	size_t colons = 0, n, d = 0;

	n = name_length(at);
	if (n > 0 && !str_is_digit(at.p[0]) && memchr(at.p, '.', n) != NULL &&
	    str_starts_with(str_skip(at, n), " - "))
		return skip_blanks(str_skip(at, n + 3));
	if (at.len > 0 && (at.p[0] == '[' || at.p[0] == '('))
		at = str_skip(at, 1);
	while ((n = name_length(at)) > 0 && n < at.len && at.p[n] == ':') {
		bool script = n > 3 && memcmp(at.p + n - 3, ".py", 3) == 0;
		bool dotted = memchr(at.p, '.', n) != NULL;

		at = str_skip(at, n + 1);
		d = count_digits(at, 0);
		if (++colons > 2)
			return s;
		dotted = dotted && str_starts_with(str_skip(at, d), " - "); /* "a.b:12 - " */
		if (d > 0 && (script || dotted || colons == 2) && d < at.len &&
		    strchr(" ])|:", at.p[d]) != NULL && at.p[d] != '\0')
			break;
		d = 0;
	}
	if (d == 0)
		return s;
	at = str_skip(at, d);
	if (at.p[0] == ')')
		at = str_skip(at, 1);
	at = skip_separator(skip_separator(at));
	if (!str_starts_with(at, "in ")) /* " in run -- " */
		return at;
	s = str_skip(at, 3 + name_length(str_skip(at, 3)));
	return str_starts_with(s, " -- ") ? str_skip(s, 4) : at;
}

/* Skip the name of "INFO:root:", which has no blank before it. */
static struct str skip_logger_name(struct str s)
{
	size_t n = name_length(s);

	if (n == 0 || n + 1 >= s.len || s.p[n] != ':' || str_is_digit(s.p[n + 1]))
		return n == 4 && str_starts_with(s, "root:") ? str_skip(s, 5) : s;
	return str_skip(s, n + 1);
}

/* Return where the log level ends, after a "[" or the logger's name; 0: none. */
static size_t level_end(struct str s, bool stamped)
{
	struct str at = s;
	size_t n;

	if (stamped)
		at = skip_separator(at);
	bool bracket = at.len > 0 && at.p[0] == '[';
	for (int i = 0; i < 2; i++) {
		if (at.len > 0 && at.p[0] == '[')
			at = skip_blanks(str_skip(at, 1));
		n = level_length(at);
		if (n > 0)
			return (size_t)(at.p + n - s.p);
		if (!stamped)
			break;
		size_t name = name_length(at);
		if (bracket && name < at.len && at.p[name] == ' ')
			break; /* "[CUDA ERROR] .." */
		at = skip_separator(str_skip(at, name_length(at)));
	}
	return 0;
}

/* Strip the level and names that a logger prints before its message; `stamped`: after a time. */
static void strip_logger(struct log_line *out, bool stamped)
{
	struct str s = out->text;

	if (s.len == 0 || (!stamped && str_is_digit(s.p[0])))
		return;
	size_t n = level_end(s, stamped);
	if (n == 0)
		return;
	s = str_skip(s, n);
	if (!stamped && s.p[0] == ':' && s.len > 1 && s.p[1] != ' ')
		s = skip_logger_name(str_skip(s, 1));
	else
		s = skip_source_line(skip_separator(skip_separator(s)));
	out->text = s;
}

/* Can the line start with a prefix ("12:00:00", "11/20/2026 ", "1776143914.", "2026-")? */
static bool may_start_prefix(struct str s)
{
	if (s.len < 5 || !str_is_digit(s.p[0]))
		return s.len >= 5 && line_prefix_may_start(s.p[0]);
	return s.p[2] == ':' || has_shape(s, "00/00/0000 ") ||
	       (str_is_digit(s.p[1]) && str_is_digit(s.p[2]) && str_is_digit(s.p[3]) &&
		s.p[4] != '/');
}

/* Rules recognize the "seed: 42" of a settings dump by its two leading blanks: restore these two if
 * the prefix has another blank before them. */
static struct str restore_indent(struct str line, struct str rest)
{
	size_t n = name_length(rest), before = (size_t)(rest.p - line.p);

	if (before < 4 || n == 0 || n + 1 >= rest.len || rest.p[n] != ':' || rest.p[n + 1] != ' ' ||
	    memcmp(rest.p - 2, "  ", 2) != 0 || (rest.p[-3] != ' ' && rest.p[-3] != '\t') ||
	    rest.p[-4] == ' ')
		return rest;
	return (struct str){ rest.p - 2, rest.len + 2 };
}

bool line_prefix_task(struct str line, struct log_line *out)
{
	struct str s = skip_blanks(line);
	size_t n = count_digits(s, 0);

	if (n == 0 || n > 5 || n + 2 >= s.len || s.p[n] != ':' || s.p[n + 1] != ' ')
		return false;
	line_prefix_split(str_skip(s, n + 2), out);
	out->rank = parse_digits(s, 0, n);
	return true;
}

void line_prefix_split(struct str line, struct log_line *out)
{
	struct str exact;
	bool stamped = false;

	out->text = out->exact = line;
	out->wall_ms = 0;
	out->rank = -1;
	for (int i = 0; i < 6; i++) {
		if (!stamped && !may_start_prefix(out->text))
			break;
		if (strip_clock(out) || strip_epoch(out) || strip_iso_time(out)) {
			stamped = true;
			strip_process(out);
		} else if (!strip_launcher(out) && !strip_tag(out)) {
			strip_logger(out, stamped);
			(void)strip_launcher(out);
			break;
		}
	}
	if (out->text.p == line.p)
		return;
	/* one blank separates the prefix from the line */
	exact = out->text;
	while (exact.p > line.p + 1 && str_is_blank(exact.p[-1]) && str_is_blank(exact.p[-2]))
		exact = (struct str){ exact.p - 1, exact.len + 1 };
	out->exact = exact;
	out->text = restore_indent(line, out->text);
}
