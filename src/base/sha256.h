/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* SHA-256 with libcrypto, to identify logs, scripts and artifacts. */
struct sha256 {
	struct evp_md_ctx_st *ctx; /* owned */
};

#define SHA256_HEX_SIZE 65

void sha256_init(struct sha256 *sha);
void sha256_release(struct sha256 *sha);
void sha256_update(struct sha256 *sha, const void *data, size_t len);
/* 64 lower-case hex digits and a NUL; the next update starts a new hash. */
void sha256_hex(struct sha256 *sha, char out[SHA256_HEX_SIZE]);
/* Discard everything since init or the last hex. */
void sha256_reset(struct sha256 *sha);

/* Does this processor have SHA instructions? With them SHA-256 is the fastest of the SHA-2 family,
 * without them SHA-512 is. Also false if unknown. */
bool sha256_is_fast(void);
