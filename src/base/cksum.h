/* SPDX-License-Identifier: MIT */
#ifndef HGYM_BASE_CKSUM_H
#define HGYM_BASE_CKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* The checksum of POSIX cksum(1) over data, its length folded in. */
uint32_t cksum_posix(struct str data);

#define GUARD_HEAD_BYTES 256
#define GUARD_TAIL_BYTES 64

/*
 * What tells whether a file still is the one of which `offset` bytes were
 * read: its first 256 bytes and the last 64 before offset (fewer while offset
 * is less).  Plain memory: it may be copied.  Zeroed: nothing was read.
 */
struct guard {
	uint64_t offset;
	unsigned char head[GUARD_HEAD_BYTES];
	unsigned char tail[GUARD_TAIL_BYTES];
};

/* The next bytes of the file, in order. */
void guard_feed(struct guard *guard, struct str data);

/* The bytes held: min(256, offset) and min(64, offset). */
struct str guard_head(const struct guard *guard);
struct str guard_tail(const struct guard *guard);

#endif
