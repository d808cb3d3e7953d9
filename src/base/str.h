/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_STR_H
#define HGYM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed slice of bytes, not NUL-ended; p may be NULL when len is 0. */
struct str {
	const char *p;
	size_t len;
};

#define STR_LIT(s) ((struct str){ (s), sizeof(s) - 1 })

static inline struct str
str_from(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static inline bool
str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool
str_eq_cstr(struct str a, const char *b)
{
	return str_eq(a, str_from(b));
}

static inline bool
str_starts_with(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && memcmp(s.p, prefix, n) == 0;
}

/* How many elements an array has. */
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* s without its first n bytes (n <= s.len). */
static inline struct str
str_skip(struct str s, size_t n)
{
	return (struct str){ s.p + n, s.len - n };
}

/* The bytes from one place up to another. */
static inline struct str
str_between(const char *from, const char *to)
{
	return (struct str){ from, (size_t)(to - from) };
}

/* Is s one of these words, which have one blank between them? */
bool str_is_among(struct str s, const char *words);
/* The same in any case. */
bool str_is_like(struct str s, const char *words);
/* Which of the words, ended by NULL, it is; -1: none. */
int str_index(const char *const *words, const char *word);
bool str_ends_with(struct str s, const char *suffix);
bool str_has_digit(struct str s);
/* First place of needle in s, or NULL. */
const char *str_find(struct str s, const char *needle);
/* Without the blanks, tabs and line ends at both ends. */
struct str str_trim(struct str s);
/*
 * Cut the next piece up to `sep` off *rest; false when nothing is left.
 * "a,,b" gives "a", "", "b".
 */
bool str_next(struct str *rest, char sep, struct str *piece);

/*
 * Strict numbers: the whole slice must be one number in the C locale, no
 * blanks; false (and *out untouched) otherwise.  str_to_double takes also
 * "nan", "inf", "infinity" with a sign, in any case.
 */
bool str_to_double(struct str s, double *out);
/*
 * The number that stands at p: at most 15 digits and, with `point`, one point
 * among them.  Returns where it ends, or p (and *out untouched) for none.
 */
const char *str_take_decimal(const char *p, const char *end, bool point,
			     double *out);
bool str_to_i64(struct str s, int64_t *out);
bool str_to_u64(struct str s, uint64_t *out);

/*
 * A number for people, its whole part in groups: "16,037,109", "1,234.5",
 * "-20,000".  Whole numbers below 1e15 have all their digits, others as many
 * as "%.*g" gives them (1..17).
 */
#define STR_NUMBER_SIZE 48
const char *str_number(double value, int digits, char out[STR_NUMBER_SIZE]);

/* FNV-1a, 64 bits. */
uint64_t str_hash(struct str s);

#endif
