/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/rule.h"

/* What a line must contain to match a rule: its first words, as in struct steps (mask 0: not
 * compared). An index keeps its rules in one array, for a fast search. */
struct scan_rule {
	const struct rule *rule;
	uint64_t head, head_mask, second, second_mask;
	bool indented;	 /* `second` is the word after the blanks that the line starts with */
	bool is_indexed; /* all its literals are in scan_index.literals */
};

#define SCAN_SLOT_BITS	  13
#define SCAN_MAX_LITERALS 1023

/* A text that every match of some rules contains. */
struct scan_literal {
	struct str text;     /* borrowed from a rule; 3 bytes or more */
	uint64_t word, mask; /* its first bytes, see load_word */
	uint64_t *rules;     /* the set of rules that need it */
	uint16_t next;	     /* 1 + the number of the next literal in the same slot; 0: none */
};

/* Each format set has one index. A set of rules has a bit for each rule, in the order in which they
 * are tried; all sets have the same number of words. */
struct scan_index {
	struct scan_rule *rules; /* owned; after the last of n_rules comes one without a rule */
	/* Owned. For each byte, the set of rules whose matches may start with it; again for each
	 * byte, the set of rules whose matches may have it in second place; then the set of rules
	 * that need none of the literals; then the set of rules with a literal that has a digit or
	 * a point; then the set of each literal. */
	uint64_t *sets;
	size_t n_rules, n_words;
	struct scan_literal literals[SCAN_MAX_LITERALS];
	size_t n_literals;
	/* For a hash of three bytes: 1 + the number of a literal that starts with them. */
	uint16_t slots[1 << SCAN_SLOT_BITS];
};

/* Fill the zeroed *index for the n rules of order, which must outlive it. */
void scan_index_build(struct scan_index *index, const struct rule **order, size_t n);
void scan_index_release(struct scan_index *index);

struct format_set;
/* Return the index of a format set; defined in format.c. */
const struct scan_index *format_set_index(const struct format_set *set);

/* A scanner finds the rule that matches a line. It has the scratch memory of PCRE2, so each thread
 * needs its own; the format_set is shared. */
struct scanner;

struct scanner *scanner_new(const struct format_set *formats);
void scanner_free(struct scanner *scanner);

/* Fill *record with the first rule, in the order of the set, that matches the line and whose groups
 * are all numbers (a loss may be nan or inf). False if no rule does. */
bool scanner_scan(struct scanner *scanner, struct str line, struct record *record);

/* The same for the last line of a log without a newline, which may be cut within a number. Accepts
 * only a record that one more digit would not change, or a BPB as long as its loss. */
bool scanner_scan_cut(struct scanner *scanner, struct str line, struct record *record);

/* Does the pattern of the rule, which may be of another set, match the line? */
bool scanner_matches(struct scanner *scanner, const struct rule *rule, struct str line);

/* Return how often rule number i exceeded the match limit. */
uint64_t scanner_limit_hits(const struct scanner *scanner, size_t i);
