/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The checksum of POSIX cksum(1), kept while bytes come: what tells a log from
 * every other one.  Zeroed: of no bytes.  Plain memory; both numbers together
 * may be stored and taken up again.
 */
struct cksum {
	uint64_t len;
	uint32_t crc; /* the remainder, without the length */
};

/* Take the next bytes. */
void cksum_add(struct cksum *sum, const void *data, size_t len);
/* The number that cksum(1) prints of these bytes. */
uint32_t cksum_value(const struct cksum *sum);

#define CKSUM_HEAD_BYTES (256U * 1024)
#define CKSUM_TAIL_BYTES 4096U

/*
 * Whether a file still is the one that was read up to len, for the price of
 * two short reads: its first bytes and the last ones before len.  Zeroed:
 * nothing was read.
 */
struct cksum_guard {
	uint64_t len;
	struct cksum head;
	unsigned char tail[CKSUM_TAIL_BYTES];
};

/* Take the next bytes of the file. */
void cksum_guard_add(struct cksum_guard *guard, const void *data, size_t len);
/* False too when the file cannot be read. */
bool cksum_guard_holds(const struct cksum_guard *guard, int fd);
