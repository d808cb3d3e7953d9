/* SPDX-License-Identifier: MIT */
/* SHA-256 with libcrypto; see sha256.h. */
#include "base/sha256.h"

#include <openssl/evp.h>
#include <stdlib.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/* libcrypto fails if memory is exhausted or SHA-256 is disabled. */
static void must(int done)
{
	if (done == 1)
		return;
	(void)fputs("hgym-tui: libcrypto cannot compute SHA-256\n", stderr);
	abort();
}

void sha256_init(struct sha256 *sha)
{
	sha->ctx = EVP_MD_CTX_new();
	must(sha->ctx != NULL && EVP_DigestInit_ex(sha->ctx, EVP_sha256(), NULL));
}

void sha256_release(struct sha256 *sha)
{
	EVP_MD_CTX_free(sha->ctx);
	sha->ctx = NULL;
}

void sha256_update(struct sha256 *sha, const void *data, size_t len)
{
	must(EVP_DigestUpdate(sha->ctx, data, len));
}

void sha256_hex(struct sha256 *sha, char out[SHA256_HEX_SIZE])
{
	unsigned char digest[EVP_MAX_MD_SIZE];

	must(EVP_DigestFinal_ex(sha->ctx, digest, NULL));
	for (size_t i = 0; i < 32; i++)
		(void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
	sha256_reset(sha);
}

void sha256_reset(struct sha256 *sha)
{
	/* Passing no digest reuses the previous one without a look-up. */
	must(EVP_DigestInit_ex(sha->ctx, NULL, NULL));
}

/* Intel's manual, CPUID leaf 7: bit 29 of EBX means SHA instructions. */
bool sha256_is_fast(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
#elif defined(__aarch64__) && defined(__linux__)
	return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0;
#else
	return false;
#endif
}
