/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/* What a line must have to match a rule: its first byte, its first words and a literal. Each format
 * set has one index. */
struct scan_rule {
	const struct rule *rule;
	/* Copied from the rule, next to each other in memory. Mask 0: not compared. */
	uint64_t head, head_mask, second, second_mask;
	uint32_t needs; /* a bit of scan_index.grams; 0: no literal needed */
	bool indented;	/* `second` is the word after the blanks that the line starts with */
};

#define SCAN_GRAM_BITS 12

struct scan_index {
	struct scan_rule *rules; /* owned; in the order in which they are tried */
	/* Numbers of the rules whose matches may start with byte b, in the order of rules:
	 * items[start[b]] up to items[start[b + 1]]. */
	uint16_t *items; /* owned */
	size_t start[257];
	/* For a hash of three bytes: the bits of the literals that start with them. */
	uint32_t grams[1 << SCAN_GRAM_BITS];
};

/* Fill the zeroed *index for the n rules of order, which must outlive it. */
void scan_index_build(struct scan_index *index, const struct rule **order, size_t n);
void scan_index_release(struct scan_index *index);

struct format_set;
/* The index of a format set; in format.c. */
const struct scan_index *format_set_index(const struct format_set *set);

/* A scanner finds the rule that matches a line. It has the scratch memory of PCRE2, so each thread
 * needs its own; the format_set is shared. */
struct scanner;

struct scanner *scanner_new(const struct format_set *formats);
void scanner_free(struct scanner *scanner);

/* Fill *record by the first rule, in the order of the set, that matches the line and whose groups
 * are all numbers (a loss may be nan or inf). False if no rule does. */
bool scanner_scan(struct scanner *scanner, struct str line, struct record *record);

/* The same for the last line of a log without a newline, which may be cut within a number. Accepts
 * only a record that one more digit would not change, or a BPB with as many decimals as its loss.
 */
bool scanner_scan_cut(struct scanner *scanner, struct str line, struct record *record);

/* How often rule number i exceeded the match limit. */
uint64_t scanner_limit_hits(const struct scanner *scanner, size_t i);
