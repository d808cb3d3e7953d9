/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

/* A borrowed slice of bytes, not NUL-ended; p may be NULL when len is 0. */
struct str {
	const char *p;
	size_t len;
};

#define STR_LIT(s) ((struct str){ (s), sizeof(s) - 1 })

static inline struct str str_from(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool str_eq_cstr(struct str a, const char *b)
{
	return str_eq(a, str_from(b));
}

static inline bool str_starts_with(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && memcmp(s.p, prefix, n) == 0;
}

/* Independent of the locale: an ASCII digit; an ASCII letter, digit or "_"; a space or a tab. */
static inline bool str_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool str_is_word(char c)
{
	return str_is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool str_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Print into a char array, truncated to its size; format as for printf. */
#define print_into(array, ...) ((void)snprintf(array, sizeof(array) / IS_ARRAY(array), __VA_ARGS__))
/* The same for a variadic function whose last named parameter is fmt. */
#define print_args(array, fmt)                                                        \
	do {                                                                          \
		va_list args;                                                         \
		va_start(args, fmt);                                                  \
		(void)vsnprintf(array, sizeof(array) / IS_ARRAY(array), (fmt), args); \
		va_end(args);                                                         \
	} while (0)

/* Append to the text in a char array in the same way; no argument may point into that array. */
#define append_into(array, ...)                                                                   \
	((void)snprintf((array) + strlen(array), sizeof(array) / IS_ARRAY(array) - strlen(array), \
			__VA_ARGS__))

/* s without its first n bytes (n <= s.len). */
static inline struct str str_skip(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.len - n };
}

/* The bytes from one pointer up to another. */
static inline struct str str_between(const char *from, const char *to)
{
	return (struct str){ from, (size_t)(to - from) };
}

/* Is s one of these words, which are separated by single spaces? */
bool str_is_among(struct str s, const char *words);
/* The same, ignoring case. */
bool str_is_like(struct str s, const char *words);
/* Index of word in a NULL-terminated list; -1 if the list lacks it. */
int str_index(const char *const *words, const char *word);
bool str_ends_with(struct str s, const char *suffix);
bool str_has_digit(struct str s);
/* Are all bytes of s in this set? */
bool str_has_only(struct str s, const char *bytes);
/* First occurrence of needle in s, or NULL. */
const char *str_find(struct str s, const char *needle);
const char *str_find_str(struct str s, struct str needle);
/* s without spaces, tabs and line ends at both ends. */
struct str str_trim(struct str s);
/* Cut the next part up to `sep` off *rest; false at the end. "a,,b" gives "a", "", "b". */
bool str_next(struct str *rest, char sep, struct str *piece);
/* Cut the next cell of CSV (RFC 4180) off *rest, trimmed and without the quotes around it; a quote
 * inside stays doubled. *end is the byte after the cell: sep, '\n', or '\0' at the end of the text.
 * Returns false if the quotes are not closed or text follows them. */
bool str_next_cell(struct str *rest, char sep, struct str *cell, char *end);
/* The last line that is not blank, trimmed; its p is NULL if there is none. */
struct str str_last_line(struct str text);

/* Strict: all of s must be one number in the C locale; otherwise return false with *out untouched.
 * str_to_double also accepts "nan", "inf" and "infinity" with a sign, in any case. */
bool str_to_double(struct str s, double *out);
/* Powers of ten that are exact in a double: up to 1e22. */
extern const double str_pow10[23];
/* Parse the number at p: at most 15 digits and, with `point`, one decimal point. Returns its end,
 * or p (with *out untouched) if there is none. */
const char *str_take_decimal(const char *p, const char *end, bool point, double *out);
/* The same for up to 19 digits after leading zeros, with optional sign and exponent; also returns p
 * if there are too many digits, or too large an exponent, for the fast path. */
const char *str_take_number(const char *p, const char *end, double *out);
bool str_to_i64(struct str s, int64_t *out);
bool str_to_u64(struct str s, uint64_t *out);

/* Format a number for people, with groups of three digits: "16,037,109", "1,234.5", "-20,000".
 * Integers below 1e15 keep all their digits, other numbers as many as "%.*g" gives (1..17). */
#define STR_NUMBER_SIZE 48
const char *str_number(double value, int digits, char out[STR_NUMBER_SIZE]);

/* FNV-1a, 64 bits. */
uint64_t str_hash(struct str s);
