/* SPDX-License-Identifier: MIT */
#ifndef HGYM_MODEL_LOGTEXT_H
#define HGYM_MODEL_LOGTEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "model/logsgr.h"

/* What of a log's raw bytes a terminal would still show. */

/*
 * Append what is left of a raw line: escape sequences out, and of a progress
 * bar, which writes over itself behind each CR, what it wrote last.  Bytes
 * are else as they are: nothing for a terminal yet.
 */
void logtext_visible(struct buf *out, struct str raw);
/*
 * Append it so that it can be shown: utf8_sanitize'd, tabs to the next of
 * every eight columns; at most about `columns` columns of it, the rest is
 * left out.  runs: replaced by the looks that the line asks for, their places
 * counted from where out was; a progress bar keeps those of what it wrote over.
 * NULL: nobody asks.
 */
void logtext_show(struct buf *out, struct str raw, size_t columns,
		  struct logsgr_runs *runs);
/* Whether a block of lines is all visible as it is: no escape, no lone CR. */
bool logtext_is_plain(struct str block);

#endif
