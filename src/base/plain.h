/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "base/buf.h"

/*
 * ASCII alone, for a locale without UTF-8: a character that has a likeness in
 * ASCII becomes that ("-" for a dash), any other \u00e9, as JSON writes it.
 */

/* From here on stdout and stderr take UTF-8 and write what the locale has.
 * To be called once, behind setlocale and before anything is written. */
void plain_streams(void);
/* What the stream is given is CSV: data, whose bytes stay as they are.  Text
 * that begins with a brace is JSON, whose characters are escaped. */
void plain_keep_bytes(FILE *stream);
/* Append s as this process writes it to a person: as it is, or in ASCII. */
void plain_append(struct buf *out, struct str s);

/* The likeness of a character; "?" where there is none. */
char plain_char(uint32_t cp);
