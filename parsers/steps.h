/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/*
 * A PCRE2 pattern in which nothing has to be tried: literals, and spans of
 * bytes that take all they can ("\d++", "(?<loss>[\w.+-]++)"), one behind the
 * other.  Nearly all rows of training are written so.  It is matched in one
 * pass, with the outcome that PCRE2 has, and its numbers come out on the way.
 * Of any other anchored pattern the steps go as far as it is like that.
 */
struct rule_step {
	uint64_t word, mask;	    /* a literal of `len` bytes ... */
	uint64_t first[4], rest[4]; /* ... then one byte of first, and .. */
	uint8_t len;		    /* 0 to 8 */
	bool is_span;		    /* there is a span behind the literal */
	bool is_many;		    /* .. all bytes of rest that follow it */
	bool is_number;		    /* the span is a named group */
	bool is_decimal, has_point; /* rest has all digits, and the point */
};

enum steps_end {
	STEPS_ANY,	    /* anything may follow */
	STEPS_END,	    /* the line's end */
	STEPS_BLANKS_END,   /* blanks, then the line's end */
	STEPS_BLANK_OR_END, /* a blank, or the line's end */
	STEPS_PART,	    /* the pattern goes on in another way */
};

#define STEPS_MAX_NUMBERS 16

struct steps {
	struct rule_step *items; /* owned */
	size_t n;
	enum steps_end end;
	bool indented; /* blanks may stand before all of it */
	/*
	 * What every match begins with (behind its blanks), and what follows
	 * its first blank: as of load_word, under masks.
	 */
	uint64_t head, head_mask, second, second_mask;
};

/* The first 8 bytes at p as a word; 0 for those that are not there. */
static inline uint64_t load_word(const char *p, size_t left)
{
	uint64_t word = 0;

	if (left >= sizeof(word))
		memcpy(&word, p, sizeof(word));
	else
		memcpy(&word, p, left);
	return word;
}

/*
 * Read a valid pattern that begins with "^" into the zeroed *steps; false when
 * it is a choice between patterns, of which nothing is sure.
 */
bool steps_read(struct steps *steps, const char *pattern);
void steps_release(struct steps *steps);

/*
 * Whether steps that are no STEPS_PART match at the line's start and all their
 * named groups are numbers (as of steps_number), which go to numbers.
 */
bool steps_match(const struct steps *steps, struct str line, double numbers[STEPS_MAX_NUMBERS]);

/*
 * A number as a log prints it: as of str_to_double, or with commas between
 * its thousands ("1,234,567.5"); false for what is none.
 */
bool steps_number(struct str text, double *value);
