/* SPDX-License-Identifier: MIT */
/* UTF-8: decoding, terminal width, and sanitizing remote text. */
#include "base/utf8.h"

size_t utf8_decode(struct str s, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s.p;

	if (p[0] < 0x80) {
		*cp = p[0];
		return 1;
	}
	size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
	*cp = UTF8_REPLACEMENT;
	if (p[0] < 0xC2 || p[0] > 0xF4 || s.len < n)
		return 1;
	uint32_t c = p[0] & (0xFFU >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 1;
		c = (c << 6) | (p[i] & 0x3FU);
	}
	if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
		return 1;
	*cp = c;
	return n;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
	static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;

	for (size_t i = n; --i > 0; cp >>= 6)
		out[i] = (char)(0x80 | (cp & 0x3F));
	out[0] = (char)(lead[n] | cp);
	return n;
}

struct range {
	uint32_t lo, hi;
};

/* Combining marks and other characters without their own column. */
static const struct range zero_width[] = {
	{ 0x0300, 0x036F }, { 0x0483, 0x0489 }, { 0x0591, 0x05BD },   { 0x0610, 0x061A },
	{ 0x064B, 0x065F }, { 0x06D6, 0x06DC }, { 0x0900, 0x0902 },   { 0x093C, 0x093C },
	{ 0x0941, 0x0948 }, { 0x0E31, 0x0E31 }, { 0x0E34, 0x0E3A },   { 0x0E47, 0x0E4E },
	{ 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x200B, 0x200F },   { 0x2028, 0x202E },
	{ 0x2060, 0x206F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F },   { 0xFE20, 0xFE2F },
	{ 0xFEFF, 0xFEFF }, { 0xFFF9, 0xFFFB }, { 0x1F3FB, 0x1F3FF }, { 0xE0000, 0xE01EF },
};

/* East Asian wide and full-width forms, and emoji shown wide. */
static const struct range wide[] = {
	{ 0x1100, 0x115F },   { 0x231A, 0x231B },   { 0x2329, 0x232A },	  { 0x23E9, 0x23EC },
	{ 0x23F0, 0x23F0 },   { 0x23F3, 0x23F3 },   { 0x25FD, 0x25FE },	  { 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },   { 0x267F, 0x267F },   { 0x2693, 0x2693 },	  { 0x26A1, 0x26A1 },
	{ 0x26AA, 0x26AB },   { 0x26BD, 0x26BE },   { 0x26C4, 0x26C5 },	  { 0x26CE, 0x26CE },
	{ 0x26D4, 0x26D4 },   { 0x26EA, 0x26EA },   { 0x26F2, 0x26F3 },	  { 0x26F5, 0x26F5 },
	{ 0x26FA, 0x26FA },   { 0x26FD, 0x26FD },   { 0x2705, 0x2705 },	  { 0x270A, 0x270B },
	{ 0x2728, 0x2728 },   { 0x274C, 0x274C },   { 0x274E, 0x274E },	  { 0x2753, 0x2755 },
	{ 0x2757, 0x2757 },   { 0x2795, 0x2797 },   { 0x27B0, 0x27B0 },	  { 0x27BF, 0x27BF },
	{ 0x2B1B, 0x2B1C },   { 0x2B50, 0x2B50 },   { 0x2B55, 0x2B55 },	  { 0x2E80, 0x303E },
	{ 0x3041, 0x33FF },   { 0x3400, 0x4DBF },   { 0x4E00, 0x9FFF },	  { 0xA000, 0xA4CF },
	{ 0xA960, 0xA97F },   { 0xAC00, 0xD7A3 },   { 0xF900, 0xFAFF },	  { 0xFE10, 0xFE19 },
	{ 0xFE30, 0xFE6F },   { 0xFF00, 0xFF60 },   { 0xFFE0, 0xFFE6 },	  { 0x16FE0, 0x18AFF },
	{ 0x1B000, 0x1B2FF }, { 0x1F004, 0x1F004 }, { 0x1F0CF, 0x1F0CF }, { 0x1F18E, 0x1F18E },
	{ 0x1F191, 0x1F19A }, { 0x1F200, 0x1F320 }, { 0x1F32D, 0x1F335 }, { 0x1F337, 0x1F37C },
	{ 0x1F37E, 0x1F393 }, { 0x1F3A0, 0x1F3CA }, { 0x1F3CF, 0x1F3D3 }, { 0x1F3E0, 0x1F3F0 },
	{ 0x1F3F4, 0x1F3F4 }, { 0x1F3F8, 0x1F3FA }, { 0x1F400, 0x1F43E }, { 0x1F440, 0x1F440 },
	{ 0x1F442, 0x1F4FC }, { 0x1F4FF, 0x1F53D }, { 0x1F54B, 0x1F54E }, { 0x1F550, 0x1F567 },
	{ 0x1F57A, 0x1F57A }, { 0x1F595, 0x1F596 }, { 0x1F5A4, 0x1F5A4 }, { 0x1F5FB, 0x1F64F },
	{ 0x1F680, 0x1F6C5 }, { 0x1F6CC, 0x1F6CC }, { 0x1F6D0, 0x1F6D2 }, { 0x1F6D5, 0x1F6D7 },
	{ 0x1F6DC, 0x1F6DF }, { 0x1F6EB, 0x1F6EC }, { 0x1F6F4, 0x1F6FC }, { 0x1F7E0, 0x1F7EB },
	{ 0x1F7F0, 0x1F7F0 }, { 0x1F90C, 0x1F93A }, { 0x1F93C, 0x1F945 }, { 0x1F947, 0x1F9FF },
	{ 0x1FA70, 0x1FAFF }, { 0x20000, 0x2FFFD }, { 0x30000, 0x3FFFD },
};

static bool in_ranges(uint32_t cp, const struct range *ranges, size_t n)
{
	size_t at = bisect(n, i, ranges[i].hi < cp);

	return at < n && ranges[at].lo <= cp;
}

#define IN_RANGES(cp, table) in_ranges((cp), (table), LENGTH(table))

int utf8_cp_width(uint32_t cp)
{
	if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0))
		return 0;
	if (cp < 0x300)
		return 1;
	return IN_RANGES(cp, zero_width) ? 0 : IN_RANGES(cp, wide) ? 2 : 1;
}

size_t utf8_width(struct str s)
{
	size_t columns = 0;

	while (s.len > 0) {
		uint32_t cp;
		size_t n = utf8_decode(s, &cp);

		columns += (size_t)utf8_cp_width(cp);
		s = str_skip(s, n);
	}
	return columns;
}

size_t utf8_begin(const char *text, size_t at)
{
	while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80)
		at--;
	return at;
}

size_t utf8_prefix(struct str s, size_t columns)
{
	size_t taken = 0, used = 0;

	while (taken < s.len) {
		uint32_t cp;
		size_t n = utf8_decode(str_skip(s, taken), &cp);
		size_t width = (size_t)utf8_cp_width(cp);

		if (used + width > columns)
			break;
		used += width;
		taken += n;
	}
	return taken;
}

/* Control and format characters, on which a terminal may act, and invisible characters. */
static const struct range harmful[] = {
	{ 0x0000, 0x001F },   { 0x007F, 0x009F },   { 0x00AD, 0x00AD },	  { 0x0600, 0x0605 },
	{ 0x061C, 0x061C },   { 0x06DD, 0x06DD },   { 0x070F, 0x070F },	  { 0x0890, 0x0891 },
	{ 0x08E2, 0x08E2 },   { 0x115F, 0x1160 },   { 0x180E, 0x180E },	  { 0x200B, 0x200F },
	{ 0x2028, 0x202E },   { 0x2060, 0x206F },   { 0x3164, 0x3164 },	  { 0xFEFF, 0xFEFF },
	{ 0xFFA0, 0xFFA0 },   { 0xFFF9, 0xFFFB },   { 0x110BD, 0x110BD }, { 0x110CD, 0x110CD },
	{ 0x13430, 0x1343F }, { 0x1BCA0, 0x1BCA3 }, { 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
};

void utf8_sanitize(struct buf *out, struct str s)
{
	while (s.len > 0) {
		char bytes[4];
		uint32_t cp;
		size_t n = utf8_decode(s, &cp);

		if (cp == '\t')
			buf_append_char(out, ' ');
		else if (IN_RANGES(cp, harmful))
			buf_append(out, bytes, utf8_encode(0xB7, bytes));
		else
			buf_append(out, bytes, utf8_encode(cp, bytes));
		s = str_skip(s, n);
	}
}

char *utf8_copy(struct str s, size_t cap_bytes)
{
	AUTO_BUF out = buf_new(cap_bytes);

	utf8_sanitize(&out, s);
	return buf_detach(&out);
}

void utf8_add_xml(struct buf *out, const char *text)
{
	AUTO_BUF clean = buf_new(3 * strlen(text) + 1);

	utf8_sanitize(&clean, str_from(text));
	for (const char *at = clean.data; *at != '\0'; at++)
		buf_appendf(out,
			    *at == '&'	 ? "&amp;"
			    : *at == '<' ? "&lt;"
			    : *at == '>' ? "&gt;"
					 : "%c",
			    *at);
}

const char *utf8_clean(char *out, size_t size, struct str s)
{
	AUTO_BUF clean = buf_new(size - 1);

	utf8_sanitize(&clean, s);
	return memcpy(out, clean.data, clean.len + 1);
}
