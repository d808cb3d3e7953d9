/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/buf.h"
#include "base/err.h"

/* The folder that a path is in, "." for a bare name; owned. */
char *file_folder(const char *path);
/* The last part of a path. */
const char *file_name(const char *path);

/*
 * Files that are there whole or not at all, whenever somebody looks: they are
 * written under another name in the same folder and then given their own.
 * When that fails (a full disk) nothing is left behind, and what was there is
 * as it was.
 */

/*
 * Append what a regular file holds to out.  -1 with err: ERR_IO, or ERR_LIMIT
 * where it is more than out takes.
 */
int file_read(const char *path, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

/* Put text in place of what path holds, on the disk; mode 0600. */
int file_replace(const char *path, struct str text, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Write text to a file, with the mode of one for others to read: to path in
 * place of what is there (over), else to one that is not there yet: path, or
 * path-1, path-2 and so on before its suffix.  Returns the path that it got,
 * owned; NULL with err.
 */
char *file_create(const char *path, struct str text, bool over, struct err *err)
	__attribute__((warn_unused_result));

/* $HOME, else what the password file says; static. */
const char *file_home(void);

/* ~ and ~/ at the start of a path become the home; owned. */
char *file_expand_home(const char *path);
