/* SPDX-License-Identifier: MIT */
/* Borrowed slices and strict number parsing, independent of the locale. */
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#include "base/bytes16.h"

/* Is s the whole word at p, in the list of words that ends at `end`? */
static bool is_word_at(struct str s, const char *p, const char *words, const char *end,
		       int (*compare)(const char *a, const char *b, size_t n))
{
	return (p == words || p[-1] == ' ') && (p + s.len == end || p[s.len] == ' ') &&
	       compare(s.p, p, s.len) == 0 && memchr(s.p, ' ', s.len) == NULL;
}

/* Compare the first and last byte of s at 16 positions at once; bits in `fold` may differ. */
static inline bool __attribute__((always_inline))
is_word_of(struct str s, const char *words, uint8_t fold,
	   int (*compare)(const char *a, const char *b, size_t n))
{
	const char *end = words + strlen(words), *p = words;
	size_t n = s.len;

	if (n == 0 || n > (size_t)(end - words))
		return false;
	const char *last = end - n;
	uint8_t a = (uint8_t)s.p[0] | fold, b = (uint8_t)s.p[n - 1] | fold;
	for (; last - p >= 15; p += 16) {
		bytes16 hits = (bytes16)(((bytes16_load(p) | fold) == a) &
					 ((bytes16_load(p + n - 1) | fold) == b));

		for (int i = 0; bytes16_any(hits) && i < 16; i++)
			if (hits[i] != 0 && is_word_at(s, p + i, words, end, compare))
				return true;
	}
	for (; p <= last; p++)
		if (((uint8_t)*p | fold) == a && is_word_at(s, p, words, end, compare))
			return true;
	return false;
}

bool str_is_among(struct str s, const char *words)
{
	return is_word_of(s, words, 0, strncmp);
}

bool str_is_like(struct str s, const char *words)
{
	return is_word_of(s, words, 'a' ^ 'A', strncasecmp);
}

int str_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

bool str_ends_with(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.len >= n && memcmp(s.p + s.len - n, suffix, n) == 0;
}

bool str_has_digit(struct str s)
{
	bytes16 found = { 0 };
	size_t i = 0;

	for (; i + 16 <= s.len; i += 16)
		found |= (bytes16)(bytes16_load(s.p + i) - '0' < 10);
	return bytes16_any(found) || any_of(k, s.len - i, str_is_digit(s.p[i + k]));
}

bool str_has_only(struct str s, const char *bytes)
{
	while (s.len > 0 && strchr(bytes, s.p[0]) != NULL)
		s = str_skip(s, 1);
	return s.len == 0;
}

const char *str_find(struct str s, const char *needle)
{
	return str_find_str(s, str_from(needle));
}

/* Find which of the 16 positions from p have the first and the last byte of needle. */
static inline bytes16 hits_at(const char *p, struct str needle)
{
	unsigned char first = (unsigned char)needle.p[0];
	unsigned char last = (unsigned char)needle.p[needle.len - 1];

	return (bytes16)((bytes16_load(p) == first) & (bytes16_load(p + needle.len - 1) == last));
}

const char *str_find_str(struct str s, struct str needle)
{
	size_t n = needle.len;

	if (n == 0 || s.len < n)
		return n == 0 ? s.p : NULL;
	const char *p = s.p, *last = s.p + s.len - n;

	while (last - p >= 15) {
		if (last - p >= 63 &&
		    !bytes16_any(hits_at(p, needle) | hits_at(p + 16, needle) |
				 hits_at(p + 32, needle) | hits_at(p + 48, needle))) {
			p += 64;
			continue;
		}
		bytes16 hits = hits_at(p, needle);
		for (int i = 0; bytes16_any(hits) && i < 16; i++)
			if (hits[i] != 0 && memcmp(p + i, needle.p, n) == 0)
				return p + i;
		p += 16;
	}
	for (; p <= last; p++)
		if (*p == needle.p[0] && memcmp(p, needle.p, n) == 0)
			return p;
	return NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.len > 0 && is_blank(s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len > 0 && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

bool str_next(struct str *rest, char sep, struct str *piece)
{
	if (rest->p == NULL)
		return false;
	const char *end = rest->len > 0 ? memchr(rest->p, sep, rest->len) : NULL;
	if (end == NULL) {
		*piece = *rest;
		*rest = (struct str){ NULL, 0 };
		return true;
	}
	*piece = str_between(rest->p, end);
	rest->len -= piece->len + 1;
	rest->p = end + 1;
	return true;
}

bool str_next_cell(struct str *rest, char sep, struct str *cell, char *end)
{
	const char *p = rest->p, *stop = rest->p + rest->len;

	if (rest->len > 0 && *p == '"') {
		do {
			p = memchr(p + 1, '"', (size_t)(stop - p) - 1);
			if (p == NULL)
				return false;
			p++;
		} while (p < stop && *p == '"');
		*cell = str_between(rest->p + 1, p - 1);
		p += p < stop && *p == '\r';
		if (p < stop && *p != sep && *p != '\n')
			return false;
	} else {
		while (p < stop && *p != sep && *p != '\n')
			p++;
		*cell = str_between(rest->p, p);
	}
	*cell = str_trim(*cell);
	*end = p < stop ? *p : '\0';
	*rest = str_skip(*rest, (size_t)(p - rest->p) + (p < stop));
	return true;
}

struct str str_last_line(struct str text)
{
	struct str last = { NULL, 0 }, line;

	while (str_next(&text, '\n', &line)) {
		line = str_trim(line);
		if (line.len > 0)
			last = line;
	}
	return last;
}

const double str_pow10[] = { 1e0,  1e1,	 1e2,  1e3,  1e4,  1e5,	 1e6,  1e7,  1e8,  1e9,	 1e10, 1e11,
			     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EVERY_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

/* str_take_decimal for a number that ends within 8 bytes; NULL if the number may be longer. */
static inline const char *take_short(const char *p, bool point, double *out)
{
	uint64_t word, others;

	memcpy(&word, p, sizeof(word));
	word ^= EVERY_BYTE('0'); /* each digit becomes its value */
	others = (((word & EVERY_BYTE(0x7f)) + EVERY_BYTE(0x76)) | word) & EVERY_BYTE(0x80);
	if (others == 0)
		return NULL;
	unsigned int n = (unsigned int)__builtin_ctzll(others) / 8, n_decimals = 0, len = n;
	if (point && p[n] == '.') {
		uint64_t before = (UINT64_C(1) << (8 * n)) - 1;

		others &= others - 1;
		if (others == 0)
			return NULL;
		len = (unsigned int)__builtin_ctzll(others) / 8;
		word = (word & before) | (word >> 8 & ~before);
		n_decimals = len - n - 1;
		n = len - 1;
	}
	if (n == 0)
		return p;
	word <<= 64 - 8 * n;
	word = word * 10 + (word >> 8); /* pairs of digits, then all eight */
	word = ((word & UINT64_C(0xff000000ff)) * UINT64_C(0xf424000000064) +
		(word >> 16 & UINT64_C(0xff000000ff)) * UINT64_C(0x271000000001)) >>
	       32;
	*out = (double)(int32_t)word / str_pow10[n_decimals];
	return p + len;
}
#endif

/* With at most 15 digits, the quotient of two exact doubles is correctly rounded (Clinger). */
const char *str_take_decimal(const char *p, const char *end, bool point, double *out)
{
	const char *start = p, *behind = NULL; /* after the point */
	uint64_t digits = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const char *after = end - p >= 8 ? take_short(p, point, out) : NULL;
	if (after != NULL)
		return after;
#endif
	for (; p < end; p++) {
		unsigned int digit = (unsigned char)*p - (unsigned int)'0';

		if (digit <= 9)
			digits = digits * 10 + digit;
		else if (*p == '.' && point && behind == NULL)
			behind = p + 1;
		else
			break;
	}
	size_t n = (size_t)(p - start) - (behind != NULL);
	if (n == 0 || n > 15)
		return start;
	*out = (double)(int64_t)digits;
	if (behind != NULL)
		*out /= str_pow10[p - behind];
	return p;
}

/* Skip the digits at p and append them to the number *digits. */
static inline const char *add_digits(const char *p, const char *end, uint64_t *digits)
{
	for (; p < end && str_is_digit(*p); p++)
		*digits = *digits * 10 + (uint64_t)(*p - '0');
	return p;
}

/* Skip an exponent at p and add it to *exponent; NULL if it has no digits or too many. */
static inline const char *read_exponent(const char *p, const char *end, int *exponent)
{
	uint64_t power = 0;

	if (p == end || (*p | 0x20) != 'e')
		return p;
	p++;
	bool negative = p < end && *p == '-';
	const char *from = p + (negative || (p < end && *p == '+'));

	p = add_digits(from, end, &power);
	if (p == from || p - from > 2)
		return NULL;
	*exponent += negative ? -(int)power : (int)power;
	return p;
}

/* digits * 10^exponent, correctly rounded, for values that are not exact in a double: the quotient
 * has more bits than a double, and its last bit is set if there is a remainder. Rarely needed. */
static bool __attribute__((noinline)) scale_many(uint64_t digits, int exponent, double *out)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	uint64_t power = 1;

	if (digits == 0 || exponent > 0 || exponent < -27)
		return false;
	for (int i = 0; i < -exponent; i++)
		power *= 5;
	int shift = __builtin_clzll(digits);
	wide whole = (wide)(digits << shift) << 64;
	wide quotient = whole / power;
	quotient |= quotient * power != whole;
	*out = ldexp((double)quotient, exponent - shift - 64);
	return true;
#else
	(void)digits, (void)exponent, (void)out;
	return false;
#endif
}

const char *str_take_number(const char *p, const char *end, double *out)
{
	const char *start = p + (p < end && (*p == '-' || *p == '+')), *q;
	uint64_t digits = 0;
	int exponent = 0;

	q = add_digits(start, end, &digits);
	ptrdiff_t n = q - start;
	if (q < end && *q == '.') {
		const char *point = q + 1;

		q = add_digits(point, end, &digits);
		exponent = (int)(point - q);
		n += q - point;
	}
	/* Leading zeros do not count towards the 19 digits. */
	for (const char *z = start; n > 19 && (*z == '0' || *z == '.'); z++)
		n -= *z == '0';
	if (n == 0 || n > 19)
		return p;
	q = read_exponent(q, end, &exponent);
	if (q == NULL)
		return p;
	if (digits > (uint64_t)1 << 53 || exponent < -22 || exponent > 22) {
		if (!scale_many(digits, exponent, out))
			return p;
	} else {
		*out = exponent < 0 ? (double)(int64_t)digits / str_pow10[-exponent]
				    : (double)(int64_t)digits * str_pow10[exponent];
	}
	*out = *p == '-' ? -*out : *out;
	return q;
}

/* Parse numbers that str_take_number rejects, such as "nan" and very long ones. Rarely needed. */
static bool __attribute__((noinline)) other_to_double(struct str s, double *out)
{
	char copy[64];
	char *end;

	if (s.len == 0 || s.len >= sizeof(copy))
		return false;
	memcpy(copy, s.p, s.len);
	copy[s.len] = '\0';
	/* Reject spaces, hexadecimal numbers and "nan(..)". */
	if (strspn(copy, "0123456789+-.eEaAfFiInNtTyY") != s.len)
		return false;
	double value = strtod(copy, &end); /* LC_NUMERIC is always "C" */
	if (end != copy + s.len)
		return false;
	*out = value;
	return true;
}

bool str_to_double(struct str s, double *out)
{
	double value;

	if (s.len == 0 || str_take_number(s.p, s.p + s.len, &value) != s.p + s.len)
		return other_to_double(s, out);
	*out = value;
	return true;
}

bool str_to_u64(struct str s, uint64_t *out)
{
	uint64_t value = 0;

	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		unsigned int digit = (unsigned int)(s.p[i] - '0');

		if (s.p[i] < '0' || s.p[i] > '9' || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*out = value;
	return true;
}

bool str_to_i64(struct str s, int64_t *out)
{
	bool minus = s.len > 0 && s.p[0] == '-';
	uint64_t value;

	if (minus) {
		s.p++;
		s.len--;
	}
	if (!str_to_u64(s, &value) || value > (uint64_t)INT64_MAX)
		return false;
	*out = minus ? -(int64_t)value : (int64_t)value;
	return true;
}

const char *str_number(double value, int digits, char out[STR_NUMBER_SIZE])
{
	char plain[32];
	size_t whole, n = 0, sign = value < 0;

	if (fabs(value) < 1e15 && (double)(int64_t)value == value)
		print_into(plain, "%lld", (long long)value);
	else
		print_into(plain, "%.*g", digits, value);
	whole = sign + strspn(plain + sign, "0123456789");
	/* "2e+20" and non-numbers are not grouped. */
	if (strpbrk(plain, "einf") != NULL)
		whole = sign;
	for (size_t i = 0; plain[i] != '\0'; i++) {
		if (i > sign && i < whole && (whole - i) % 3 == 0)
			out[n++] = ',';
		out[n++] = plain[i];
	}
	out[n] = '\0';
	return out;
}

uint64_t str_hash(struct str s)
{
	uint64_t h = 14695981039346656037U;

	for (size_t i = 0; i < s.len; i++) {
		h ^= (unsigned char)s.p[i];
		h *= 1099511628211U;
	}
	return h;
}
