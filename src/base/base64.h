/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Base64 of RFC 4648 by libcrypto. */

void base64_encode(struct buf *out, struct str data);
/* Append what text encodes; false, and out untouched, where it is not Base64.
 */
bool base64_decode(struct buf *out, struct str text);
