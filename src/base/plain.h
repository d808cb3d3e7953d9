/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Conversion to ASCII for a locale without UTF-8: characters with an ASCII equivalent are replaced
 * by it ("-" for a dash), others become \u00e9 as in JSON. */

/* Let stdout and stderr accept UTF-8 and write what the locale supports. Call before any output. */
void plain_streams(void);
/* Do not convert this stream: it is CSV. (Output that starts with a brace is JSON.) */
void plain_keep_bytes(FILE *stream);
/* Append s as this process writes it for people: unchanged or as ASCII. */
void plain_append(struct buf *out, struct str s);

/* The ASCII equivalent of a character, or "?". */
char plain_char(uint32_t cp);
