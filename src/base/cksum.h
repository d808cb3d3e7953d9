/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The checksum of POSIX cksum(1), updated as bytes arrive; it identifies a log. A zeroed struct is
 * the state before the first byte. Both numbers can be stored and restored together. */
struct cksum {
	uint64_t len;
	uint32_t crc; /* the remainder, without the length step */
};

/* Add the next bytes. */
void cksum_add(struct cksum *sum, const void *data, size_t len);
/* The value that cksum(1) prints for these bytes. */
uint32_t cksum_value(const struct cksum *sum);

#define CKSUM_HEAD_BYTES (256U * 1024)
#define CKSUM_TAIL_BYTES 1024U

/* Recognizes with two short reads whether a file is still the one that was read up to len: its
 * first bytes and the last bytes before len must be the same. A zeroed guard has read nothing. */
struct cksum_guard {
	uint64_t len;
	struct cksum head;
	unsigned char tail[CKSUM_TAIL_BYTES];
};

/* Add the next bytes of the file. */
void cksum_guard_add(struct cksum_guard *guard, const void *data, size_t len);
/* Is fd still the file that was read? Also false if it cannot be read. */
bool cksum_guard_holds(const struct cksum_guard *guard, int fd);
