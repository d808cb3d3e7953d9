/* SPDX-License-Identifier: MIT */
#ifndef HGYM_PARSERS_RUN_SUBMISSION_H
#define HGYM_PARSERS_RUN_SUBMISSION_H

#include <stdbool.h>

#include "parsers/json.h"
#include "parsers/run_rows.h"

/*
 * The submission.json of a record, as far as its seeds go:
 *
 *	{"name": "..", "seed_results": {"42": {"val_bpb": .., "val_loss": ..}}}
 *
 * where seed_results may also be a list of objects with a "seed"; or a
 * baseline in the form of the configuration, {"name": "..", "bpb": [..]}.
 * Numbers under other keys are not guessed at.
 */
bool run_submission_is(const cJSON *root);

/* Give a finished run for each seed; how many, or -1 with err. */
int run_submission_read(const cJSON *root, const struct run_rows_cb *cb,
			void *user, struct err *err)
	__attribute__((warn_unused_result));

#endif
