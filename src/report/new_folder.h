/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "base/err.h"

/* Results go into a folder of their own; nothing that is there is touched. */

/* Make folder; one that is there already must be empty. */
int new_folder_make(const char *folder, struct err *err) __attribute__((warn_unused_result));

/* A file that is not there yet; *path is owned.  NULL with err. */
FILE *new_folder_create(const char *folder, const char *name, char **path, struct err *err);

/* Close it and free path; -1 with err when not all of it was written. */
int new_folder_finish(FILE *stream, char *path, struct err *err)
	__attribute__((warn_unused_result));
