/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "base/err.h"

/* Results are written to a new folder; existing files are never touched.  The folder appears when
 * all its files are complete: until then they are in a folder next to it. */

/* Create a partial folder for the files.  The final folder must be empty or not exist yet.  Returns
 * the path of the partial folder, owned by the caller; NULL with err. */
char *new_folder_make(const char *folder, struct err *err) MUST_USE;

/* With status 0, rename the partial folder to its name, else remove it. Status, or -1 with err. */
int new_folder_end(const char *partial, const char *folder, int status, struct err *err) MUST_USE;

/* Create a file, which must not exist; *path is owned by the caller.  NULL with err. */
FILE *new_folder_create(const char *folder, const char *name, char **path, struct err *err);

/* Close the file and free path; -1 with err if it could not be written completely. */
int new_folder_finish(FILE *stream, char *path, struct err *err) MUST_USE;
