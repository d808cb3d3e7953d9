/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_FORMAT_INTERNAL_H
#define HGYM_PARSERS_FORMAT_INTERNAL_H

#include "parsers/format.h"
#include "parsers/rule.h"

/* For scan.c: the rules that may match a line by its first byte. */
struct candidate {
	uint64_t head, head_mask, second, second_mask; /* of the rule */
	const struct rule *rule;
	size_t index; /* in the set's order */
};

struct rule_list {
	struct candidate *items; /* owned; in the set's order */
	size_t n;
};

/* 256 lists, one a first byte. */
const struct rule_list *format_set_candidates(const struct format_set *set);

#endif
