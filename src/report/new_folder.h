/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "base/err.h"

/* Results are written to a new folder; existing files are never touched. */

/* Create the folder; an existing one must be empty. */
int new_folder_make(const char *folder, struct err *err) __attribute__((warn_unused_result));

/* Create a file, which must not exist; *path is owned by the caller.  NULL with err. */
FILE *new_folder_create(const char *folder, const char *name, char **path, struct err *err);

/* Close the file and free path; -1 with err if it could not be written completely. */
int new_folder_finish(FILE *stream, char *path, struct err *err)
	__attribute__((warn_unused_result));
