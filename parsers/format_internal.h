/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_FORMAT_INTERNAL_H
#define HGYM_PARSERS_FORMAT_INTERNAL_H

#include "parsers/format.h"
#include "parsers/rule.h"

/* For scan.c: the rules that may match a line by its first byte. */
struct rule_list {
	uint16_t *rules; /* owned; indices in the set's order */
	size_t n;
};

const struct rule_list *format_set_candidates(const struct format_set *set,
					      unsigned char first);

#endif
