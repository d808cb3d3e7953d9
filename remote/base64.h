/* SPDX-License-Identifier: MIT */
#ifndef HGYM_REMOTE_BASE64_H
#define HGYM_REMOTE_BASE64_H

#include "base/buf.h"
#include "base/str.h"

/* Base64 of RFC 4648, with padding or without. */

void base64_encode(struct buf *out, struct str data, bool padding);
/* Blanks and line ends are skipped; false: something else is in text. */
bool base64_decode(struct buf *out, struct str text);

#endif
