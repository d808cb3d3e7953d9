/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

#define UTF8_REPLACEMENT 0xFFFDU

/* Decode the code point at the start of s (s.len > 0); returns its length in bytes. Invalid UTF-8
 * (including overlong forms and surrogates) gives UTF8_REPLACEMENT and length 1. */
size_t utf8_decode(struct str s, uint32_t *cp);

/* Encode cp into out, returns the number of bytes (1..4). */
size_t utf8_encode(uint32_t cp, char out[4]);

/* Number of terminal columns of cp: 0 for combining and zero-width characters, 2 for wide ones and
 * emoji, otherwise 1; also 0 for control characters. Does not depend on the locale. */
int utf8_cp_width(uint32_t cp);

/* Columns of s; invalid bytes count as one. */
size_t utf8_width(struct str s);

/* Offset of the first byte of the character that contains text[at]. */
size_t utf8_begin(const char *text, size_t at);

/* Length in bytes of the longest prefix of s of at most `columns` columns. */
size_t utf8_prefix(struct str s, size_t columns);

/* Append s to out, safe for a terminal and a log file: C0 and C1 controls (ESC, CR, LF, NUL, DEL,
 * CSI ..) become U+00B7 or, for a tab, one space; invalid bytes become U+FFFD; bidirectional
 * overrides, line separators and zero-width characters (not combining marks) become U+00B7. */
void utf8_sanitize(struct buf *out, struct str s);
/* Append text in the same form, escaped for an XML element. */
void utf8_add_xml(struct buf *out, const char *text);
/* Return a sanitized copy of s, at most cap_bytes long; owned. */
char *utf8_copy(struct str s, size_t cap_bytes);
/* Write s, sanitized and truncated to `size`, to out; returns out. */
const char *utf8_clean(char *out, size_t size, struct str s);
