/* SPDX-License-Identifier: MIT */
/* The checksum of cksum(1), and the check that a followed log is still the same file. */
#include "base/cksum.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define POLYNOMIAL 0x04c11db7U
#define STRIDE	   16

/* table[n][byte] is what a byte contributes to the remainder after n more bytes. */
static uint32_t table[STRIDE][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte << 24;

		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 31) * POLYNOMIAL;
		table[0][byte] = crc;
	}
	for (int k = 1; k < STRIDE; k++)
		for (int byte = 0; byte < 256; byte++)
			table[k][byte] =
				table[k - 1][byte] << 8 ^ table[0][table[k - 1][byte] >> 24];
}

static uint32_t add_bytes(uint32_t crc, const unsigned char *p, size_t len)
{
	for (; len >= STRIDE; len -= STRIDE, p += STRIDE) {
		uint32_t next = 0;

#pragma GCC unroll 16
		for (int i = 0; i < STRIDE; i++)
			next ^= table[STRIDE - 1 - i]
				     [i < 4 ? (crc >> (24 - 8 * i) & 0xff) ^ p[i] : p[i]];
		crc = next;
	}
	for (; len > 0; len--, p++)
		crc = crc << 8 ^ table[0][crc >> 24 ^ *p];
	return crc;
}

void cksum_add(struct cksum *sum, const void *data, size_t len)
{
	(void)pthread_once(&table_once, make_table);
	sum->crc = add_bytes(sum->crc, data, len);
	sum->len += len;
}

uint32_t cksum_value(const struct cksum *sum)
{
	struct cksum all = *sum;
	unsigned char byte;

	for (uint64_t n = sum->len; n > 0; n >>= 8) {
		byte = (unsigned char)n;
		cksum_add(&all, &byte, 1);
	}
	return ~all.crc;
}

void cksum_guard_add(struct cksum_guard *guard, const void *data, size_t len)
{
	size_t room = CKSUM_HEAD_BYTES - (size_t)guard->head.len;
	size_t kept = guard->len < CKSUM_TAIL_BYTES ? (size_t)guard->len : CKSUM_TAIL_BYTES;
	size_t fresh = len < CKSUM_TAIL_BYTES ? len : CKSUM_TAIL_BYTES;
	size_t keep = kept < CKSUM_TAIL_BYTES - fresh ? kept : CKSUM_TAIL_BYTES - fresh;

	cksum_add(&guard->head, data, len < room ? len : room);
	memmove(guard->tail, guard->tail + kept - keep, keep);
	memcpy(guard->tail + keep, (const char *)data + len - fresh, fresh);
	guard->len += len;
}

bool cksum_guard_holds(const struct cksum_guard *guard, int fd)
{
	size_t kept = guard->len < CKSUM_TAIL_BYTES ? (size_t)guard->len : CKSUM_TAIL_BYTES;
	struct cksum head = { 0, 0 };
	char block[16384];
	ssize_t n = pread(fd, block, kept, (off_t)(guard->len - kept));

	if (n != (ssize_t)kept || memcmp(block, guard->tail, kept) != 0)
		return false;
	while (head.len < guard->head.len) {
		size_t want = (size_t)(guard->head.len - head.len);

		n = pread(fd, block, want < sizeof(block) ? want : sizeof(block), (off_t)head.len);
		if (n <= 0)
			return false;
		cksum_add(&head, block, (size_t)n);
	}
	return head.crc == guard->head.crc;
}
