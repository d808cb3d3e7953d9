/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* A PCRE2 pattern that needs no backtracking: a sequence of literals and possessive spans of bytes
 * ("\d++", "(?<loss>[\w.+-]++)"). Nearly all rules for training rows have this form. Steps match
 * such a pattern in one pass with the same result as PCRE2, and parse its numbers on the way. For
 * other anchored patterns the steps cover only the first part. */
struct rule_step {
	uint64_t word, mask;	    /* a literal of `len` bytes, */
	uint64_t first[4], rest[4]; /* then one byte of first, */
	uint8_t len;		    /* 0 to 8 */
	bool is_span;		    /* a span follows the literal */
	bool is_many;		    /* then all following bytes that are in rest */
	bool is_number;		    /* the span is in a named group */
	bool is_decimal, has_point; /* rest contains all digits; the point */
};

enum steps_end {
	STEPS_ANY,	    /* anything may follow */
	STEPS_END,	    /* the line's end */
	STEPS_BLANKS_END,   /* blanks, then the line's end */
	STEPS_BLANK_OR_END, /* a blank, or the line's end */
	STEPS_PART,	    /* the rest of the pattern is not simple */
};

#define STEPS_MAX_NUMBERS 16

struct steps {
	struct rule_step *items; /* owned */
	size_t n;
	enum steps_end end;
	bool indented; /* the line may start with blanks */
	bool is_plain; /* the spans are numbers, or have only digits and points */
	/* Every match starts with `head` (after its blanks), and has `second` after its first
	 * blank: words as of load_word, compared under their masks. */
	uint64_t head, head_mask, second, second_mask;
};

/* Load the first 8 bytes at p as a word; missing bytes are 0. */
static inline uint64_t load_word(const char *p, size_t left)
{
	uint64_t word = 0;

	if (left >= sizeof(word))
		memcpy(&word, p, sizeof(word));
	else
		memcpy(&word, p, left);
	return word;
}

/* Find the next "(", "|" or ")" of a pattern that is not escaped and not in a class, or its end. */
const char *steps_next_branch(const char *pattern);

/* Read a valid pattern that starts with "^" into the zeroed *steps. False for alternatives. */
bool steps_read(struct steps *steps, const char *pattern);
void steps_release(struct steps *steps);

/* Match the steps, which must not end with STEPS_PART, at the start of the line. False also if the
 * text of a named group is not a number (see steps_number). The numbers are stored in numbers.
 * *plain: the line has nothing but the literals of the steps, digits and points. */
bool steps_match(const struct steps *steps, struct str line, double numbers[STEPS_MAX_NUMBERS],
		 bool *plain);

/* Parse a number as logs print it: as str_to_double does, or with commas between thousands
 * ("1,234,567.5"). False if it is not a number. */
bool steps_number(struct str text, double *value);
