/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/*
 * What a verifier or a benchmark prints about one measurement: a JSON object
 * on one line or pretty-printed, alone or after other output.  The bare
 * tokens NaN, Infinity and -Infinity, which Python writes, are no numbers:
 * their value is absent, and the score with it.
 */
struct score_json {
	cJSON *root;	    /* owned; the whole object, bare tokens as null */
	const char *key;    /* borrowed of root: the member that is the score */
	double value;	    /* of that key; absent (NAN) unless a finite number */
	bool has_status;    /* it has a "status" */
	bool passed;	    /* status absent or a word of passing; not verified:false
			     */
	bool verified;	    /* "verified": true */
	const char *denied; /* borrowed of root: "correct": false or the like */
	/* It says two things, or what nothing can have measured. */
	bool doubtful;
	char status[32]; /* as printed, cut; "" when absent */
	char mode[32];	 /* "dev", "final"; "" when absent */
	char why[160];	 /* why it does not count (passed && finite); "" if so */
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
int score_json_read(struct score_json *score, struct str text, const char *key, struct err *err)
	__attribute__((warn_unused_result));
void score_json_release(struct score_json *score);

/* It passed and its value is finite: it counts. */
bool score_json_counts(const struct score_json *score);

/*
 * Can anything have measured that?  0, or a size from 1e-15 to 1e15: a double
 * has no more digits, and no clock or count goes beyond them in any unit.
 */
bool score_is_measurable(double value);

/*
 * The same of a score by its key: a best_, a time and a size are above 0.
 */
bool score_is_possible(const char *key, double value);

/* The member by which an object says that something went wrong, or NULL. */
const char *score_json_denial(const cJSON *root);

/* Whether a status word means passing: passed, ok, success, valid, .. */
bool score_status_passes(const char *status);

/*
 * Did both measure the same work?  Compares mode, tolerance, device, torch,
 * cuda, compiler, repeats, warmup (more repeats find a smaller best) and the
 * list of cases (names, shapes, seeds, tolerances).
 * When not, `why` says the first difference.
 */
bool score_json_same_work(const struct score_json *a, const struct score_json *b, char *why,
			  size_t why_size);

/*
 * The best of a case, by the score's own key or by its first "best_" member,
 * and the median in the same unit ("best_us" goes with "median_us"); NULL each
 * where there is none.
 */
const cJSON *score_case_best(const cJSON *node, const char *key, const cJSON **median);

/*
 * What a verifier or a benchmark printed, as a row beside training runs: the
 * score, whether it counts, and what it may be compared with.  Two scores may
 * stand in one group only when task, mode, warm-up and repeats are the same;
 * what the output does not say of them is unknown, and unknown is equal to
 * unknown alone.
 */
struct score_row {
	struct score_json json;
	char task[48];		/* told by its keys; "" unknown */
	double warmup, repeats; /* of the output; NAN: it does not say */
	size_t n_cases;
	char group[160]; /* "triton_rmsnorm_h100 final best_us" */
};

#define SCORE_ROW_MAX_BYTES ((size_t)1024 * 1024)

/*
 * Read the output of a verifier.  -1 with err when text is none: no JSON
 * object, or one without a score key and a status, mode or cases.
 */
int score_row_read(struct score_row *row, struct str text, struct err *err)
	__attribute__((warn_unused_result));
void score_row_release(struct score_row *row);
/*
 * Warm-up and repeats from elsewhere (the command line), NAN: unknown; only
 * where the output did not say.  The group follows.
 */
void score_row_set_effort(struct score_row *row, double warmup, double repeats);

/*
 * The row of `parse --json`, without "file"; given (owned).  "kind" is
 * "score"; "score" is null unless it counts, "score_printed" is the number as
 * it stands, "score_why" says why it does not count.
 */
cJSON *score_row_json(const struct score_row *row);
