/* SPDX-License-Identifier: MIT */
/* Base64, for keys and their fingerprints. */
#include "config.h"

#include "remote/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "abcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_encode(struct buf *out, struct str data, bool padding)
{
	for (size_t i = 0; i < data.len; i += 3) {
		size_t n = data.len - i < 3 ? data.len - i : 3;
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 |
			       (k < n ? (unsigned char)data.p[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			if (k <= n)
				buf_append_char(
					out, digits[bits >> (18 - 6 * k) & 63]);
			else if (padding)
				buf_append_char(out, '=');
	}
}

bool
base64_decode(struct buf *out, struct str text)
{
	uint32_t bits = 0;
	unsigned int held = 0;

	for (size_t i = 0; i < text.len; i++) {
		const char *digit;
		char c = text.p[i];

		if (c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '=')
			continue;
		digit = c != '\0' ? strchr(digits, c) : NULL;
		if (digit == NULL)
			return false;
		bits = (bits << 6 | (uint32_t)(digit - digits)) & 0xffffff;
		held += 6;
		if (held >= 8) {
			held -= 8;
			buf_append_char(out, (char)(bits >> held & 0xff));
		}
	}
	return true;
}
