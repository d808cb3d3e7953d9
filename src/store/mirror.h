/* SPDX-License-Identifier: MIT */
#ifndef HGYM_STORE_MIRROR_H
#define HGYM_STORE_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cksum.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Raw logs kept beside the database, so that they outlive their pod: one file
 * a generation of a log, append only, byte by byte what the pod's file holds.
 * Its size is the offset that was reached; nothing is synced, so after a power
 * cut it may be shorter than what the database committed (read the pod's file
 * again from mirror_size, store nothing before the committed offset), and
 * after a kill longer (what is more is as true as the rest).
 *
 * A mirror whose log has ended is made read-only (mode 0400); those are what
 * pruning takes, the ones that were written longest ago first.  One program
 * at a time may write to a folder: the lock of the database sees to that.
 */
struct mirror_dir;
struct mirror;

/* Open (make, mode 0700) the folder; its parent must exist. */
struct mirror_dir *mirror_dir_open(const char *path, uint64_t cap_bytes,
				   struct err *err)
	__attribute__((warn_unused_result));
/* All its mirrors must be closed. */
void mirror_dir_free(struct mirror_dir *dir);
/*
 * Remove ended mirrors until the cap holds; appends do it by themselves.
 * Live mirrors are never removed, even where they alone are beyond the cap.
 */
int mirror_dir_prune(struct mirror_dir *dir, struct err *err);

/*
 * The mirror of a generation of the log at path (raw bytes) of a pod: the one
 * that is there, or an empty one.  One that had ended is live again.
 */
struct mirror *mirror_open(struct mirror_dir *dir, const char *pod,
			   struct str path, unsigned int generation,
			   struct err *err) __attribute__((warn_unused_result));
void mirror_close(struct mirror *mirror);
/* The log has ended: from now on it may be pruned. */
int mirror_end(struct mirror *mirror, struct err *err);

/*
 * Forget its bytes: a log begins of which an earlier life left a mirror that
 * nothing else knows of.
 */
int mirror_reset(struct mirror *mirror, struct err *err);

/* Where it lies; borrowed until mirror_close. */
const char *mirror_path(const struct mirror *mirror);
/* Bytes held, from offset 0 without a gap. */
uint64_t mirror_size(const struct mirror *mirror);

/*
 * Append the bytes that follow; returns how many were taken (fewer with err
 * when the disk is full or fails: offer the rest again later).
 */
size_t mirror_append(struct mirror *mirror, struct str data, struct err *err)
	__attribute__((warn_unused_result));

/*
 * After an append that took less: the file was removed or changed by someone
 * else, and no later append will do.
 */
bool mirror_is_lost(const struct mirror *mirror);

/* Read up to len bytes at offset; 0 at its end, -1 with err. */
ssize_t mirror_read(const struct mirror *mirror, uint64_t offset, void *data,
		    size_t len, struct err *err);

/* The guards for resuming at offset (<= mirror_size). */
int mirror_guard(const struct mirror *mirror, uint64_t offset,
		 struct guard *guard, struct err *err)
	__attribute__((warn_unused_result));

#endif
