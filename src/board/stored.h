/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BOARD_STORED_H
#define HGYM_BOARD_STORED_H

#include "conf/conf.h"
#include "context.h"
#include "parsers/json.h"
#include "store/query.h"
#include "store/store.h"

/* Configuration and database of a command that only reads. */
struct stored {
	struct conf conf;
	char *db_path;
	struct store *store;
	long writer; /* process that writes the database now, or 0 */
};

/* ERR_NODATA when there is no database yet. */
int stored_open(struct stored *s, const struct context *env, struct err *err)
	__attribute__((warn_unused_result));
void stored_close(struct stored *s);

/*
 * The row of `runs` and of a board: run_id, pod, path, file, gen, then the
 * keys of `parse`, then first_seen and last_seen.  A run that is
 * followed now is running; else its status is what its log says so far.
 * Given (owned).
 */
cJSON *stored_run_row(const struct stored *s, const struct stored_run *run);

/* The word for its status now: running while it is followed. */
const char *stored_status(const struct stored *s, const struct stored_run *run);

#endif
