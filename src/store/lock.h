/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/*
 * "One program writes": a lock on "<database>.lock", which also holds the
 * process id of the holder.  The kernel frees it with the process.
 */

/*
 * The held lock's descriptor (close it to let go); -1 when someone else has
 * it (*holder is its process id, 0: unknown) or, with err set, when the file
 * cannot be made.
 */
int lock_take(const char *db_path, long *holder, struct err *err)
	__attribute__((warn_unused_result));

/* True when someone holds it; *holder as above. */
bool lock_is_held(const char *db_path, long *holder);
