/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_SHA256_H
#define HGYM_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4), for the identity of logs, scripts and artifacts. */
struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[64];
};

#define SHA256_HEX_SIZE 65

void sha256_init(struct sha256 *sha);
void sha256_update(struct sha256 *sha, const void *data, size_t len);
/* 64 lower-case hex digits and a NUL; sha may not be updated after it. */
void sha256_hex(struct sha256 *sha, char out[SHA256_HEX_SIZE]);

#endif
