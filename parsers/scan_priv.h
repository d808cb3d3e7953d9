/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_SCAN_PRIV_H
#define HGYM_PARSERS_SCAN_PRIV_H

#include "parsers/format.h"
#include "parsers/rule.h"

/*
 * Which rules of a set a line may need, by its first byte, its first word and
 * the literals in it; format.c keeps one a set, scan.c makes and asks it.
 */
struct scan_rule {
	const struct rule *rule;
	/* As in the rule; here they lie together.  0: not compared so. */
	uint64_t head, head_mask, second, second_mask;
	uint32_t needs; /* a bit of scan_index.grams; 0: whatever is in it */
};

#define SCAN_GRAM_BITS 12

struct scan_index {
	struct scan_rule *rules; /* owned; in the order they are tried in */
	/*
	 * Numbers of the rules that may begin with byte b, in that order:
	 * items[start[b]] up to items[start[b + 1]].
	 */
	uint16_t *items; /* owned */
	size_t start[257];
	/* By a hash of three bytes: bits of the literals that begin so. */
	uint32_t grams[1 << SCAN_GRAM_BITS];
};

/* For the n rules of order, which outlive the zeroed *index. */
void scan_index_build(struct scan_index *index, const struct rule **order,
		      size_t n);
void scan_index_release(struct scan_index *index);

/* format.c */
const struct scan_index *format_set_index(const struct format_set *set);

#endif
