/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* A directory that disappears with this process, however it ends: a child process waits until our
 * end of a pipe is closed, by scratch_remove or by the kernel, and then removes it. */
struct scratch {
	char *path; /* owned; absolute; NULL: does not exist */
	pid_t sweeper;
	int fd; /* our end of the pipe */
};

/* Create a directory of mode 0700 below $TMPDIR (/tmp if that is not an absolute path or needs
 * quoting); its name starts with `name`. Call it before starting threads. */
int scratch_make(struct scratch *scratch, const char *name, struct err *err) MUST_USE;

/* Remove the directory with everything in it, and wait until that is complete. */
void scratch_remove(struct scratch *scratch);
