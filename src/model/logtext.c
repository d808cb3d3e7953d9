/* SPDX-License-Identifier: MIT */
/* Convert raw log lines and their colours, for display and search. */
#include "model/logtext.h"

#include "base/sort.h"
#include "base/utf8.h"

#define TAB_COLUMNS	  8U
#define CHARACTER_BYTES	  4U
#define MARKS_OF_A_COLUMN 8U	/* combining characters per column before a line is cut */
#define MOST		  9999U /* largest parameter; higher values are clipped */
#define GREY_SPREAD	  40	/* a colour is grey if its parts differ by less */
#define BRIGHT_FROM	  216	/* a colour is bright if its largest part is at least this */
#define GREY_FROM	  64	/* outside this range, grey is black or white */
#define GREY_UPTO	  176

struct param {
	unsigned int value;
	bool is_part; /* follows a colon: a part of the parameter before */
};

/* Is the next parameter a part of the one before? */
static bool has_part(const struct str *rest)
{
	return rest->p != NULL && rest->p[-1] == ':';
}

/* Take the next parameter after "ESC ["; false if none is left. */
static bool take_param(struct str *rest, struct param *param)
{
	size_t i = 0;

	if (rest->p == NULL)
		return false;
	*param = (struct param){ 0, has_part(rest) };
	for (; i < rest->len && rest->p[i] >= '0' && rest->p[i] <= '9'; i++) {
		param->value = param->value * 10 + (unsigned)(rest->p[i] - '0');
		if (param->value > MOST)
			param->value = MOST;
	}
	if (i == rest->len) {
		rest->p = NULL;
		return true;
	}
	rest->p += i + 1;
	rest->len -= i + 1;
	return true;
}

static int get_largest(const int rgb[3])
{
	int most = rgb[0] > rgb[1] ? rgb[0] : rgb[1];

	return most > rgb[2] ? most : rgb[2];
}

/* Choose the ink with the same hue; a part of the colour counts if it is in the upper half. */
static uint8_t ink_of_rgb(const int rgb[3])
{
	static const uint8_t hues[] = {
		LOGSGR_TEXT, LOGSGR_RED,     LOGSGR_GREEN, LOGSGR_YELLOW,
		LOGSGR_BLUE, LOGSGR_MAGENTA, LOGSGR_CYAN,  LOGSGR_TEXT,
	};
	int most = get_largest(rgb), least = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
	least = least < rgb[2] ? least : rgb[2];
	int middle = least + (most - least) / 2;
	unsigned int hue = 0;

	if (most - least < GREY_SPREAD)
		return most >= GREY_FROM && most < GREY_UPTO ? LOGSGR_GREY : LOGSGR_TEXT;
	for (int i = 0; i < 3; i++)
		hue |= (unsigned)(rgb[i] > middle) << i;
	return (uint8_t)(hues[hue] + (most >= BRIGHT_FROM ? LOGSGR_BRIGHT_RED - LOGSGR_RED : 0));
}

static uint8_t ink_of_sixteen(unsigned int n)
{
	unsigned int hue = n % 8;

	if (n == 8)
		return LOGSGR_GREY;
	if (hue == 0 || hue == 7)
		return LOGSGR_TEXT;
	return (uint8_t)((n < 8 ? LOGSGR_RED : LOGSGR_BRIGHT_RED) + hue - 1);
}

/* Take the three parts of a direct colour; a colour space may come before them. */
static bool take_rgb(struct str *rest, int rgb[3])
{
	bool parts = has_part(rest);
	struct param param;
	int n = 0;

	while (n < (parts ? 4 : 3) && has_part(rest) == parts && take_param(rest, &param)) {
		if (n == 3)
			memmove(rgb, rgb + 1, 2 * sizeof(*rgb));
		rgb[n < 3 ? n : 2] = (int)param.value;
		n++;
	}
	return n >= 3 && get_largest(rgb) <= 255;
}

/* Take the parameters after 38, 48 or 58; *ink stays if they are not a colour. */
static void take_color(struct str *rest, uint8_t *ink)
{
	static const int level[] = { 0, 95, 135, 175, 215, 255 };
	static const unsigned int step[] = { 36, 6, 1 };
	struct param param;
	int rgb[3];

	if (!take_param(rest, &param))
		return;
	if (param.value == 5) {
		if (!take_param(rest, &param) || param.value > 255)
			return;
		if (param.value < 16) {
			*ink = ink_of_sixteen(param.value);
			return;
		}
		/* The numbers from 16 on are a cube of six levels, then 24 greys. */
		for (int i = 0; i < 3; i++)
			rgb[i] = param.value >= 232 ? 8 + 10 * ((int)param.value - 232)
						    : level[(param.value - 16) / step[i] % 6];
		*ink = ink_of_rgb(rgb);
	} else if (param.value == 2 && take_rgb(rest, rgb)) {
		*ink = ink_of_rgb(rgb);
	}
}

static uint8_t with_ink(uint8_t look, uint8_t ink)
{
	return (uint8_t)((look & ~LOGSGR_INK_MASK) | ink);
}

static uint8_t apply_number(uint8_t look, unsigned int value)
{
	static const struct {
		uint8_t number, clears, sets;
	} attributes[] = {
		{ 0, 0xFF, 0 },
		{ 1, 0, LOGSGR_BOLD },
		{ 2, 0, LOGSGR_FAINT },
		{ 7, 0, LOGSGR_REVERSE },
		{ 22, LOGSGR_BOLD | LOGSGR_FAINT, 0 },
		{ 27, LOGSGR_REVERSE, 0 },
		{ 39, LOGSGR_INK_MASK, 0 },
	};

	if (value >= 30 && value <= 37)
		return with_ink(look, ink_of_sixteen(value - 30));
	if (value >= 90 && value <= 97)
		return with_ink(look, ink_of_sixteen(value - 90 + 8));
	for (size_t i = 0; i < LENGTH(attributes); i++)
		if (attributes[i].number == value)
			return (uint8_t)((look & ~attributes[i].clears) | attributes[i].sets);
	return look;
}

/* Return the look after an escape sequence (with ESC), unchanged if it is no complete SGR one. */
static uint8_t look_after(uint8_t look, struct str escape)
{
	struct str rest = { escape.p + 2, escape.len - 3 };
	struct param param;

	if (escape.len < 3 || escape.p[1] != '[' || escape.p[escape.len - 1] != 'm')
		return look;
	for (size_t i = 2; i < escape.len - 1; i++)
		if (escape.p[i] < '0' || escape.p[i] > ';')
			return look;
	while (take_param(&rest, &param)) {
		uint8_t ink = look & LOGSGR_INK_MASK, none = 0;

		if (param.is_part)
			continue;
		if (param.value == 38) {
			take_color(&rest, &ink);
			look = with_ink(look, ink);
		} else if (param.value == 48 || param.value == 58) {
			take_color(&rest, &none);
		} else {
			look = apply_number(look, param.value);
		}
	}
	return look;
}

void logsgr_runs_init(struct logsgr_runs *runs)
{
	memset(runs, 0, sizeof(*runs));
}

void logsgr_runs_release(struct logsgr_runs *runs)
{
	free(runs->v);
	logsgr_runs_init(runs);
}

/* Add a run; its position must not be below the last run's. */
static void logsgr_runs_add(struct logsgr_runs *runs, size_t at, uint8_t look)
{
	if (runs->n >= LOGSGR_MAX_RUNS)
		return;
	if (runs->n > 0 && runs->v[runs->n - 1].at == at)
		runs->n--;
	if (look == (runs->n > 0 ? runs->v[runs->n - 1].look : 0))
		return;
	if (runs->n + 1 == LOGSGR_MAX_RUNS)
		look = 0;
	xpush(runs->v, runs->n, runs->cap, (struct logsgr_run){ (uint32_t)at, look });
}

size_t logsgr_runs_upto(const struct logsgr_runs *runs, size_t at)
{
	return bisect(runs->n, i, runs->v[i].at <= at);
}

static const char *skip_escape(const char *p, const char *end)
{
	if (++p >= end)
		return end;
	if (*p == '[') { /* CSI: up to its final byte; ESC or a non-ASCII byte breaks it off */
		for (p++; p < end && *p != '\033' && (unsigned char)*p < 0x80; p++)
			if (*p >= 0x40 && *p <= 0x7E)
				return p + 1;
		return p;
	}
	if (strchr("]P_^X", *p) != NULL && *p != '\0') { /* a string such as a title */
		for (p++; p < end; p++) {
			if (*p == '\a')
				return p + 1;
			if (*p == '\033')
				return p + 1 < end && p[1] == '\\' ? p + 2 : p;
		}
		return end;
	}
	while (p < end && *p >= 0x20 && *p <= 0x2F)
		p++;
	return p < end && *p >= 0x30 && *p <= 0x7E ? p + 1 : p;
}

/* Return the text after the last CR that is followed by anything. */
static struct str last_segment(struct str raw)
{
	while (raw.len > 0 && raw.p[raw.len - 1] == '\r')
		raw.len--;
	const char *cr = raw.len > 0 ? memrchr(raw.p, '\r', raw.len) : NULL;
	if (cr == NULL)
		return raw;
	return (struct str){ cr + 1, raw.len - (size_t)(cr + 1 - raw.p) };
}

/* Append s without escape sequences until out holds `most` bytes. *look is updated to the look at
 * the end; changes of the look are added to runs (may be NULL). */
static void strip_escapes(struct buf *out, struct str s, size_t most, uint8_t *look,
			  struct logsgr_runs *runs)
{
	const char *p = s.p, *end = s.p + s.len;

	while (p < end && out->len < most) {
		const char *escape = memchr(p, '\033', (size_t)(end - p));
		size_t n = (size_t)((escape != NULL ? escape : end) - p);

		buf_append(out, p, n < most - out->len ? n : most - out->len);
		p = escape != NULL ? skip_escape(escape, end) : end;
		if (escape == NULL || look == NULL)
			continue;
		*look = look_after(*look, (struct str){ escape, (size_t)(p - escape) });
		if (runs != NULL)
			logsgr_runs_add(runs, out->len, *look);
	}
}

/* Convert positions in the plain text to positions in the shown text. A character is one character
 * in both, except that a tab becomes blanks up to the next tab stop. */
static void place_runs_in_shown(struct logsgr_runs *runs, struct str plain, struct str shown)
{
	size_t from = 0, to = 0, column = 0, i = 0;

	while (i < runs->n && to < shown.len) {
		uint32_t cp, seen;

		if (runs->v[i].at <= from) {
			runs->v[i++].at = (uint32_t)to;
			continue;
		}
		from += utf8_decode((struct str){ plain.p + from, plain.len - from }, &cp);
		to += utf8_decode((struct str){ shown.p + to, shown.len - to }, &seen);
		column += (size_t)utf8_cp_width(seen);
		for (; cp == '\t' && column % TAB_COLUMNS != 0; column++)
			to++;
	}
	runs->n = i;
}

void logtext_visible(struct buf *out, struct str raw)
{
	strip_escapes(out, last_segment(raw), SIZE_MAX, NULL, NULL);
}

/* Append plain text, about `columns` columns at most. */
static void show_plain(struct buf *out, struct str rest, size_t columns)
{
	size_t column = 0;

	while (rest.len > 0 && column < columns) {
		const char *tab = memchr(rest.p, '\t', rest.len);
		struct str piece = { rest.p, tab != NULL ? (size_t)(tab - rest.p) : rest.len };
		size_t whole = piece.len, begin = out->len;

		piece.len = utf8_prefix(piece, columns - column);
		utf8_sanitize(out, piece);
		column += utf8_width((struct str){ out->data + begin, out->len - begin });
		if (piece.len < whole)
			break;
		rest.p += whole;
		rest.len -= whole;
		if (tab == NULL)
			continue;
		do
			buf_append_char(out, ' ');
		while (++column % TAB_COLUMNS != 0);
		rest.p++;
		rest.len--;
	}
}

void logtext_show(struct buf *out, struct str raw, size_t columns, struct logsgr_runs *runs)
{
	size_t most = columns * CHARACTER_BYTES * MARKS_OF_A_COLUMN;
	struct str last = last_segment(raw);
	size_t begin = out->len;
	AUTO_BUF plain = buf_new(most + 1);
	uint8_t look = 0;

	if (runs != NULL) {
		/* The overwritten part of the line may set colours that last. */
		strip_escapes(&plain, (struct str){ raw.p, (size_t)(last.p - raw.p) }, SIZE_MAX,
			      &look, NULL);
		buf_clear(&plain);
		runs->n = 0;
		logsgr_runs_add(runs, 0, look);
	}
	strip_escapes(&plain, last, most, runs != NULL ? &look : NULL, runs);
	show_plain(out, buf_str(&plain), columns);
	if (runs != NULL)
		place_runs_in_shown(runs, buf_str(&plain),
				    (struct str){ out->data + begin, out->len - begin });
}

bool logtext_is_plain(struct str block)
{
	const char *p = block.p, *end = block.p + block.len;

	if (block.len == 0)
		return true;
	if (memchr(p, '\033', block.len) != NULL)
		return false;
	while ((p = memchr(p, '\r', (size_t)(end - p))) != NULL) {
		if (++p < end && *p != '\n')
			return false;
		if (p >= end)
			break;
	}
	return true;
}
