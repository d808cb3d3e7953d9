/* SPDX-License-Identifier: MIT */
/* Splitting the input anywhere gives the same segments. */
#include "parsers/linebuf.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

/* A 64-bit FNV-1a hash over every field of every segment. */
static void mix(uint64_t *hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		*hash = (*hash ^ p[i]) * 1099511628211U;
}

static void on_segment(void *user, const struct segment *segment)
{
	unsigned char ends = segment->ends_line;

	MUST(segment->text.len <= LINE_MAX_BYTES);
	MUST(segment->text.len == 0 || memchr(segment->text.p, '\n', segment->text.len) == NULL);
	MUST(segment->text.len == 0 || memchr(segment->text.p, '\0', segment->text.len) == NULL);
	mix(user, segment->text.p, segment->text.len);
	mix(user, &segment->line, sizeof(segment->line));
	mix(user, &ends, 1);
}

/* Feed the data as a whole or, with `cut`, in pieces whose sizes come from the data. */
static uint64_t hash_of(const uint8_t *data, size_t size, bool cut, uint64_t counts[2])
{
	uint64_t hash = 14695981039346656037U;
	struct linebuf lb;
	size_t at = 0;

	linebuf_init(&lb, on_segment, &hash);
	while (at < size) {
		size_t n = cut ? data[size - 1 - at] % 7U + 1 : size;

		n = n < size - at ? n : size - at;
		linebuf_feed(&lb, data + at, n);
		at += n;
	}
	linebuf_finish(&lb);
	counts[0] = lb.lines;
	counts[1] = lb.bytes;
	linebuf_release(&lb);
	return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole[2], cut[2];

	MUST(hash_of(data, size, false, whole) == hash_of(data, size, true, cut));
	MUST(whole[0] == cut[0] && whole[1] == cut[1] && whole[1] == size);
	return 0;
}
