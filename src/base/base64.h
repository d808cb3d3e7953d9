/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Base64 of RFC 4648, with libcrypto. */

void base64_encode(struct buf *out, struct str data);
/* Append the decoded text; returns false and leaves out untouched if text is not Base64. */
bool base64_decode(struct buf *out, struct str text);
