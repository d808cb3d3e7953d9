/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "base/cksum.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"

/* Local copies of logs on pods, which outlive the pods: one append-only file per generation of a
 * log, with the same bytes as the pod's file.  Nothing is synced to disk: after a power failure
 * a copy may be shorter than the database records, and after a kill it may be longer; the extra
 * bytes are valid.
 *
 * The copy of an ended log is read-only (mode 0400).  Only such copies are pruned, those written
 * longest ago first.  One process at a time writes to a directory; the lock of the database ensures
 * that.
 *
 * A directory belongs to the event loop.  A copy may be lent to another thread, which opens,
 * appends and reads; nothing else touches the copy until it is returned. */
struct log_copies;

struct log_copy {
	char *path; /* owned */
	/* Checksum of the file, which starts at offset 0 and has no gap. */
	struct cksum sum;
	bool is_open; /* the file was opened, and sum includes all its bytes */
	/* What another program did to the file ("was deleted"); NULL: nothing.  Bytes that are
	 * appended from then on go to a file without a name and are lost when the program ends. */
	const char *lost;
	/* Private: */
	struct log_copies *dir;
	struct list in_dir; /* link in the list of copies with a descriptor */
	int fd;		    /* -1: opened again when needed */
	uint64_t counted;   /* bytes that dir->bytes includes */
};

/* Open the directory; creates it (mode 0700) if its parent exists. */
struct log_copies *log_copies_open(const char *path, uint64_t cap_bytes, struct err *err) MUST_USE;
/* All its copies must have been freed. */
void log_copies_free(struct log_copies *dir);
/* Do the copies exceed the cap, and may pruning help? */
bool log_copies_exceed_cap(const struct log_copies *dir);

/* Remove copies of ended logs until the rest is within the cap.  log_copies_prune() may run on any
 * thread, one at a time; then pass the result to log_copies_take_pruned() on the loop. */
struct pruned_copies {
	uint64_t bytes; /* bytes of the copies that remain */
	struct err err;
};
void log_copies_prune(struct pruned_copies *prune, const struct log_copies *dir);
void log_copies_take_pruned(const struct pruned_copies *prune, struct log_copies *dir);

/* The copy of one generation of a pod's log at path (raw bytes).  Touches no file. */
struct log_copy *log_copy_new(struct log_copies *dir, const char *pod, struct str path,
			      unsigned int generation);
/* NULL is allowed. */
void log_copy_free(struct log_copy *copy);
/* Size of the file, and when its last bytes were written; 0 without a file (wall_ms unchanged). */
uint64_t log_copy_peek(const struct log_copy *copy, int64_t *wall_ms);

/* Open the file for appending.  known: checksum of its first bytes (borrowed), so that only the
 * bytes after them are read; NULL: the log is new, and a file left by an earlier log is removed. */
int log_copy_open(struct log_copy *copy, const struct cksum *known, struct err *err) MUST_USE;
/* Append the next bytes; returns how many were written (fewer, with err: offer the rest again
 * later).  After another program changed the file, only bytes appended later can be read. */
size_t log_copy_append(struct log_copy *copy, struct str data, struct err *err) MUST_USE;
/* Read up to len bytes at offset; 0 at the end, -1 with err. */
ssize_t log_copy_read(struct log_copy *copy, uint64_t offset, void *data, size_t len,
		      struct err *err);

/* Lend the copy to another thread; return it, so that its directory counts its bytes. */
void log_copy_lend(struct log_copy *copy);
void log_copy_return(struct log_copy *copy);
/* The log has ended: from now on its copy may be pruned. */
void log_copy_end(struct log_copy *copy);
