/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/*
 * A folder that is gone when we are, however we end: a child process sleeps
 * until our end of a pipe is closed, by scratch_remove or by the kernel, and
 * removes it then.  No signal need be caught for it.
 */
struct scratch {
	char *path; /* owned; absolute; NULL: there is none */
	pid_t sweeper;
	int fd; /* our end of the pipe */
};

/*
 * Make a folder of mode 0700 below $TMPDIR (/tmp where that is no absolute
 * path, or one that would have to be quoted); its name begins with `name`.
 * Call it before there are threads.
 */
int scratch_make(struct scratch *scratch, const char *name, struct err *err)
	__attribute__((warn_unused_result));

/* Remove the folder with all that is in it, and wait until that is done. */
void scratch_remove(struct scratch *scratch);
