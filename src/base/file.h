/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

/* The directory of a path, "." for a bare name; owned. */
char *file_folder(const char *path);
/* The last part of a path. */
const char *file_name(const char *path);

/* Return where the suffix of a compressed file (.gz, .zst, ..) starts; NULL: it has none. */
const char *file_packed_end(const char *path);

/* Open a file for reading and fill *st; -1 with err. Only if `any`, it may be standard input ("-"),
 * a directory, a device, or a FIFO, which fails if it has no writer for 2 s. */
int file_open(const char *path, bool any, struct stat *st, struct err *err) MUST_USE;
/* Like read(), but retries after a signal and waits while an O_NONBLOCK file has no data. */
ssize_t file_read_some(int fd, void *block, size_t size);

/* Append a regular file to out. -1 with err: ERR_IO, or ERR_LIMIT if it exceeds out's cap. */
int file_read(const char *path, struct buf *out, struct err *err) MUST_USE;
/* The same, but also reads a FIFO or a device that the user named; its writer may never end. */
int file_read_stream(const char *path, struct buf *out, struct err *err) MUST_USE;

/* file_replace and file_create write to another name in the same directory and then rename the
 * file. If that fails (on a full disk), nothing is left behind and the old file is unchanged. */

/* Replace the content of path with text and sync it; mode 0600. */
int file_replace(const char *path, struct str text, struct err *err) MUST_USE;

/* For a path a.csv, return the first of a.csv, a-1.csv, a-2.csv .. that does not exist; owned. */
char *file_find_free_name(const char *path);
/* Write text to a file that others may read: replace path if `over`, otherwise use the first unused
 * name (see above). Returns the chosen path, owned; NULL with err. */
char *file_create(const char *path, struct str text, bool over, struct err *err) MUST_USE;

/* Return $HOME, or else the home directory in the password database; not to be freed. */
const char *file_home(void);

/* Replace ~ or ~/ at the start of a path by the home directory; owned. */
char *file_expand_home(const char *path);
