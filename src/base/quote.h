/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"

/*
 * argv to shell text: the one place where a command line for a pod's shell
 * is made.  What a POSIX shell reads from the text is byte for byte what was
 * given; words that need no quotes get none.  csh and fish read it alike as
 * long as no word holds a newline, a backslash or a '!'.  A NUL cannot be in
 * a word; the callers pass C strings, or slices without one.
 */

/* Append one word, quoted where it must be. */
void quote_word(struct buf *out, struct str word);
/* Append all words of argv (ended by NULL) with blanks between them. */
void quote_argv(struct buf *out, const char *const *argv);
