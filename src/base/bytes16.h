/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 16 bytes that are processed together, in the vector syntax of gcc and clang, which compile it to
 * SSE2, NEON or plain words. A comparison gives 0xff for true and 0 for false, per byte. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));
/* The compiler warns about the calling convention, which does not matter for inline functions. */
#pragma GCC diagnostic ignored "-Wpsabi"

static inline bytes16 bytes16_load(const char *p)
{
	bytes16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Is any byte of v not 0? */
static inline bool bytes16_any(bytes16 v)
{
	uint64_t words[2];

	memcpy(words, &v, sizeof(words));
	return (words[0] | words[1]) != 0;
}

/* Count the occurrences of c in the len bytes at p. */
static inline size_t bytes16_count(const char *p, size_t len, char c)
{
	const char *end = p + len;
	size_t n = 0;

	while (end - p >= 32) {
		bytes16 counts = { 0 };

		/* At most 127 times: after that a byte of counts could overflow. */
		for (int k = 0; k < 127 && end - p >= 32; k++, p += 32)
			counts -= (bytes16)(bytes16_load(p) == (uint8_t)c) +
				  (bytes16)(bytes16_load(p + 16) == (uint8_t)c);
		for (size_t k = 0; k < sizeof(counts); k++)
			n += counts[k];
	}
	for (; p < end; p++)
		n += *p == c;
	return n;
}
