/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/*
 * Which rules of a set a line may need, by its first byte, its first word and
 * the literals in it; a set keeps one.
 */
struct scan_rule {
	const struct rule *rule;
	/* As in the rule; here they lie together.  0: not compared so. */
	uint64_t head, head_mask, second, second_mask;
	uint32_t needs; /* a bit of scan_index.grams; 0: whatever is in it */
	bool indented;	/* `second` is what stands behind the line's indent */
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
void scan_index_build(struct scan_index *index, const struct rule **order, size_t n);
void scan_index_release(struct scan_index *index);

struct format_set;
/* That of the set; format.c. */
const struct scan_index *format_set_index(const struct format_set *set);

/*
 * The hot loop: which rule takes a line.  A scanner holds the scratch memory
 * of PCRE2; a thread has one of its own, the format_set is shared.
 */
struct scanner;

struct scanner *scanner_new(const struct format_set *formats);
void scanner_free(struct scanner *scanner);

/*
 * The first rule, in the set's order, that matches line and all of whose
 * groups are numbers (a loss may be nan or inf) fills *record: true.
 */
bool scanner_scan(struct scanner *scanner, struct str line, struct record *record);

/*
 * The same for a last line without its LF, which may be cut within a number:
 * only what one more digit would not change, or a BPB with as many decimals
 * as its loss.
 */
bool scanner_scan_cut(struct scanner *scanner, struct str line, struct record *record);

/* How often rule number i ran into the match limit. */
uint64_t scanner_limit_hits(const struct scanner *scanner, size_t i);
