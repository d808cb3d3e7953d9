/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/err.h"

/* Only one process writes a database: it locks "<database>.lock" and writes its process id there.
 * The kernel releases the lock when the process ends. */

/* Take the lock; returns a descriptor, close it to release the lock.  -1 if another process holds
 * it (*holder is its process id, 0: unknown), or with err if the file cannot be created. */
int lock_take(const char *db_path, long *holder, struct err *err) MUST_USE;

/* Does a process hold the lock?  Sets *holder as above. */
bool lock_is_held(const char *db_path, long *holder);
