/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

#define UTF8_REPLACEMENT 0xFFFDU

/*
 * Decode one code point at the start of s (s.len > 0) into *cp; returns how
 * many bytes it took.  Anything that is not valid UTF-8 (overlong forms and
 * surrogates included) gives UTF8_REPLACEMENT and takes one byte.
 */
size_t utf8_decode(struct str s, uint32_t *cp);

/* Encode cp into out, returns the number of bytes (1..4). */
size_t utf8_encode(uint32_t cp, char out[4]);

/*
 * Columns that cp takes in a terminal: 0 combining and zero-width, 2 wide and
 * emoji, else 1.  Own ranges, so that it does not depend on the locale.
 * Control characters: 0.
 */
int utf8_cp_width(uint32_t cp);

/* Columns of s; invalid bytes count as one. */
size_t utf8_width(struct str s);

/* Where the character begins that byte `at` of the text is in. */
size_t utf8_begin(const char *text, size_t at);

/* Bytes of the longest prefix of s that takes at most `columns` columns. */
size_t utf8_prefix(struct str s, size_t columns);

/*
 * Append s to out so that a terminal and a log file survive it: C0 and C1
 * controls (ESC, CR, LF, NUL, DEL, CSI ..) become U+00B7 or, for a tab, one
 * blank; invalid bytes become U+FFFD; bidirectional overrides, zero-width
 * characters other than combining marks, and line separators become U+00B7.
 */
void utf8_sanitize(struct buf *out, struct str s);
/* The same as text of XML, between tags. */
void utf8_add_xml(struct buf *out, const char *text);
/* The same into out, as far as it fits; returns out. */
const char *utf8_clean(char *out, size_t size, struct str s);
