/* SPDX-License-Identifier: MIT */
/* The checksum and the guards of base/cksum.h. */
#include "config.h"

#include <string.h>

#include "base/cksum.h"
#include "tests/support/tap.h"

/* The values are those that cksum(1) of coreutils prints. */
static void
test_cksum(void)
{
	char all[256];

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	is_int(cksum_posix(STR_LIT("")), 4294967295LL, "nothing");
	is_int(cksum_posix(STR_LIT("123456789")), 930766865LL, "nine digits");
	is_int(cksum_posix((struct str){ all, 256 }), 1313719201LL,
	       "every byte");
}

/* Feed `total` bytes in parts of `part`; the guards must be those bytes. */
static bool
guards_hold(const char *data, size_t total, size_t part)
{
	struct guard guard = { 0 };
	size_t head = total < 256 ? total : 256;
	size_t tail = total < 64 ? total : 64;

	for (size_t at = 0; at < total; at += part) {
		size_t n = part < total - at ? part : total - at;

		guard_feed(&guard, (struct str){ data + at, n });
	}
	return guard.offset == total && guard_head(&guard).len == head &&
	       guard_tail(&guard).len == tail &&
	       memcmp(guard.head, data, head) == 0 &&
	       memcmp(guard.tail, data + total - tail, tail) == 0;
}

static void
test_guard(void)
{
	char data[700];
	bool good = true;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 31 + i / 7);
	for (size_t total = 0; total < sizeof(data); total++)
		for (size_t part = 1; part < 300; part += 1 + part / 8)
			good = good && guards_hold(data, total, part);
	ok(good, "the guards of any cut are head and tail");
}

int
main(void)
{
	test_cksum();
	test_guard();
	return tap_done();
}
