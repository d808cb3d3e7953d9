/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"
#include "parsers/run.h"

/*
 * Runs as somebody else tells them: the rows of `parse --json` (an object a
 * line, or an array of them), of `parse --csv`, a small table typed in
 * with some of those keys as its head, or a record's submission.json.  A number
 * that is not there, empty or null is absent.  A row whose "kind" is another
 * than "run" (a board's group, a verifier's score) is passed over.  Without a
 * key of a status a row is a finished run; with one that is empty or null it is
 * not.
 *
 * Of a submission.json its seeds are read:
 *	{"name": "..", "seed_results": {"42": {"val_bpb": .., "val_loss": ..}}}
 * where seed_results may also be a list of objects with a "seed"; or a
 * baseline in the form of the configuration, {"name": "..", "bpb": [..]}.
 * Numbers under other keys are not guessed at.
 */
struct run_row {
	const char *file;   /* of the key "file"; NULL: not given */
	const char *group;  /* of the key "group"; NULL: not given */
	const char *sha256; /* of the key "sha256"; NULL: not given */
	struct run run;
};

struct run_rows_cb {
	/* The row is borrowed for the call. */
	void (*on_row)(void *user, const struct run_row *row);
	/* A key that no run has was met (once for each); may be NULL. */
	void (*on_unknown)(void *user, const char *key);
};

/*
 * Read all rows of text; name is for the errors ("rows.csv:3: final_bpb:
 * ...", ERR_PARSE).  A row that came before the error has been given.
 * Returns how many rows there were, or -1.
 */
int run_rows_read(struct str text, const char *name, const struct run_rows_cb *cb, void *user,
		  struct err *err) __attribute__((warn_unused_result));
