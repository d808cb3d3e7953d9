/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/str.h"

/* A number of a line, and the name that it is printed under, in the forms that trainers use: "loss:
 * 3.5", "loss=3.5", "loss 3.5", "'loss': 3.5", "lm loss: 4.07E+01 |", "elapsed time (ms): 125.1",
 * "dt: 310ms", "tok/sec: 1,234,567", "val: n/a", "18/19560", "[ 100/1251 ( 8%)]", "Loss: 5.67
 * (5.80)", "145602 tok/s", "elapsed: 0:01:02", "loss nan". */
struct pair {
	struct str name; /* "loss", "lm loss"; empty: a number without a name */
	struct str unit; /* "ms", "tok/s", "%", "it/s"; empty: none printed */
	double value;	 /* NaN or infinite if the line prints it so */
	double total;	 /* 19560 of "18/19560"; NaN: none */
};

#define PAIRS_MAX 48

/* Read the pairs of a line without prefixes and escape sequences, in their order. Returns their
 * number. A value printed as absent ("n/a", None, null, "-") gives no pair; "0:01:02" is 62 s.
 * Returns 0 if a part of the line cannot be in a row: prose, code, a path. */
size_t pairs_read(struct str line, struct pair pairs[PAIRS_MAX]);

/* Properties of the line that are not in its pairs. */
struct pairs_line {
	bool is_bar;	/* a progress bar of tqdm or Keras, which counts units of work */
	bool evaluates; /* the heading names an evaluation: "Validation | loss: 3.5" */
	uint64_t words; /* hash of the words that are in no pair */
	uint64_t run;	/* hash of the name of the run: "exp7 step 5"; 0: none */
};

/* A slot is a part of the line that differs between rows of the same kind: */
enum pair_slot_kind {
	SLOT_VALUE,
	SLOT_TOTAL,
	SLOT_ASIDE, /* "(  8%)" */
	SLOT_BAR,   /* "|###   |" or "[==>...]" */
	SLOT_TIME,  /* the time in a bar: "00:10" */
	SLOT_CLOCK, /* a value: "0:01:02" */
	SLOT_PLAIN, /* a value in a metrics file, which has no "1,234" */
	SLOT_STAMP, /* "2026-11-22 10:00:00", in quotes */
};

struct pair_slot {
	struct str text;
	size_t pair; /* index of the pair that has its number */
	enum pair_slot_kind kind;
};

#define PAIR_SLOTS_MAX 96

/* Like pairs_read, with the properties of the line and, unless `slots` is NULL, its slots in their
 * order. Returns 0 also if there are more slots than PAIR_SLOTS_MAX, or if a number is printed in a
 * form that has no slot: in quotes, NaN. */
size_t pairs_read_slots(struct str line, struct pair pairs[PAIRS_MAX], struct pairs_line *about,
			struct pair_slot slots[PAIR_SLOTS_MAX], size_t *n_slots);

/* Read a number that pairs_number cannot: groups of thousands, two points or too many digits. */
const char *pairs_rare_number(const char *p, const char *end, double *value);
/* Read a number at p (p < end) as pairs_read does. Returns where it ends, or p if it finds none. */
static inline const char *pairs_number(const char *p, const char *end, double *value)
{
	const char *q = str_take_number(p, end, value);

	return q == p || (end - q > 3 && *q == ',' && str_is_digit(q[1])) || (q < end && *q == '.')
		       ? pairs_rare_number(p, end, value)
		       : q;
}
/* Does the word belong to an evaluation: "val", "Evaluating", "test"? */
bool pairs_is_evaluation(struct str word);
/* Does this name with this value mark a row of an evaluation: "split": "val"? */
bool pairs_is_split(struct str name, struct str value);
/* Return where the aside or the bar at p ends; p if there is none. */
const char *pairs_aside(const char *p, const char *end);
const char *pairs_bar(const char *p, const char *end);
/* Return where the time at p ends; p if there is none. "0:01:02" and "01:02:03.5" are seconds;
 * "12:30" may be h:m or m:s, so its *seconds are NaN. */
const char *pairs_time(const char *p, const char *end, double *seconds);
