/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_CUT_LINE_H
#define HGYM_PARSERS_CUT_LINE_H

#include "parsers/scan.h"

/*
 * Whether the record of a line (not empty) that the input ended in, without
 * an LF, is sure: the line may be cut within a number.  It is when one more
 * digit changes nothing, or when its BPB has the decimals of its loss.
 */
bool cut_line_is_whole(struct scanner *scanner, struct str line,
		       const struct record *record);

#endif
