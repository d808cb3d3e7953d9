/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Writes recordings that the demo plays (app/demo.h describes the records). Times are in
 * milliseconds since the start of the demo and never decrease. */
struct recording;

/* Create a file; NULL with errno on error. */
struct recording *recording_new(const char *path);
/* Returns -1 with errno if not everything could be written. */
int recording_close(struct recording *rec);

/* Set the time of the following records. */
void recording_at(struct recording *rec, int64_t at_ms);
/* Start a record of that kind. */
void recording_put(struct recording *rec, char kind, const char *fmt, ...) LIKE_PRINTF(3, 4);
/* Bytes that are appended to the file named last. */
void recording_bytes(struct recording *rec, const char *data, size_t len);
/* Record all files below a directory, complete and sorted by name; in the recording they are below
 * `name`. Files that end with .jsonl are appended to. Returns -1 with err. */
int recording_folder(struct recording *rec, const char *folder, const char *name,
		     struct err *err) MUST_USE;
