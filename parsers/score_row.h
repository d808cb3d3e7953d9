/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_SCORE_ROW_H
#define HGYM_PARSERS_SCORE_ROW_H

#include "base/err.h"
#include "base/str.h"
#include "parsers/json.h"
#include "parsers/score_json.h"

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

#endif
