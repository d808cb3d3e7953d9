/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Write a recording as the demonstration plays it (app/demo.h says what its
 * records are).  Times are in milliseconds since the demonstration's begin
 * and never go back.
 */
struct recording;

/* A new file; NULL with errno. */
struct recording *recording_new(const char *path);
/* -1 with errno when not all of it could be written. */
int recording_close(struct recording *rec);

/* What follows happens then. */
void recording_at(struct recording *rec, int64_t at_ms);
/* A record of that kind. */
void recording_put(struct recording *rec, char kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Bytes that are appended to the file that was named last. */
void recording_bytes(struct recording *rec, const char *data, size_t len);
/*
 * All files below a folder, whole, in the order of their names; in the
 * recording they lie below `name`.  Those that end with .jsonl are appended
 * to what is there.  -1 with err.
 */
int recording_folder(struct recording *rec, const char *folder, const char *name, struct err *err)
	__attribute__((warn_unused_result));
