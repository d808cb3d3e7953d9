/* SPDX-License-Identifier: MIT */
/* Base64 with libcrypto: host keys, the clipboard, files sent by a pod. */
#include "base/base64.h"

#include <limits.h>
#include <openssl/evp.h>

void base64_encode(struct buf *out, struct str data)
{
	AUTO_FREE unsigned char *text = xmalloc(data.len / 3 * 4 + 5);
	int n = EVP_EncodeBlock(text, (const unsigned char *)data.p, (int)data.len);

	buf_append(out, text, (size_t)n);
}

bool base64_decode(struct buf *out, struct str text)
{
	int n = 0, end = 0;

	/* libcrypto treats a "-" as the end of PEM. */
	if (text.len == 0 || text.len > INT_MAX / 2 || memchr(text.p, '-', text.len) != NULL)
		return text.len == 0;
	EVP_ENCODE_CTX *ctx = EVP_ENCODE_CTX_new();
	AUTO_FREE unsigned char *data = xmalloc(text.len + 3);
	EVP_DecodeInit(ctx);
	bool good = EVP_DecodeUpdate(ctx, data, &n, (const unsigned char *)text.p, (int)text.len) >=
			    0 &&
		    EVP_DecodeFinal(ctx, data + n, &end) >= 0;
	if (good)
		buf_append(out, data, (size_t)n + (size_t)end);
	EVP_ENCODE_CTX_free(ctx);
	return good;
}
