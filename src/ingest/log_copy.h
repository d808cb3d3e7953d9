/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "base/cksum.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"

/*
 * Raw logs kept beside the database, so that they outlive their pod: one file
 * a generation of a log, append only, byte by byte what the pod's file holds.
 * Nothing is synced, so after a power cut a spool may be shorter than what the
 * database committed, and after a kill longer (what is more is as true as the
 * rest).
 *
 * A spool whose log has ended is read-only (mode 0400); those are what pruning
 * takes, the ones that were written longest ago first.  One program at a time
 * writes to a folder: the lock of the database sees to that.
 *
 * A folder belongs to the loop.  A spool may be lent to another thread, which
 * opens, appends and reads; nobody else touches it until it is back.
 */
struct log_copies;

struct log_copy {
	char *path; /* owned; where it lies */
	/* What it holds, from offset 0 without a gap. */
	struct cksum sum;
	bool is_open; /* sum is known to be so */
	/* What someone else did to the file ("was deleted"); NULL: nothing.
	 * What is appended from then on has no name, and is gone with us. */
	const char *lost;
	/* Its own. */
	struct log_copies *dir;
	struct list in_dir; /* while it rests with a descriptor */
	int fd;		    /* -1: opened again when it is needed */
	uint64_t counted;   /* bytes that the folder knows of */
};

/* Open (make, mode 0700) the folder; its parent must exist. */
struct log_copies *log_copies_open(const char *path, uint64_t cap_bytes, struct err *err)
	__attribute__((warn_unused_result));
/* All its spools must be freed. */
void log_copies_free(struct log_copies *dir);
/* Whether more is kept than the cap, and pruning may help. */
bool log_copies_exceed_cap(const struct log_copies *dir);

/*
 * Remove ended spools until the cap holds; live ones never, even where they
 * alone are beyond it.  On any thread, one at a time; then take its result.
 */
struct pruned_copies {
	uint64_t bytes; /* that are left */
	struct err err;
};
void log_copies_prune(struct pruned_copies *prune, const struct log_copies *dir);
void log_copies_take_pruned(const struct pruned_copies *prune, struct log_copies *dir);

/*
 * The spool of a generation of the log at path (raw bytes) of a pod; no file
 * is touched before it is opened.
 */
struct log_copy *log_copy_new(struct log_copies *dir, const char *pod, struct str path,
			      unsigned int generation);
/* NULL: nothing. */
void log_copy_free(struct log_copy *copy);
/* Bytes that lie there now; 0 where there is no file. */
uint64_t log_copy_peek(const struct log_copy *copy);

/*
 * Open it to append.  known: what is known of its first bytes (borrowed), so
 * that only those behind need to be read; NULL: the log begins, and whatever
 * an earlier life left there goes.
 */
int log_copy_open(struct log_copy *copy, const struct cksum *known, struct err *err)
	__attribute__((warn_unused_result));
/*
 * Append the bytes that follow; returns how many were taken (fewer with err
 * when the disk is full or fails: offer the rest again later).  Where the file
 * is lost, only what is appended from now on can be read for sure.
 */
size_t log_copy_append(struct log_copy *copy, struct str data, struct err *err)
	__attribute__((warn_unused_result));
/* Read up to len bytes at offset; 0 at its end, -1 with err. */
ssize_t log_copy_read(struct log_copy *copy, uint64_t offset, void *data, size_t len,
		      struct err *err);

/* Another thread gets it; it is back, and its folder takes note. */
void log_copy_lend(struct log_copy *copy);
void log_copy_return(struct log_copy *copy);
/* The log has ended: from now on it may be pruned. */
void log_copy_end(struct log_copy *copy);
