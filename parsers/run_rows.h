/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "parsers/run.h"

/*
 * Read runs from tables: the rows of `parse --json` (one object per line, or an
 * array), of `parse --csv`, a small table whose header has some of these keys,
 * or the submission.json of a record. A number that is missing, empty or null is
 * absent. Rows with a "kind" other than "run" (a board's group, a verifier's
 * score) are skipped. A row without a status key is a finished run; a row whose
 * status is empty or null is not.
 *
 * In a submission.json the seeds are read:
 *	{"name": "..", "seed_results": {"42": {"val_bpb": .., "val_loss": ..}}}
 * where seed_results can also be a list of objects with a "seed"; or a baseline
 * as in the configuration, {"name": "..", "bpb": [..]}. Other keys are ignored.
 */
struct run_row {
	const char *file, *group, *sha256; /* from the keys of that name; NULL: missing */
	struct run run;
};

struct run_rows_cb {
	/* The row is valid only during the call. */
	void (*on_row)(void *user, const struct run_row *row);
	/* Called once for each key that runs do not have; may be NULL. */
	void (*on_unknown)(void *user, const char *key);
};

/* Read all rows of text; name is for errors ("rows.csv:3: final_bpb: ...", ERR_PARSE). on_row is
 * called for the rows before an error. Returns the number of rows, or -1 with err. */
int run_rows_read(struct str text, const char *name, const struct run_rows_cb *cb, void *user,
		  struct err *err) MUST_USE;
