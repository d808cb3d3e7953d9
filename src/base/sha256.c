/* SPDX-License-Identifier: MIT */
/* SHA-256 as FIPS 180-4 section 6.2 gives it. */
#include "config.h"

#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

void
sha256_init(struct sha256 *sha)
{
	*sha = (struct sha256){
		.state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
	};
}

static inline uint32_t
rotr(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t
load_be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* The schedule is kept as its last 16 words. */
static inline uint32_t __attribute__((always_inline))
next_word(uint32_t w[16], size_t i)
{
	uint32_t a = w[(i + 1) & 15], b = w[(i + 14) & 15];
	uint32_t s0 = rotr(a, 7) ^ rotr(a, 18) ^ a >> 3;
	uint32_t s1 = rotr(b, 17) ^ rotr(b, 19) ^ b >> 10;

	w[i & 15] += s0 + w[(i + 9) & 15] + s1;
	return w[i & 15];
}

/* One round; the names of the variables rotate instead of their values. */
#define ROUND(a, b, c, d, e, f, g, h, word, i)                                 \
	do {                                                                   \
		uint32_t t = (h) + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +  \
			     ((g) ^ ((e) & ((f) ^ (g)))) + k[i] + (word);      \
		(d) += t;                                                      \
		(h) = t + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +           \
		      (((a) & (b)) | ((c) & ((a) | (b))));                     \
	} while (0)

#define EIGHT_ROUNDS(WORD, i)                                                  \
	do {                                                                   \
		ROUND(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], WORD(i), \
		      i);                                                      \
		ROUND(v[7], v[0], v[1], v[2], v[3], v[4], v[5], v[6],          \
		      WORD((i) + 1), (i) + 1);                                 \
		ROUND(v[6], v[7], v[0], v[1], v[2], v[3], v[4], v[5],          \
		      WORD((i) + 2), (i) + 2);                                 \
		ROUND(v[5], v[6], v[7], v[0], v[1], v[2], v[3], v[4],          \
		      WORD((i) + 3), (i) + 3);                                 \
		ROUND(v[4], v[5], v[6], v[7], v[0], v[1], v[2], v[3],          \
		      WORD((i) + 4), (i) + 4);                                 \
		ROUND(v[3], v[4], v[5], v[6], v[7], v[0], v[1], v[2],          \
		      WORD((i) + 5), (i) + 5);                                 \
		ROUND(v[2], v[3], v[4], v[5], v[6], v[7], v[0], v[1],          \
		      WORD((i) + 6), (i) + 6);                                 \
		ROUND(v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[0],          \
		      WORD((i) + 7), (i) + 7);                                 \
	} while (0)

#define FIRST_WORD(i) w[i]
#define NEXT_WORD(i)  next_word(w, i)

static void /* unrolled by macros */
compress(struct sha256 *sha, const unsigned char *block) /* NOLINT */
{
	uint32_t w[16], v[8];

	for (size_t i = 0; i < 16; i++)
		w[i] = load_be32(block + 4 * i);
	memcpy(v, sha->state, sizeof(v));
	for (size_t i = 0; i < 16; i += 8)
		EIGHT_ROUNDS(FIRST_WORD, i);
	for (size_t i = 16; i < 64; i += 8)
		EIGHT_ROUNDS(NEXT_WORD, i);
	for (size_t i = 0; i < 8; i++)
		sha->state[i] += v[i];
}

void
sha256_update(struct sha256 *sha, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t used = sha->bytes % 64;

	sha->bytes += len;
	while (len > 0) {
		size_t n = 64 - used < len ? 64 - used : len;

		if (n == 64) {
			compress(sha, p);
		} else {
			memcpy(sha->block + used, p, n);
			if (used + n == 64)
				compress(sha, sha->block);
		}
		used = (used + n) % 64;
		p += n;
		len -= n;
	}
}

void
sha256_hex(struct sha256 *sha, char out[SHA256_HEX_SIZE])
{
	uint64_t bits = sha->bytes * 8;
	unsigned char length[8];

	sha256_update(sha, "\x80", 1);
	while (sha->bytes % 64 != 56)
		sha256_update(sha, "", 1);
	for (size_t i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_update(sha, length, sizeof(length));
	for (size_t i = 0; i < 8; i++)
		(void)snprintf(out + 8 * i, 9, "%08x", sha->state[i]);
}
