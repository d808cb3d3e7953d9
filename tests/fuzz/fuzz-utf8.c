/* SPDX-License-Identifier: MIT */
/* Bytes of a pod as text for a terminal: nothing that acts on the terminal remains. */
#include "base/utf8.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

/* Check for valid UTF-8 without controls and characters that reverse the direction. */
static void check_harmless(struct str s)
{
	while (s.len > 0) {
		uint32_t cp;
		size_t n = utf8_decode(s, &cp);
		char back[4];

		MUST(n >= 1 && n <= s.len);
		MUST(cp >= 0x20 && !(cp >= 0x7f && cp < 0xa0));
		MUST(cp < 0x202a || cp > 0x202e);
		MUST(cp < 0x2066 || cp > 0x2069);
		MUST(utf8_encode(cp, back) == n);
		MUST(memcmp(back, s.p, n) == 0);
		s.p += n;
		s.len -= n;
	}
}

static void check_prefix(struct str s, size_t columns)
{
	size_t n = utf8_prefix(s, columns);

	MUST(n <= s.len);
	MUST(utf8_width((struct str){ s.p, n }) <= columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str raw = { (const char *)data, size };
	struct buf once, twice;

	buf_init(&once, 4 * size + 16);
	buf_init(&twice, 4 * size + 16);
	utf8_sanitize(&once, raw);
	MUST(!once.truncated);
	check_harmless((struct str){ once.data, once.len });
	utf8_sanitize(&twice, (struct str){ once.data, once.len });
	MUST(once.len == twice.len);
	MUST(memcmp(once.data, twice.data, once.len) == 0);
	for (size_t columns = 0; columns < 12; columns++) {
		check_prefix(raw, columns);
		check_prefix((struct str){ once.data, once.len }, columns);
	}
	MUST(utf8_prefix(raw, SIZE_MAX) == raw.len);
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
