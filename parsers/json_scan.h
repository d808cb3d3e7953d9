/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_JSON_SCAN_H
#define HGYM_PARSERS_JSON_SCAN_H

#include "base/str.h"

/* What json.c and json_check.c share: steps through the text of a JSON. */

/* The line (1..) of a byte. */
static inline unsigned int
json_line_at(struct str text, size_t offset)
{
	unsigned int line = 1;

	for (size_t i = 0; i < offset && i < text.len; i++)
		line += text.p[i] == '\n';
	return line;
}

/* The closing quote of the string that opens at i, or the text's end. */
static inline size_t
json_skip_string(struct str text, size_t i)
{
	for (i++; i < text.len && text.p[i] != '"'; i++)
		if (text.p[i] == '\\')
			i++;
	return i;
}

#endif
