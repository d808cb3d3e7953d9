/* SPDX-License-Identifier: MIT */
#pragma once

#include "parsers/json.h"

/* The JSON object that a verifier or benchmark prints about one measurement: on one line or
 * pretty-printed, alone or after other output. The bare tokens NaN, Infinity and -Infinity, which
 * Python writes, are not numbers: their value and the score are absent. */
struct score_json {
	cJSON *root;	    /* owned; the whole object, bare tokens as null */
	const char *key;    /* borrowed from root: key of the score */
	double value;	    /* of that key; NAN unless finite */
	bool has_status;    /* has a "status" */
	bool passed;	    /* see score_json_read */
	bool verified;	    /* "verified": true */
	const char *denied; /* borrowed from root: key that reports a failure, or NULL */
	/* The JSON contradicts itself, or has a value that cannot be a measurement. */
	bool doubtful;
	char status[32]; /* as printed, cut; "" when absent */
	char mode[32];	 /* "dev", "final"; "" when absent */
	char why[160];	 /* why it does not count; "" if it counts */
};

/* Read the object in text: the whole text, or an object that starts a line. If there are several,
 * the last one is used, but it must not contradict another one: if another object has a different
 * value for the score's key, or an object has a duplicate key, nothing counts (value is absent,
 * doubtful is set). key is the key of the score; NULL: the first of best_us, best_cycles, score
 * that the object has. -1 with err if text has no JSON object.
 *
 * It passed if "status" is missing or means passing, "verified" is not false, "correct", "passed",
 * "valid", "success" and "ok" are not false, and "error" is empty. A best_us or best_cycles must be
 * above 0, and a value must be a possible measurement (score_is_measurable). A failed, infinite or
 * missing score is not an error: see passed, value and why. */
int score_json_read(struct score_json *score, struct str text, const char *key,
		    struct err *err) MUST_USE;
void score_json_release(struct score_json *score);

/* Does the score count: did it pass, with a finite value? */
bool score_json_counts(const struct score_json *score);

/* Can this be a measurement: 0 or 1e-15 to 1e15? No clock or counter goes beyond. */
bool score_is_measurable(double value);

/* The same for a score's key: a best_ value and a size must be above 0, a time at least 1 ns. */
bool score_is_possible(const char *key, double value);

/* Find the key with which an object reports a failure; NULL: none. */
const char *score_json_denial(const cJSON *root);

/* Does the status mean passing: passed, ok, success, valid, ..? */
bool score_status_passes(const char *status);

/* Did both measure the same work? Compares mode, tolerance, device, torch, cuda,
 * compiler, repeats, warmup (more repeats find a smaller best) and the cases
 * (names, shapes, seeds, tolerances). If not, `why` is the first difference. */
bool score_json_same_work(const struct score_json *a, const struct score_json *b, char *why,
			  size_t why_size);

/* Return the best value of a case, by the score's key or by its first "best_" member, and the
 * median in the same unit ("median_us" for "best_us"); NULL if missing. */
const cJSON *score_case_best(const cJSON *node, const char *key, const cJSON **median);

/* A verifier's output as a row of the leaderboard: the score, whether it counts, and the settings
 * of the measurement. Scores form a group only if task, mode, warm-up and repeats are equal; an
 * unknown value equals only another unknown one. */
struct score_row {
	struct score_json json;
	char task[48];		/* recognized by its keys; "": unknown */
	double warmup, repeats; /* NAN: unknown */
	size_t n_cases;
	char group[160]; /* "triton_rmsnorm_h100 final best_us" */
};

#define SCORE_ROW_MAX_BYTES ((size_t)1024 * 1024)

/* Read the output of a verifier: a JSON object with the key of a score and a status, mode or
 * cases. -1 with err for any other text. */
int score_row_read(struct score_row *row, struct str text, struct err *err) MUST_USE;
void score_row_release(struct score_row *row);
/* Set warm-up and repeats (from a command line; NAN: unknown) if the output has none. */
void score_row_set_effort(struct score_row *row, double warmup, double repeats);

/* Make the row of `parse --json`, without "file"; owned by the caller. "kind" is "score"; "score"
 * is null unless it counts, "score_printed" is the printed number, "score_why" why it does not. */
cJSON *score_row_json(const struct score_row *row);
