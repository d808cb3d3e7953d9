/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/*
 * The numbers of a line with the names that they are printed under, whatever
 * the trainer: "loss: 3.5", "loss=3.5", "loss 3.5", "'loss': 3.5",
 * "lm loss: 4.07E+01 |", "elapsed time (ms): 125.1", "dt: 310ms",
 * "tok/sec: 1,234,567", "val: n/a", "18/19560", "[ 100/1251 (  8%)]",
 * "Loss: 5.67 (5.80)", "145602 tok/s", "elapsed: 0:01:02", "loss     nan".
 */
struct pair {
	struct str name; /* "loss", "lm loss"; empty: a number without a name */
	struct str unit; /* "ms", "tok/s", "%", "it/s"; empty: none printed */
	double value;	 /* NaN and infinite where it is printed so */
	double total;	 /* 19560 of "18/19560"; NaN: no such thing */
};

#define PAIRS_MAX 48

/*
 * Read the pairs of a line (its prefixes and escape sequences taken off), in
 * their order, at most PAIRS_MAX: how many.  What is said to be absent ("n/a",
 * None, null, "-") gives none; "0:01:02" is 62 s.  0 for a line in which
 * something does not belong to any pair that a row could have: prose, source
 * code, a path.
 */
size_t pairs_read(struct str line, struct pair pairs[PAIRS_MAX]);

/* What else such a line is. */
struct pairs_line {
	bool is_bar;	/* of tqdm or Keras: its front counts units of work */
	bool evaluates; /* its heading says so: "Validation | loss: 3.5" */
	uint64_t words; /* a hash of its words that are in no pair */
};

size_t pairs_read_line(struct str line, struct pair pairs[PAIRS_MAX], struct pairs_line *about);

/* Where in its line a number stands, or what differs too and gives none. */
enum pair_slot_kind {
	SLOT_VALUE,
	SLOT_TOTAL,
	SLOT_ASIDE, /* "(  8%)" */
	SLOT_BAR,   /* "|###   |" or "[==>...]" */
	SLOT_TIME,  /* of a bar: "00:10" */
	SLOT_CLOCK, /* a value: "0:01:02" */
	SLOT_PLAIN, /* a value of a metrics file: no "1,234" */
	SLOT_STAMP, /* "2026-11-22 10:00:00", in quotes */
};

struct pair_slot {
	struct str text;
	size_t pair; /* whose number it is */
	enum pair_slot_kind kind;
};

#define PAIR_SLOTS_MAX 96

/*
 * The same, and the slots in their order.  0 for more of them than there may
 * be, and for a line one of whose numbers has none: a quoted one, NaN.
 */
size_t pairs_read_slots(struct str line, struct pair pairs[PAIRS_MAX], struct pairs_line *about,
			struct pair_slot slots[PAIR_SLOTS_MAX], size_t *n_slots);

/* The function below for what has groups, two points or too many digits. */
const char *pairs_rare_number(const char *p, const char *end, double *value);
/*
 * Behind the number at p, as the functions above read it, and its value; p
 * where there is none.  p is before end.
 */
static inline const char *pairs_number(const char *p, const char *end, double *value)
{
	const char *q = str_take_number(p, end, value);

	return q == p || (end - q > 3 && *q == ',' && str_is_digit(q[1])) || (q < end && *q == '.')
		       ? pairs_rare_number(p, end, value)
		       : q;
}
/* Whether a word is of an evaluation: "val", "Evaluating", "test". */
bool pairs_is_evaluation(struct str word);
/* Behind the aside, the bar or the time that begins at p; p where there is
 * none. */
const char *pairs_aside(const char *p, const char *end);
const char *pairs_bar(const char *p, const char *end);
const char *pairs_time(const char *p, const char *end);
/* Behind "0:01:02" at p, and how many seconds that is; p where there is none.
 */
const char *pairs_clock(const char *p, const char *end, double *seconds);
