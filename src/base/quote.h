/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/* Quoting of words for a shell. All command lines for a pod's shell are made here. A POSIX shell
 * reads exactly the given bytes; so do csh and fish unless a word contains a newline, a backslash
 * or a '!'. Words that need no quotes get none. A word must not contain a NUL. */

/* Append one word, quoted if necessary. */
void quote_word(struct buf *out, struct str word);
/* Append all words of argv (NULL-terminated), separated by spaces. */
void quote_argv(struct buf *out, const char *const *argv);
