/* SPDX-License-Identifier: MIT */
/* The checksum of cksum(1), and the two guards by which a log is known again;
 * for the follower and the mirror. */
#include "config.h"

#include "base/cksum.h"

#include <string.h>

#define POLYNOMIAL 0x04c11db7U

/* Take one byte into the remainder, highest bit first. */
static uint32_t
cksum_step(uint32_t crc, unsigned int byte)
{
	crc ^= (uint32_t)byte << 24;
	for (int bit = 0; bit < 8; bit++)
		crc = crc << 1 ^ (crc >> 31 ? POLYNOMIAL : 0);
	return crc;
}

uint32_t
cksum_posix(struct str data)
{
	uint32_t crc = 0;

	for (size_t i = 0; i < data.len; i++)
		crc = cksum_step(crc, (unsigned char)data.p[i]);
	for (size_t n = data.len; n > 0; n >>= 8)
		crc = cksum_step(crc, n & 0xff);
	return ~crc;
}

static size_t
min_size(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

void
guard_feed(struct guard *guard, struct str data)
{
	size_t head = min_size(guard->offset, GUARD_HEAD_BYTES);
	size_t tail = min_size(guard->offset, GUARD_TAIL_BYTES);
	size_t fresh = min_size(data.len, GUARD_TAIL_BYTES);
	size_t keep = min_size(tail, GUARD_TAIL_BYTES - fresh);

	if (data.len == 0)
		return;
	memcpy(guard->head + head, data.p,
	       min_size(data.len, GUARD_HEAD_BYTES - head));
	memmove(guard->tail, guard->tail + tail - keep, keep);
	memcpy(guard->tail + keep, data.p + data.len - fresh, fresh);
	guard->offset += data.len;
}

struct str
guard_head(const struct guard *guard)
{
	return (struct str){ (const char *)guard->head,
			     min_size(guard->offset, GUARD_HEAD_BYTES) };
}

struct str
guard_tail(const struct guard *guard)
{
	return (struct str){ (const char *)guard->tail,
			     min_size(guard->offset, GUARD_TAIL_BYTES) };
}
