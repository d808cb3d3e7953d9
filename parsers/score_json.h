/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_SCORE_JSON_H
#define HGYM_PARSERS_SCORE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "parsers/json.h"

/*
 * What a verifier or a benchmark prints about one measurement: a JSON object
 * on one line or pretty-printed, alone or after other output.  The bare
 * tokens NaN, Infinity and -Infinity, which Python writes, are no numbers:
 * their value is absent, and the score with it.
 */
struct score_json {
	cJSON *root;	 /* owned; the whole object, bare tokens as null */
	const char *key; /* borrowed of root: the member that is the score */
	double value;	 /* of that key; absent (NAN) unless a finite number */
	bool has_status; /* it has a "status" */
	bool passed;   /* status absent or a word of passing; not verified:false
			*/
	bool verified; /* "verified": true */
	const char *denied; /* borrowed of root: "correct": false or the like */
	/* It says two things, or what nothing can have measured. */
	bool doubtful;
	char status[32]; /* as printed, cut; "" when absent */
	char mode[32];	 /* "dev", "final"; "" when absent */
	char why[160]; /* why it does not count (passed && finite); "" if so */
};

/*
 * Read the object in text, alone or beginning a line of it.  Of several the
 * last is taken, but none is chosen: where another has another value of the
 * score's key, or a key stands twice in one object, nothing counts (value is
 * absent, doubtful set).  key names the score; NULL takes the first of best_us,
 * best_cycles, score that the object has.  -1 with err when text holds no
 * JSON object.  Besides status and verified, a false "correct", "passed",
 * "valid", "success" or "ok" and an "error" that says something deny the
 * score; a best_us or best_cycles that is not above 0 is none, nor is a
 * number that nothing can measure (score_is_measurable).  A failed,
 * infinite or missing score is not an error: see passed, value and why.
 */
int score_json_read(struct score_json *score, struct str text, const char *key,
		    struct err *err) __attribute__((warn_unused_result));
void score_json_release(struct score_json *score);

/* It passed and its value is finite: it counts. */
bool score_json_counts(const struct score_json *score);

/*
 * Can anything have measured that?  0, or a size from 1e-15 to 1e15: a double
 * has no more digits, and no clock or count goes beyond them in any unit.
 */
bool score_is_measurable(double value);

/* Whether a status word means passing: passed, pass, ok, success, solved. */
bool score_status_passes(const char *status);

/*
 * Did both measure the same work?  Compares mode, tolerance, device, torch,
 * cuda, compiler, repeats, warmup (more repeats find a smaller best) and the
 * list of cases (names, shapes, seeds, tolerances).
 * When not, `why` says the first difference.
 */
bool score_json_same_work(const struct score_json *a,
			  const struct score_json *b, char *why,
			  size_t why_size);

#endif
